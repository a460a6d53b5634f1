#include "core/storage_arena_counts.h"

/* A length is what an element of the array of lengths holds, and whatever has
 * its value: a variable it is copied to, or that it was set from. A total is
 * what is computed from lengths otherwise than by making it smaller. */

typedef struct counts {
    ar_program *program;
    const ar_storage_facts *facts;
    const bool *is_part;  /* by class */
    bool *is_lengths;     /* by entity: the array, or a pointer to it */
    bool *is_length;      /* by entity: holds one of them */
    bool *is_total;       /* by entity: may count more than one part */
    bool follows_lengths; /* else only the arrays of them */
    bool changed;
    const char *problem;
    ar_range at;
} counts;

static void found(counts *c, const char *problem, ar_range at) {
    if (c->problem)
        return;
    c->problem = problem;
    c->at = at;
}

static bool is_marked(const counts *c, const bool *marks, const ar_decl *decl) {
    return decl && marks[ar_entity_of(c->program, decl)->id];
}

static void set(counts *c, bool *marks, const ar_decl *decl) {
    if (!decl || decl->kind == AR_DECL_ENUMERATOR)
        return;
    if (marks != c->is_lengths && is_marked(c, c->is_lengths, decl))
        return;
    bool *one = &marks[ar_entity_of(c->program, decl)->id];
    c->changed |= !*one;
    *one = true;
}

static const ar_decl *definition(const counts *c, const ar_node *call) {
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    return callee ? ar_definition_of(c->program, callee) : NULL;
}

/* ---- what an expression counts ------------------------------------------- */

static bool has_length(const counts *c, const ar_node *node);

static bool kids_have_length(const counts *c, const ar_node *node) {
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (has_length(c, node->kids[i]))
            return true;
    return false;
}

static bool call_has_length(const counts *c, const ar_node *call) {
    const ar_decl *body = definition(c, call);
    if (!body)
        return kids_have_length(c, call);
    return is_marked(c, c->is_length, body) ||
           is_marked(c, c->is_lengths, body);
}

static bool binary_has_length(const counts *c, const ar_node *node) {
    if (node->op == AR_OP_REM ||
        (node->op >= AR_OP_LT && node->op <= AR_OP_LOGICAL_OR))
        return false;
    if (node->op == AR_OP_DIV)
        return has_length(c, node->kids[0]);
    return kids_have_length(c, node);
}

/* Is the value a length, or computed from one? */
static bool has_length(const counts *c, const ar_node *node) {
    if (!node)
        return false;
    switch ((int)node->kind) {
    case AR_SIZEOF:
        return false;
    case AR_REF:
        return is_marked(c, c->is_length, node->decl);
    case AR_MEMBER:
        return is_marked(c, c->is_length, node->decl);
    case AR_INDEX:
    case AR_DEREF:
        return is_marked(c, c->is_lengths, ar_root_decl(node)) ||
               has_length(c, node->kids[0]);
    case AR_CALL:
        return call_has_length(c, node);
    case AR_BINARY:
        return binary_has_length(c, node);
    default:
        return kids_have_length(c, node);
    }
}

static bool is_float_size(const ar_node *node) {
    node = ar_skip_casts(node);
    if (!node || node->kind != AR_SIZEOF)
        return false;
    const ar_type *type = node->type_operand ? node->type_operand
                          : node->kid_count  ? node->kids[0]->type
                                             : NULL;
    return type && type->bytes == sizeof(float);
}

static bool is_several(const counts *c, const ar_node *node);

static bool kids_are_several(const counts *c, const ar_node *node) {
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (is_several(c, node->kids[i]))
            return true;
    return false;
}

/* A length that is made larger, but for its bytes. */
static bool grows(const counts *c, const ar_node *node) {
    switch ((int)node->op) {
    case AR_OP_MUL:
        return !is_float_size(node->kids[0]) && !is_float_size(node->kids[1]) &&
               kids_have_length(c, node);
    case AR_OP_ADD:
    case AR_OP_SHL:
    case AR_OP_OR:
    case AR_OP_XOR:
        return kids_have_length(c, node);
    case AR_OP_SUB:
        return has_length(c, node->kids[1]);
    case AR_OP_MINUS:
    case AR_OP_BIT_NOT:
        return kids_have_length(c, node);
    default:
        return false;
    }
}

/* May the value count elements of several parts? */
static bool is_several(const counts *c, const ar_node *node) {
    if (!node || node->kind == AR_SIZEOF)
        return false;
    switch ((int)node->kind) {
    case AR_REF:
        return is_marked(c, c->is_total, node->decl);
    case AR_MEMBER:
        return is_marked(c, c->is_total, node->decl);
    case AR_INDEX:
    case AR_DEREF:
        return !is_marked(c, c->is_lengths, ar_root_decl(node)) &&
               kids_are_several(c, node);
    case AR_CALL:
        if (definition(c, node))
            return is_several(c, node->kids[0]);
        return kids_have_length(c, node) || kids_are_several(c, node);
    case AR_UNARY:
    case AR_BINARY:
        return grows(c, node) || kids_are_several(c, node);
    default:
        return kids_are_several(c, node);
    }
}

/* ---- what holds it ------------------------------------------------------- */

static void share(counts *c, bool *marks, const ar_decl *a, const ar_decl *b) {
    if (is_marked(c, marks, a))
        set(c, marks, b);
    if (is_marked(c, marks, b))
        set(c, marks, a);
}

/* Two names of one memory. */
static void alias(counts *c, const ar_decl *a, const ar_decl *b) {
    if (!a || !b)
        return;
    if (!c->follows_lengths) {
        share(c, c->is_lengths, a, b);
        return;
    }
    share(c, c->is_length, a, b);
    share(c, c->is_total, a, b);
}

static void assigned(counts *c, const ar_decl *to, const ar_node *value);

static void initialised(counts *c, const ar_decl *to, const ar_node *list) {
    const ar_decl *record =
        ar_is_kind(list->type, AR_TYPE_RECORD) ? list->type->record : NULL;
    for (uint32_t i = 0; i < list->kid_count; i++) {
        const ar_node *kid = list->kids[i];
        const ar_decl *part =
            record && i < record->member_count ? record->members[i] : to;
        while (kid && kid->kind == AR_DESIGNATED) {
            part = kid->decl ? kid->decl : part;
            kid = kid->kid_count ? kid->kids[0] : NULL;
        }
        assigned(c, part, kid);
    }
}

static void assigned(counts *c, const ar_decl *to, const ar_node *value) {
    if (!to || !value)
        return;
    const ar_node *plain = ar_skip_casts(value);
    if (plain->kind == AR_INIT_LIST) {
        initialised(c, to, plain);
        return;
    }
    if (ar_is_address(value->type)) {
        alias(c, to, ar_root_decl(value));
        return;
    }
    if (!c->follows_lengths || ar_is_record(value->type))
        return;
    bool is_name = plain->kind == AR_REF || plain->kind == AR_MEMBER;
    if (is_name && is_marked(c, c->is_lengths, to))
        set(c, c->is_length, plain->decl);
    if (is_several(c, value))
        set(c, c->is_total, to);
    else if (has_length(c, value))
        set(c, c->is_length, to);
}

/* A variable that is stepped by lengths, or a length that is made larger. */
static void stepped(counts *c, const ar_node *node) {
    const ar_decl *to = ar_root_decl(node->kids[0]);
    bool is_unary = node->kind == AR_UNARY;
    bool is_smaller =
        is_unary ? node->op != AR_OP_PRE_INC && node->op != AR_OP_POST_INC
                 : node->op == AR_OP_SUB || node->op == AR_OP_DIV ||
                       node->op == AR_OP_REM || node->op == AR_OP_SHR ||
                       node->op == AR_OP_AND;
    if (!c->follows_lengths || ar_is_address(node->type))
        return;
    if (!is_smaller && is_marked(c, c->is_length, to))
        set(c, c->is_total, to);
    if (!is_unary &&
        (has_length(c, node->kids[1]) || is_several(c, node->kids[1])))
        set(c, c->is_total, to);
}

static void follow(void *context, ar_unit *unit, ar_decl *function,
                   ar_node *node) {
    (void)unit;
    counts *c = context;
    const ar_decl *body;
    switch ((int)node->kind) {
    case AR_DECL_STMT:
        for (uint32_t i = 0; i < node->decl_count; i++)
            assigned(c, node->decls[i], node->decls[i]->init);
        return;
    case AR_ASSIGN:
        assigned(c, ar_root_decl(node->kids[0]), node->kids[1]);
        return;
    case AR_COMPOUND_ASSIGN:
    case AR_UNARY:
        if (node->kind != AR_UNARY || node->op >= AR_OP_PRE_INC)
            stepped(c, node);
        return;
    case AR_CALL:
        body = definition(c, node);
        for (uint32_t i = 0; body && i < body->member_count; i++)
            if (i + 1 < node->kid_count)
                assigned(c, body->members[i], node->kids[i + 1]);
        return;
    case AR_RETURN:
        if (node->kid_count && node->kids[0] && function)
            assigned(c, function, node->kids[0]);
        return;
    default:
        return;
    }
}

/* ---- where it is used ---------------------------------------------------- */

bool ar_arena_points_to(ar_program *program, const ar_storage_facts *facts,
                        const ar_node *node, const bool *marks) {
    const ar_decl *decl = node ? ar_root_decl(node) : NULL;
    if (!decl || decl->kind == AR_DECL_FUNCTION)
        return false;
    uint32_t slot = facts->first_slot[ar_entity_of(program, decl)->id];
    for (; slot; slot = facts->next_slot[slot - 1])
        if (marks[facts->slots.data[slot - 1].class_id])
            return true;
    return false;
}

static bool touches_part(const counts *c, const ar_node *node) {
    if (!node)
        return false;
    if (ar_is_address(node->type) &&
        ar_arena_points_to(c->program, c->facts, node, c->is_part))
        return true;
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (touches_part(c, node->decls[i]->init))
            return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (touches_part(c, node->kids[i]))
            return true;
    return false;
}

static const char *const too_far =
    "what counts several parts is used on one of them";
static const char *const at_length =
    "the length of a part is used as a distance in one";

/* A loop, or a condition in it, may be what a total bounds. */
static bool is_bounded(const counts *c, const ar_node *node) {
    if (!node)
        return false;
    bool is_loop =
        node->kind == AR_FOR || node->kind == AR_WHILE || node->kind == AR_DO;
    bool is_second = node->kind == AR_FOR || node->kind == AR_DO;
    if ((is_loop || node->kind == AR_IF) &&
        is_several(c, node->kids[is_second]))
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++) {
        const ar_node *kid = node->kids[i];
        bool is_inner = kid && (kid->kind == AR_FOR || kid->kind == AR_WHILE ||
                                kid->kind == AR_DO);
        if (!is_inner && is_bounded(c, kid))
            return true; /* a loop in it is looked at by itself */
    }
    return false;
}

/* part[length], part + length */
static void check_place(counts *c, const ar_node *node) {
    for (uint32_t i = 0; i < node->kid_count; i++) {
        const ar_node *kid = node->kids[i];
        if (ar_is_address(kid->type) || !touches_part(c, node))
            continue;
        if (is_several(c, kid))
            found(c, too_far, node->range);
        else if (has_length(c, kid) && ar_skip_casts(kid)->kind != AR_BINARY)
            found(c, at_length, node->range);
    }
}

/* What has a body is looked at itself; what has none may multiply. */
static void check_call(counts *c, const ar_node *call) {
    uint32_t lengths = 0;
    bool has_several = false, has_part = false;
    for (uint32_t i = 1; i < call->kid_count; i++) {
        lengths += has_length(c, call->kids[i]);
        has_several |= is_several(c, call->kids[i]);
        has_part |= touches_part(c, call->kids[i]);
    }
    uint32_t most = ar_direct_callee(call->kids[0]) ? 1 : 0;
    if (has_part && (has_several || (!definition(c, call) && lengths > most)))
        found(c, too_far, call->range);
}

static void check_node(void *context, ar_unit *unit, ar_decl *function,
                       ar_node *node) {
    (void)unit, (void)function;
    counts *c = context;
    switch ((int)node->kind) {
    case AR_FOR:
    case AR_WHILE:
    case AR_DO:
        if (is_bounded(c, node) && touches_part(c, node))
            found(c, too_far, node->range);
        return;
    case AR_CALL:
        check_call(c, node);
        return;
    case AR_INDEX:
        check_place(c, node);
        return;
    case AR_BINARY:
    case AR_COMPOUND_ASSIGN:
        if (ar_is_address(node->type))
            check_place(c, node);
        return;
    default:
        return;
    }
}

static void follow_all(counts *c) {
    do {
        c->changed = false;
        ar_program_visit(c->program, follow, c);
    } while (c->changed);
}

const char *ar_arena_count_problem(ar_arena *arena, ar_program *program,
                                   const ar_storage_facts *facts,
                                   const ar_storage_arena *of,
                                   const bool *is_part, ar_range *at) {
    uint32_t entities = program->entities.count + 1u;
    counts c = {.program = program, .facts = facts, .is_part = is_part};
    c.is_lengths = AR_NEW_ARRAY(arena, bool, entities);
    c.is_length = AR_NEW_ARRAY(arena, bool, entities);
    c.is_total = AR_NEW_ARRAY(arena, bool, entities);
    set(&c, c.is_lengths, ar_root_decl(of->lengths));
    follow_all(&c);
    c.follows_lengths = true;
    follow_all(&c);
    ar_program_visit(program, check_node, &c);
    *at = c.at;
    return c.problem;
}
