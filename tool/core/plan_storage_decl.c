/* Storage edits: declarations, casts, initialisers. */
#include "core/layout.h"
#include "core/plan_storage_parts.h"

#include <ctype.h>
#include <stdlib.h>

/* ---- what a declaration must not be -------------------------------------- */

bool ar_holds_word(const char *list, const char *word) {
    size_t length = strlen(word);
    while (*list) {
        size_t size = 0;
        while (ar_is_word(list[size]))
            size++;
        if (size == length && memcmp(list, word, length) == 0)
            return true;
        list += size ? size : 1;
    }
    return false;
}

/* reduction(op : name, name[a:b]) adds up in the element type. */
static bool is_reduced(const ar_rewriter *r, const char *clause,
                       const char *name) {
    const char *list = strchr(clause, ':');
    const char *end = list ? strchr(list, ')') : NULL;
    return end && ar_holds_word(
                      ar_strndup(r->arena, list, (size_t)(end - list)), name);
}

static bool is_in_reduction(const ar_rewriter *r, const ar_decl *decl) {
    const ar_decl *function = decl->parent;
    bool is_local =
        (decl->kind == AR_DECL_VAR || decl->kind == AR_DECL_PARAM) && function;
    for (uint32_t u = 0; u < r->program->unit_count; u++) {
        const ar_unit *unit = r->program->units[u];
        for (uint32_t i = 0; i < unit->pragmas.count; i++) {
            const ar_pragma *pragma = &unit->pragmas.data[i];
            if (is_local && (pragma->range.file != function->range.file ||
                             pragma->range.begin < function->range.begin ||
                             pragma->range.end > function->range.end))
                continue;
            const char *clause = pragma->text;
            while (clause && (clause = strstr(clause, "reduction")))
                if (is_reduced(r, clause++, decl->name))
                    return true;
        }
    }
    return false;
}

/* ---- groups: float *a, *b; ----------------------------------------------- */

typedef struct group {
    ar_range token;
    const ar_decl **decls; /* in the order of the text */
    const char **words;    /* for the token, by declarator */
    uint32_t count;
} group;

static int compare_ends(const void *pa, const void *pb) {
    const ar_decl *a = *(const ar_decl *const *)pa;
    const ar_decl *b = *(const ar_decl *const *)pb;
    return (a->range.end > b->range.end) - (a->range.end < b->range.end);
}

/* A function may have a prototype in a header that its own unit does not read:
 * any unit that does knows what stands there. */
static const ar_token_decls *
declared_with(const ar_rewriter *r, const ar_unit *unit, ar_range token) {
    const ar_storage_index *index = r->storage->index;
    const ar_token_decls *found = ar_storage_declared_with(index, unit, token);
    for (uint32_t u = 0; u < r->program->unit_count && !found; u++)
        found = ar_storage_declared_with(index, r->program->units[u], token);
    return found;
}

static group group_of(const ar_rewriter *r, const ar_unit *unit,
                      ar_range token) {
    AR_VEC(const ar_decl *) found = {0};
    const ar_token_decls *one = declared_with(r, unit, token);
    for (; one; one = one->next)
        AR_PUSH(r->arena, &found, one->decl);
    if (found.count)
        qsort(found.data, found.count, sizeof *found.data, compare_ends);
    group g = {.token = token, .decls = found.data, .count = found.count};
    g.words = ar_alloc_array(r->arena, g.count + 1, sizeof *g.words);
    return g;
}

static const ar_node *statement_with(const ar_node *root, const ar_decl *decl,
                                     const ar_node *parent,
                                     const ar_node **holder) {
    if (!root)
        return NULL;
    for (uint32_t i = 0; i < root->decl_count; i++)
        if (root->decls[i] == decl) {
            *holder = parent;
            return root;
        }
    for (uint32_t i = 0; i < root->kid_count; i++) {
        const ar_node *found =
            statement_with(root->kids[i], decl, root, holder);
        if (found)
            return found;
    }
    return NULL;
}

/* for (float *p = a, *q = b; ...) has room for one declaration. */
static bool is_in_for(const ar_decl *decl) {
    const ar_node *holder = NULL;
    if (decl->kind != AR_DECL_VAR || !decl->parent || !decl->parent->body)
        return false;
    statement_with(decl->parent->body, decl, NULL, &holder);
    return holder && holder->kind == AR_FOR;
}

static bool word_at(const ar_file *file, uint32_t at, const char *word) {
    size_t length = strlen(word);
    return file->size - at > length &&
           memcmp(file->bytes + at, word, length) == 0 &&
           !isalnum((unsigned char)file->bytes[at + length]) &&
           file->bytes[at + length] != '_';
}

uint32_t ar_specifiers_end(const ar_file *file, uint32_t at) {
    for (;;) {
        uint32_t word = ar_skip_space(file, at);
        if (word_at(file, word, "const"))
            at = word + 5;
        else if (word_at(file, word, "volatile"))
            at = word + 8;
        else
            return at;
    }
}

static ar_range part(ar_range all, uint32_t begin, uint32_t end) {
    all.begin = begin;
    all.end = end;
    return all;
}

/* `static float const`, with another word for float. */
static const char *specifiers(const ar_rewriter *r, const group *g,
                              const ar_file *file, const char *word) {
    ar_range token = g->token, range = g->decls[0]->range;
    return ar_sprintf(
        r->arena, "%s%s%s",
        ar_source_text(r, part(range, range.begin, token.begin)), word,
        ar_source_text(
            r, part(range, token.end, ar_specifiers_end(file, token.end))));
}

/* The declaration is all that its line begins with. */
static bool has_own_line(const ar_file *file, uint32_t at) {
    return ar_is_blank(file, ar_line_start(file, at), at);
}

/* ends one declaration at the comma and begins another one. */
static void split_at(ar_rewriter *r, const ar_file *file, const group *g,
                     uint32_t comma, const char *word) {
    const ar_decl *first = g->decls[0];
    uint32_t next = ar_skip_blank(file, comma + 1);
    const char *words = specifiers(r, g, file, word);
    bool same_line = ar_is_blank(file, comma + 1, next);
    const char *gap = " ";
    if (same_line && has_own_line(file, first->range.begin))
        gap = ar_sprintf(r->arena, "\n%s",
                         ar_indentation(r->arena, file, first->range.begin));
    if (same_line) {
        ar_put_text(r, part(first->range, comma, next),
                    ar_sprintf(r->arena, ";%s%s ", gap, words));
        return;
    }
    ar_put_text(r, part(first->range, comma, comma + 1), ";");
    ar_put_text(r, part(first->range, next, next),
                ar_sprintf(r->arena, "%s ", words));
}

static const char *split_problem(const ar_rewriter *r, const group *g,
                                 const ar_file *file) {
    const ar_decl *first = g->decls[0];
    if (first->kind == AR_DECL_PARAM)
        return "it is declared together with memory that stays FP32";
    if (is_in_for(first))
        return "it is declared in a for loop together with memory that stays "
               "FP32";
    if (strpbrk(ar_source_text(
                    r, part(first->range, first->range.begin, g->token.begin)),
                "#/\n"))
        return "it is declared together with memory that stays FP32, behind a "
               "comment or directive";
    for (uint32_t i = 0; i + 1 < g->count; i++) {
        uint32_t comma = ar_skip_space(file, g->decls[i]->range.end);
        if (comma >= file->size || file->bytes[comma] != ',')
            return "the declarators beside it are not read";
    }
    return NULL;
}

static bool same_word(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Each declarator gets its word for the token, in a declaration of its own if
 * need be; NULL is the word that stands there. */
static const char *put_words(ar_rewriter *r, const group *g) {
    const ar_decl *first = g->decls[0];
    const ar_file *file = ar_files_load(&r->program->files, first->range.file);
    const char *old = ar_source_text(r, g->token), *problem = NULL;
    bool is_one = true;
    for (uint32_t i = 1; i < g->count; i++)
        is_one &= same_word(g->words[i], g->words[0]);
    if (!is_one)
        problem = split_problem(r, g, file);
    if (problem)
        return problem;
    if (g->words[0])
        ar_put_text(r, g->token, g->words[0]);
    for (uint32_t i = 1; i < g->count; i++)
        if (!same_word(g->words[i], g->words[i - 1]))
            split_at(r, file, g,
                     ar_skip_space(file, g->decls[i - 1]->range.end),
                     g->words[i] ? g->words[i] : old);
    return NULL;
}

const char *ar_put_words(ar_rewriter *r, const ar_unit *unit, ar_range token,
                         ar_word_for *word_for, void *context) {
    group g = group_of(r, unit, token);
    for (uint32_t i = 0; i < g.count; i++)
        g.words[i] = word_for(context, g.decls[i]);
    return g.count ? put_words(r, &g) : "its declaration is not found";
}

/* ---- what looks at a declaration ----------------------------------------- */

/* typeof(*x) v; the type of v follows x, while v holds a float. */
static bool gives_its_type(const ar_rewriter *r, const ar_decl *decl) {
    const ar_typeof *one = ar_storage_typeofs(r->storage->index);
    for (; one; one = one->next)
        if (ar_holds_word(one->operand, decl->name))
            return true;
    return false;
}

/* ---- all of a declaration ------------------------------------------------ */

static const char *declaration_problem(const ar_rewriter *r,
                                       const ar_unit *unit,
                                       const ar_decl *decl) {
    const ar_type *type = decl->type;
    bool is_function = decl->kind == AR_DECL_FUNCTION;
    if (is_function && ar_is_kind(type, AR_TYPE_FUNCTION))
        type = type->element;
    if (ar_float_depth(type) < 1)
        return "a single float shares its memory";
    const ar_decl *function = is_function                   ? decl
                              : decl->kind == AR_DECL_PARAM ? decl->parent
                                                            : NULL;
    if (function && ar_is_function_value(r, function))
        return ar_sprintf(r->arena, "'%s' is called through a pointer",
                          function->name);
    if (!is_function &&
        ar_storage_is_measured(r->storage->index, unit, decl->name))
        return "a declaration counts something by its sizeof";
    if (gives_its_type(r, decl))
        return "a typeof takes its type";
    if (!is_function && is_in_reduction(r, decl))
        return "it is in the reduction clause of a pragma";
    return NULL;
}

static const char *half_word(void *context, const ar_decl *decl) {
    return ar_decl_is_half(context, decl) ? "amp_half" : NULL;
}

const char *ar_rewrite_declaration(ar_rewriter *r, const ar_site *site) {
    const ar_decl *decl = site->decl;
    bool is_done;
    const char *own = ar_rewrite_own_field(r, site, &is_done);
    if (is_done)
        return own;
    bool is_mixed = !ar_site_all_half(r, site);
    const char *problem = declaration_problem(r, site->where.unit, decl);
    if (!problem && decl->range.in_macro_body)
        problem = ar_text_problem(r, decl->range);
    if (!problem && decl->float_token.file == AR_NO_FILE)
        problem = "its declaration spells no float";
    if (!problem)
        problem = ar_text_problem(r, decl->float_token);
    if (!problem && decl->float_is_alias)
        problem = ar_alias_problem(r, decl->float_token);
    if (!problem && is_mixed)
        problem = ar_split_local(r, site->where.unit, decl);
    if (problem)
        return problem;
    return ar_put_words(r, site->where.unit, decl->float_token, half_word, r);
}

const char *ar_rewrite_cast(ar_rewriter *r, const ar_site *site) {
    if (ar_float_depth(site->node->type) < 1)
        return "a single float shares its memory";
    return ar_put_half_type(r, site->node);
}
