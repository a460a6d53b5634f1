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
        if (!decl->body && !is_alone(s, decl))
            return "its prototype stands together with others";
    }
    return NULL;
}

/* A node is visited before its kids, so a callee follows its call. */
typedef struct text_walk {
    ar_storage_solver *s;
    const ar_node *callee;
} text_walk;

static void visit_text(void *context, ar_unit *unit, ar_decl *function,
                       ar_node *node) {
    (void)unit;
    text_walk *walk = context;
    ar_storage_solver *s = walk->s;
    if (node->kind == AR_CALL || node->kind == AR_LAUNCH) {
        const ar_decl *callee = ar_direct_callee(node->kids[0]);
        walk->callee = ar_skip_casts(node->kids[0]);
        if (callee && !can_change(s, node->op_range))
            deny(s, callee, "a macro calls it");
        if (callee && function &&
            ar_entity_of(s->program, callee) ==
                ar_entity_of(s->program, function))
            deny(s, callee, "it calls itself");
    }
    if (node->kind == AR_REF && node != walk->callee && node->decl &&
        node->decl->kind == AR_DECL_FUNCTION)
        deny(s, node->decl, "it is called through a pointer");
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
    text_walk walk = {.s = s};
    ar_program_visit(s->program, visit_text, &walk);
    find_cycles(s);
    find_arenas(s);
}
