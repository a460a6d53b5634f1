#include "core/loops.h"

/* Loop variables of the nest as bits, in the order met. Beyond 64 further
 * variables count as none, which can only make a contraction a reduction. */
typedef uint64_t var_set;

typedef struct local {
    const ar_decl *decl;
    var_set around; /* variables of the loops around its declaration */
} local;

typedef struct nest {
    ar_arena *arena;
    AR_VEC(const ar_decl *) variables;
    AR_VEC(local) locals;
    var_set open;   /* of the loops around the statement in hand */
    bool uncounted; /* one of them counts nothing, or beyond the 64 */
    uint32_t stores, sums, contractions;
} nest;

enum { MAX_EXPANSION = 8 };

static bool is_memory(const ar_node *node) {
    return ar_is_float(node->type) &&
           (node->kind == AR_INDEX || node->kind == AR_DEREF);
}

/* The variables that a value depends on, and whether it comes from memory.
 * Locals stand for what they were made from. */
static var_set depends(const nest *n, const ar_node *node, bool *memory,
                       uint32_t depth) {
    var_set set = 0;
    if (!node || depth > MAX_EXPANSION)
        return 0;
    *memory = *memory || is_memory(node);
    if (node->kind == AR_REF && node->decl) {
        for (uint32_t i = 0; i < n->variables.count && i < 64; i++)
            if (n->variables.data[i] == node->decl)
                return (var_set)1 << i;
        for (uint32_t i = 0; i < n->locals.count; i++)
            if (n->locals.data[i].decl == node->decl)
                return depends(n, node->decl->init, memory, depth + 1);
        return 0;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        set |= depends(n, node->kids[i], memory, depth);
    return set;
}

/* The variables that tell one target from another: those of its address, and
 * for a local those of the loops that declare it anew. */
static var_set target_set(const nest *n, const ar_node *target) {
    bool memory = false;
    const ar_node *base = target;
    while (base->kind == AR_INDEX || base->kind == AR_IMPLICIT)
        base = base->kids[0];
    var_set set = depends(n, target, &memory, 0);
    for (uint32_t i = 0; i < n->locals.count; i++)
        if (base->kind == AR_REF && n->locals.data[i].decl == base->decl) {
            bool is_pointer = base->decl->type->kind == AR_TYPE_POINTER;
            return is_pointer ? set : set | n->locals.data[i].around;
        }
    return set;
}

/* c[m,n] += a[m,k] * b[k,n]: both factors depend on something that the target
 * does not, and each target variable but those both share is missing from one
 * of them. */
static bool is_contraction(const nest *n, const ar_node *target,
                           const ar_node *value) {
    if (!value || value->kind != AR_BINARY || value->op != AR_OP_MUL)
        return false;
    bool a_memory = false, b_memory = false;
    var_set a = depends(n, value->kids[0], &a_memory, 0);
    var_set b = depends(n, value->kids[1], &b_memory, 0);
    var_set c = target_set(n, target);
    return a_memory && b_memory && (a & b & ~c) && (c & ~a) && (c & ~b);
}

static bool holds_load(const ar_node *node) {
    if (!node)
        return false;
    if (node->kind == AR_INDEX || node->kind == AR_DEREF)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (holds_load(node->kids[i]))
            return true;
    return false;
}

/* Several iterations add to one target: a loop does not move it, or its index
 * comes from memory. Else it is an update of each element by itself. */
static bool meets_again(const nest *n, const ar_node *target) {
    for (const ar_node *at = target; at->kind == AR_INDEX; at = at->kids[0])
        if (holds_load(at->kids[1]))
            return true;
    return n->uncounted || (n->open & ~target_set(n, target));
}

static void visit_sum(nest *n, const ar_node *target, const ar_node *value) {
    if (!ar_is_float(target->type) || !meets_again(n, target))
        return;
    n->sums++;
    n->contractions += is_contraction(n, target, ar_skip_casts(value));
}

static const ar_decl *counter_of(const ar_node *loop) {
    const ar_node *step = loop->kind == AR_FOR ? loop->kids[2] : NULL;
    while (step && step->kid_count && step->kind != AR_REF)
        step = step->kids[0];
    return step && step->kind == AR_REF ? step->decl : NULL;
}

static void visit(nest *n, const ar_node *node);

static void visit_loop(nest *n, const ar_node *loop) {
    var_set before = n->open;
    bool was_uncounted = n->uncounted;
    const ar_decl *counter = counter_of(loop);
    n->uncounted |= !counter;
    if (counter) {
        uint32_t index = 0;
        while (index < n->variables.count &&
               n->variables.data[index] != counter)
            index++;
        if (index == n->variables.count)
            AR_PUSH(n->arena, &n->variables, counter);
        if (index < 64)
            n->open |= (var_set)1 << index;
        else
            n->uncounted = true;
    }
    for (uint32_t i = 0; i < loop->kid_count; i++)
        visit(n, loop->kids[i]);
    n->open = before;
    n->uncounted = was_uncounted;
}

static void visit(nest *n, const ar_node *node) {
    if (!node)
        return;
    if (node->kind == AR_FOR || node->kind == AR_WHILE || node->kind == AR_DO) {
        visit_loop(n, node);
        return;
    }
    for (uint32_t i = 0; i < node->decl_count; i++) {
        AR_PUSH(n->arena, &n->locals, (local){node->decls[i], n->open});
        visit(n, node->decls[i]->init);
    }
    if (node->kind == AR_ASSIGN && node->kid_count == 2) {
        /* s = s + e */
        const ar_node *value = ar_skip_casts(node->kids[1]);
        const ar_node *target = node->kids[0];
        n->stores += is_memory(target);
        if (target->kind == AR_REF && value && value->kind == AR_BINARY &&
            (value->op == AR_OP_ADD || value->op == AR_OP_SUB) &&
            ar_skip_casts(value->kids[0])->kind == AR_REF &&
            ar_skip_casts(value->kids[0])->decl == target->decl)
            visit_sum(n, target, value->kids[1]);
    }
    if (node->kind == AR_COMPOUND_ASSIGN && node->kid_count == 2) {
        n->stores += is_memory(node->kids[0]);
        if (node->op == AR_OP_ADD || node->op == AR_OP_SUB)
            visit_sum(n, node->kids[0], node->kids[1]);
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        visit(n, node->kids[i]);
}

ar_loop_shape ar_loop_shape_of(ar_arena *arena, const ar_node *loop) {
    nest n = {.arena = arena};
    visit(&n, loop);
    if (!n.stores)
        return AR_LOOP_NONE;
    if (n.contractions)
        return AR_LOOP_CONTRACTION;
    return n.sums ? AR_LOOP_REDUCTION : AR_LOOP_ELEMENTWISE;
}

const char *ar_loop_shape_name(ar_loop_shape shape) {
    switch (shape) {
    case AR_LOOP_NONE:
        return "loop";
    case AR_LOOP_ELEMENTWISE:
        return "elementwise loop";
    case AR_LOOP_REDUCTION:
        return "reduction loop";
    case AR_LOOP_CONTRACTION:
        return "contraction loop";
    }
    AR_BUG("loop shape %d", (int)shape);
}
