/* Can a function have a second text? The copy stands behind the original, its
 * prototypes behind those of the original, and calls name one or the other. */
#include "core/layout.h"
#include "core/storage_solver.h"

typedef AR_VEC(uint32_t) class_list;

/* ---- what is generic ----------------------------------------------------- */

static ar_function_versions *versions_of(ar_storage_solver *s,
                                         const ar_decl *function) {
    return s->plan->versions->of[ar_entity_of(s->program, function)->id];
}

static void deny(ar_storage_solver *s, const ar_decl *function,
                 const char *why) {
    ar_function_versions *f = versions_of(s, function);
    if (f && !f->one_text)
        f->one_text = why;
}

static void list_functions(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    uint32_t entities = s->program->entities.count;
    ar_storage_versions *versions = AR_NEW(s->arena, ar_storage_versions);
    class_list *generics =
        ar_alloc_array(s->arena, entities + 1u, sizeof *generics);
    versions->of =
        AR_NEW_ARRAY(s->arena, ar_function_versions *, entities + 1u);
    s->plan->versions = versions;
    for (uint32_t i = 0; i < facts->classes.count; i++) {
        const ar_storage_class *c = &facts->classes.data[i];
        if (c->generic_of && !s->agnostic[i] && !ar_storage_is_scalar(facts, i))
            AR_PUSH(s->arena,
                    &generics[ar_entity_of(s->program, c->generic_of)->id], i);
    }
    for (uint32_t i = 0; i < entities; i++) {
        if (!generics[i].count)
            continue;
        ar_function_versions *f = AR_NEW(s->arena, ar_function_versions);
        f->function = &s->program->entities.data[i];
        f->generics = generics[i].data;
        f->generic_count = generics[i].count;
        versions->of[i] = f;
        AR_PUSH(s->arena, &versions->functions, f);
    }
}

/* ---- the text ------------------------------------------------------------ */

static bool can_change(const ar_storage_solver *s, ar_range range) {
    return range.file != AR_NO_FILE && !range.in_macro_body &&
           s->program->editable[range.file];
}

/* float *f(int), *g(int); cannot be taken apart here. */
static bool is_alone(const ar_storage_solver *s, const ar_decl *prototype) {
    const ar_file *file =
        ar_files_load(&s->program->files, prototype->range.file);
    uint32_t end = ar_skip_space(file, prototype->range.end);
    ar_range before = prototype->range;
    before.end = prototype->name_range.begin;
    return prototype->is_file_scope && end < file->size &&
           file->bytes[end] == ';' &&
           !strchr(ar_text(s->arena, &s->program->files, before), ',');
}

static bool starts_with(const char *text, const char *end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - text) >= length && strncmp(text, word, length) == 0;
}

/* +1 for a line that opens a conditional, -1 for one that closes it. */
static int conditional_step(const char *line, const char *end, bool *is_else) {
    while (line < end && (*line == ' ' || *line == '\t'))
        line++; /* # if */
    *is_else = false;
    if (line == end || *line++ != '#')
        return 0;
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    *is_else = starts_with(line, end, "el");
    return starts_with(line, end, "if") - starts_with(line, end, "endif");
}

/* A copy of half a conditional is no text. */
static bool cuts_conditional(const ar_storage_solver *s, ar_range range) {
    const ar_file *file = ar_files_load(&s->program->files, range.file);
    int depth = 0;
    for (uint32_t at = ar_next_line(file, range.begin); at < range.end;
         at = ar_next_line(file, at)) {
        bool is_else;
        const char *line = file->bytes + at;
        depth +=
            conditional_step(line, line + ar_line_length(file, at), &is_else);
        if (depth < 0 || (is_else && depth == 0))
            return true;
    }
    return depth != 0;
}

static const char *text_problem(const ar_storage_solver *s,
                                const ar_entity *function) {
    const ar_decl *definition = function->decl;
    if (!definition->body || !can_change(s, definition->range) ||
        definition->name_range.file != definition->range.file ||
        definition->name_range.in_macro_body)
        return "its definition is in text that cannot be copied";
    if (function->unit->language != AR_LANG_C)
        return "it is CUDA";
    for (uint32_t i = 0; i < function->all_count; i++) {
        const ar_decl *decl = function->all[i];
        if (!can_change(s, decl->range) ||
            decl->name_range.file != decl->range.file)
            return "it is declared in text that cannot be copied";
        if (cuts_conditional(s, decl->range))
            return "its text crosses an #if";
        if (!decl->body && !is_alone(s, decl))
            return "its prototype stands together with others";
    }
    return NULL;
}

static bool is_macro_of_own(const ar_unit *unit, const char *name) {
    for (uint32_t i = 0; i < unit->macros.count; i++)
        if (strcmp(unit->macros.data[i].name, name) == 0)
            return true;
    return false;
}

/* __func__ is a string that is spelled as a word. Macros of the system print it
 * where the program ends: assert. */
static bool prints_its_name(const ar_storage_solver *s, const ar_unit *unit,
                            const ar_decl *function, const ar_node *node) {
    if (node->kind != AR_STRING_LIT || !node->text ||
        node->range.file == AR_NO_FILE || !strstr(node->text, function->name))
        return false;
    const ar_file *file = ar_files_load(&s->program->files, node->range.file);
    ar_range word = node->range;
    word.end = word.begin;
    while (word.end < file->size && ar_is_word(file->bytes[word.end]))
        word.end++;
    const char *text = ar_text(s->arena, &s->program->files, word);
    return strcmp(text, "__func__") == 0 || strcmp(text, "__FUNCTION__") == 0 ||
           strcmp(text, "__PRETTY_FUNCTION__") == 0 ||
           (node->range.in_macro_body && is_macro_of_own(unit, text));
}

/* No call of the facts stands for what is not evaluated. */
static void deny_unevaluated(ar_storage_solver *s, const ar_node *node) {
    const ar_decl *callee =
        node->kind == AR_CALL ? ar_direct_callee(node->kids[0]) : NULL;
    if (callee)
        deny(s, callee, "it is called in a sizeof");
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (node->kids[i])
            deny_unevaluated(s, node->kids[i]);
}

static void visit_text(void *context, ar_unit *unit, ar_decl *function,
                       ar_node *node) {
    ar_storage_solver *s = context;
    if (node->kind == AR_CALL || node->kind == AR_LAUNCH) {
        const ar_decl *callee = ar_direct_callee(node->kids[0]);
        if (callee && ar_skip_casts(node->kids[0])->kind != AR_REF)
            deny(s, callee, "it is called through an expression");
        else if (callee && !can_change(s, node->op_range))
            deny(s, callee, "a macro calls it");
        if (callee && function &&
            ar_entity_of(s->program, callee) ==
                ar_entity_of(s->program, function))
            deny(s, callee, "it calls itself");
    }
    if (function && prints_its_name(s, unit, function, node))
        deny(s, function, "it uses its own name");
    if (node->kind == AR_SIZEOF && node->kid_count && node->kids[0])
        deny_unevaluated(s, node->kids[0]);
    for (uint32_t i = 0; node->kind == AR_DECL_STMT && i < node->decl_count;
         i++)
        if (function && node->decls[i]->kind == AR_DECL_VAR &&
            node->decls[i]->storage == AR_STORAGE_STATIC)
            deny(s, function, "it has a static variable");
}

/* Functions that call each other share their classes. */
static void find_cycles(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    for (uint32_t i = 0; i < facts->classes.count; i++) {
        const ar_storage_class *c = &facts->classes.data[i];
        for (uint32_t k = 0; c->generic_of && k < c->site_count; k++) {
            const ar_decl *other =
                ar_storage_function_of(&facts->sites.data[c->sites[k]]);
            if (!other || ar_entity_of(s->program, other) ==
                              ar_entity_of(s->program, c->generic_of))
                continue;
            deny(s, c->generic_of, "it is part of a recursion");
            deny(s, other, "it is part of a recursion");
        }
    }
}

/* An allocation whose parts have one precision has the same one in all calls:
 * they may be the same parts. */
static void find_arenas(ar_storage_solver *s) {
    for (uint32_t i = 0; i < s->facts->arenas.count; i++)
        if (!s->plan->is_split[i])
            deny(s, s->facts->arenas.data[i].where.function,
                 "it hands out an allocation in parts of one precision");
}

void ar_storage_find_splits(ar_storage_solver *s) {
    list_functions(s);
    ar_storage_versions *versions = s->plan->versions;
    for (uint32_t i = 0; i < versions->functions.count; i++) {
        ar_function_versions *f = versions->functions.data[i];
        f->one_text = ar_storage_function_is_fp32(s, f->function->decl);
        if (!f->one_text)
            f->one_text = text_problem(s, f->function);
    }
    ar_program_visit(s->program, visit_text, s);
    for (uint32_t i = 0; i < versions->functions.count; i++) {
        const ar_entity *function = versions->functions.data[i]->function;
        if (ar_storage_is_function_value(s->plan->index, function))
            deny(s, function->decl, "it is called through a pointer");
    }
    find_cycles(s);
    find_arenas(s);
}
