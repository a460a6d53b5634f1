/* Sizes and rows: what is known of integers whose value is not.
 *
 * An integer that is stored to a variable gets a symbol. Products of them, and
 * sums of like products, are *extents*: a number times a product of symbols,
 * `4 * B * T * C`. An address that follows one loop in steps of an extent names
 * a *row*: `a + l * (4 * B * T * C)` in the loop over l. What is added to it
 * and is smaller than the step by the look of it (`2 * B * T * C`) stays in
 * the row; a multiple of the step leads to another row; after anything else
 * nothing is known of rows. Sizes are taken to be 1 or more.
 *
 * A symbol says the same of a value only outside the loops in which it is made
 * anew: it carries their depth. */
#include "core/interp.h"

/* A product of symbols: one of them, the largest, and the rest. */
typedef struct monomial {
    uint32_t symbol, rest; /* rest 0: no more */
    uint32_t depth;        /* loops around the youngest of its symbols */
} monomial;

typedef struct extent {
    int64_t count;
    uint32_t monomial; /* 0: a plain number */
} extent;

struct ar_rows {
    AR_VEC(monomial) monomials; /* [0] unused, as below */
    AR_VEC(extent) extents;
    AR_VEC(ar_row) rows;
    AR_VEC(uint32_t) symbol_depths;
    ar_idtable monomial_ids, extent_ids, symbol_ids, row_ids;
};

static ar_rows *rows_of(ar_interp *in) {
    if (in->rows)
        return in->rows;
    ar_rows *r = in->rows = AR_NEW(in->arena, ar_rows);
    ar_idtable *tables[] = {&r->monomial_ids, &r->extent_ids, &r->symbol_ids,
                            &r->row_ids};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        tables[i]->arena = in->arena;
    AR_PUSH(in->arena, &r->monomials, (monomial){0});
    AR_PUSH(in->arena, &r->extents, (extent){0});
    AR_PUSH(in->arena, &r->rows, (ar_row){0});
    AR_PUSH(in->arena, &r->symbol_depths, 0);
    return r;
}

/* ---- extents ------------------------------------------------------------- */

static uint32_t monomial_of(ar_interp *in, uint32_t symbol, uint32_t rest) {
    ar_rows *r = rows_of(in);
    uint32_t id = ar_idtable_get(&r->monomial_ids, symbol, rest);
    if (id)
        return id;
    monomial m = {symbol, rest, r->symbol_depths.data[symbol]};
    if (rest && r->monomials.data[rest].depth > m.depth)
        m.depth = r->monomials.data[rest].depth;
    AR_PUSH(in->arena, &r->monomials, m);
    id = r->monomials.count - 1;
    ar_idtable_put(&r->monomial_ids, symbol, rest, id);
    return id;
}

static uint32_t monomial_product(ar_interp *in, uint32_t a, uint32_t b) {
    if (!a || !b)
        return a | b;
    monomial x = rows_of(in)->monomials.data[a];
    monomial y = rows_of(in)->monomials.data[b];
    return x.symbol >= y.symbol
               ? monomial_of(in, x.symbol, monomial_product(in, x.rest, b))
               : monomial_of(in, y.symbol, monomial_product(in, a, y.rest));
}

/* Is every symbol of a in b as well? */
static bool divides(ar_interp *in, uint32_t a, uint32_t b) {
    const monomial *m = rows_of(in)->monomials.data;
    while (a && b) {
        if (m[a].symbol > m[b].symbol)
            return false;
        if (m[a].symbol == m[b].symbol)
            a = m[a].rest;
        b = m[b].rest;
    }
    return !a;
}

static uint32_t extent_of(ar_interp *in, int64_t count, uint32_t product) {
    const int64_t limit = (int64_t)1 << 40;
    if (count < 1 || count > limit)
        return 0;
    ar_rows *r = rows_of(in);
    uint32_t id = ar_idtable_get(&r->extent_ids, (uint64_t)count, product);
    if (id)
        return id;
    AR_PUSH(in->arena, &r->extents, (extent){count, product});
    id = r->extents.count - 1;
    ar_idtable_put(&r->extent_ids, (uint64_t)count, product, id);
    return id;
}

static extent get(ar_interp *in, uint32_t id) {
    return rows_of(in)->extents.data[id];
}

static uint32_t extent_in(ar_interp *in, const ar_value *v) {
    return v->is_number ? extent_of(in, v->number, 0) : v->extent;
}

static uint32_t extent_product(ar_interp *in, uint32_t a, uint32_t b) {
    if (!a || !b)
        return 0;
    extent x = get(in, a), y = get(in, b);
    if (x.count > INT32_MAX || y.count > INT32_MAX)
        return 0;
    return extent_of(in, x.count * y.count,
                     monomial_product(in, x.monomial, y.monomial));
}

static uint32_t extent_sum(ar_interp *in, uint32_t a, uint32_t b, int sign) {
    if (!a || !b)
        return 0;
    extent x = get(in, a), y = get(in, b);
    return x.monomial == y.monomial
               ? extent_of(in, x.count + sign * y.count, x.monomial)
               : 0;
}

static bool is_made_within(ar_interp *in, uint32_t id, uint32_t loop) {
    uint32_t product = get(in, id).monomial;
    return product && rows_of(in)->monomials.data[product].depth > loop;
}

bool ar_is_size(const ar_value *v) {
    return !v->targets && !v->node && !v->is_number && !v->is_undefined &&
           !v->offset_tags;
}

uint32_t ar_new_extent(ar_interp *in, const ar_node *at, uint32_t cell) {
    ar_rows *r = rows_of(in);
    uint64_t b = (uint64_t)in->frame->context->id << 32 | cell;
    uint32_t symbol = ar_idtable_get(&r->symbol_ids, ar_key(at), b);
    if (!symbol) {
        AR_PUSH(in->arena, &r->symbol_depths, in->active.count);
        symbol = r->symbol_depths.count - 1;
        ar_idtable_put(&r->symbol_ids, ar_key(at), b, symbol);
    }
    return extent_of(in, 1, monomial_of(in, symbol, 0));
}

/* ---- rows ---------------------------------------------------------------- */

static uint32_t row_of(ar_interp *in, ar_row row) {
    if (!row.stride || is_made_within(in, row.stride, row.loop) ||
        (row.inside && is_made_within(in, row.inside, row.loop)))
        return 0;
    ar_rows *r = rows_of(in);
    uint64_t a = (uint64_t)row.stride << 32 | row.inside;
    uint64_t b = (uint64_t)row.shift << 8 | row.loop;
    uint32_t id = ar_idtable_get(&r->row_ids, a, b);
    if (id)
        return id;
    AR_PUSH(in->arena, &r->rows, row);
    id = r->rows.count - 1;
    ar_idtable_put(&r->row_ids, a, b, id);
    return id;
}

ar_row ar_row_at(ar_interp *in, uint32_t id) {
    return rows_of(in)->rows.data[id];
}

uint32_t ar_loop_row(ar_interp *in, uint32_t depth) {
    return depth < 64 ? row_of(in, (ar_row){depth, extent_of(in, 1, 0), 0, 0})
                      : 0;
}

uint32_t ar_row_start(ar_interp *in, uint32_t id) {
    ar_row row = ar_row_at(in, id);
    row.inside = 0;
    return id ? row_of(in, row) : 0;
}

static uint32_t scale_row(ar_interp *in, uint32_t id, uint32_t by) {
    ar_row row = ar_row_at(in, id);
    if (!id || !by)
        return 0;
    row.stride = extent_product(in, row.stride, by);
    if (row.inside && !(row.inside = extent_product(in, row.inside, by)))
        return 0;
    return row_of(in, row);
}

static bool is_smaller(ar_interp *in, uint32_t a, uint32_t b) {
    extent x = get(in, a), y = get(in, b);
    return divides(in, x.monomial, y.monomial) &&
           (x.count < y.count ||
            (x.count == y.count && x.monomial != y.monomial));
}

/* What is not less than both together. */
static uint32_t bound_of(ar_interp *in, uint32_t a, uint32_t b) {
    extent x = get(in, a), y = get(in, b);
    if (divides(in, x.monomial, y.monomial))
        return extent_of(in, x.count + y.count, y.monomial);
    return divides(in, y.monomial, x.monomial)
               ? extent_of(in, x.count + y.count, x.monomial)
               : 0;
}

static uint32_t move_row(ar_interp *in, uint32_t id, const ar_value *by,
                         int sign) {
    ar_row row = ar_row_at(in, id);
    if (!id || (by->is_number && !by->number))
        return id;
    extent step = get(in, row.stride);
    if (by->is_number && step.count == 1 && !step.monomial) {
        row.shift += sign * by->number;
        return row_of(in, row);
    }
    uint32_t add = extent_in(in, by);
    if (!add)
        return 0;
    extent x = get(in, add);
    if (x.monomial == step.monomial && x.count % step.count == 0) {
        row.shift += sign * (x.count / step.count);
        return row_of(in, row);
    }
    if (sign < 0)
        return 0;
    row.inside = row.inside ? bound_of(in, row.inside, add) : add;
    return row.inside && is_smaller(in, row.inside, row.stride)
               ? row_of(in, row)
               : 0;
}

/* Is it an index of loops within `loop` that stays in the row? What comes of
 * the threads of a kernel has shifts that only tell it apart. */
static bool is_inner(const ar_interp *in, const ar_value *v, uint32_t loop) {
    uint64_t inner = ~(((uint64_t)2 << loop) - 1);
    bool of_threads = !(v->offset_tags & ~(in->block_bit | in->thread_bit));
    return v->offset_tags && !(v->offset_tags & ~inner) && !v->is_partial &&
           !v->targets && (v->shift >= 0 || of_threads);
}

static uint32_t add_index(ar_interp *in, const ar_value *a, const ar_value *b) {
    if (a->row && is_inner(in, b, ar_row_at(in, a->row).loop))
        return a->row;
    if (b->row && is_inner(in, a, ar_row_at(in, b->row).loop))
        return b->row;
    /* a pointer to the start, or a known number of elements from it */
    if (a->offset_tags || a->pointer_tags || a->is_partial)
        return 0;
    ar_value from_start = ar_number(a->shift);
    return move_row(in, b->row, &from_start, 1);
}

void ar_size_arith(ar_interp *in, ar_op op, const ar_value *a,
                   const ar_value *b, ar_value *v) {
    v->extent = v->row = 0;
    if (v->is_number || (op != AR_OP_ADD && op != AR_OP_SUB && op != AR_OP_MUL))
        return;
    int sign = op == AR_OP_SUB ? -1 : 1;
    bool a_plain = !a->offset_tags && !a->targets;
    bool b_plain = !b->offset_tags && !b->targets;
    uint32_t x = extent_in(in, a), y = extent_in(in, b);
    if (a_plain && b_plain)
        v->extent = op == AR_OP_MUL ? extent_product(in, x, y)
                                    : extent_sum(in, x, y, sign);
    else if (op == AR_OP_MUL)
        v->row = a_plain   ? scale_row(in, b->row, x)
                 : b_plain ? scale_row(in, a->row, y)
                           : 0;
    else if (b_plain && a->row)
        v->row = move_row(in, a->row, b, sign);
    else if (a_plain && b->row && !a->targets)
        v->row = sign > 0 ? move_row(in, b->row, a, 1) : 0;
    else if (sign > 0)
        v->row = add_index(in, a, b);
}

/* Of what a loop leaves, nothing may name what it makes anew. */
void ar_forget_sizes(ar_interp *in, uint32_t loop, ar_value *v) {
    if (v->extent && is_made_within(in, v->extent, loop))
        v->extent = 0;
    if (v->row && ar_row_at(in, v->row).loop == loop)
        v->row = 0;
}
