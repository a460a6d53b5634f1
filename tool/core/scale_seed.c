/* Where the text could be changed to multiply a value by the scale. */
#include "core/scale_analysis.h"

/* ---- an element that is scaled after it was added to ----------------------
 */

/* Can the lvalue be written twice, and mean the same after its value changed?
 */
static bool can_repeat(const ar_node *e, bool is_whole) {
    if (e->range.in_macro_body || (!is_whole && ar_is_floating(e->type)))
        return false;
    switch ((int)e->kind) {
    case AR_REF:
    case AR_INT_LIT:
        return true;
    case AR_MEMBER:
    case AR_INDEX:
    case AR_DEREF:
    case AR_CAST:
    case AR_IMPLICIT:
    case AR_BINARY:
        for (uint32_t i = 0; i < e->kid_count; i++)
            if (!can_repeat(e->kids[i], false))
                return false;
        return true;
    default:
        return false;
    }
}

/* A statement of its own, without a pragma that applies to it alone. */
static bool stands_alone(const ar_analysis *a, const ar_vnode *v) {
    const ar_unit *unit = ar_context_unit(a->in, v->context);
    const ar_node *parent = ar_interp_parent(a->in, unit, v->at);
    if (!parent || parent->kind != AR_EXPR_STMT)
        return false;
    for (uint32_t i = 0; i < unit->pragmas.count; i++)
        if (unit->pragmas.data[i].next_stmt == parent)
            return false;
    return true;
}

/* Is it a sum over a loop? Each turn would scale what the last one left. */
static bool is_running_sum(ar_analysis *a, uint32_t store) {
    const ar_vnode *s = AR_VN(a->in, store);
    ar_ids work = {0};
    ar_idtable seen = {.arena = a->arena};
    AR_PUSH(a->arena, &work, s->in[0]);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        const ar_vnode *v = AR_VN(a->in, id);
        if (id == store)
            return true;
        if (id <= AR_NODE_CONST || ar_idtable_get(&seen, id, 0) ||
            (v->cell && v->cell != s->cell))
            continue;
        ar_idtable_put(&seen, id, 0, 1);
        for (uint32_t i = 0; i < v->in_count; i++)
            AR_PUSH(a->arena, &work, v->in[i]);
    }
    return false;
}

static bool can_scale_after(ar_analysis *a, uint32_t store) {
    const ar_vnode *v = AR_VN(a->in, store);
    const ar_type *type = v->at->kids[0]->type;
    return (type->kind == AR_TYPE_FLOAT || type->kind == AR_TYPE_DOUBLE) &&
           can_repeat(v->at->kids[0], true) && stands_alone(a, v) &&
           !is_running_sum(a, store);
}

enum { AFTER_NO = 1, AFTER_YES };

/* One text serves all calls of its function: it must do for each of them, or
 * the check would not see what it scales in the others. */
static uint8_t judge_after(ar_analysis *a, const ar_node *at) {
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (a->g.live[i] && v->kind == AR_V_STORE && v->at == at &&
            !can_scale_after(a, i))
            return AFTER_NO;
    }
    return AFTER_YES;
}

static ar_node *scaled_after(ar_analysis *a, uint32_t store) {
    ar_node *at = AR_VN(a->in, store)->at;
    uint64_t found = ar_table_get(&a->scaled_after, ar_key(at), 0);
    if (!found) {
        found = judge_after(a, at);
        ar_table_put(&a->scaled_after, ar_key(at), 0, found);
    }
    return found == AFTER_YES ? at : NULL;
}

/* ---- seeds ----------------------------------------------------------------
 */

/* The expression that is stored, or a term that is added; for x += y and
 * x -= y the whole, after which x is scaled. */
static ar_node *expression_at(ar_analysis *a, uint32_t id) {
    const ar_vnode *v = AR_VN(a->in, id);
    if (v->kind == AR_V_TERM)
        return v->at;
    if (v->kind != AR_V_STORE || v->is_array_clear || !v->context)
        return NULL;
    if (v->at->kind == AR_ASSIGN)
        return v->at->kids[1];
    if (v->at->kind == AR_COMPOUND_ASSIGN) {
        if (v->at->op == AR_OP_MUL)
            return v->at->kids[1];
        return v->at->op == AR_OP_ADD || v->at->op == AR_OP_SUB
                   ? scaled_after(a, id)
                   : NULL;
    }
    if (v->at->kind != AR_DECL_STMT)
        return NULL;
    const ar_mem_object *o = ar_object_of(a->in->m, v->cell);
    ar_node *init = o->as.decl ? o->as.decl->init : NULL;
    return init && init->kind != AR_INIT_LIST ? init : NULL;
}

static bool is_rewritten(const ar_analysis *a, const ar_node *e) {
    return !e->range.in_macro_body && e->range.file != AR_NO_FILE &&
           a->program->editable[e->range.file];
}

ar_node *ar_seed_expression(ar_analysis *a, uint32_t node) {
    const ar_vnode *v = AR_VN(a->in, node);
    ar_node *e = expression_at(a, node);
    /* a copied record brings floats along, but is no factor */
    if (!e || !v->context || !e->type || ar_is_record(e->type))
        return NULL;
    const ar_decl *function = a->in->contexts.data[v->context]->function;
    if (ar_is_device_code(function) &&
        !ar_kernel_can_grow(a->kernels, function))
        return NULL;
    return is_rewritten(a, e) ? e : NULL;
}

bool ar_seed_is_out_of_reach(ar_analysis *a, uint32_t node) {
    const ar_node *e = expression_at(a, node);
    return e && e->range.file != AR_NO_FILE && !is_rewritten(a, e);
}
