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
        AR_PUSH(in->arena, &in->symbol_list, ((ar_symbol){kind, x, y}));
        id = in->symbol_list.count;
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

void ar_table_changed(ar_interp *in, uint32_t slot) {
    if (ar_object_of(in->m, slot)->is_table)
        in->tables_changed = ++in->clock;
}

static uint32_t symbol_of_field(ar_interp *in, const ar_value *record,
                                uint32_t fields, const ar_value *loaded) {
    if (!is_exact(in, record))
        return 0;
    if (!(record->offset_tags | record->pointer_tags))
        return loaded->pointer_symbol;
    const ar_targets *set = ar_memory_targets(in->m, fields);
    for (uint32_t i = 0; i < set->count; i++)
        ar_object_of(in->m, set->data[i].cell)->is_table = true;
    uint64_t where = (uint64_t)record->symbol << 32 | record->pointer_symbol;
    return symbol(in, SYMBOL_LOAD, fields, where);
}

uint32_t ar_symbol_of_load(ar_interp *in, const ar_value *address,
                           const ar_value *loaded) {
    return symbol_of_field(in, address, address->targets, loaded);
}

void ar_name_pointer(ar_interp *in, const ar_value *record, uint32_t fields,
                     ar_value *v) {
    v->pointer_symbol = v->targets ? symbol_of_field(in, record, fields, v) : 0;
    const ar_targets *set = ar_memory_targets(in->m, v->targets);
    bool at_start = v->pointer_symbol && !v->offset_tags;
    for (uint32_t i = 0; i < set->count; i++)
        at_start &= set->data[i].index == 0;
    /* what is not known is the element of a table that it came from once */
    if (at_start)
        v->is_partial = false;
}

/* ---- the focus ----------------------------------------------------------- */

/* Has nothing happened since the node was made, and since the iterations that
 * the symbol follows began, that could make it mean something else? */
static bool is_current(const ar_interp *in, uint64_t tags, uint32_t stamp) {
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

static const ar_focus *focus_of(const ar_interp *in, uint32_t node) {
    uint32_t id = ar_idtable_get(&in->focus_ids, node, 0);
    if (!id)
        return NULL;
    const ar_focus *f = &in->focuses.data[id - 1];
    bool valid =
        f->stamp == AR_VN(in, node)->stamp && is_current(in, f->tags, f->stamp);
    return valid ? f : NULL;
}

bool ar_is_focused(const ar_interp *in, uint32_t node) {
    return focus_of(in, node) != NULL;
}

const ar_focus *ar_focus_at(const ar_interp *in, uint32_t node,
                            const ar_value *address) {
    const ar_focus *f = focus_of(in, node);
    return f && f->symbol == address->pointer_symbol ? f : NULL;
}

bool ar_can_focus(const ar_interp *in, const ar_node *at,
                  const ar_value *address) {
    /* a call that may be one of several is where paths meet */
    if (at->kind == AR_CALL && !ar_direct_callee(at->kids[0]))
        return false;
    return address->pointer_symbol && address->pointer_tags &&
           is_current(in, address->pointer_tags, UINT32_MAX);
}

/* ---- slots of a table ---------------------------------------------------- */

static const ar_symbol *symbol_at(const ar_interp *in, uint32_t id) {
    return &in->symbol_list.data[id - 1];
}

/* The variable of an index, without the constant that was added. */
static uint32_t without_sum(const ar_interp *in, uint32_t id) {
    while (id && symbol_at(in, id)->kind == SYMBOL_PLUS)
        id = symbol_at(in, id)->x;
    return id;
}

/* The same field of the records of one table? */
static bool same_field(const ar_interp *in, uint32_t a, uint32_t b) {
    const ar_targets *s = ar_memory_targets(in->m, a);
    const ar_targets *t = ar_memory_targets(in->m, b);
    if (!s->count || !t->count)
        return false;
    const ar_mem_cell *x = &in->m->cells.data[s->data[0].cell];
    for (uint32_t i = 0; i < s->count + t->count; i++) {
        ar_target one = i < s->count ? s->data[i] : t->data[i - s->count];
        const ar_mem_cell *y = &in->m->cells.data[one.cell];
        if (y->object != x->object || y->field != x->field)
            return false;
    }
    return true;
}

/* Pointers out of one table, whose indices are a constant apart? */
static bool are_slots(const ar_interp *in, uint32_t a, uint32_t b) {
    if (!a || !b || a == b)
        return false;
    const ar_symbol *s = symbol_at(in, a), *t = symbol_at(in, b);
    if (s->kind != SYMBOL_LOAD || t->kind != SYMBOL_LOAD ||
        !same_field(in, s->x, t->x))
        return false;
    uint32_t i = (uint32_t)(s->y >> 32), k = (uint32_t)(t->y >> 32);
    uint32_t p = (uint32_t)s->y, q = (uint32_t)t->y;
    if (!i && !k)
        return are_slots(in, p, q);
    return p == q && i && k && i != k &&
           without_sum(in, i) == without_sum(in, k);
}

uint32_t ar_rest_of_slots(ar_interp *in, uint32_t cell, uint32_t node,
                          const ar_value *address) {
    const ar_focus *f = focus_of(in, node);
    if (!f || !are_slots(in, f->symbol, address->pointer_symbol))
        return 0;
    in->meets_slots = true;
    if (!in->disjoint)
        return 0;
    for (uint32_t i = 0; i < in->apart.count; i++)
        if (in->apart.data[i] == cell)
            return f->rest;
    AR_PUSH(in->arena, &in->apart, cell);
    return f->rest;
}

static void remember(ar_interp *in, uint32_t node, ar_focus focus) {
    uint32_t id = ar_idtable_get(&in->focus_ids, node, 0);
    if (!id) {
        AR_PUSH(in->arena, &in->focuses, (ar_focus){0});
        id = in->focuses.count;
        ar_idtable_put(&in->focus_ids, node, 0, id);
    }
    focus.stamp = AR_VN(in, node)->stamp;
    in->focuses.data[id - 1] = focus;
}

/* The node that stands for both parts. */
static uint32_t focused(ar_interp *in, ar_node *at, uint32_t cell,
                        ar_focus focus) {
    uint32_t node = focus.fresh;
    if (focus.rest != AR_NODE_UNDEFINED)
        node = ar_graph_part(in, AR_V_PHI, AR_PART_BOTH, at, cell,
                             (uint32_t[]){focus.fresh, focus.rest}, 2);
    remember(in, node, focus);
    return node;
}

uint32_t ar_focus_on(ar_interp *in, ar_node *at, uint32_t cell,
                     const ar_value *address, uint32_t fresh, uint32_t rest) {
    return focused(in, at, cell,
                   (ar_focus){.fresh = fresh,
                              .rest = rest,
                              .symbol = address->pointer_symbol,
                              .tags = address->pointer_tags});
}

/* ---- values that meet ---------------------------------------------------- */

static bool is_join_at(const ar_interp *in, uint32_t id, const ar_node *at,
                       uint32_t cell, ar_vnode_part part) {
    const ar_vnode *v = AR_VN(in, id);
    return v->kind == AR_V_PHI && v->part == part && v->at == at &&
           v->cell == (cell >> 31 ? 0 : cell) && !v->address &&
           v->path == in->path &&
           v->context == (in->frame ? in->frame->context->id : 0);
}

static uint32_t add_input(ar_interp *in, uint32_t id, uint32_t input) {
    ar_vnode *v = AR_VN(in, id);
    v->stamp = ++in->clock;
    for (uint32_t i = 0; i < v->in_count; i++)
        if (v->in[i] == input)
            return id;
    uint32_t *more = AR_NEW_ARRAY(in->arena, uint32_t, v->in_count + 4);
    memcpy(more, v->in, v->in_count * sizeof *more);
    more[v->in_count++] = input;
    v->in = more;
    v->in_capacity = v->in_count + 3;
    return id;
}

static uint32_t join_part(ar_interp *in, ar_node *at, uint32_t cell,
                          ar_vnode_part part, uint32_t x, uint32_t y) {
    if (x == y || y == AR_NODE_UNDEFINED)
        return x;
    if (x == AR_NODE_UNDEFINED)
        return y;
    /* Many paths that meet in one place are joined two by two. */
    if (is_join_at(in, x, at, cell, part))
        return add_input(in, x, y);
    if (is_join_at(in, y, at, cell, part))
        return add_input(in, y, x);
    return ar_graph_part(in, AR_V_PHI, part, at, cell, (uint32_t[]){x, y}, 2);
}

/* A value that is not known by parts is the same in both. */
static ar_focus in_parts(const ar_focus *f, uint32_t node) {
    return f ? *f : (ar_focus){.fresh = node, .rest = node};
}

uint32_t ar_join_nodes(ar_interp *in, ar_node *at, uint32_t cell, uint32_t x,
                       uint32_t y) {
    const ar_focus *f = cell >> 31 ? NULL : focus_of(in, x);
    const ar_focus *g = cell >> 31 ? NULL : focus_of(in, y);
    if (x == y || x == AR_NODE_UNDEFINED || y == AR_NODE_UNDEFINED ||
        (!f && !g) || (f && g && f->symbol != g->symbol))
        return join_part(in, at, cell, AR_PART_ALL, x, y);
    ar_focus a = in_parts(f, x), b = in_parts(g, y), c = f ? a : b;
    c.fresh = join_part(in, at, cell, AR_PART_FRESH, a.fresh, b.fresh);
    c.rest = join_part(in, at, cell, AR_PART_REST, a.rest, b.rest);
    return focused(in, at, cell, c);
}

static uint32_t head_part(ar_interp *in, const ar_loop *loop, uint32_t cell,
                          ar_vnode_part part, uint32_t before, uint32_t back) {
    return ar_graph_part(in, AR_V_LOOP, part, loop->at, cell,
                         (uint32_t[]){before, back}, 2);
}

uint32_t ar_loop_node(ar_interp *in, const ar_loop *loop, uint32_t cell,
                      uint32_t before, uint32_t back) {
    const ar_focus *f = focus_of(in, before), *g = focus_of(in, back);
    uint64_t bit = loop->depth < 64 ? (uint64_t)1 << loop->depth : 0;
    /* another iteration of this loop is at another element */
    if (g && g->tags & bit)
        g = NULL;
    if ((!f && !g) || (f && g && f->symbol != g->symbol))
        return head_part(in, loop, cell, AR_PART_ALL, before, back);
    ar_focus a = in_parts(f, before), b = in_parts(g, back), c = f ? a : b;
    c.fresh = head_part(in, loop, cell, AR_PART_FRESH, a.fresh, b.fresh);
    c.rest = head_part(in, loop, cell, AR_PART_REST, a.rest, b.rest);
    return focused(in, loop->at, cell, c);
}

uint32_t ar_boundary_node(ar_interp *in, ar_node *at, uint32_t cell,
                          uint32_t node) {
    const ar_focus *f = focus_of(in, node);
    if (!f)
        return ar_graph_node(in, AR_V_BOUNDARY, at, cell, &node, 1);
    ar_focus c = *f;
    c.fresh = ar_graph_part(in, AR_V_BOUNDARY, AR_PART_FRESH, at, cell,
                            (uint32_t[]){f->fresh}, 1);
    AR_VN(in, c.fresh)->address = f->symbol;
    if (f->rest != AR_NODE_UNDEFINED)
        c.rest = ar_graph_part(in, AR_V_BOUNDARY, AR_PART_REST, at, cell,
                               (uint32_t[]){f->rest}, 1);
    return focused(in, at, cell, c);
}

bool ar_is_head(const ar_interp *in, const ar_loop *loop, uint32_t node) {
    const ar_vnode *v = AR_VN(in, node);
    if (v->part == AR_PART_BOTH)
        v = AR_VN(in, v->in[0]);
    return v->kind == AR_V_LOOP && v->at == loop->at;
}

void ar_enter_focus(ar_interp *in, uint32_t node) {
    uint32_t id = ar_idtable_get(&in->focus_ids, node, 0);
    if (!id)
        return;
    ar_focus *f = &in->focuses.data[id - 1];
    ar_vnode *v = AR_VN(in, node);
    if (f->stamp == v->stamp && is_current(in, f->tags, UINT32_MAX))
        f->stamp = v->stamp = ++in->clock;
}
