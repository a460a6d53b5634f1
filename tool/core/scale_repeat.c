/* Writes that happen again: in every iteration of the training loop under the
 * same conditions and at the same addresses.
 *
 * What such writes leave in a buffer is written over in the next iteration,
 * element by element, even where the interpreter cannot see that the buffer is
 * written as a whole: a table of layers whose last is treated apart, a slice
 * of an array per layer. Pointers are taken to be there in each iteration or
 * in none. */
#include "core/scale_analysis.h"

typedef enum change { CHANGE_SET, CHANGE_STEP, CHANGE_UNKNOWN } change;

/* One assignment in the loop: of `value`, or by it, or of what is not known. */
typedef struct assignment {
    const ar_node *value; /* or NULL */
    change how;
} assignment;

/* What is assigned: the variable or field, or what it points to or holds. */
enum { ITSELF = 0, ELEMENTS = 1 };

enum { CONSTANT = 1, VARIES };

typedef AR_VEC(const ar_loop *) walks;

struct ar_repeats {
    ar_analysis *a;
    ar_idtable chain; /* decl -> 1 + its first assignment; then by next */
    AR_VEC(assignment) list;
    AR_VEC(uint32_t) next;
    ar_idtable answers;  /* variable, context; CONSTANT while looked at */
    ar_idtable in_loop;  /* functions that the loop calls */
    ar_idtable verdicts; /* cell -> 1 + bits */
    ar_idtable ahead;    /* cells read where the loop writes only later */
    ar_idtable walks_of; /* cell -> 1 + index in walks */
    AR_VEC(walks *) walks;
};

/* ---- what is assigned in the loop ---------------------------------------- */

static void add(ar_repeats *r, const ar_decl *decl, uint32_t part,
                assignment one) {
    uint32_t first = ar_idtable_get(&r->chain, decl->id + 1ull, part);
    AR_PUSH(r->a->arena, &r->list, one);
    AR_PUSH(r->a->arena, &r->next, first);
    ar_idtable_put(&r->chain, decl->id + 1ull, part, r->list.count);
}

static void add_change(ar_repeats *r, const ar_node *left, assignment one) {
    uint32_t part = ITSELF;
    while (left->kind == AR_INDEX || left->kind == AR_DEREF ||
           left->kind == AR_CAST || left->kind == AR_IMPLICIT) {
        if (left->kind == AR_INDEX || left->kind == AR_DEREF)
            part = ELEMENTS;
        left = left->kids[0];
    }
    if ((left->kind != AR_REF && left->kind != AR_MEMBER) || !left->decl)
        return;
    if (part == ELEMENTS || left->kind == AR_MEMBER)
        one = (assignment){NULL, CHANGE_UNKNOWN};
    add(r, left->decl, part, one);
}

static bool is_in_loop(const ar_repeats *r, const ar_decl *function,
                       const ar_node *node) {
    const ar_analysis *a = r->a;
    if (ar_idtable_get(&r->in_loop, function->id + 1ull, 0))
        return true;
    uint32_t own = a->loop->context;
    return function->id == a->in->contexts.data[own]->function->id &&
           ar_is_ancestor(a->in, own, a->loop->at, node);
}

static void note_assignment(void *context, ar_unit *unit, ar_decl *function,
                            ar_node *node) {
    ar_repeats *r = context;
    (void)unit;
    if (!function || !is_in_loop(r, function, node))
        return;
    switch ((int)node->kind) {
    case AR_ASSIGN:
        add_change(r, node->kids[0], (assignment){node->kids[1], CHANGE_SET});
        return;
    case AR_COMPOUND_ASSIGN:
        add_change(r, node->kids[0], (assignment){node->kids[1], CHANGE_STEP});
        return;
    case AR_UNARY:
        if (node->op >= AR_OP_PRE_INC)
            add_change(r, node->kids[0], (assignment){NULL, CHANGE_STEP});
        return;
    case AR_ADDRESS:
        if (node->kids[0]->type && node->kids[0]->type->kind == AR_TYPE_INT)
            add_change(r, node->kids[0], (assignment){NULL, CHANGE_UNKNOWN});
        return;
    case AR_DECL_STMT:
        for (uint32_t i = 0; i < node->decl_count; i++)
            if (node->decls[i]->init)
                add(r, node->decls[i], ITSELF,
                    (assignment){node->decls[i]->init, CHANGE_SET});
        return;
    default:
        return;
    }
}

ar_repeats *ar_repeats_new(ar_analysis *a) {
    ar_repeats *r = AR_NEW(a->arena, ar_repeats);
    r->a = a;
    r->chain.arena = r->answers.arena = r->in_loop.arena = r->verdicts.arena =
        r->ahead.arena = r->walks_of.arena = a->arena;
    for (uint32_t i = 1; i < a->in->contexts.count; i++) {
        const ar_decl *function = a->in->contexts.data[i]->function;
        if (function->body && ar_where_in_loop(a, i, function->body))
            ar_idtable_put(&r->in_loop, function->id + 1ull, 0, 1);
    }
    ar_program_visit(a->program, note_assignment, r);
    for (uint32_t i = 1; i < a->in->loops.count; i++) {
        const ar_loop *loop = a->in->loops.data[i];
        if (loop == a->loop || !ar_where_in_loop(a, loop->context, loop->at))
            continue;
        for (uint32_t k = 0; k < loop->ahead.count; k++)
            ar_idtable_put(&r->ahead, loop->ahead.data[k], 0, 1);
    }
    return r;
}

/* ---- does it differ from iteration to iteration? ------------------------- */

static bool varies(ar_repeats *r, uint32_t context, const ar_node *e);

static bool any_varies(ar_repeats *r, uint32_t context, const ar_node *e,
                       uint32_t from) {
    for (uint32_t i = from; i < e->kid_count; i++)
        if (e->kids[i] && varies(r, context, e->kids[i]))
            return true;
    return false;
}

/* What is assigned must not vary; a variable that is stepped must have been
 * set in the same iteration. */
static bool assigned_varies(ar_repeats *r, uint32_t context, uint32_t first,
                            bool is_set) {
    for (uint32_t i = first; i; i = r->next.data[i - 1]) {
        const assignment *s = &r->list.data[i - 1];
        if (s->how == CHANGE_UNKNOWN ||
            (s->value && varies(r, context, s->value)))
            return true;
        is_set |= s->how == CHANGE_SET;
    }
    return !is_set;
}

static bool argument_varies(ar_repeats *r, uint32_t context,
                            const ar_decl *param) {
    const ar_analysis *a = r->a;
    const ar_context *c = a->in->contexts.data[context];
    if (!c->parent || !ar_where_in_loop(r->a, context, c->function->body))
        return false;
    uint32_t first = c->call->kind == AR_CALL     ? 1
                     : c->call->kind == AR_LAUNCH ? 3
                                                  : UINT32_MAX / 2;
    if (first + param->index >= c->call->kid_count)
        return true;
    return varies(r, c->parent, c->call->kids[first + param->index]);
}

static bool variable_varies(ar_repeats *r, uint32_t context,
                            const ar_decl *decl) {
    if (decl->kind != AR_DECL_VAR && decl->kind != AR_DECL_PARAM &&
        decl->kind != AR_DECL_FIELD)
        return false;
    uint32_t known = ar_idtable_get(&r->answers, decl->id + 1ull, context);
    if (known)
        return known == VARIES;
    ar_idtable_put(&r->answers, decl->id + 1ull, context, CONSTANT);
    uint32_t first = ar_idtable_get(&r->chain, decl->id + 1ull, ITSELF);
    bool is_param = decl->kind == AR_DECL_PARAM, result = false;
    if (is_param)
        result = argument_varies(r, context, decl);
    if (first && !result)
        result = decl->kind == AR_DECL_FIELD || decl->is_file_scope ||
                 assigned_varies(r, context, first, is_param);
    ar_idtable_put(&r->answers, decl->id + 1ull, context,
                   result ? VARIES : CONSTANT);
    return result;
}

/* A number in memory. Tables of pointers are taken to stay as they are. */
static bool element_varies(const ar_repeats *r, const ar_node *e) {
    if (!e->type || e->type->kind == AR_TYPE_POINTER ||
        e->type->kind == AR_TYPE_ARRAY || e->type->kind == AR_TYPE_RECORD)
        return false;
    while (e->kind == AR_INDEX || e->kind == AR_DEREF || e->kind == AR_CAST ||
           e->kind == AR_IMPLICIT)
        e = e->kids[0];
    /* what a parameter points to is written under another name */
    if ((e->kind != AR_REF && e->kind != AR_MEMBER) || !e->decl ||
        e->decl->kind == AR_DECL_PARAM)
        return true;
    return ar_is_floating(e->type) ||
           ar_idtable_get(&r->chain, e->decl->id + 1ull, ELEMENTS) != 0;
}

/* The parts of an lvalue or pointer that say where it is. */
static bool address_varies(ar_repeats *r, uint32_t context, const ar_node *e) {
    if (e->kind == AR_INDEX || e->kind == AR_DEREF)
        return any_varies(r, context, e, 0);
    return varies(r, context, e);
}

static bool varies(ar_repeats *r, uint32_t context, const ar_node *e) {
    switch ((int)e->kind) {
    case AR_REF:
        return variable_varies(r, context, e->decl);
    case AR_MEMBER:
        return variable_varies(r, context, e->decl) ||
               varies(r, context, e->kids[0]);
    case AR_INDEX:
    case AR_DEREF:
        return element_varies(r, e) || any_varies(r, context, e, 0);
    case AR_CALL:
        /* which row, not what is in it */
        return !e->type || e->type->kind != AR_TYPE_POINTER ||
               any_varies(r, context, e, 1);
    case AR_ADDRESS:
        return address_varies(r, context, e->kids[0]);
    case AR_ASSIGN:
        return varies(r, context, e->kids[1]);
    case AR_SIZEOF:
        return false;
    default:
        return any_varies(r, context, e, 0);
    }
}

/* Tests of pointers are decided once for all iterations. */
static bool is_pointer_test(const ar_node *e) {
    e = ar_skip_casts((ar_node *)e);
    if (e->type && e->type->kind == AR_TYPE_POINTER)
        return true;
    for (uint32_t i = 0; i < e->kid_count; i++)
        if (e->kind == AR_UNARY || e->kind == AR_BINARY)
            if (is_pointer_test(e->kids[i]))
                return true;
    return false;
}

static bool condition_varies(ar_repeats *r, uint32_t context,
                             const ar_node *e) {
    return !is_pointer_test(e) && varies(r, context, e);
}

static bool leaves(const ar_node *node, bool in_callee) {
    if (node->kind == AR_CONTINUE || (in_callee && node->kind == AR_RETURN))
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (node->kids[i] && leaves(node->kids[i], in_callee))
            return true;
    return false;
}

/* May a statement before this one keep it from being reached? */
static bool is_cut_off(ar_repeats *r, uint32_t context, const ar_node *compound,
                       const ar_node *kid) {
    for (uint32_t i = 0; i < compound->kid_count; i++) {
        const ar_node *before = compound->kids[i];
        if (before == kid)
            return false;
        if (before && before->kind == AR_IF &&
            leaves(before, context != r->a->loop->context) &&
            condition_varies(r, context, before->kids[0]))
            return true;
    }
    return false;
}

static bool always_happens(ar_repeats *r, uint32_t context, ar_node *at) {
    ar_analysis *a = r->a;
    ar_where w = {context, at}, below = w;
    while (ar_climb(a->in, &w)) {
        if (w.context == a->loop->context && w.at == a->loop->at)
            return true;
        if (w.context == below.context) {
            if ((w.at->kind == AR_IF || w.at->kind == AR_SWITCH ||
                 w.at->kind == AR_CONDITIONAL) &&
                w.at->kids[0] != below.at &&
                condition_varies(r, w.context, w.at->kids[0]))
                return false;
            if (w.at->kind == AR_COMPOUND &&
                is_cut_off(r, w.context, w.at, below.at))
                return false;
        }
        below = w;
    }
    return true;
}

/* Does it name a pointer that does not mean the object of the cell? */
static bool is_elsewhere(const ar_repeats *r, uint32_t context,
                         const ar_node *e, uint32_t cell) {
    const ar_memory *m = r->a->in->m;
    uint32_t set = ar_idtable_get(&r->a->in->named_sets, ar_key(e), context);
    if (set) {
        const ar_targets *t = ar_memory_targets(m, set);
        for (uint32_t i = 0; i < t->count; i++)
            if (ar_object_of(m, t->data[i].cell) == ar_object_of(m, cell))
                return false;
        return true;
    }
    for (uint32_t i = 0; i < e->kid_count; i++)
        if (e->kids[i] && is_elsewhere(r, context, e->kids[i], cell))
            return true;
    return false;
}

static bool same_place(ar_repeats *r, const ar_vnode *store) {
    const ar_node *at = store->at;
    if (at->kind == AR_ASSIGN || at->kind == AR_COMPOUND_ASSIGN ||
        at->kind == AR_UNARY)
        return !address_varies(r, store->context, at->kids[0]);
    if (at->kind != AR_CALL)
        return true;
    for (uint32_t i = 1; i < at->kid_count; i++) {
        const ar_node *arg = at->kids[i];
        if (arg->type &&
            (arg->type->kind == AR_TYPE_POINTER ||
             arg->type->kind == AR_TYPE_ARRAY) &&
            !is_elsewhere(r, store->context, arg, store->cell) &&
            address_varies(r, store->context, arg))
            return false;
    }
    return true;
}

enum { REPEATS = 1, WALKS = 2 };

/* Bits of the loops inside the training loop. */
static uint64_t inner_loops(const ar_analysis *a) {
    uint32_t depth = a->loop->depth;
    return depth >= 63 ? 0 : ~(((uint64_t)2 << depth) - 1);
}

/* What is only multiplied stays where it was. */
static bool is_product_in_place(ar_analysis *a, uint32_t store) {
    ar_vnode_kind kind = AR_VN(a->in, AR_VN(a->in, store)->in[0])->kind;
    return (kind == AR_V_MUL || kind == AR_V_DIV) &&
           ar_reads_itself(a, store, a->loop);
}

static bool repeats(ar_repeats *r, const ar_vnode *store) {
    return always_happens(r, store->context, store->at) && same_place(r, store);
}

/* `g[label] -= 1` after a loop over g: added to what is new already. */
static bool adds_to_new(ar_repeats *r, uint32_t store) {
    ar_analysis *a = r->a;
    const ar_vnode *v = AR_VN(a->in, store);
    if (!ar_reads_itself(a, store, a->loop))
        return false;
    for (uint32_t s = a->g.store_of[v->cell]; s; s = a->g.next_store[s]) {
        const ar_vnode *other = AR_VN(a->in, s);
        if (other->context == v->context && other->stamp < v->stamp &&
            other->tags & inner_loops(a) && !ar_reads_itself(a, s, a->loop) &&
            repeats(r, other))
            return true;
    }
    return false;
}

static uint32_t verdict(ar_repeats *r, uint32_t cell, const uint8_t *degree) {
    ar_analysis *a = r->a;
    uint32_t known = ar_idtable_get(&r->verdicts, cell, 0);
    if (known)
        return known - 1;
    uint32_t bits = ar_idtable_get(&r->ahead, cell, 0) ? 0 : REPEATS;
    for (uint32_t s = a->g.store_of[cell]; s; s = a->g.next_store[s]) {
        const ar_vnode *v = AR_VN(a->in, s);
        if (!a->g.live[s] || !ar_where_in_loop(a, v->context, v->at))
            continue;
        if (v->tags & inner_loops(a))
            bits |= WALKS;
        if (degree[v->in[0]] && !is_product_in_place(a, s) && !repeats(r, v) &&
            !adds_to_new(r, s))
            bits &= ~(uint32_t)REPEATS;
    }
    ar_idtable_put(&r->verdicts, cell, 0, bits + 1);
    return bits;
}

/* ---- a walk that clears one object after the other ----------------------- */

/* Can the loop be left before it has seen all? */
static bool is_left_early(const ar_node *node, bool in_inner) {
    if (node->kind == AR_RETURN || node->kind == AR_GOTO ||
        (node->kind == AR_BREAK && !in_inner))
        return true;
    in_inner |= ar_is_loop(node) || node->kind == AR_SWITCH;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (node->kids[i] && is_left_early(node->kids[i], in_inner))
            return true;
    return false;
}

static bool is_whole_walk(const ar_node *loop) {
    for (uint32_t i = 0; i < loop->kid_count; i++)
        if (loop->kids[i] && is_left_early(loop->kids[i], false))
            return false;
    return true;
}

static bool encloses(const ar_analysis *a, const ar_vnode *v, ar_where w) {
    do
        if (w.context == v->context && w.at == v->at)
            return true;
    while (ar_climb(a->in, &w));
    return false;
}

/* Does the loop pick the objects that the store is to, all of them? */
static bool picks(const ar_analysis *a, const ar_loop *loop,
                  const ar_vnode *store) {
    return loop->depth < 64 && loop->depth > a->loop->depth &&
           store->pointer_tags == (uint64_t)1 << loop->depth &&
           is_whole_walk(loop->at);
}

static void add_walks_of(ar_repeats *r, const ar_vnode *store, walks *out) {
    ar_analysis *a = r->a;
    ar_where w = {store->context, store->at};
    while (ar_climb(a->in, &w) && w.at != a->loop->at) {
        if (!ar_is_loop(w.at))
            continue;
        for (uint32_t i = 1; i < a->in->loops.count; i++) {
            const ar_loop *loop = a->in->loops.data[i];
            if (loop->at == w.at && loop->context == w.context &&
                picks(a, loop, store))
                AR_PUSH(a->arena, out, loop);
        }
    }
}

/* The loops of an iteration that give every object of the cell new contents,
 * whichever they are. */
static const walks *walks_of(ar_repeats *r, uint32_t cell) {
    ar_analysis *a = r->a;
    uint32_t known = ar_idtable_get(&r->walks_of, cell, 0);
    if (known)
        return r->walks.data[known - 1];
    walks *out = AR_NEW(a->arena, walks);
    for (uint32_t s = a->g.store_of[cell]; s; s = a->g.next_store[s]) {
        const ar_vnode *store = AR_VN(a->in, s);
        if (a->g.live[s] && store->covers && store->pointer_tags &&
            ar_where_in_loop(a, store->context, store->at) &&
            !ar_reads_itself(a, s, a->loop) &&
            always_happens(r, store->context, store->at))
            add_walks_of(r, store, out);
    }
    AR_PUSH(a->arena, &r->walks, out);
    ar_idtable_put(&r->walks_of, cell, 0, r->walks.count);
    return out;
}

/* Has such a loop come to its end before the node? */
static bool is_replaced(ar_repeats *r, const ar_vnode *v) {
    ar_analysis *a = r->a;
    const walks *list = walks_of(r, v->cell);
    for (uint32_t i = 0; i < list->count; i++) {
        const ar_loop *loop = list->data[i];
        if (v->stamp > loop->ended && v->context &&
            ar_where_in_loop(a, v->context, v->at) &&
            !encloses(a, v, (ar_where){loop->context, loop->at})) {
            a->in->assumes_index_covers = true;
            return true;
        }
    }
    return false;
}

bool ar_is_renewed(ar_repeats *r, const ar_vnode *v, const uint8_t *degree) {
    if (!v->cell)
        return false;
    if (is_replaced(r, v))
        return true;
    uint32_t bits = verdict(r, v->cell, degree);
    return bits & REPEATS && (v->kind != AR_V_LOOP || bits & WALKS);
}
