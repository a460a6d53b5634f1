/* What libclang calls UnexposedExpr, and _Generic: told apart by their
 * children, their types and their tokens. */
#include "front/internal.h"

static bool is_lvalue(const ar_node *node) {
    switch ((int)node->kind) {
    case AR_REF:
        return node->decl->kind == AR_DECL_VAR ||
               node->decl->kind == AR_DECL_PARAM;
    case AR_MEMBER:
    case AR_INDEX:
    case AR_DEREF:
    case AR_COMPOUND_LITERAL:
        return true;
    default:
        return false;
    }
}

static ar_node *start(ar_collector *c, ar_node_kind kind, CXCursor cursor) {
    ar_node *node = ar_new_node(c, kind, ar_extent(c, cursor));
    node->type = ar_decay(c, ar_type_of(c, clang_getCursorType(cursor)));
    return node;
}

static ar_node *unknown(ar_collector *c, CXCursor cursor, ar_kids kids) {
    ar_node *node = start(c, AR_UNKNOWN_EXPR, cursor);
    node->text = "UnexposedExpr";
    uint32_t count = 0;
    ar_set_kids(c, node, kids.count);
    for (uint32_t i = 0; i < kids.count; i++)
        if (clang_isExpression(clang_getCursorKind(ar_kid(c, kids, i))))
            node->kids[count++] = ar_expr(c, ar_kid(c, kids, i));
    node->kid_count = count;
    return node;
}

static bool starts_with(ar_collector *c, CXCursor cursor, const char *text) {
    ar_point at =
        ar_spelling_of(c, clang_getRangeStart(clang_getCursorExtent(cursor)));
    ar_tokens *tokens = ar_tokens_of(c, at.file);
    return tokens && ar_token_is(tokens, ar_token_at(tokens, at.offset), text);
}

static bool is_va_list(const ar_type *type) {
    if (type->kind == AR_TYPE_POINTER || type->kind == AR_TYPE_ARRAY)
        type = type->element;
    return type->kind == AR_TYPE_RECORD &&
           strstr(type->spelling, "__va_list") != NULL;
}

/* What a va_list converts to; any other type is that of an argument. */
static bool converts_va_list(const ar_type *type) {
    if (type->kind == AR_TYPE_POINTER)
        type = type->element;
    return type->kind == AR_TYPE_RECORD || type->kind == AR_TYPE_VOID;
}

/* offsetof, type traits, __func__: nothing of the program below them. */
static ar_node *constant(ar_collector *c, CXCursor cursor, ar_kids kids) {
    int64_t value;
    if (ar_evaluate(cursor, &value)) {
        ar_node *node = start(c, AR_INT_LIT, cursor);
        node->int_value = value;
        return node;
    }
    const ar_type *type = ar_type_of(c, clang_getCursorType(cursor));
    if (kids.count == 0 && type->kind == AR_TYPE_ARRAY) {
        ar_node *node = start(c, AR_STRING_LIT, cursor);
        node->type = type;
        node->text = ar_take(c, clang_getCursorSpelling(cursor));
        return node;
    }
    return unknown(c, cursor, kids);
}

/* ---- designated initialisers ------------------------------------------- */

static bool is_range_designator(ar_collector *c, CXCursor first) {
    ar_range range = ar_extent(c, first);
    ar_tokens *tokens = ar_tokens_of(c, range.file);
    return tokens && ar_token_is(tokens, ar_token_at(tokens, range.end), "...");
}

/* .a[2].b = x: one node a designator, each the only kid of the one before. */
static ar_node *designated(ar_collector *c, CXCursor cursor, ar_kids kids) {
    ar_node *outer = NULL, *inner = NULL;
    CXCursor value = ar_kid(c, kids, kids.count - 1);
    const ar_type *type = ar_type_of(c, clang_getCursorType(value));
    for (uint32_t i = 0; i + 1 < kids.count; i++) {
        CXCursor kid = ar_kid(c, kids, i);
        ar_node *node = ar_new_node(c, AR_DESIGNATED, ar_extent(c, cursor));
        node->type = type;
        if (clang_getCursorKind(kid) == CXCursor_MemberRef) {
            node->decl = ar_decl_of(c, clang_getCursorReferenced(kid));
        } else {
            ar_evaluate(kid, &node->int_value);
            if (i + 2 < kids.count && is_range_designator(c, kid))
                i++;
        }
        if (inner) {
            ar_set_kids(c, inner, 1);
            inner->kids[0] = node;
        } else {
            outer = node;
        }
        inner = node;
    }
    ar_set_kids(c, inner, 1);
    inner->kids[0] = ar_expr(c, value);
    return outer;
}

/* ---- conversions ------------------------------------------------------- */

static ar_node *conversion(ar_collector *c, CXType type, CXCursor kid,
                           CXType kid_type) {
    const ar_type *to = ar_decay(c, ar_type_of(c, type));
    const ar_type *from = ar_type_of(c, kid_type);
    bool is_decay =
        (from->kind == AR_TYPE_ARRAY || from->kind == AR_TYPE_FUNCTION) &&
        ar_decay(c, from) == to;
    bool is_builtin = kid_type.kind == CXType_Unexposed &&
                      to->kind == AR_TYPE_POINTER &&
                      to->element->kind == AR_TYPE_FUNCTION;
    if (from == to || is_decay || is_builtin) {
        ar_node *node = ar_expr(c, kid);
        if (node->type == to && is_lvalue(node))
            node->is_lvalue_read = true;
        return node;
    }
    ar_node *node = ar_new_node(c, AR_IMPLICIT, AR_NO_RANGE);
    node->type = to;
    ar_set_kids(c, node, 1);
    node->kids[0] = ar_expr(c, kid);
    /* The range without parentheses, as that of every other node. */
    node->range = node->kids[0]->range;
    return node;
}

static ar_node *va_argument(ar_collector *c, CXCursor cursor, CXCursor list) {
    ar_node *node = start(c, AR_VA_ARG, cursor);
    node->type_operand = node->type;
    ar_set_kids(c, node, 1);
    node->kids[0] = ar_expr(c, list);
    return node;
}

/* GNU `a ?: b` shows a three times. */
static ar_node *elvis(ar_collector *c, CXCursor cursor, ar_kids kids) {
    ar_node *node = start(c, AR_CONDITIONAL, cursor);
    ar_set_kids(c, node, 2);
    node->kids[0] = ar_expr(c, ar_kid(c, kids, 0));
    node->kids[1] = ar_expr(c, ar_kid(c, kids, 3));
    return node;
}

static bool has_member_ref(ar_collector *c, ar_kids kids) {
    for (uint32_t i = 0; i < kids.count; i++)
        if (clang_getCursorKind(ar_kid(c, kids, i)) == CXCursor_MemberRef)
            return true;
    return false;
}

static ar_node *choose(ar_collector *c, CXCursor cursor, ar_kids kids) {
    int64_t value;
    if (!ar_evaluate(ar_kid(c, kids, 0), &value))
        return unknown(c, cursor, kids);
    return ar_expr(c, ar_kid(c, kids, value ? 1 : 2));
}

static uint32_t count_exprs(const ar_collector *c, ar_kids kids) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < kids.count; i++)
        count +=
            clang_isExpression(clang_getCursorKind(ar_kid(c, kids, i))) != 0;
    return count;
}

static ar_node *by_kids(ar_collector *c, CXCursor cursor, ar_kids kids) {
    uint32_t exprs = count_exprs(c, kids);
    CXType type = clang_getCursorType(cursor);
    if (type.kind == CXType_Void && kids.count >= 2 && exprs >= 1)
        return designated(c, cursor, kids);
    if (has_member_ref(c, kids) || exprs == 0)
        return constant(c, cursor, kids);
    if (exprs == 1) {
        CXCursor kid = ar_kid(c, kids, kids.count - 1);
        if (!clang_isExpression(clang_getCursorKind(kid)))
            return unknown(c, cursor, kids);
        CXType kid_type = clang_getCursorType(kid);
        if (is_va_list(ar_type_of(c, kid_type)) &&
            (!converts_va_list(ar_type_of(c, type)) ||
             starts_with(c, cursor, "__builtin_va_arg")))
            return va_argument(c, cursor, kid);
        return conversion(c, type, kid, kid_type);
    }
    if (kids.count == 3 && starts_with(c, cursor, "__builtin_choose_expr"))
        return choose(c, cursor, kids);
    if (kids.count == 4 && ar_extent(c, ar_kid(c, kids, 0)).begin ==
                               ar_extent(c, ar_kid(c, kids, 1)).begin)
        return elvis(c, cursor, kids);
    return unknown(c, cursor, kids);
}

ar_node *ar_unexposed(ar_collector *c, CXCursor cursor) {
    ar_kids kids = ar_push_kids(c, cursor);
    ar_node *node = by_kids(c, cursor, kids);
    ar_pop_kids(c, kids);
    return node;
}

/* ---- _Generic ---------------------------------------------------------- */

/* Goes to the next `mark` at the depth of the association list. */
static uint32_t next_at_depth(const ar_tokens *tokens, uint32_t at,
                              uint32_t stop, const char *mark) {
    while (at < stop && !ar_token_is(tokens, at, mark)) {
        bool opens = ar_token_is(tokens, at, "(");
        at = opens ? ar_skip_group(tokens, at) : at + 1;
    }
    return at;
}

/* Index of the association (from 0) that the type selects, by the tokens. */
static bool select_by_tokens(ar_collector *c, CXCursor cursor,
                             const ar_type *type, uint32_t *index) {
    ar_point at =
        ar_spelling_of(c, clang_getRangeStart(clang_getCursorExtent(cursor)));
    ar_tokens *tokens = ar_tokens_of(c, at.file);
    if (!tokens)
        return false;
    uint32_t open = ar_token_at(tokens, at.offset) + 1;
    uint32_t stop = ar_skip_group(tokens, open) - 1;
    uint32_t i = next_at_depth(tokens, open + 1, stop, ",");
    bool has_default = false;
    for (uint32_t n = 0; i < stop; n++) {
        uint32_t begin = i + 1;
        uint32_t colon = next_at_depth(tokens, begin, stop, ":");
        if (colon >= stop)
            break;
        if (ar_token_is(tokens, begin, "default")) {
            has_default = true;
            *index = n;
        } else if (ar_parse_type_name(c, at.file,
                                      tokens->list.data[begin].begin,
                                      tokens->list.data[colon].begin,
                                      clang_getNullCursor()) == type) {
            *index = n;
            return true;
        }
        i = next_at_depth(tokens, colon, stop, ",");
    }
    return has_default;
}

/* A branch that is chosen by the type of memory: `(control, branch)`. As an
 * expression that is not modelled, an address that controls keeps its type. */
static ar_node *with_control(ar_collector *c, CXCursor cursor, ar_kids kids,
                             ar_node *branch) {
    int depth =
        ar_float_depth(ar_type_of(c, clang_getCursorType(ar_kid(c, kids, 0))));
    const ar_type *result = ar_is_kind(branch->type, AR_TYPE_POINTER)
                                ? branch->type->element
                                : branch->type;
    if (depth < 0 || ar_is_kind(result, AR_TYPE_FUNCTION))
        return branch;
    ar_node *control = ar_expr(c, ar_kid(c, kids, 0));
    if (depth > 0) {
        ar_node *address = ar_new_node(c, AR_UNKNOWN_EXPR, control->range);
        address->type = control->type;
        address->text = "_Generic";
        ar_set_kids(c, address, 1);
        address->kids[0] = control;
        control = address;
    }
    ar_node *node = start(c, AR_COMMA, cursor);
    node->type = branch->type;
    ar_set_kids(c, node, 2);
    node->kids[0] = control;
    node->kids[1] = branch;
    return node;
}

/* The chosen branch: the only one of the result's type, or else the one whose
 * type name is that of the controlling expression. */
ar_node *ar_generic(ar_collector *c, CXCursor cursor) {
    ar_kids all = ar_push_kids(c, cursor);
    ar_kids kids = {.base = all.base};
    for (uint32_t i = 0; i < all.count; i++)
        if (clang_isExpression(clang_getCursorKind(ar_kid(c, all, i))))
            c->kids[kids.base + kids.count++] = ar_kid(c, all, i);
    const ar_type *type = ar_type_of(c, clang_getCursorType(cursor));
    uint32_t matches = 0, chosen = 0;
    for (uint32_t i = 1; i < kids.count; i++) {
        CXType branch = clang_getCursorType(ar_kid(c, kids, i));
        if (ar_type_of(c, branch) != type)
            continue;
        matches++;
        chosen = i;
    }
    if (matches != 1 && kids.count > 1) {
        uint32_t index = 0;
        CXType control = clang_getCursorType(ar_kid(c, kids, 0));
        matches = select_by_tokens(c, cursor,
                                   ar_decay(c, ar_type_of(c, control)), &index);
        chosen = index + 1;
    }
    ar_node *node =
        matches == 1 && chosen < kids.count
            ? with_control(c, cursor, kids, ar_expr(c, ar_kid(c, kids, chosen)))
            : unknown(c, cursor, kids);
    ar_pop_kids(c, all);
    return node;
}
