/* Storage edits: a local that points to memory of both precisions.
 *
 * What a local holds between an assignment and the reads that see it is a web,
 * with memory of its own. Where the webs of one local differ in precision, the
 * half ones get a variable of their own:
 *
 *     float *a = x;              amp_half *a_half = x;
 *     use(a);            ->      float *a;
 *     a = w;                     use(a_half);
 *     use(a);                    a = w;
 *                                use(a);
 *
 * FP32 keeps the name: the text that registers parameters with libamp has it.
 */
#include "core/layout.h"
#include "core/plan_storage_parts.h"

static const char *const why_mixed = "also points to memory that stays FP32";

static const char *mixed(const ar_rewriter *r, const ar_decl *local,
                         const char *more) {
    return ar_sprintf(r->arena, "'%s' %s%s%s", local->name, why_mixed,
                      more ? ", and " : "", more ? more : "");
}

/* ---- its declaration ----------------------------------------------------- */

static const ar_node *statement_of(const ar_node *root, const ar_decl *local) {
    for (uint32_t i = 0; root && i < root->decl_count; i++)
        if (root->decls[i] == local)
            return root;
    for (uint32_t i = 0; root && i < root->kid_count; i++) {
        const ar_node *found = statement_of(root->kids[i], local);
        if (found)
            return found;
    }
    return NULL;
}

/* Behind the semicolon of the local's declaration; 0: there is none. */
static uint32_t behind(const ar_rewriter *r, const ar_unit *unit,
                       const ar_decl *local) {
    const ar_node *statement = statement_of(local->parent->body, local);
    const ar_node *holder =
        statement ? ar_storage_parent(r->storage->index, unit, statement)
                  : NULL;
    if (!holder || holder->kind != AR_COMPOUND)
        return 0;
    const ar_decl *last = statement->decls[statement->decl_count - 1];
    const ar_file *file = ar_files_load(&r->program->files, last->range.file);
    uint32_t at = ar_skip_space(file, last->range.end);
    return at < file->size && file->bytes[at] == ';' ? at + 1 : 0;
}

/* The words in front of the type, of all that is declared together. */
static ar_range before_token(const ar_decl *local) {
    ar_range range = statement_of(local->parent->body, local)->decls[0]->range;
    range.end = local->float_token.begin;
    return range;
}

/* `*name`, and then a value or the end. */
static bool is_plain(const ar_rewriter *r, const ar_decl *local) {
    ar_range name = local->name_range, token = local->float_token;
    if (token.file != name.file || local->range.file != name.file ||
        token.begin < before_token(local).begin || token.end > name.begin ||
        strpbrk(ar_source_text(r, before_token(local)), "#/\n") ||
        !ar_is_kind(local->type, AR_TYPE_POINTER) ||
        ar_float_depth(local->type) != 1)
        return false;
    const ar_file *file = ar_files_load(&r->program->files, name.file);
    uint32_t star = name.begin, next = ar_skip_space(file, name.end);
    while (star > 0 && strchr(" \t", file->bytes[star - 1]))
        star--;
    return star > 0 && file->bytes[star - 1] == '*' && next < file->size &&
           strchr("=,;", file->bytes[next]);
}

/* ---- where it is named --------------------------------------------------- */

static uint32_t class_at(const ar_rewriter *r, const ar_node *node) {
    uint64_t id = ar_table_get(&r->storage->facts->members, ar_key(node), 0);
    return id ? (uint32_t)(id - 1) : AR_NO_ID;
}

static const ar_mention *mentions_of(const ar_rewriter *r,
                                     const ar_decl *local) {
    return ar_storage_mentions(r->storage->index,
                               ar_entity_of(r->program, local));
}

static bool is_read_at(const ar_rewriter *r, const ar_decl *local,
                       uint32_t at) {
    const ar_mention *mention = mentions_of(r, local);
    for (; mention; mention = mention->next)
        if (mention->node->range.file == local->name_range.file &&
            mention->node->range.begin == at)
            return true;
    return at == local->name_range.begin;
}

/* Past a comment or a literal, or as it was. */
static uint32_t skip_text(const ar_file *file, uint32_t at, uint32_t end) {
    char c = file->bytes[at], after = at + 1 < end ? file->bytes[at + 1] : 0;
    if (c == '/' && after == '/')
        return ar_next_line(file, at);
    if (c == '/' && after == '*') {
        for (at += 2; at < end &&
                      (file->bytes[at] != '*' || file->bytes[at + 1] != '/');)
            at++;
        return at + 2;
    }
    if (c != '"' && c != '\'')
        return at;
    for (at++; at < end && file->bytes[at] != c; at++)
        at += file->bytes[at] == '\\';
    return at + 1;
}

static bool is_member(const ar_file *file, uint32_t at) {
    while (at > 0 && strchr(" \t\n", file->bytes[at - 1]))
        at--;
    return at > 0 && (file->bytes[at - 1] == '.' ||
                      (at > 1 && file->bytes[at - 1] == '>' &&
                       file->bytes[at - 2] == '-'));
}

/* Clauses of OpenMP name variables: _Pragma("omp parallel private(a)"). */
static bool is_pragma_with(const ar_rewriter *r, const ar_file *file,
                           ar_range literal, const char *name) {
    uint32_t at = literal.begin;
    while (at > 0 && strchr(" \t\n(", file->bytes[at - 1]))
        at--;
    const char *const word = "_Pragma";
    return at >= strlen(word) &&
           memcmp(file->bytes + at - strlen(word), word, strlen(word)) == 0 &&
           ar_holds_word(ar_source_text(r, literal), name);
}

/* The word stands in the function where no expression that was read has it:
 * another local, a pragma, text that the preprocessor leaves out. */
static bool is_hidden(const ar_rewriter *r, const ar_decl *local) {
    ar_range range = local->parent->range;
    const ar_file *file = ar_files_load(&r->program->files, range.file);
    size_t length = strlen(local->name);
    for (uint32_t at = range.begin; at < range.end;) {
        uint32_t next = skip_text(file, at, range.end), end = at;
        while (end < range.end && ar_is_word(file->bytes[end]))
            end++;
        if (next == at && end - at == length &&
            memcmp(file->bytes + at, local->name, length) == 0 &&
            !is_member(file, at) && !is_read_at(r, local, at))
            return true;
        if (next > at &&
            is_pragma_with(r, file, (ar_range){range.file, at, next, false},
                           local->name))
            return true;
        at = next > at ? next : end > at ? end : at + 1;
    }
    return false;
}

static bool is_about(const ar_rewriter *r, const ar_node *node,
                     const ar_decl *local) {
    const ar_decl *root = node ? ar_root_decl(node) : NULL;
    return root &&
           ar_entity_of(r->program, root) == ar_entity_of(r->program, local);
}

/* What puts the loss scale into memory names it as the program does. */
static bool is_seed(const ar_rewriter *r, const ar_decl *local) {
    const ar_scale *scale = r->storage->scale;
    for (uint32_t i = 0; scale && i < scale->group_count; i++)
        for (uint32_t k = 0; k < scale->groups[i].seed_count; k++) {
            const ar_seed *seed = &scale->groups[i].seeds[k];
            if (is_about(r, seed->buffer, local) ||
                (seed->form == AR_SEED_AFTER &&
                 is_about(r, seed->node->kids[0], local)))
                return true;
        }
    return false;
}

/* The scratch of a sum takes the text of what it stands for. */
static bool is_in_scratch(const ar_rewriter *r, const ar_decl *local) {
    const ar_storage_sums *sums = r->storage->sums;
    for (uint32_t i = 0; sums && i < sums->list.count; i++) {
        const ar_sum_scratch *s = sums->list.data[i];
        if (!ar_class_is_half(r, s->class_id) ||
            s->where.range.file != local->parent->range.file ||
            s->where.range.begin < local->parent->range.begin ||
            s->where.range.end > local->parent->range.end)
            continue;
        if (ar_holds_word(s->memory, local->name) ||
            (s->count && ar_holds_word(s->count, local->name)) ||
            (s->guard && ar_holds_word(s->guard, local->name)))
            return true;
        for (uint32_t k = 0; k < s->accesses.count; k++)
            if (ar_holds_word(
                    ar_source_text(r, s->accesses.data[k].lvalue->range),
                    local->name))
                return true;
    }
    return false;
}

static const char *const taken_apart = "its declaration is not taken apart";

/* Where it stands before the end of its declaration, there is only one yet:
 * `float *a = x, *b = (a = w);` */
static bool is_too_early(const ar_rewriter *r, const ar_mention *mention,
                         const ar_decl *local) {
    return mention->node->range.begin < behind(r, mention->unit, local) &&
           ar_class_is_half(r, class_at(r, mention->node)) !=
               ar_decl_is_half(r, local);
}

static const char *mention_problem(const ar_rewriter *r,
                                   const ar_mention *mention,
                                   const ar_decl *local) {
    if (class_at(r, mention->node) == AR_NO_ID)
        return "it is not known to which at each place";
    if (is_too_early(r, mention, local))
        return taken_apart;
    if (ar_is_stringified(r, mention->unit, mention->node->range))
        return "a macro turns the text into a string";
    return ar_text_problem(r, mention->node->range);
}

static const char *split_problem(const ar_rewriter *r, const ar_unit *unit,
                                 const ar_decl *local, const char *name) {
    if (!behind(r, unit, local) || !is_plain(r, local))
        return taken_apart;
    if (ar_storage_is_measured(r->storage->index, unit, local->name) ||
        is_hidden(r, local))
        return "is named where no expression is read";
    if (is_seed(r, local))
        return "the loss scale is put into it";
    if (is_in_scratch(r, local))
        return "a sum is made beside it";
    if (ar_find_name(r->program, name).file != AR_NO_FILE)
        return ar_sprintf(r->arena, "'%s' is taken", name);
    const ar_mention *mention = mentions_of(r, local);
    for (; mention; mention = mention->next) {
        const char *problem = mention_problem(r, mention, local);
        if (problem)
            return problem;
    }
    return NULL;
}

/* ---- the edits ----------------------------------------------------------- */

/* The variable that the text did not have. */
static void declare(ar_rewriter *r, const ar_unit *unit, const ar_decl *local,
                    const char *word, const char *name) {
    ar_range token = local->float_token, rest = token;
    const ar_file *file = ar_files_load(&r->program->files, token.file);
    rest.begin = token.end; /* `float const` */
    rest.end = ar_specifiers_end(file, token.end);
    uint32_t begin = before_token(local).begin, at = behind(r, unit, local);
    bool has_line = ar_is_blank(file, ar_line_start(file, begin), begin);
    const char *gap = has_line
                          ? ar_sprintf(r->arena, "\n%s",
                                       ar_indentation(r->arena, file, begin))
                          : " ";
    ar_put_text(r, (ar_range){token.file, at, at, false},
                ar_sprintf(r->arena, "%s%s%s%s *%s;", gap,
                           ar_source_text(r, before_token(local)), word,
                           ar_source_text(r, rest), name));
}

/* ---- text that edits repeat ---------------------------------------------- */

static bool is_split(const ar_rewriter *r, const ar_decl *decl) {
    const ar_storage_facts *facts = r->storage->facts;
    if (!decl || !ar_can_be_split(decl))
        return false;
    uint32_t slot = facts->first_slot[ar_entity_of(r->program, decl)->id];
    bool any[2] = {false, false};
    for (; slot; slot = facts->next_slot[slot - 1])
        any[ar_class_is_half(r, facts->slots.data[slot - 1].class_id)] = true;
    return any[0] && any[1];
}

/* The first mention of a half part from `at` on, or NULL. */
static const ar_node *next_renamed(const ar_rewriter *r, const ar_node *node,
                                   uint32_t at) {
    const ar_node *found = NULL;
    if (node->kind == AR_REF && node->range.begin >= at &&
        is_split(r, node->decl) && ar_class_is_half(r, class_at(r, node)))
        found = node;
    for (uint32_t i = 0; i < node->kid_count; i++) {
        const ar_node *other =
            node->kids[i] ? next_renamed(r, node->kids[i], at) : NULL;
        if (other && (!found || other->range.begin < found->range.begin))
            found = other;
    }
    return found;
}

const char *ar_rewritten_text(const ar_rewriter *r, const ar_node *node) {
    ar_range rest = node->range;
    ar_str out = {.arena = r->arena};
    const ar_node *next;
    while ((next = next_renamed(r, node, rest.begin))) {
        ar_range before = rest;
        before.end = next->range.begin;
        ar_str_addf(&out, "%s%s_half", ar_source_text(r, before),
                    next->decl->name);
        rest.begin = next->range.end;
    }
    ar_str_add(&out, ar_source_text(r, rest));
    return ar_str_text(&out);
}

/* ---- the declaration ----------------------------------------------------- */

bool ar_can_be_split(const ar_decl *decl) {
    return decl->kind == AR_DECL_VAR && !decl->is_file_scope && decl->parent &&
           decl->parent->kind == AR_DECL_FUNCTION && decl->parent->body;
}

const char *ar_split_local(ar_rewriter *r, const ar_unit *unit,
                           const ar_decl *decl) {
    if (!ar_can_be_split(decl))
        return mixed(r, decl, NULL);
    const char *name = ar_sprintf(r->arena, "%s_half", decl->name);
    const char *problem = split_problem(r, unit, decl, name);
    if (problem)
        return mixed(r, decl, problem);
    bool is_half = ar_decl_is_half(r, decl);
    if (is_half)
        ar_put_text(r, decl->name_range, name);
    declare(r, unit, decl,
            is_half ? ar_source_text(r, decl->float_token) : "amp_half",
            is_half ? decl->name : name);
    const ar_mention *mention = mentions_of(r, decl);
    for (; mention; mention = mention->next)
        if (ar_class_is_half(r, class_at(r, mention->node)))
            ar_put_text(r, mention->node->range, name);
    return NULL;
}
