/* Storage edits: sizeof, and where the numbers computed from it go.
 *
 * sizeof(float) becomes the size of the half type where it counts the bytes of
 * memory that is. That is right only if the number is used for nothing else: a
 * loop to bytes / sizeof(float) would end early. A number that is compared, as
 * by a search for the largest of several sizes, and else only allocated may as
 * well stay: the memory is larger than it need be. */
#include "core/plan_storage_parts.h"

enum {
    FOR_MEMORY = 1, /* bytes that are copied, cleared, skipped */
    FOR_FILE = 2,   /* bytes of a file, which stays FP32 */
    FOR_COPY = 4,   /* bytes of a copy that converts */
    FOR_MORE = 8,
    FOR_ROOM = 16,      /* bytes that are allocated */
    FOR_COMPARISON = 32 /* with another number */
};

typedef struct follow {
    const ar_rewriter *r;
    AR_VEC(const ar_entity *) met;
    unsigned uses;
} follow;

static void follow_value(follow *f, ar_unit *unit, ar_decl *function,
                         ar_node *node);

/* ---- entities ------------------------------------------------------------ */

/* Everything that reads the variable or field, or calls the function. */
static void follow_entity(follow *f, const ar_decl *decl) {
    const ar_entity *entity = ar_entity_of(f->r->program, decl);
    for (uint32_t i = 0; i < f->met.count; i++)
        if (f->met.data[i] == entity)
            return;
    AR_PUSH(f->r->arena, &f->met, entity);
    const ar_mention *mention =
        ar_storage_mentions(f->r->storage->index, entity);
    for (; mention; mention = mention->next)
        follow_value(f, mention->unit, mention->function, mention->node);
}

static const ar_decl *declared_with(const ar_node *statement,
                                    const ar_node *init) {
    for (uint32_t i = 0; i < statement->decl_count; i++)
        if (statement->decls[i]->init == init)
            return statement->decls[i];
    return NULL;
}

/* ---- one use ------------------------------------------------------------- */

static bool is_zero(const ar_node *node) {
    node = ar_skip_casts(node);
    return node && node->kind == AR_INT_LIT && node->int_value == 0;
}

static const ar_node *whole_sizeof(const ar_node *node) {
    node = ar_skip_casts(node);
    return node && node->kind == AR_SIZEOF && node->kid_count ? node->kids[0]
                                                              : NULL;
}

static const ar_decl *root_of(const ar_node *node) {
    while (node && (node->kind == AR_INDEX || node->kind == AR_DEREF))
        node = ar_skip_casts(node->kids[0]);
    return node && (node->kind == AR_REF || node->kind == AR_MEMBER)
               ? node->decl
               : NULL;
}

/* sizeof a / sizeof a[0] is a number of elements. */
static bool is_ratio(const ar_node *division) {
    const ar_node *all = whole_sizeof(division->kids[0]);
    const ar_node *one = whole_sizeof(division->kids[1]);
    const ar_decl *decl = root_of(all);
    return one && decl && decl == root_of(one);
}

static void follow_binary(follow *f, ar_unit *unit, ar_decl *function,
                          ar_node *parent, const ar_node *node) {
    const ar_node *other = parent->kids[parent->kids[0] == node];
    switch ((int)parent->op) {
    case AR_OP_ADD:
    case AR_OP_SUB:
        if (ar_is_address(parent->type)) {
            f->uses |= FOR_MEMORY;
            return;
        }
        follow_value(f, unit, function, parent);
        return;
    case AR_OP_MUL:
        follow_value(f, unit, function, parent);
        return;
    case AR_OP_SHL:
        if (parent->kids[0] != node)
            break;
        follow_value(f, unit, function, parent);
        return;
    case AR_OP_DIV:
        if (is_ratio(parent))
            return;
        break;
    case AR_OP_EQ:
    case AR_OP_NE:
    case AR_OP_GT:
        if (is_zero(other))
            return;
        f->uses |= FOR_COMPARISON;
        return;
    case AR_OP_LT:
    case AR_OP_LE:
    case AR_OP_GE:
        f->uses |= FOR_COMPARISON;
        return;
    case AR_OP_LOGICAL_AND:
    case AR_OP_LOGICAL_OR:
        return;
    default:
        break;
    }
    f->uses |= FOR_MORE;
}

static void follow_store(follow *f, ar_unit *unit, ar_decl *function,
                         ar_node *store, const ar_node *node) {
    const ar_node *to = store->kids[0];
    bool sums = store->kind == AR_ASSIGN || store->op == AR_OP_ADD ||
                store->op == AR_OP_SUB || store->op == AR_OP_MUL;
    if (!sums) {
        f->uses |= FOR_MORE;
    } else if (ar_is_address(to->type)) {
        f->uses |= FOR_MEMORY; /* char *p; p += bytes */
    } else if (node == to && store->kind == AR_ASSIGN) {
        return; /* is overwritten */
    } else if ((to->kind == AR_REF || to->kind == AR_MEMBER) && to->decl) {
        follow_entity(f, to->decl);
        follow_value(f, unit, function, store);
    } else {
        f->uses |= FOR_MORE;
    }
}

static unsigned use_of_rule(const follow *f, const ar_unit *unit,
                            const ar_node *call, uint32_t index) {
    const ar_function_rule *rule = ar_memory_rule(f->r, call);
    if (rule && rule->kind == AR_RULE_SAVE && rule->is_variadic)
        return 0; /* is printed */
    if (!rule || !rule->uses || index >= rule->param_count)
        return FOR_MORE;
    ar_slot_use use = rule->uses[index];
    if (use != AR_USE_BYTES && use != AR_USE_SIZE && use != AR_USE_COUNT)
        return FOR_MORE;
    switch (rule->kind) {
    case AR_RULE_ALLOC:
    case AR_RULE_REALLOC:
        return FOR_ROOM;
    case AR_RULE_CLEAR:
        return FOR_MEMORY;
    case AR_RULE_COPY:
        return ar_copy_is_mixed(f->r, unit, call) ? FOR_COPY : FOR_MEMORY;
    case AR_RULE_SAVE:
    case AR_RULE_LOAD:
        return FOR_FILE;
    case AR_RULE_OP:
    case AR_RULE_FREE:
    case AR_RULE_OPTIMIZER:
    case AR_RULE_SEED:
    case AR_RULE_CLIP:
    case AR_RULE_ALLREDUCE:
    case AR_RULE_EXIT:
        return FOR_MORE;
    case AR_RULE_PURE:
        return ar_compares_bytes(rule) ? FOR_MEMORY : FOR_MORE;
    }
    return FOR_MORE;
}

static void follow_argument(follow *f, const ar_unit *unit, const ar_node *call,
                            const ar_node *node) {
    uint32_t index = 0;
    while (index + 1 < call->kid_count && call->kids[index + 1] != node)
        index++;
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    const ar_decl *body =
        callee ? ar_definition_of(f->r->program, callee) : NULL;
    if (body && index < body->member_count)
        follow_entity(f, body->members[index]);
    else
        f->uses |= use_of_rule(f, unit, call, index);
}

static bool is_byte_index(const ar_node *index, const ar_node *node) {
    const ar_type *type = index->kids[0]->type;
    return index->kids[1] == node && type && type->element &&
           type->element->kind == AR_TYPE_INT && type->element->bytes == 1;
}

static void follow_value(follow *f, ar_unit *unit, ar_decl *function,
                         ar_node *node) {
    ar_node *parent = ar_storage_parent(f->r->storage->index, unit, node);
    if (!parent || (f->uses & FOR_MORE)) {
        f->uses |= FOR_MORE;
        return;
    }
    bool is_number = ar_is_kind(parent->type, AR_TYPE_INT);
    switch ((int)parent->kind) {
    case AR_IMPLICIT:
    case AR_CAST:
        if (is_number)
            follow_value(f, unit, function, parent);
        else if (!ar_is_kind(parent->type, AR_TYPE_BOOL) &&
                 !ar_is_kind(parent->type, AR_TYPE_VOID))
            f->uses |= FOR_MORE;
        return;
    case AR_BINARY:
        follow_binary(f, unit, function, parent, node);
        return;
    case AR_UNARY:
        if (parent->op == AR_OP_PLUS)
            follow_value(f, unit, function, parent);
        else if (parent->op != AR_OP_NOT)
            f->uses |= FOR_MORE;
        return;
    case AR_CONDITIONAL:
        if (parent->kids[0] != node || parent->kid_count == 2)
            follow_value(f, unit, function, parent);
        return;
    case AR_COMMA:
        if (parent->kids[parent->kid_count - 1] == node)
            follow_value(f, unit, function, parent);
        return;
    case AR_EXPR_STMT:
    case AR_IF:
    case AR_WHILE:
    case AR_DO:
    case AR_FOR:
        return;
    case AR_ASSIGN:
    case AR_COMPOUND_ASSIGN:
        follow_store(f, unit, function, parent, node);
        return;
    case AR_DECL_STMT: {
        const ar_decl *decl = declared_with(parent, node);
        if (decl && decl->type && ar_is_kind(decl->type, AR_TYPE_INT))
            follow_entity(f, decl);
        else
            f->uses |= FOR_MORE;
        return;
    }
    case AR_RETURN:
        follow_entity(f, function);
        if (ar_is_function_value(f->r, function))
            f->uses |= FOR_MORE;
        return;
    case AR_CALL:
        follow_argument(f, unit, parent, node);
        return;
    case AR_INDEX:
        f->uses |= is_byte_index(parent, node) ? FOR_MEMORY : FOR_MORE;
        return;
    default:
        f->uses |= FOR_MORE;
    }
}

/* ---- the site ------------------------------------------------------------ */

/* The bytes that the original has, of what stays FP32 somewhere. */
static const char *original_size(ar_rewriter *r, const ar_site *site) {
    const ar_node *node = site->node;
    const ar_node *operand = node->kid_count ? node->kids[0] : NULL;
    if (!operand)
        return NULL; /* sizeof(float) stays */
    switch (ar_precision_behind(r->storage, r->program, operand)) {
    case AR_MEMORY_FP32:
        return NULL;
    case AR_MEMORY_HALF:
        break;
    case AR_MEMORY_UNKNOWN:
        return "its sizeof is of an expression that is not followed";
    }
    const char *problem = ar_text_problem(r, node->range);
    if (problem)
        return problem;
    if (ar_is_float(operand->type))
        ar_put_text(r, node->range, "sizeof(float)");
    else
        ar_put_around(r, node->range, AR_LAYER_LOAD, "(sizeof(float) * (",
                      " / sizeof(amp_half)))");
    return NULL;
}

const char *ar_rewrite_sizeof(ar_rewriter *r, const ar_site *site) {
    ar_node *node = site->node;
    follow f = {.r = r};
    follow_value(&f, site->where.unit, site->where.function, node);
    if (f.uses & FOR_MORE)
        return "a number that comes from its sizeof is used for more than "
               "the size of memory";
    if (f.uses & FOR_COMPARISON)
        return f.uses & ~(unsigned)(FOR_COMPARISON | FOR_ROOM)
                   ? "a number that comes from its sizeof is compared, and is "
                     "more than the size of an allocation"
                   : original_size(r, site);
    if (f.uses == FOR_FILE || f.uses == FOR_COPY)
        return original_size(r, site);
    if (f.uses & ~(unsigned)(FOR_MEMORY | FOR_ROOM))
        return "one sizeof counts the bytes of memory and of a file or copy";
    if (!ar_site_all_half(r, site))
        return "one sizeof counts bytes for it and for memory that stays FP32";
    if (node->kid_count)
        return NULL; /* sizeof *x follows by itself */
    return ar_put_half_type(r, node);
}
