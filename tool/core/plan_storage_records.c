/* Storage edits: structs told apart by object.
 *
 * Where the objects of a struct differ in what their fields point to, the
 * struct's text is copied behind itself once for each kind of object that has
 * half memory, and what names such objects names the copy. */
#include "core/layout.h"
#include "core/plan_storage_parts.h"

/* ---- kinds of objects ---------------------------------------------------- */

/* The fields, by index, that point to half memory. */
static uint64_t kind_of(const ar_rewriter *r, const ar_storage_object *object) {
    uint64_t kind = 0;
    for (uint32_t i = 0; i < object->record->decl->member_count; i++)
        if (ar_class_is_half(r, object->classes[i]))
            kind |= UINT64_C(1) << i;
    return kind;
}

static bool are_alike(const ar_rewriter *r, const ar_entity *record) {
    const ar_storage_facts *facts = r->storage->facts;
    const ar_storage_object *first = NULL;
    for (uint32_t i = 0; i < facts->objects.count; i++) {
        const ar_storage_object *object = &facts->objects.data[i];
        if (object->record != record)
            continue;
        if (first && kind_of(r, object) != kind_of(r, first))
            return false;
        first = object;
    }
    return true;
}

/* ---- the text of the struct ---------------------------------------------- */

/* The next typedef of the struct; *at is 0 before the first. */
static const ar_decl *next_typedef(const ar_rewriter *r,
                                   const ar_entity *record, uint32_t *at) {
    const ar_storage_index *index = r->storage->index;
    *at = *at ? ar_storage_typedef_after(index, *at)
              : ar_storage_typedef_of(index, record);
    return *at ? r->program->entities.data[*at - 1].decl : NULL;
}

/* The typedef whose text holds that of the struct, or NULL. */
static const ar_decl *typedef_around(const ar_rewriter *r,
                                     const ar_entity *record) {
    const ar_decl *found = NULL, *decl;
    uint32_t at = 0;
    while ((decl = next_typedef(r, record, &at)))
        if (ar_range_holds(decl->range, record->decl->range) &&
            (!found || decl->range.end < found->range.end))
            found = decl;
    return found;
}

static ar_range definition_range(const ar_rewriter *r,
                                 const ar_entity *record) {
    const ar_decl *around = typedef_around(r, record);
    return around ? around->range : record->decl->range;
}

/* The place behind the semicolon of a declaration, or 0. */
static uint32_t behind(const ar_rewriter *r, ar_range range) {
    const ar_file *file = ar_files_load(&r->program->files, range.file);
    uint32_t at = ar_skip_space(file, range.end);
    return at < file->size && file->bytes[at] == ';' ? at + 1 : 0;
}

static const char *field_word(void *context, const ar_decl *field) {
    const uint64_t *kind = context;
    return *kind >> field->index & 1 ? "amp_half" : NULL;
}

/* Edits the declarations of the fields, or says why that cannot be done. */
static const char *put_fields(ar_rewriter *r, const ar_entity *record,
                              uint64_t kind) {
    for (uint32_t i = 0; i < record->decl->member_count; i++) {
        const ar_decl *field = record->decl->members[i];
        if (!(kind >> i & 1))
            continue;
        const char *problem = ar_text_problem(r, field->float_token);
        if (!problem && field->float_is_alias)
            problem = ar_alias_problem(r, field->float_token);
        if (!problem)
            problem = ar_put_words(r, record->unit, field->float_token,
                                   field_word, &kind);
        if (problem)
            return problem;
    }
    return NULL;
}

/* A copy of the text would define them again. */
static bool defines_others(const ar_rewriter *r, const ar_entity *record) {
    for (uint32_t i = 0; i < r->program->entities.count; i++) {
        const ar_entity *entity = &r->program->entities.data[i];
        const ar_decl *decl = entity->decl;
        bool is_name = decl->kind == AR_DECL_ENUMERATOR ||
                       (decl->kind == AR_DECL_RECORD && decl->is_definition &&
                        *decl->name);
        if (is_name && entity != record &&
            ar_range_holds(record->decl->range, decl->range))
            return true;
    }
    return false;
}

static const char *record_problem(const ar_rewriter *r, const ar_entity *record,
                                  uint64_t kind) {
    const ar_decl *decl = record->decl, *around = typedef_around(r, record);
    if (!record->in_rewrite_set)
        return "its struct is in a file that may not change";
    const char *problem = ar_text_problem(r, decl->range);
    if (!problem && around)
        problem = ar_text_problem(r, around->name_range);
    if (!problem && !around && !*decl->name)
        problem = "its struct has no name";
    if (!problem && !behind(r, definition_range(r, record)))
        problem = "its struct is defined together with something else";
    if (!problem && defines_others(r, record))
        problem = "its struct defines other names inside";
    ar_rewriter ask = *r;
    ask.plan = NULL;
    return problem ? problem : put_fields(&ask, record, kind);
}

const char *ar_rewrite_own_field(ar_rewriter *r, const ar_site *site,
                                 bool *is_done) {
    const ar_storage_facts *facts = r->storage->facts;
    ar_entity *field = ar_entity_of(r->program, site->decl);
    uint32_t slot = facts->first_slot[field->id];
    *is_done = false;
    if (!slot || !facts->slots.data[slot - 1].object)
        return NULL;
    const ar_entity *record =
        facts->objects.data[facts->slots.data[slot - 1].object - 1].record;
    if (are_alike(r, record))
        return NULL;
    *is_done = true;
    return record_problem(r, record, UINT64_C(1) << site->decl->index);
}

/* ---- copies of the struct ------------------------------------------------ */

static bool is_tag(const ar_rewriter *r, const char *name) {
    for (uint32_t i = 0; i < r->program->entities.count; i++) {
        const ar_decl *decl = r->program->entities.data[i].decl;
        if (decl->kind == AR_DECL_RECORD && strcmp(decl->name, name) == 0)
            return true;
    }
    return false;
}

static bool is_free(const ar_rewriter *r, const char *name) {
    return !is_tag(r, name) &&
           ar_find_name(r->program, name).file == AR_NO_FILE;
}

static const char *suffixed(const ar_rewriter *r, const char *name,
                            const ar_record_copy *copy) {
    bool has_line = name[strlen(name) - 1] == '_'; /* struct matrix_ */
    return ar_sprintf(r->arena, "%s%s", name, copy->suffix + has_line);
}

static bool suffix_is_free(const ar_rewriter *r, const ar_record_copy *copy) {
    const ar_decl *decl;
    uint32_t at = 0;
    if (*copy->record->decl->name &&
        !is_free(r, suffixed(r, copy->record->decl->name, copy)))
        return false;
    while ((decl = next_typedef(r, copy->record, &at)))
        if (!is_free(r, suffixed(r, decl->name, copy)))
            return false;
    return true;
}

static const ar_record_copy *copy_for(ar_rewriter *r, ar_entity *record,
                                      uint64_t kind) {
    uint32_t number = 1;
    for (uint32_t i = 0; i < r->plan->record_copies->count; i++) {
        const ar_record_copy *copy = &r->plan->record_copies->data[i];
        if (copy->record != record)
            continue;
        if (copy->kind == kind)
            return copy;
        number++;
    }
    ar_record_copy copy = {record, kind, NULL};
    do
        copy.suffix =
            number == 1 ? "_half" : ar_sprintf(r->arena, "_half%u", number);
    while (!suffix_is_free(r, &copy) && number++ < 100);
    AR_PUSH(r->arena, r->plan->record_copies, copy);
    return &r->plan->record_copies->data[r->plan->record_copies->count - 1];
}

static ar_rewriter rewriter_of(ar_plan *plan) {
    return (ar_rewriter){.arena = plan->arena,
                         .program = plan->program,
                         .rules = plan->rules,
                         .storage = plan->storage,
                         .plan = plan};
}

static void rename_to(ar_edits *edits, ar_range range, const char *name) {
    ar_edit_add(edits,
                (ar_edit){.range = range, .text = name, .why = "half storage"});
}

/* The text with the edits, which are of nothing else. */
static const char *edited_text(ar_plan *plan, ar_edits *edits, ar_range range) {
    ar_files *files = &plan->program->files;
    if (!ar_edits_finish(edits, files, plan->diags))
        return NULL;
    ar_bytes all = ar_edits_apply(plan->arena, edits, files, range.file);
    size_t behind = ar_files_load(files, range.file)->size - range.end;
    return ar_sprintf(plan->arena, "%s;",
                      ar_strndup(plan->arena, all.data + range.begin,
                                 all.size - behind - range.begin));
}

static bool rest_is_blank(const ar_file *file, uint32_t at, uint32_t *end) {
    uint32_t rest = ar_skip_blank(file, at);
    bool is_comment = rest + 1 < file->size && file->bytes[rest] == '/' &&
                      file->bytes[rest + 1] == '/';
    *end = rest;
    while (is_comment && *end < file->size && file->bytes[*end] != '\n')
        ++*end;
    return *end >= file->size || strchr("\r\n", file->bytes[*end]) != NULL;
}

static void put_behind(ar_rewriter *r, ar_range range, const char *text,
                       const char *gap) {
    const ar_file *file = ar_files_load(&r->program->files, range.file);
    uint32_t at = behind(r, range), end;
    if (rest_is_blank(file, at, &end))
        at = end;
    ar_put_text(r, (ar_range){range.file, at, at, false},
                ar_sprintf(r->arena, "%s%s", gap, text));
}

/* A struct without a tag goes by the name of its typedef, but not in its text.
 */
static bool has_tag(const ar_rewriter *r, const ar_decl *record) {
    return *record->name &&
           strcmp(ar_source_text(r, record->name_range), record->name) == 0;
}

static bool put_definition(ar_plan *plan, const ar_record_copy *copy) {
    ar_edits edits = {.arena = plan->arena};
    ar_plan aside = *plan; /* the original stays as it is */
    aside.placer = ar_placer_new(plan->arena, plan->program, &edits);
    ar_rewriter r = rewriter_of(plan), own = rewriter_of(&aside);
    const ar_decl *record = copy->record->decl;
    const ar_decl *around = typedef_around(&r, copy->record);
    put_fields(&own, copy->record, copy->kind);
    if (has_tag(&r, record))
        rename_to(&edits, record->name_range, suffixed(&r, record->name, copy));
    if (around)
        rename_to(&edits, around->name_range, suffixed(&r, around->name, copy));
    ar_range all = definition_range(&r, copy->record);
    const char *text = edited_text(plan, &edits, all);
    if (text)
        put_behind(&r, all, text, "\n\n");
    return text != NULL;
}

static bool put_typedefs(ar_plan *plan, const ar_record_copy *copy) {
    ar_rewriter r = rewriter_of(plan);
    const ar_decl *decl;
    uint32_t at = 0;
    while ((decl = next_typedef(&r, copy->record, &at))) {
        if (decl->record_token.file == AR_NO_FILE || !behind(&r, decl->range))
            continue;
        ar_edits edits = {.arena = plan->arena};
        const char *name = ar_source_text(&r, decl->record_token);
        rename_to(&edits, decl->record_token, suffixed(&r, name, copy));
        rename_to(&edits, decl->name_range, suffixed(&r, decl->name, copy));
        const char *text = edited_text(plan, &edits, decl->range);
        if (!text)
            return false;
        put_behind(&r, decl->range, text, "\n");
    }
    return true;
}

bool ar_plan_record_copies(ar_plan *plan) {
    bool ok = true;
    for (uint32_t i = 0; i < plan->record_copies->count; i++) {
        const ar_record_copy *copy = &plan->record_copies->data[i];
        ok = put_typedefs(plan, copy) && put_definition(plan, copy) && ok;
    }
    return ok;
}

/* ---- what names the struct ----------------------------------------------- */

/* A typedef that gets a copy of its own. */
static const ar_decl *typedef_named(const ar_rewriter *r,
                                    const ar_entity *record, const char *name) {
    const ar_decl *decl;
    uint32_t at = 0;
    while ((decl = next_typedef(r, record, &at))) {
        bool has_copy =
            decl == typedef_around(r, record) ||
            (decl->record_token.file != AR_NO_FILE &&
             !ar_text_problem(r, decl->range) && behind(r, decl->range));
        if (strcmp(decl->name, name) == 0 && has_copy)
            return decl;
    }
    return NULL;
}

static const char *name_problem(const ar_rewriter *r, const ar_entity *record,
                                ar_range token, bool is_alias) {
    if (token.file == AR_NO_FILE)
        return "its struct is named in the body of a macro";
    const char *problem = ar_text_problem(r, token);
    if (problem)
        return problem;
    const char *name = ar_source_text(r, token);
    const ar_decl *named =
        is_alias ? typedef_named(r, record, name) : record->decl;
    if (!named || strcmp(named->name, name) != 0)
        return "its type is a name for more than the struct";
    if (token.file == named->range.file && token.begin < named->range.end)
        return "its struct is named before it is defined";
    return NULL;
}

/* What names several objects names one kind: the solver links them. */
static bool is_one_kind(const ar_rewriter *r, const ar_site *site) {
    const ar_storage_object *all = r->storage->facts->objects.data;
    for (uint32_t i = 1; i < site->object_count; i++)
        if (kind_of(r, &all[site->objects[i]]) !=
            kind_of(r, &all[site->objects[0]]))
            return false;
    return true;
}

static const char *word_of(ar_rewriter *r, ar_entity *record, uint64_t kind,
                           ar_range token) {
    const char *name = ar_source_text(r, token);
    return r->plan ? suffixed(r, name, copy_for(r, record, kind))
                   : ar_sprintf(r->arena, "%s %llx", name,
                                (unsigned long long)kind);
}

/* Declarators that share the token. */
typedef struct neighbours {
    ar_rewriter *r;
    const ar_site *site;
} neighbours;

static bool same_token(const ar_site *a, const ar_site *b) {
    return a->kind == b->kind && a->where.range.file == b->where.range.file &&
           a->where.range.begin == b->where.range.begin;
}

/* Sites are in the order of the text. */
static const char *word_for(void *context, const ar_decl *decl) {
    const neighbours *n = context;
    const ar_storage_facts *facts = n->r->storage->facts;
    const ar_site *all = facts->sites.data, *site = n->site;
    const ar_entity *wanted = ar_entity_of(n->r->program, decl);
    while (site > all && same_token(site - 1, n->site))
        site--;
    for (; site < all + facts->sites.count && same_token(site, n->site);
         site++) {
        if (!site->decl || !site->object_count ||
            ar_entity_of(n->r->program, site->decl) != wanted)
            continue;
        const ar_storage_object *object =
            &facts->objects.data[site->objects[0]];
        uint64_t kind = kind_of(n->r, object);
        return kind ? word_of(n->r, object->record, kind, site->where.range)
                    : NULL;
    }
    return NULL;
}

static const char *rename_declaration(ar_rewriter *r, const ar_site *site) {
    ar_entity *record =
        r->storage->facts->objects.data[site->objects[0]].record;
    ar_range token = site->decl->record_token;
    const char *problem =
        name_problem(r, record, token, site->decl->record_is_alias);
    neighbours n = {r, site};
    return problem ? problem
                   : ar_put_words(r, site->where.unit, token, word_for, &n);
}

static const char *rename_expression(ar_rewriter *r, const ar_site *site,
                                     uint64_t kind) {
    const ar_node *node = site->node;
    ar_entity *record =
        r->storage->facts->objects.data[site->objects[0]].record;
    const char *problem =
        name_problem(r, record, node->record_token, node->record_is_alias);
    if (problem) /* the copies have the size of the original */
        return node->kind == AR_SIZEOF ? NULL : problem;
    ar_put_text(r, node->record_token,
                word_of(r, record, kind, node->record_token));
    return NULL;
}

const char *ar_rewrite_record(ar_rewriter *r, const ar_site *site) {
    const ar_storage_object *object =
        &r->storage->facts->objects.data[site->objects[0]];
    uint64_t kind = kind_of(r, object);
    if (!is_one_kind(r, site))
        return "one text names structs that differ in precision";
    if (!kind || are_alike(r, object->record))
        return NULL;
    const char *problem = record_problem(r, object->record, kind);
    if (problem)
        return problem;
    return site->node ? rename_expression(r, site, kind)
                      : rename_declaration(r, site);
}
