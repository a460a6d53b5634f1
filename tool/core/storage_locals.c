/* What the local floats of functions hold, and what functions return, as far as
 * the text of their assignments says. */
#include "core/storage_solver.h"

bool ar_is_local_float(const ar_decl *decl) {
    return decl && decl->kind == AR_DECL_VAR &&
           decl->storage == AR_STORAGE_AUTO && ar_is_floating(decl->type);
}

static void note_value(ar_storage_solver *s, uint64_t key, ar_map *map,
                       const ar_node *node, bool adds) {
    ar_local_value *one = AR_NEW(s->arena, ar_local_value);
    one->value = node;
    one->adds = adds;
    one->next = ar_map_get(map, key);
    ar_map_put(map, key, one);
}

static void collect(void *context, ar_unit *unit, ar_decl *function,
                    ar_node *node) {
    (void)unit;
    ar_storage_solver *s = context;
    for (uint32_t i = 0; node->kind == AR_DECL_STMT && i < node->decl_count;
         i++)
        if (ar_is_local_float(node->decls[i]) && node->decls[i]->init)
            note_value(s, ar_key(node->decls[i]), &s->assigned,
                       node->decls[i]->init, false);
    const ar_decl *callee =
        node->kind == AR_CALL ? ar_direct_callee(node->kids[0]) : NULL;
    if (callee)
        note_value(s, ar_entity_of(s->program, callee)->id + UINT64_C(1),
                   &s->calls_to, node, false);
    if (node->kind == AR_RETURN && node->kid_count && node->kids[0] && function)
        note_value(s, ar_entity_of(s->program, function)->id + UINT64_C(1),
                   &s->returned, node->kids[0], false);
    if ((node->kind != AR_ASSIGN && node->kind != AR_COMPOUND_ASSIGN) ||
        node->kids[0]->kind != AR_REF ||
        !ar_is_local_float(node->kids[0]->decl))
        return;
    bool adds = node->kind == AR_COMPOUND_ASSIGN &&
                (node->op == AR_OP_ADD || node->op == AR_OP_SUB);
    note_value(s, ar_key(node->kids[0]->decl), &s->assigned, node->kids[1],
               adds);
}

void ar_storage_find_locals(ar_storage_solver *s) {
    s->assigned.arena = s->returned.arena = s->calls_to.arena = s->arena;
    ar_program_visit(s->program, collect, s);
}

const ar_node *ar_storage_single_value(const ar_storage_solver *s,
                                       const ar_decl *local) {
    const ar_local_value *set = ar_map_get(&s->assigned, ar_key(local));
    return set && !set->next && !set->adds ? set->value : NULL;
}

bool ar_storage_same(const ar_node *x, const ar_node *y) {
    x = ar_skip_casts(x);
    y = ar_skip_casts(y);
    if (x->kind != y->kind || x->decl != y->decl || x->op != y->op ||
        x->int_value != y->int_value || x->kid_count != y->kid_count)
        return false;
    for (uint32_t i = 0; i < x->kid_count; i++)
        if (!ar_storage_same(x->kids[i], y->kids[i]))
            return false;
    return true;
}

uint32_t ar_storage_loaded(const ar_storage_solver *s, const ar_node *node) {
    uint32_t site = ar_solver_find(&s->sites, ar_skip_casts(node));
    return site && s->facts->sites.data[site - 1].class_count
               ? s->facts->sites.data[site - 1].classes[0]
               : AR_NO_ID;
}
