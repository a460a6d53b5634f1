/* What the loop of a sum in memory does. */
#include "core/storage_solver.h"
#include "core/storage_sum_parts.h"

bool ar_sum_is_loop(const ar_node *node) {
    return node->kind == AR_FOR || node->kind == AR_WHILE ||
           node->kind == AR_DO;
}

void ar_sum_refuse(ar_sum_reader *r, const char *why, ar_range at) {
    if (!r->found.why)
        r->found = (ar_sum_problem){why, at};
}

const ar_decl *ar_sum_variable(const ar_node *node) {
    node = ar_skip_casts(node);
    return node && node->kind == AR_REF && node->decl &&
                   (node->decl->kind == AR_DECL_VAR ||
                    node->decl->kind == AR_DECL_PARAM)
               ? node->decl
               : NULL;
}

static void note_store(ar_sum_reader *r, const ar_node *target) {
    const ar_decl *decl = ar_sum_variable(target);
    if (decl)
        ar_table_add(&r->assigned, ar_key(decl), 0);
    else
        r->stores_numbers |= !ar_is_kind(target->type, AR_TYPE_FLOAT) &&
                             !ar_is_kind(target->type, AR_TYPE_DOUBLE);
}

enum { MAX_DEPTH = 8 }; /* of calls */

static bool is_pure_function(ar_program *program, const ar_decl *function,
                             int depth);

/* What may do more than the tool sees. */
static bool is_unread(ar_node_kind kind) {
    return kind == AR_LAUNCH || kind == AR_STATEMENT_EXPR ||
           kind == AR_VA_ARG || kind == AR_UNKNOWN_EXPR ||
           kind == AR_UNKNOWN_STMT || kind == AR_ASM;
}

/* Works on numbers only: it reaches no memory. */
static bool is_pure(ar_program *program, const ar_node *node, int depth) {
    if (!node)
        return true;
    switch ((int)node->kind) {
    case AR_CALL: {
        const ar_decl *callee = ar_direct_callee(node->kids[0]);
        if (!callee || !is_pure_function(program, callee, depth))
            return false;
        for (uint32_t i = 1; i < node->kid_count; i++)
            if (ar_is_address(node->kids[i]->type) ||
                !is_pure(program, node->kids[i], depth))
                return false;
        return true;
    }
    case AR_REF:
        return node->decl && (node->decl->kind == AR_DECL_ENUMERATOR ||
                              (node->decl->kind == AR_DECL_PARAM &&
                               !ar_is_address(node->decl->type)) ||
                              (node->decl->kind == AR_DECL_VAR &&
                               node->decl->storage == AR_STORAGE_AUTO &&
                               !ar_is_address(node->decl->type)));
    case AR_INDEX:
    case AR_DEREF:
    case AR_MEMBER:
    case AR_ADDRESS:
        return false;
    default:
        if (is_unread(node->kind))
            return false;
        break;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (!is_pure(program, node->kids[i], depth))
            return false;
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (node->decls[i]->storage != AR_STORAGE_AUTO ||
            !is_pure(program, node->decls[i]->init, depth))
            return false;
    return true;
}

/* What the C library is given no address for does not know of the memory. */
static bool is_pure_function(ar_program *program, const ar_decl *function,
                             int depth) {
    const ar_decl *definition = ar_definition_of(program, function);
    if (!definition)
        return function->is_system;
    return depth < MAX_DEPTH && definition->body &&
           is_pure(program, definition->body, depth + 1);
}

static void check_call(ar_sum_reader *r, const ar_node *call) {
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    bool ok = callee && is_pure_function(r->in->program, callee, 0);
    for (uint32_t i = 1; i < call->kid_count && ok; i++)
        ok = !ar_is_address(call->kids[i]->type);
    if (ok)
        return;
    ar_sum_refuse(r,
                  callee ? ar_sprintf(r->arena, "'%s' is called in the loop",
                                      callee->name)
                         : "a function is called in the loop",
                  call->range);
}

typedef struct context {
    const ar_sum_nest *inner; /* the innermost loop or condition around */
    ar_sum_nest *loop;
    ar_sum_nest *breaks; /* the loop that a break leaves; NULL: a switch */
    bool maybe;          /* it may not be come to for other reasons */
} context;

static void visit(ar_sum_reader *r, ar_node *node, context at);

static void visit_kids(ar_sum_reader *r, ar_node *node, context at) {
    for (uint32_t i = 0; i < node->kid_count; i++)
        visit(r, node->kids[i], at);
    for (uint32_t i = 0; i < node->decl_count; i++) {
        ar_table_add(&r->assigned, ar_key(node->decls[i]), 0);
        visit(r, node->decls[i]->init, at);
    }
}

static void visit_loop(ar_sum_reader *r, ar_node *node, context at) {
    ar_sum_nest *loop = AR_NEW(r->arena, ar_sum_nest);
    *loop = (ar_sum_nest){.node = node, .outer = at.inner};
    context inside = {loop, loop, loop, at.maybe};
    if (node->kind != AR_FOR) {
        inside.maybe = true;
        visit_kids(r, node, inside);
        return;
    }
    context between = inside;
    between.maybe = true;
    visit(r, node->kids[0], at);
    visit(r, node->kids[1], between);
    visit(r, node->kids[3], inside);
    visit(r, node->kids[2], between);
}

static void visit_if(ar_sum_reader *r, ar_node *node, context at) {
    visit(r, node->kids[0], at);
    for (uint32_t i = 1; i < node->kid_count; i++) {
        ar_sum_nest *branch = AR_NEW(r->arena, ar_sum_nest);
        *branch = (ar_sum_nest){
            .node = node->kids[0], .outer = at.inner, .is_else = i == 2};
        context inside = at;
        inside.inner = branch;
        visit(r, node->kids[i], inside);
    }
}

/* The first kid is always come to. */
static void visit_first(ar_sum_reader *r, ar_node *node, context at) {
    context rest = at;
    rest.maybe = true;
    if (node->kind == AR_SWITCH)
        rest.breaks = NULL;
    for (uint32_t i = 0; i < node->kid_count; i++)
        visit(r, node->kids[i], i == 0 ? at : rest);
}

static void visit(ar_sum_reader *r, ar_node *node, context at) {
    if (!node)
        return;
    uint64_t wanted = ar_table_get(&r->in->wanted, ar_key(node), 0);
    if (wanted) {
        ar_sum_use one = {node, at.inner, wanted == 2, !at.maybe};
        AR_PUSH(r->arena, &r->accesses, one);
    }
    switch ((int)node->kind) {
    case AR_FOR:
    case AR_WHILE:
    case AR_DO:
        visit_loop(r, node, at);
        return;
    case AR_IF:
        visit_if(r, node, at);
        return;
    case AR_SWITCH:
    case AR_CONDITIONAL:
        visit_first(r, node, at);
        return;
    case AR_BINARY:
        if (node->op == AR_OP_LOGICAL_AND || node->op == AR_OP_LOGICAL_OR) {
            visit_first(r, node, at);
            return;
        }
        break;
    case AR_BREAK:
        if (at.breaks)
            at.breaks->has_jump = true;
        break;
    case AR_CONTINUE:
        at.loop->has_jump = true;
        break;
    case AR_ASSIGN:
        if (!ar_sum_variable(node->kids[0]) &&
            ar_storage_same(node->kids[0], node->kids[1]))
            ar_sum_refuse(r, "the loop sets memory to itself", node->range);
        note_store(r, node->kids[0]);
        break;
    case AR_COMPOUND_ASSIGN:
        note_store(r, node->kids[0]);
        break;
    case AR_UNARY:
        if (node->op >= AR_OP_PRE_INC)
            note_store(r, node->kids[0]);
        break;
    case AR_ADDRESS:
        if (ar_sum_variable(node->kids[0]))
            note_store(r, node->kids[0]);
        break;
    case AR_CALL:
        check_call(r, node);
        break;
    case AR_RETURN:
    case AR_GOTO:
    case AR_LABEL:
        ar_sum_refuse(r, "a jump may leave the loop", node->range);
        break;
    default:
        if (is_unread(node->kind))
            ar_sum_refuse(r, "the loop holds more than the tool reads",
                          node->range);
        break;
    }
    visit_kids(r, node, at);
}

void ar_sum_read(ar_sum_reader *r) {
    ar_node *node = r->in->loop;
    ar_sum_nest *loop = AR_NEW(r->arena, ar_sum_nest);
    loop->node = node;
    context at = {loop, loop, loop, false}, between = at;
    between.maybe = true;
    visit(r, node->kids[0], between);
    visit(r, node->kids[1], between);
    visit(r, node->kids[2], between);
    visit(r, node->kids[3], at);
}
