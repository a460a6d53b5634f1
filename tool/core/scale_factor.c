/* Of two factors that could both carry the scale: which is the gradient.
 *
 * It depends on parameters, and on more than copies of them. Where that holds
 * for both (a gradient and an activation), the gradient is the one that was
 * made from what the other was made from, and from more. */
#include "core/scale_analysis.h"

static bool is_iteration_head(const ar_analysis *a, const ar_vnode *v) {
    return v->kind == AR_V_LOOP && v->at == a->loop->at &&
           v->context == a->loop->context;
}

/* Marks all that the value was made from in this iteration. */
static void mark_sources(ar_analysis *a, uint32_t node) {
    ar_ids work = {0};
    ar_marks_begin(a);
    AR_PUSH(a->arena, &work, node);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        const ar_vnode *v = AR_VN(a->in, id);
        if (!ar_mark(a, id) || is_iteration_head(a, v))
            continue;
        for (uint32_t i = 0; i < v->in_count; i++)
            AR_PUSH(a->arena, &work, v->in[i]);
    }
}

typedef struct step_back {
    uint32_t node;
    bool is_source; /* behind what made the value */
} step_back;

/* Is all that x was made from marked? What x itself was stored by is not. */
static bool is_made_of_marked(ar_analysis *a, uint32_t x) {
    AR_VEC(step_back) work = {0};
    ar_idtable seen = {.arena = a->arena};
    AR_PUSH(a->arena, &work, (step_back){x, false});
    while (work.count) {
        step_back s = work.data[--work.count];
        const ar_vnode *v = AR_VN(a->in, s.node);
        if (s.node <= AR_NODE_CONST || is_iteration_head(a, v) ||
            ar_idtable_get(&seen, s.node, s.is_source))
            continue;
        ar_idtable_put(&seen, s.node, s.is_source, 1);
        bool makes = v->kind == AR_V_STORE && ar_is_array(a, v->cell) &&
                     !ar_is_copy(a, s.node);
        if (makes && s.is_source) {
            if (!ar_marked(a, s.node))
                return false;
            continue;
        }
        for (uint32_t i = 0; i < v->in_count; i++)
            AR_PUSH(a->arena, &work,
                    (step_back){v->in[i], s.is_source || makes});
    }
    return true;
}

static bool is_made_before(ar_analysis *a, uint32_t x, uint32_t y) {
    mark_sources(a, y);
    return is_made_of_marked(a, x);
}

static uint32_t latest_memory(ar_analysis *a, uint32_t node) {
    ar_ids work = {0};
    uint32_t latest = 0;
    ar_marks_begin(a);
    AR_PUSH(a->arena, &work, node);
    while (work.count) {
        uint32_t id = work.data[--work.count];
        if (!ar_mark(a, id))
            continue;
        const ar_vnode *v = AR_VN(a->in, id);
        if (v->cell && ar_is_array(a, v->cell)) {
            if (v->stamp > latest && v->kind == AR_V_STORE)
                latest = v->stamp;
            if (v->kind == AR_V_STORE)
                continue;
        }
        if (v->kind == AR_V_LOOP && v->at == a->loop->at &&
            v->context == a->loop->context)
            continue;
        for (uint32_t i = 0; i < v->in_count; i++)
            AR_PUSH(a->arena, &work, v->in[i]);
    }
    return latest;
}

int ar_choose_factor(ar_analysis *a, uint32_t x, uint32_t y) {
    if (a->gradlike[x] != a->gradlike[y])
        return a->gradlike[x] ? 0 : 1;
    if (a->depends[x] != a->depends[y])
        return a->depends[x] ? 0 : 1;
    uint32_t known = ar_idtable_get(&a->factors, x, y);
    if (known)
        return (int)known - 1;
    bool x_first = is_made_before(a, x, y), y_first = is_made_before(a, y, x);
    int k = latest_memory(a, x) >= latest_memory(a, y) ? 0 : 1;
    if (x_first != y_first)
        k = x_first ? 1 : 0;
    ar_idtable_put(&a->factors, x, y, (uint32_t)k + 1);
    return k;
}
