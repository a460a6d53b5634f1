#define _GNU_SOURCE /* stpcpy */
/* Expressions. Parentheses make no node. An UnexposedExpr is an implicit cast
 * when it has one child: of the same type it is the load of an lvalue, from an
 * array or function to a pointer it is a decay; neither makes a node. */
#include "front/internal.h"

/* ---- nodes ------------------------------------------------------------- */

ar_node *ar_new_node(ar_collector *c, ar_node_kind kind, ar_range range) {
    ar_node *node = AR_NEW(c->arena, ar_node);
    node->kind = kind;
    node->range = range;
    node->op_range = AR_NO_RANGE;
    node->float_token = AR_NO_RANGE;
    node->record_token = AR_NO_RANGE;
    node->id = c->unit->node_count++;
    return node;
}

void ar_set_kids(ar_collector *c, ar_node *node, uint32_t count) {
    node->kids = AR_NEW_ARRAY(c->arena, ar_node *, count);
    node->kid_count = count;
}

ar_node *ar_new_expr(ar_collector *c, ar_node_kind kind, CXCursor cursor) {
    ar_node *node = ar_new_node(c, kind, ar_extent(c, cursor));
    node->type = ar_type_of(c, clang_getCursorType(cursor));
    return node;
}

ar_node *ar_new_word(ar_collector *c, ar_node_kind kind, CXCursor cursor) {
    ar_node *node = ar_new_node(c, kind, ar_word_extent(c, cursor));
    node->type = ar_type_of(c, clang_getCursorType(cursor));
    return node;
}

/* libclang shows the written array type of a parameter on expressions that
 * are pointers. */
static ar_node *new_value(ar_collector *c, ar_node_kind kind, CXCursor cursor) {
    ar_node *node = ar_new_expr(c, kind, cursor);
    node->type = ar_decay(c, node->type);
    return node;
}

static void expr_kids(ar_collector *c, ar_node *node, CXCursor cursor) {
    ar_kids kids = ar_push_exprs(c, cursor);
    ar_set_kids(c, node, kids.count);
    for (uint32_t i = 0; i < kids.count; i++) {
        CXCursor kid = ar_kid(c, kids, i);
        bool is_stmt = clang_isStatement(clang_getCursorKind(kid)) != 0;
        node->kids[i] = is_stmt ? ar_stmt(c, kid) : ar_expr(c, kid);
    }
    ar_pop_kids(c, kids);
}

static ar_node *unknown(ar_collector *c, CXCursor cursor) {
    ar_node *node = ar_new_expr(c, AR_UNKNOWN_EXPR, cursor);
    node->text =
        ar_take(c, clang_getCursorKindSpelling(clang_getCursorKind(cursor)));
    expr_kids(c, node, cursor);
    return node;
}

static ar_node *reference(ar_collector *c, CXCursor cursor) {
    ar_decl *decl = ar_decl_of(c, clang_getCursorReferenced(cursor));
    if (!decl)
        return unknown(c, cursor);
    ar_node *node = ar_new_word(c, AR_REF, cursor);
    node->decl = decl;
    bool is_placeholder = node->type->kind == AR_TYPE_OTHER;
    if (decl->kind == AR_DECL_PARAM ||
        (decl->kind == AR_DECL_FUNCTION && is_placeholder))
        node->type = decl->type;
    if (node->type->is_reference)
        node->type = node->type->element;
    return node;
}

/* ---- operators --------------------------------------------------------- */

ar_range ar_find_operator(ar_collector *c, ar_range left, ar_range right,
                          const char *spelling) {
    ar_tokens *tokens =
        left.file == right.file ? ar_tokens_of(c, left.file) : NULL;
    if (!tokens || left.end > right.begin)
        return AR_NO_RANGE;
    uint32_t at = ar_token_at(tokens, left.end);
    while (ar_token_is(tokens, at, ")"))
        at++;
    if (!ar_token_is(tokens, at, spelling) ||
        tokens->list.data[at].end > right.begin)
        return AR_NO_RANGE;
    return (ar_range){left.file, tokens->list.data[at].begin,
                      tokens->list.data[at].end, false};
}

/* An operator that is not written between its operands, though both are
 * written in arguments of a macro, comes from the body. */
static void place_operator(ar_collector *c, ar_node *node, ar_node *left,
                           ar_node *right, const char *spelling) {
    if (node->range.in_macro_body || node->range.file == AR_NO_FILE)
        return;
    ar_range range = ar_find_operator(c, left->range, right->range, spelling);
    if (range.file == AR_NO_FILE)
        node->range = ar_widen_to_use(c, node->range);
    if (range.file == AR_NO_FILE || ar_cuts_use(c, node->range, left->range) ||
        ar_cuts_use(c, node->range, right->range))
        node->range.in_macro_body = true;
    else
        node->op_range = range;
}

static ar_op binary_op(enum CXBinaryOperatorKind kind) {
    switch (kind) {
    case CXBinaryOperator_Add:
    case CXBinaryOperator_AddAssign:
        return AR_OP_ADD;
    case CXBinaryOperator_Sub:
    case CXBinaryOperator_SubAssign:
        return AR_OP_SUB;
    case CXBinaryOperator_Mul:
    case CXBinaryOperator_MulAssign:
        return AR_OP_MUL;
    case CXBinaryOperator_Div:
    case CXBinaryOperator_DivAssign:
        return AR_OP_DIV;
    case CXBinaryOperator_Rem:
    case CXBinaryOperator_RemAssign:
        return AR_OP_REM;
    case CXBinaryOperator_Shl:
    case CXBinaryOperator_ShlAssign:
        return AR_OP_SHL;
    case CXBinaryOperator_Shr:
    case CXBinaryOperator_ShrAssign:
        return AR_OP_SHR;
    case CXBinaryOperator_And:
    case CXBinaryOperator_AndAssign:
        return AR_OP_AND;
    case CXBinaryOperator_Or:
    case CXBinaryOperator_OrAssign:
        return AR_OP_OR;
    case CXBinaryOperator_Xor:
    case CXBinaryOperator_XorAssign:
        return AR_OP_XOR;
    case CXBinaryOperator_LT:
        return AR_OP_LT;
    case CXBinaryOperator_GT:
        return AR_OP_GT;
    case CXBinaryOperator_LE:
        return AR_OP_LE;
    case CXBinaryOperator_GE:
        return AR_OP_GE;
    case CXBinaryOperator_EQ:
        return AR_OP_EQ;
    case CXBinaryOperator_NE:
        return AR_OP_NE;
    case CXBinaryOperator_LAnd:
        return AR_OP_LOGICAL_AND;
    case CXBinaryOperator_LOr:
        return AR_OP_LOGICAL_OR;
    case CXBinaryOperator_Assign:
    case CXBinaryOperator_Comma:
    case CXBinaryOperator_Cmp:
    case CXBinaryOperator_PtrMemD:
    case CXBinaryOperator_PtrMemI:
    case CXBinaryOperator_Invalid:
        return AR_OP_NONE;
    }
    return AR_OP_NONE;
}

static ar_node_kind binary_kind(enum CXBinaryOperatorKind kind, ar_op op) {
    if (kind == CXBinaryOperator_Assign)
        return AR_ASSIGN;
    if (kind == CXBinaryOperator_Comma)
        return AR_COMMA;
    if (op == AR_OP_NONE)
        return AR_UNKNOWN_EXPR;
    return kind > CXBinaryOperator_Assign ? AR_COMPOUND_ASSIGN : AR_BINARY;
}

static bool is_bare_binary(CXCursor cursor, const ar_node *node) {
    return clang_getCursorKind(cursor) == CXCursor_BinaryOperator &&
           !node->range.in_macro_body;
}

/* libclang walks down to the first and last operand for an extent; in a chain
 * of n operators that makes n^2 steps, so the operands' ranges are used. */
static ar_range binary_extent(ar_collector *c, CXCursor cursor,
                              CXCursor left_cursor, const ar_node *left,
                              CXCursor right_cursor, const ar_node *right) {
    bool is_left = is_bare_binary(left_cursor, left);
    bool is_right = is_bare_binary(right_cursor, right);
    if (!is_left && !is_right)
        return ar_extent(c, cursor);
    ar_point b = {left->range.file, left->range.begin, false};
    ar_point e = {right->range.file, right->range.end, false};
    if (!is_left)
        b = ar_point_of(
            c, clang_getRangeStart(clang_getCursorExtent(left_cursor)));
    if (!is_right)
        e = ar_end_of(c,
                      clang_getRangeEnd(clang_getCursorExtent(right_cursor)));
    return ar_between(c, b, e);
}

static ar_node *binary(ar_collector *c, CXCursor cursor) {
    enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(cursor);
    ar_op op = binary_op(kind);
    ar_node_kind node_kind = binary_kind(kind, op);
    if (node_kind == AR_UNKNOWN_EXPR)
        return unknown(c, cursor);
    ar_node *node = ar_new_node(c, node_kind, AR_NO_RANGE);
    node->type = ar_decay(c, ar_type_of(c, clang_getCursorType(cursor)));
    node->op = op;
    ar_kids kids = ar_push_exprs(c, cursor);
    if (kids.count != 2)
        AR_BUG("binary operator with %u operands", kids.count);
    ar_set_kids(c, node, 2);
    ar_node *left = node->kids[0] = ar_expr(c, ar_kid(c, kids, 0));
    ar_node *right = node->kids[1] = ar_expr(c, ar_kid(c, kids, 1));
    char spelling[8];
    char *end = stpcpy(spelling, ar_op_spelling(op));
    if (node_kind == AR_COMMA)
        *end++ = ',';
    else if (node_kind != AR_BINARY)
        *end++ = '=';
    *end = '\0';
    ar_infix infix;
    if (ar_find_infix(c, left->range, right->range, spelling, &infix)) {
        node->range = infix.whole;
        node->op_range = infix.op;
    } else {
        node->range = binary_extent(c, cursor, ar_kid(c, kids, 0), left,
                                    ar_kid(c, kids, 1), right);
        place_operator(c, node, left, right, spelling);
    }
    ar_pop_kids(c, kids);
    return node;
}

static ar_node_kind unary_kind(enum CXUnaryOperatorKind kind, ar_op *op) {
    *op = AR_OP_NONE;
    switch (kind) {
    case CXUnaryOperator_PostInc:
        *op = AR_OP_POST_INC;
        return AR_UNARY;
    case CXUnaryOperator_PostDec:
        *op = AR_OP_POST_DEC;
        return AR_UNARY;
    case CXUnaryOperator_PreInc:
        *op = AR_OP_PRE_INC;
        return AR_UNARY;
    case CXUnaryOperator_PreDec:
        *op = AR_OP_PRE_DEC;
        return AR_UNARY;
    case CXUnaryOperator_Plus:
        *op = AR_OP_PLUS;
        return AR_UNARY;
    case CXUnaryOperator_Minus:
        *op = AR_OP_MINUS;
        return AR_UNARY;
    case CXUnaryOperator_Not:
        *op = AR_OP_BIT_NOT;
        return AR_UNARY;
    case CXUnaryOperator_LNot:
        *op = AR_OP_NOT;
        return AR_UNARY;
    case CXUnaryOperator_AddrOf:
        return AR_ADDRESS;
    case CXUnaryOperator_Deref:
        return AR_DEREF;
    case CXUnaryOperator_Real:
    case CXUnaryOperator_Imag:
    case CXUnaryOperator_Extension:
    case CXUnaryOperator_Coawait:
    case CXUnaryOperator_Invalid:
        return AR_UNKNOWN_EXPR;
    }
    return AR_UNKNOWN_EXPR;
}

/* What stands in the place of a cursor that makes no node of its own. */
static ar_node *only_kid(ar_collector *c, CXCursor cursor) {
    ar_kids kids = ar_push_exprs(c, cursor);
    ar_node *node = kids.count == 1 ? ar_expr(c, ar_kid(c, kids, 0)) : NULL;
    ar_pop_kids(c, kids);
    return node ? node : unknown(c, cursor);
}

static ar_node *unary(ar_collector *c, CXCursor cursor) {
    enum CXUnaryOperatorKind kind = clang_getCursorUnaryOperatorKind(cursor);
    if (kind == CXUnaryOperator_Extension)
        return only_kid(c, cursor);
    ar_op op;
    ar_node_kind node_kind = unary_kind(kind, &op);
    if (node_kind == AR_UNKNOWN_EXPR)
        return unknown(c, cursor);
    ar_node *node = node_kind == AR_DEREF ? ar_new_expr(c, node_kind, cursor)
                                          : new_value(c, node_kind, cursor);
    node->op = op;
    expr_kids(c, node, cursor);
    return node;
}

static ar_node *conditional(ar_collector *c, CXCursor cursor) {
    ar_node *node = new_value(c, AR_CONDITIONAL, cursor);
    expr_kids(c, node, cursor);
    if (node->kid_count == 3 && ar_use_around(c, node->range) &&
        !node->range.in_macro_body) {
        ar_range mark = ar_find_operator(c, node->kids[0]->range,
                                         node->kids[1]->range, "?");
        if (mark.file == AR_NO_FILE)
            node->range = ar_widen_to_use(c, node->range);
    }
    return node;
}

static ar_range subscript_extent(ar_collector *c, CXCursor cursor,
                                 const ar_node *node) {
    ar_infix infix;
    if (node->kid_count != 2 ||
        !ar_find_infix(c, node->kids[0]->range, node->kids[1]->range, "[",
                       &infix))
        return ar_extent(c, cursor);
    const ar_tokens *tokens = ar_tokens_of(c, infix.whole.file);
    if (!ar_token_is(tokens, infix.next, "]"))
        return ar_extent(c, cursor);
    infix.whole.end = tokens->list.data[infix.next].end;
    return ar_is_plain(c, infix.whole) ? infix.whole : ar_extent(c, cursor);
}

static ar_node *subscript(ar_collector *c, CXCursor cursor) {
    ar_node *node = ar_new_node(c, AR_INDEX, AR_NO_RANGE);
    node->type = ar_type_of(c, clang_getCursorType(cursor));
    expr_kids(c, node, cursor);
    node->range = subscript_extent(c, cursor, node);
    ar_type_kind first = node->kids[0]->type->kind;
    if (first != AR_TYPE_POINTER && first != AR_TYPE_ARRAY &&
        first != AR_TYPE_VECTOR && first != AR_TYPE_OTHER) {
        ar_node *pointer = node->kids[1]; /* 2[a] */
        node->kids[1] = node->kids[0];
        node->kids[0] = pointer;
    }
    return node;
}

static bool is_pseudo_object(ar_collector *c, CXCursor cursor) {
    const ar_type *type = ar_type_of(c, clang_getCursorType(cursor));
    return type->kind == AR_TYPE_OTHER &&
           strcmp(type->spelling, "<pseudo-object type>") == 0;
}

static ar_node *member(ar_collector *c, CXCursor cursor) {
    if (c->unit->language != AR_LANG_C && is_pseudo_object(c, cursor)) {
        ar_node *index = ar_thread_index(c, cursor);
        if (index)
            return index;
    }
    ar_decl *decl = ar_decl_of(c, clang_getCursorReferenced(cursor));
    ar_node *node = ar_new_expr(c, AR_MEMBER, cursor);
    node->decl = decl;
    expr_kids(c, node, cursor);
    if (!decl || node->kid_count != 1) {
        node->kind = AR_UNKNOWN_EXPR;
        node->text = "MemberRefExpr";
        return node;
    }
    const ar_type *base = node->kids[0]->type;
    node->is_arrow =
        base->kind == AR_TYPE_POINTER || base->kind == AR_TYPE_ARRAY;
    if (decl->kind == AR_DECL_FUNCTION)
        node->type = decl->type;
    ar_range left = node->kids[0]->range;
    bool written = !node->range.in_macro_body &&
                   node->range.file != AR_NO_FILE && *decl->name &&
                   left.end < node->range.end;
    if (written && ar_use_around(c, node->range)) {
        ar_range end = {node->range.file, node->range.end, node->range.end,
                        false};
        const char *mark = node->is_arrow ? "->" : ".";
        if (ar_find_operator(c, left, end, mark).file == AR_NO_FILE)
            node->range = ar_widen_to_use(c, node->range);
    }
    return node;
}

/* ---- calls ------------------------------------------------------------- */

/* `#define cublasSgemm cublasSgemm_v2`: the callee is written here, as the one
 * word that a macro turns into its name. */
static void place_renamed_callee(ar_collector *c, ar_node *node) {
    const ar_node *callee = node->kids[0];
    ar_tokens *tokens = ar_tokens_of(c, callee->range.file);
    if (!tokens || callee->kind != AR_REF ||
        callee->range.file != node->range.file)
        return;
    uint32_t at = ar_token_at(tokens, callee->range.begin);
    if (at + 1 >= tokens->list.count)
        return;
    const ar_token *word = &tokens->list.data[at];
    const ar_file *file = ar_files_load(&c->unit->files, callee->range.file);
    if (word->kind != AR_TOKEN_WORD || word->begin != callee->range.begin ||
        word->end != callee->range.end ||
        file->bytes[tokens->list.data[at + 1].begin] != '(')
        return;
    node->op_range =
        (ar_range){callee->range.file, word->begin, word->end, false};
}

static void place_callee(ar_collector *c, ar_node *node) {
    const ar_node *callee = node->kids[0];
    if (node->range.in_macro_body)
        return;
    if (callee->range.in_macro_body) {
        place_renamed_callee(c, node);
        return;
    }
    ar_range end = {node->range.file, node->range.end, node->range.end, false};
    if (ar_use_around(c, node->range) &&
        ar_find_operator(c, callee->range, end, "(").file == AR_NO_FILE) {
        node->range = ar_widen_to_use(c, node->range);
        return;
    }
    if (callee->kind != AR_REF && callee->kind != AR_MEMBER)
        return;
    ar_tokens *tokens = ar_tokens_of(c, callee->range.file);
    if (!tokens)
        return;
    uint32_t at = ar_token_at(tokens, callee->range.end);
    if (at == 0 || tokens->list.data[at - 1].kind != AR_TOKEN_WORD)
        return;
    node->op_range =
        (ar_range){callee->range.file, tokens->list.data[at - 1].begin,
                   tokens->list.data[at - 1].end, false};
}

static void drop_default_arguments(ar_collector *c, ar_node *node,
                                   ar_kids kids) {
    while (node->kid_count > 1 &&
           ar_is_default_argument(ar_kid(c, kids, node->kid_count - 1)))
        node->kid_count--;
}

static ar_node *call(ar_collector *c, CXCursor cursor) {
    bool is_cxx = c->unit->language != AR_LANG_C;
    ar_node *special = is_cxx ? ar_cxx_call(c, cursor) : NULL;
    if (special)
        return special;
    ar_node *node = new_value(c, AR_CALL, cursor);
    ar_kids kids = ar_push_exprs(c, cursor);
    if (kids.count == 0)
        AR_BUG("a call without a callee");
    ar_set_kids(c, node, kids.count);
    if (is_cxx)
        drop_default_arguments(c, node, kids);
    for (uint32_t i = 0; i < node->kid_count; i++)
        node->kids[i] = ar_expr(c, ar_kid(c, kids, i));
    ar_pop_kids(c, kids);
    place_callee(c, node);
    return node;
}

/* ---- the rest ---------------------------------------------------------- */

static ar_node *statement_expr(ar_collector *c, CXCursor cursor) {
    ar_node *node = new_value(c, AR_STATEMENT_EXPR, cursor);
    ar_kids kids = ar_push_exprs(c, cursor);
    ar_set_kids(c, node, kids.count);
    for (uint32_t i = 0; i < kids.count; i++)
        node->kids[i] = ar_stmt(c, ar_kid(c, kids, i));
    ar_pop_kids(c, kids);
    return node;
}

static ar_node *list(ar_collector *c, CXCursor cursor) {
    ar_node *node = ar_new_expr(c, AR_INIT_LIST, cursor);
    expr_kids(c, node, cursor);
    return node;
}

ar_node *ar_expr(ar_collector *c, CXCursor cursor) {
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    switch ((int)kind) {
    case CXCursor_UnexposedExpr:
        return ar_unexposed(c, cursor);
    case CXCursor_DeclRefExpr:
        return reference(c, cursor);
    case CXCursor_MemberRefExpr:
        return member(c, cursor);
    case CXCursor_CallExpr:
        return call(c, cursor);
    case CXCursor_IntegerLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_CXXBoolLiteralExpr:
        return ar_int_literal(c, cursor);
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_GNUNullExpr:
        return ar_new_expr(c, AR_INT_LIT, cursor);
    case CXCursor_FloatingLiteral:
        return ar_float_literal(c, cursor);
    case CXCursor_StringLiteral:
        return ar_string_literal(c, cursor);
    case CXCursor_ParenExpr:
        return only_kid(c, cursor);
    case CXCursor_UnaryOperator:
        return unary(c, cursor);
    case CXCursor_ArraySubscriptExpr:
        return subscript(c, cursor);
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
        return binary(c, cursor);
    case CXCursor_ConditionalOperator:
        return conditional(c, cursor);
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
        return ar_cast(c, cursor, AR_CAST);
    case CXCursor_CompoundLiteralExpr:
        return ar_cast(c, cursor, AR_COMPOUND_LITERAL);
    case CXCursor_InitListExpr:
        return list(c, cursor);
    case CXCursor_UnaryExpr:
        return ar_size_of(c, cursor);
    case CXCursor_StmtExpr:
        return statement_expr(c, cursor);
    case CXCursor_GenericSelectionExpr:
        return ar_generic(c, cursor);
    default:
        return unknown(c, cursor);
    }
}
