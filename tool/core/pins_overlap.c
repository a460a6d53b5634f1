#include "core/pins_accumulate.h"

#include <stdlib.h>

/* Does an index name a different element in every iteration? The address is
 * written as a polynomial over variables, with locals replaced by what they
 * were computed from. Loop variables must be nested like digits: the factor of
 * one is the factor of another times its number of iterations, down to one
 * innermost variable. Anything else may overlap, as x[i * stride + k] does. */

enum { MAX_FACTORS = 8, MAX_TERMS = 48, MAX_VARIABLES = 12, MAX_DEPTH = 12 };

typedef struct term {
    int64_t number;
    uint64_t factors[MAX_FACTORS]; /* sorted */
    uint32_t count;
} term;

typedef struct poly {
    term terms[MAX_TERMS];
    uint32_t count;
    bool is_opaque; /* too large, or a loop variable inside / or % */
} poly;

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool same_factors(const term *a, const term *b) {
    return a->count == b->count &&
           memcmp(a->factors, b->factors, a->count * sizeof *a->factors) == 0;
}

static void add_term(poly *p, const term *t, int64_t sign) {
    for (uint32_t i = 0; i < p->count; i++)
        if (same_factors(&p->terms[i], t)) {
            p->terms[i].number += sign * t->number;
            if (!p->terms[i].number)
                p->terms[i] = p->terms[--p->count];
            return;
        }
    if (p->count == MAX_TERMS) {
        p->is_opaque = true;
        return;
    }
    p->terms[p->count] = *t;
    p->terms[p->count++].number *= sign;
}

static void add(poly *to, const poly *p, int64_t sign) {
    to->is_opaque |= p->is_opaque;
    for (uint32_t i = 0; i < p->count; i++)
        add_term(to, &p->terms[i], sign);
}

static void multiply(poly *to, const poly *a, const poly *b) {
    to->is_opaque = a->is_opaque || b->is_opaque;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++) {
            const term *x = &a->terms[i], *y = &b->terms[j];
            term t = {.number = x->number * y->number};
            if (x->count + y->count > MAX_FACTORS) {
                to->is_opaque = true;
                continue;
            }
            for (uint32_t k = 0; k < x->count; k++)
                t.factors[t.count++] = x->factors[k];
            for (uint32_t k = 0; k < y->count; k++)
                t.factors[t.count++] = y->factors[k];
            if (t.count)
                qsort(t.factors, t.count, sizeof *t.factors, compare_keys);
            add_term(to, &t, 1);
        }
}

static bool equal(const poly *a, const poly *b) {
    poly difference = *a;
    add(&difference, b, -1);
    return !difference.is_opaque && !difference.count;
}

static const ar_assignment *assigned(const ar_accumulation *a,
                                     const ar_loop *loop, uint64_t key) {
    (void)a;
    const ar_assignment *set = NULL;
    for (; loop && !set; loop = loop->outer)
        set = ar_map_get(&loop->assigned, key);
    return set;
}

static bool mentions_moved(const ar_accumulation *a, const ar_loop *loop,
                           ar_node *node) {
    node = ar_skip_casts(node);
    if (!node)
        return false;
    uint64_t key = ar_variable_key(a, node);
    if (key)
        return assigned(a, loop, key) != NULL;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (mentions_moved(a, loop, node->kids[i]))
            return true;
    return false;
}

static void expand(const ar_accumulation *a, const ar_loop *loop, ar_node *node,
                   int depth, poly *out);

static void binary(const ar_accumulation *a, const ar_loop *loop, ar_node *node,
                   int depth, poly *out) {
    poly sides[2] = {0};
    expand(a, loop, node->kids[0], depth + 1, &sides[0]);
    expand(a, loop, node->kids[1], depth + 1, &sides[1]);
    if (node->op == AR_OP_MUL) {
        multiply(out, &sides[0], &sides[1]);
    } else {
        add(out, &sides[0], 1);
        add(out, &sides[1], node->op == AR_OP_SUB ? -1 : 1);
    }
}

/* Something the polynomial cannot look into: one factor of its own. */
static void atom(const ar_accumulation *a, const ar_loop *loop, ar_node *node,
                 poly *out) {
    /* Pointers from a table are taken to be different rows. */
    bool is_pointer = node->type && node->type->kind == AR_TYPE_POINTER;
    out->is_opaque |= !is_pointer && mentions_moved(a, loop, node);
    term t = {.number = 1, .factors = {ar_key(node)}, .count = 1};
    if (node->kind == AR_MEMBER && node->decl)
        t.factors[0] = ar_key(node->decl);
    add_term(out, &t, 1);
}

static bool is_number(const ar_node *node, int64_t *number) {
    bool is_enumerator = node->kind == AR_REF && node->decl &&
                         node->decl->kind == AR_DECL_ENUMERATOR;
    *number = is_enumerator ? node->decl->value : node->int_value;
    return is_enumerator || node->kind == AR_INT_LIT;
}

static void expand(const ar_accumulation *a, const ar_loop *loop, ar_node *node,
                   int depth, poly *out) {
    node = ar_skip_casts(node);
    if (!node || depth > MAX_DEPTH) {
        out->is_opaque = true;
        return;
    }
    uint64_t key = ar_variable_key(a, node);
    if (key) {
        const ar_assignment *set = assigned(a, loop, key);
        if (set && set->value) {
            expand(a, loop, set->value, depth + 1, out);
            return;
        }
        term t = {.number = 1, .factors = {key}, .count = 1};
        add_term(out, &t, 1);
        return;
    }
    int64_t number;
    if (is_number(node, &number)) {
        term t = {.number = number};
        if (number)
            add_term(out, &t, 1);
        return;
    }
    if (node->kind == AR_BINARY &&
        (node->op == AR_OP_ADD || node->op == AR_OP_SUB ||
         node->op == AR_OP_MUL)) {
        binary(a, loop, node, depth, out);
        return;
    }
    if (node->kind == AR_ADDRESS && node->kid_count &&
        ar_skip_casts(node->kids[0])->kind == AR_INDEX) {
        ar_node *element = ar_skip_casts(node->kids[0]);
        expand(a, loop, element->kids[0], depth + 1, out);
        expand(a, loop, element->kids[1], depth + 1, out);
        return;
    }
    atom(a, loop, node, out);
}

/* The factor of a variable in the address; false: not linear in it. */
static bool factor_of(const poly *p, uint64_t key, poly *out) {
    for (uint32_t i = 0; i < p->count; i++) {
        const term *t = &p->terms[i];
        uint32_t powers = 0;
        term rest = {.number = t->number};
        for (uint32_t k = 0; k < t->count; k++) {
            if (t->factors[k] == key)
                powers++;
            else
                rest.factors[rest.count++] = t->factors[k];
        }
        if (powers > 1)
            return false;
        if (powers)
            add_term(out, &rest, 1);
    }
    return true;
}

typedef struct digit {
    uint64_t key;
    poly factor, extent;
    bool has_extent;
} digit;

/* for (i = 0; i < n; i++): n. */
static void find_extent(const ar_accumulation *a, const ar_loop *loop,
                        digit *d) {
    for (; loop; loop = loop->outer) {
        ar_node *cond = loop->node->kind == AR_FOR
                            ? ar_skip_casts(loop->node->kids[1])
                            : NULL;
        if (!cond || cond->kind != AR_BINARY || cond->op != AR_OP_LT ||
            ar_variable_key(a, ar_skip_casts(cond->kids[0])) != d->key)
            continue;
        expand(a, loop->outer, cond->kids[1], 0, &d->extent);
        d->has_extent = !d->extent.is_opaque;
        return;
    }
}

static uint32_t find_digits(const ar_accumulation *a, ar_loop *loop,
                            const poly *address, digit *digits) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < address->count; i++)
        for (uint32_t k = 0; k < address->terms[i].count; k++) {
            uint64_t key = address->terms[i].factors[k];
            bool is_known = false;
            for (uint32_t d = 0; d < count; d++)
                is_known |= digits[d].key == key;
            if (is_known || !assigned(a, loop, key))
                continue;
            if (count == MAX_VARIABLES)
                return MAX_VARIABLES + 1;
            digits[count].key = key;
            find_extent(a, loop, &digits[count]);
            count++;
        }
    return count;
}

static bool rests_on(const digit *digits, uint32_t count, uint32_t which) {
    for (uint32_t i = 0; i < count; i++) {
        if (i == which || !digits[i].has_extent)
            continue;
        poly whole = {0};
        multiply(&whole, &digits[i].factor, &digits[i].extent);
        if (equal(&whole, &digits[which].factor))
            return true;
    }
    return false;
}

/* Do two iterations lead to one value of the sum of these? */
static bool meets(const ar_accumulation *a, ar_loop *loop, ar_node **parts,
                  uint32_t part_count) {
    poly address = {0};
    digit digits[MAX_VARIABLES] = {0};
    for (uint32_t i = 0; i < part_count; i++)
        expand(a, loop, parts[i], 0, &address);
    uint32_t count = find_digits(a, loop, &address, digits);
    bool overlaps = address.is_opaque || count > MAX_VARIABLES;
    uint32_t loose = 0;
    for (uint32_t i = 0; i < count && !overlaps; i++)
        overlaps |= !factor_of(&address, digits[i].key, &digits[i].factor);
    for (uint32_t i = 0; i < count && !overlaps; i++)
        loose += !rests_on(digits, count, i);
    return overlaps || loose > 1;
}

/* An index of an array stays within it, so that those of a[i][j] or s[i].a[j]
 * are judged one by one. */
bool ar_index_overlaps(const ar_accumulation *a, ar_loop *loop,
                       ar_node *target) {
    target = ar_skip_casts(target);
    while (target && (target->kind == AR_INDEX ||
                      (target->kind == AR_MEMBER && !target->is_arrow))) {
        ar_node *base = ar_skip_casts(target->kids[0]);
        bool is_inside = target->kind == AR_MEMBER ||
                         (ar_is_kind(base->type, AR_TYPE_ARRAY) &&
                          (base->kind == AR_INDEX || base->kind == AR_MEMBER));
        if (!is_inside)
            break;
        if (target->kind == AR_INDEX && meets(a, loop, &target->kids[1], 1))
            return true;
        target = base;
    }
    if (!target || (target->kind != AR_INDEX && target->kind != AR_DEREF &&
                    target->kind != AR_MEMBER))
        return false;
    return meets(a, loop, target->kids, target->kid_count);
}
