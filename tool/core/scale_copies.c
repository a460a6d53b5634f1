/* Copies and weighted sums: updates that are made in another array and copied
 * back. */
#include "core/scale_analysis.h"

enum { SCALAR_NODES = 64, COPY_DEPTH = 12 };

/* Made from numbers that are in no array: a learning rate, a decay. Looks at
 * few nodes. */
static bool is_made_of_scalars(const ar_analysis *a, uint32_t id, int *left) {
    const ar_vnode *v = AR_VN(a->in, id);
    if (id <= AR_NODE_CONST)
        return true;
    if (--*left < 0 || (v->cell && ar_is_array(a, v->cell)))
        return false;
    for (uint32_t i = 0; i < v->in_count; i++)
        if (!is_made_of_scalars(a, v->in[i], left))
            return false;
    return true;
}

static bool is_scalar(const ar_analysis *a, uint32_t id) {
    int left = SCALAR_NODES;
    return is_made_of_scalars(a, id, &left);
}

int ar_array_factor(const ar_analysis *a, const ar_vnode *v) {
    if (is_scalar(a, v->in[1]))
        return 0;
    return v->kind == AR_V_MUL && is_scalar(a, v->in[0]) ? 1 : -1;
}

/* The array that the value was read from, or 0: none, or one of several. */
static uint32_t read_from(const ar_analysis *a, uint32_t id, int depth) {
    const ar_vnode *v = AR_VN(a->in, id);
    if (v->cell && ar_is_array(a, v->cell))
        return v->cell;
    if (!v->in_count || depth == 0 || v->kind == AR_V_SUM ||
        v->kind == AR_V_MUL || v->kind == AR_V_DIV || v->kind == AR_V_NONLINEAR)
        return 0;
    uint32_t cell = read_from(a, v->in[0], depth - 1);
    for (uint32_t i = 1; i < v->in_count && cell && v->kind == AR_V_PHI; i++)
        if (read_from(a, v->in[i], depth - 1) != cell)
            cell = 0;
    return cell;
}

uint32_t ar_copied_cell(const ar_analysis *a, uint32_t store) {
    return read_from(a, AR_VN(a->in, store)->in[0], COPY_DEPTH);
}

bool ar_is_copy(const ar_analysis *a, uint32_t store) {
    uint32_t from = ar_copied_cell(a, store);
    return from && from != AR_VN(a->in, store)->cell;
}

bool ar_brings_itself_back(ar_analysis *a, const ar_loop *loop,
                           uint32_t store) {
    uint32_t cell = AR_VN(a->in, store)->cell;
    if (!ar_is_copy(a, store))
        return false;
    ar_ids work = {0};
    ar_marks_begin(a);
    AR_PUSH(a->arena, &work, AR_VN(a->in, store)->in[0]);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        const ar_vnode *v = AR_VN(a->in, id);
        if (id <= AR_NODE_CONST || !ar_mark(a, id))
            continue;
        if (v->cell == cell)
            return true;
        if (v->kind == AR_V_NONLINEAR ||
            (v->kind == AR_V_LOOP && v->at == loop->at &&
             v->context == loop->context) ||
            !ar_inside_loop(a->in, loop, v->context, v->at))
            continue;
        if (v->kind == AR_V_MUL || v->kind == AR_V_DIV) {
            int k = ar_array_factor(a, v);
            if (k >= 0)
                AR_PUSH(a->arena, &work, v->in[k]);
            continue;
        }
        for (uint32_t i = 0; i < v->in_count; i++)
            AR_PUSH(a->arena, &work, v->in[i]);
    }
    return false;
}

bool ar_is_multiplied(ar_analysis *a, const ar_loop *loop, uint32_t head,
                      const bool *updated) {
    ar_ids work = {0};
    ar_marks_begin(a);
    AR_PUSH(a->arena, &work, head);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        for (uint32_t u = a->g.use_start[id]; u < a->g.use_start[id + 1]; u++) {
            uint32_t to = a->g.uses[u];
            const ar_vnode *v = AR_VN(a->in, to);
            if ((v->kind == AR_V_LOOP && v->at == loop->at &&
                 v->context == loop->context) ||
                !ar_inside_loop(a->in, loop, v->context, v->at) ||
                !ar_mark(a, to))
                continue;
            bool mixes = v->kind == AR_V_NONLINEAR ||
                         ((v->kind == AR_V_MUL || v->kind == AR_V_DIV) &&
                          ar_array_factor(a, v) < 0);
            if (mixes)
                return true;
            if (v->kind != AR_V_STORE || !updated[v->cell])
                AR_PUSH(a->arena, &work, to);
        }
    }
    return false;
}

/* Is the stored value no more than a sum of arrays, each times a number? */
static bool is_weighted_sum(ar_analysis *a, uint32_t store) {
    ar_ids work = {0};
    ar_marks_begin(a);
    AR_PUSH(a->arena, &work, AR_VN(a->in, store)->in[0]);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        const ar_vnode *v = AR_VN(a->in, id);
        if (!ar_mark(a, id) || (v->cell && ar_is_array(a, v->cell)))
            continue;
        if (v->kind == AR_V_NONLINEAR ||
            ((v->kind == AR_V_MUL || v->kind == AR_V_DIV) &&
             ar_array_factor(a, v) < 0))
            return false;
        for (uint32_t i = 0; i < v->in_count; i++)
            AR_PUSH(a->arena, &work, v->in[i]);
    }
    return true;
}

bool ar_only_adds(ar_analysis *a, const ar_step_region *r, ar_node *statement) {
    for (uint32_t i = 1; i < a->g.count; i++) {
        const ar_vnode *v = AR_VN(a->in, i);
        if (!a->g.live[i] || v->kind != AR_V_STORE || !ar_is_array(a, v->cell))
            continue;
        ar_node *here = ar_lift(a->in, v->context, v->at, r->context);
        if (here && ar_is_ancestor(a->in, r->context, statement, here) &&
            !is_weighted_sum(a, i))
            return false;
    }
    return true;
}
