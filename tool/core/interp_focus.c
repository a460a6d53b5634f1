/* The element that a loop is at.
 *
 * `err[l]` of a table of buffers is one cell for all l. A loop that also
 * touches err[l + 1] keeps its stores to err[l] from replacing the cell. Still,
 * what an iteration reads from err[l] after it wrote err[l] is what it wrote:
 * the cell then has a value that is known for this one element (the focus) and
 * one for the rest.
 *
 * That two accesses mean the same element must be sure, not likely. Integers
 * carry a symbol: the value that a variable has at the head of the current
 * iteration, plus a constant. A pointer's symbol says from where it was loaded,
 * in such terms. Tables of pointers must not have changed since the iterations
 * began; symbols do not outlive an iteration. */
#include "core/interp.h"

enum { SYMBOL_VARIABLE = 1, SYMBOL_PLUS, SYMBOL_LOAD };

static uint32_t symbol(ar_interp *in, uint32_t kind, uint32_t x, uint64_t y) {
    uint64_t a = (uint64_t)kind << 32 | x;
    uint32_t id = ar_idtable_get(&in->symbols, a, y);
    if (!id) {
        id = in->symbols.count + 1;
        ar_idtable_put(&in->symbols, a, y, id);
    }
    return id;
}

uint32_t ar_symbol_of_variable(ar_interp *in, const ar_loop *loop,
                               const ar_decl *decl) {
    return symbol(in, SYMBOL_VARIABLE, loop->id, decl->id);
}

uint32_t ar_symbol_plus(ar_interp *in, uint32_t x, int64_t n) {
    return x && n ? symbol(in, SYMBOL_PLUS, x, (uint64_t)n) : x;
}

/* The one place that the address means is known, but for its symbols. */
static bool is_exact(const ar_interp *in, const ar_value *address) {
    const ar_targets *set = ar_memory_targets(in->m, address->targets);
    if (address->offset_tags ? !address->symbol : address->is_partial)
        return false;
    for (uint32_t i = 0; i < set->count && !address->symbol; i++)
        if (set->data[i].index == AR_ANY_INDEX)
            return false;
    if (address->pointer_tags || address->pointer_symbol)
        return address->pointer_symbol != 0;
    return set->count == 1 &&
           !ar_object_of(in->m, set->data[0].cell)->is_summary;
}

uint32_t ar_symbol_of_load(ar_interp *in, const ar_value *address,
                           const ar_value *loaded) {
    if (!is_exact(in, address))
        return 0;
    if (!(address->offset_tags | address->pointer_tags))
        return loaded->pointer_symbol;
    uint64_t where = (uint64_t)address->symbol << 32 | address->pointer_symbol;
    return symbol(in, SYMBOL_LOAD, address->targets, where);
}

/* ---- the focus ----------------------------------------------------------- */

/* Has nothing happened since the node was made, and since the iterations that
 * the address follows began, that could make its symbol mean something else? */
static bool is_current(const ar_interp *in, const ar_value *address,
                       uint32_t stamp) {
    uint64_t tags = address->pointer_tags;
    if (!address->pointer_symbol || !tags)
        return false;
    for (uint32_t d = 0; d < 64; d++) {
        if (!(tags >> d & 1))
            continue;
        if (d >= in->active.count)
            return false;
        uint32_t began = in->active.data[d].loop->stamp;
        if (began > stamp || in->tables_changed > began)
            return false;
    }
    return true;
}

const ar_focus *ar_focus_at(const ar_interp *in, uint32_t node,
                            const ar_value *address) {
    uint32_t id = ar_idtable_get(&in->focus_ids, node, 0);
    if (!id)
        return NULL;
    const ar_focus *f = &in->focuses.data[id - 1];
    bool valid = f->stamp == AR_VN(in, node)->stamp &&
                 f->symbol == address->pointer_symbol &&
                 is_current(in, address, f->stamp);
    return valid ? f : NULL;
}

bool ar_can_focus(const ar_interp *in, const ar_node *at,
                  const ar_value *address) {
    /* a call that may be one of several is where paths meet */
    if (at->kind == AR_CALL && !ar_direct_callee(at->kids[0]))
        return false;
    return is_current(in, address, UINT32_MAX);
}

uint32_t ar_focus_on(ar_interp *in, ar_node *at, uint32_t cell,
                     const ar_value *address, uint32_t fresh, uint32_t rest) {
    uint32_t node = fresh;
    if (rest != AR_NODE_UNDEFINED)
        node =
            ar_graph_node(in, AR_V_PHI, at, cell, (uint32_t[]){fresh, rest}, 2);
    uint32_t id = ar_idtable_get(&in->focus_ids, node, 0);
    if (!id) {
        AR_PUSH(in->arena, &in->focuses, (ar_focus){0});
        id = in->focuses.count;
        ar_idtable_put(&in->focus_ids, node, 0, id);
    }
    in->focuses.data[id - 1] = (ar_focus){fresh, rest, address->pointer_symbol,
                                          AR_VN(in, node)->stamp};
    return node;
}
