/* What C++ adds, for CUDA: launches, constructors, operator calls, default
 * arguments, the thread indices. */
#include "front/internal.h"

static bool has_name(CXCursor cursor, const char *name) {
    CXString spelling = clang_getCursorSpelling(cursor);
    const char *text = clang_getCString(spelling);
    bool same = text && strcmp(text, name) == 0;
    clang_disposeString(spelling);
    return same;
}

static bool is_operator(CXCursor cursor) {
    CXString spelling = clang_getCursorSpelling(cursor);
    const char *text = clang_getCString(spelling);
    bool is = text && strncmp(text, "operator", 8) == 0;
    clang_disposeString(spelling);
    return is;
}

bool ar_is_default_argument(CXCursor cursor) {
    return clang_getCursorKind(cursor) == CXCursor_UnexposedExpr &&
           clang_equalLocations(clang_getCursorLocation(cursor),
                                clang_getNullLocation());
}

static ar_node *value(ar_collector *c, ar_node_kind kind, CXCursor cursor) {
    ar_node *node = ar_new_node(c, kind, ar_extent(c, cursor));
    node->type = ar_type_of(c, clang_getCursorType(cursor));
    return node;
}

/* Builds the kids from `first` on; default arguments are not written. */
static void add_kids(ar_collector *c, ar_node *node, uint32_t used,
                     ar_kids kids, uint32_t first) {
    for (uint32_t i = first; i < kids.count; i++)
        if (!ar_is_default_argument(ar_kid(c, kids, i)))
            node->kids[used++] = ar_expr(c, ar_kid(c, kids, i));
    node->kid_count = used;
}

/* The configuration is a call that covers `<<<...`, below the launch. */
static bool is_configuration(CXCursor cursor) {
    return clang_getCursorKind(cursor) == CXCursor_CallExpr &&
           (has_name(cursor, "__cudaPushCallConfiguration") ||
            has_name(cursor, "cudaConfigureCall"));
}

static ar_node *launch(ar_collector *c, CXCursor cursor, ar_kids kids) {
    ar_node *node = value(c, AR_LAUNCH, cursor);
    ar_set_kids(c, node, kids.count + 1);
    node->kids[0] = ar_expr(c, ar_kid(c, kids, 0));
    ar_kids config = ar_push_exprs(c, ar_kid(c, kids, 1));
    for (uint32_t i = 1; i <= 2 && i < config.count; i++)
        node->kids[i] = ar_expr(c, ar_kid(c, config, i));
    ar_pop_kids(c, config);
    add_kids(c, node, 3, kids, 2);
    if (!node->range.in_macro_body)
        node->op_range = node->kids[0]->range;
    return node;
}

/* A copy stands for what it copies; a conversion to a half type is one; any
 * other constructor lists its arguments. */
static ar_node *construct(ar_collector *c, CXCursor cursor, ar_kids kids) {
    const ar_type *type = ar_type_of(c, clang_getCursorType(cursor));
    if (kids.count == 1) {
        CXCursor argument = ar_kid(c, kids, 0);
        if (ar_type_of(c, clang_getCursorType(argument)) == type)
            return ar_expr(c, argument);
    }
    bool is_half = type->kind == AR_TYPE_HALF && kids.count == 1;
    ar_node *node = value(c, is_half ? AR_IMPLICIT : AR_INIT_LIST, cursor);
    ar_set_kids(c, node, kids.count);
    add_kids(c, node, 0, kids, 0);
    return node;
}

/* The operator= that a class has without anyone writing it stands where the
 * class does: a plain assignment, as in C. */
static bool is_plain_assignment(CXCursor callee) {
    if (!has_name(callee, "operator="))
        return false;
    CXCursor method = clang_getCursorReferenced(callee);
    return clang_equalLocations(clang_getCursorLocation(method),
                                clang_getCursorLocation(
                                    clang_getCursorSemanticParent(method))) !=
           0;
}

static ar_node *assignment(ar_collector *c, CXCursor cursor, ar_kids kids) {
    ar_node *node = value(c, AR_ASSIGN, cursor);
    ar_set_kids(c, node, 2);
    node->kids[0] = ar_expr(c, ar_kid(c, kids, 0));
    node->kids[1] = ar_expr(c, ar_kid(c, kids, 2));
    if (!node->range.in_macro_body)
        node->op_range = ar_extent(c, ar_kid(c, kids, 1));
    return node;
}

/* `a * b` of a class shows its operator between the operands. */
static ar_node *operator_call(ar_collector *c, CXCursor cursor, ar_kids kids) {
    uint32_t callee = 0;
    while (callee < kids.count && !is_operator(ar_kid(c, kids, callee)))
        callee++;
    if (callee == 0 || callee == kids.count)
        return NULL;
    if (callee == 1 && kids.count == 3 &&
        is_plain_assignment(ar_kid(c, kids, 1)))
        return assignment(c, cursor, kids);
    ar_node *node = value(c, AR_CALL, cursor);
    ar_set_kids(c, node, kids.count);
    node->kids[0] = ar_expr(c, ar_kid(c, kids, callee));
    uint32_t used = 1;
    for (uint32_t i = 0; i < kids.count; i++)
        if (i != callee)
            node->kids[used++] = ar_expr(c, ar_kid(c, kids, i));
    return node;
}

static bool can_be_called(ar_collector *c, CXCursor cursor) {
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind == CXCursor_MemberRefExpr || kind == CXCursor_DeclRefExpr)
        return true;
    const ar_type *type = ar_type_of(c, clang_getCursorType(cursor));
    return type->kind == AR_TYPE_FUNCTION ||
           (type->kind == AR_TYPE_POINTER &&
            type->element->kind == AR_TYPE_FUNCTION);
}

/* A conversion to a type that depends on a template parameter. */
static ar_node *dependent(ar_collector *c, CXCursor cursor, ar_kids kids) {
    ar_node *node = value(c, AR_UNKNOWN_EXPR, cursor);
    node->text = "CallExpr";
    ar_set_kids(c, node, kids.count);
    add_kids(c, node, 0, kids, 0);
    return node;
}

static ar_node *by_kids(ar_collector *c, CXCursor cursor, ar_kids kids) {
    if (kids.count >= 2 && is_configuration(ar_kid(c, kids, 1)))
        return launch(c, cursor, kids);
    CXCursor callee = clang_getCursorReferenced(cursor);
    if (clang_getCursorKind(callee) == CXCursor_Constructor)
        return construct(c, cursor, kids);
    if (kids.count == 0)
        return dependent(c, cursor, kids);
    ar_node *node = operator_call(c, cursor, kids);
    if (node)
        return node;
    if (!can_be_called(c, ar_kid(c, kids, 0)))
        return dependent(c, cursor, kids);
    return NULL;
}

ar_node *ar_cxx_call(ar_collector *c, CXCursor cursor) {
    ar_kids kids = ar_push_exprs(c, cursor);
    ar_node *node = by_kids(c, cursor, kids);
    ar_pop_kids(c, kids);
    return node;
}

/* threadIdx.x is a property of an object of its own kind: shown as a read of
 * that object, `text` is the whole name. */
ar_node *ar_thread_index(ar_collector *c, CXCursor cursor) {
    ar_kids kids = ar_push_exprs(c, cursor);
    ar_decl *decl =
        kids.count == 1
            ? ar_decl_of(c, clang_getCursorReferenced(ar_kid(c, kids, 0)))
            : NULL;
    ar_pop_kids(c, kids);
    if (!decl)
        return NULL;
    ar_node *node = value(c, AR_REF, cursor);
    node->type = ar_builtin(c, "unsigned int");
    node->decl = decl;
    node->text = ar_text(c->arena, &c->unit->files, node->range);
    node->is_lvalue_read = true;
    return node;
}
