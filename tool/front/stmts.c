/* Statements. A statement's range includes its semicolon, so that text can be
 * put after it. */
#include "front/internal.h"

static void note_start(ar_collector *c, ar_node *node) {
    ar_start start = {node->range.file, node->range.begin, node, NULL};
    if (start.file != AR_NO_FILE)
        AR_PUSH(c->scratch, &c->starts, start);
}

static ar_node *start(ar_collector *c, ar_node_kind kind, CXCursor cursor) {
    ar_node *node = ar_new_node(c, kind, ar_extent(c, cursor));
    note_start(c, node);
    return node;
}

static void take_semicolon(ar_collector *c, ar_node *node) {
    ar_tokens *tokens = ar_tokens_of(c, node->range.file);
    if (!tokens)
        return;
    uint32_t at = ar_token_at(tokens, node->range.end);
    if (ar_token_is(tokens, at, ";"))
        node->range.end = tokens->list.data[at].end;
}

static void cover(ar_node *node, const ar_node *kid) {
    if (kid && kid->range.file == node->range.file &&
        kid->range.end > node->range.end)
        node->range.end = kid->range.end;
}

/* One statement below another; attributes wrap theirs. */
static ar_node *kid_stmt(ar_collector *c, ar_node *parent, CXCursor cursor) {
    ar_node *node = ar_stmt(c, cursor);
    cover(parent, node);
    return node;
}

static bool is_stmt_or_expr(CXCursor cursor) {
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    return clang_isStatement(kind) || clang_isExpression(kind);
}

static ar_kids push_parts(ar_collector *c, CXCursor cursor) {
    ar_kids kids = ar_push_kids(c, cursor);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < kids.count; i++)
        if (is_stmt_or_expr(ar_kid(c, kids, i)))
            c->kids[kids.base + kept++] = ar_kid(c, kids, i);
    kids.count = kept;
    c->kid_count = kids.base + kept;
    return kids;
}

static ar_node *unknown(ar_collector *c, ar_node *node, ar_kids kids) {
    node->kind = AR_UNKNOWN_STMT;
    ar_set_kids(c, node, kids.count);
    for (uint32_t i = 0; i < kids.count; i++)
        node->kids[i] = kid_stmt(c, node, ar_kid(c, kids, i));
    return node;
}

static void compound(ar_collector *c, ar_node *node, ar_kids kids) {
    ar_set_kids(c, node, kids.count);
    for (uint32_t i = 0; i < kids.count; i++)
        node->kids[i] = ar_stmt(c, ar_kid(c, kids, i));
}

static void decl_stmt(ar_collector *c, ar_node *node, CXCursor cursor) {
    ar_kids kids = ar_push_kids(c, cursor);
    node->decls = AR_NEW_ARRAY(c->arena, ar_decl *, kids.count);
    for (uint32_t i = 0; i < kids.count; i++) {
        CXCursor kid = ar_kid(c, kids, i);
        if (!clang_isDeclaration(clang_getCursorKind(kid)))
            continue;
        ar_decl *decl = ar_collect_decl(c, kid, node->range);
        /* A struct shows once for each of its declarators. */
        bool again = !decl;
        for (uint32_t k = 0; k < node->decl_count; k++)
            again |= node->decls[k] == decl;
        if (!again)
            node->decls[node->decl_count++] = decl;
    }
    ar_pop_kids(c, kids);
}

/* A condition that declares a variable (C++) shows the declaration first;
 * statements with one are not modelled. */
static bool fits(ar_kids kids, uint32_t least, uint32_t most) {
    return kids.count >= least && kids.count <= most;
}

static void if_stmt(ar_collector *c, ar_node *node, ar_kids kids) {
    if (!fits(kids, 2, 3)) {
        unknown(c, node, kids);
        return;
    }
    ar_set_kids(c, node, 3);
    node->kids[0] = ar_expr(c, ar_kid(c, kids, 0));
    node->kids[1] = kid_stmt(c, node, ar_kid(c, kids, 1));
    if (kids.count == 3)
        node->kids[2] = kid_stmt(c, node, ar_kid(c, kids, 2));
}

/* cond and body: WHILE, SWITCH; value and statement: CASE */
static void pair(ar_collector *c, ar_node *node, ar_kids kids) {
    if (!fits(kids, 2, 2)) {
        unknown(c, node, kids);
        return;
    }
    ar_set_kids(c, node, 2);
    node->kids[0] = ar_expr(c, ar_kid(c, kids, 0));
    node->kids[1] = kid_stmt(c, node, ar_kid(c, kids, 1));
}

/* `case 1 ... 3:` has both ends; the upper one is kids[2]. */
static void case_stmt(ar_collector *c, ar_node *node, ar_kids kids) {
    if (!fits(kids, 2, 3)) {
        unknown(c, node, kids);
        return;
    }
    ar_set_kids(c, node, kids.count);
    node->kids[0] = ar_expr(c, ar_kid(c, kids, 0));
    if (kids.count == 3)
        node->kids[2] = ar_expr(c, ar_kid(c, kids, 1));
    node->kids[1] = kid_stmt(c, node, ar_kid(c, kids, kids.count - 1));
}

static void do_stmt(ar_collector *c, ar_node *node, ar_kids kids) {
    if (!fits(kids, 2, 2)) {
        unknown(c, node, kids);
        return;
    }
    ar_set_kids(c, node, 2);
    node->kids[0] = ar_stmt(c, ar_kid(c, kids, 0));
    node->kids[1] = ar_expr(c, ar_kid(c, kids, 1));
    take_semicolon(c, node);
}

/* ---- for --------------------------------------------------------------- */

typedef struct ar_semicolons {
    ar_file_id file;
    uint32_t first, second; /* offsets */
} ar_semicolons;

/* The two semicolons of the header, where the `for` is written. */
static bool find_semicolons(ar_collector *c, CXCursor cursor,
                            ar_semicolons *out) {
    ar_point at =
        ar_spelling_of(c, clang_getRangeStart(clang_getCursorExtent(cursor)));
    ar_tokens *tokens = ar_tokens_of(c, at.file);
    if (!tokens)
        return false;
    uint32_t open = ar_token_at(tokens, at.offset) + 1;
    if (!ar_token_is(tokens, open, "("))
        return false;
    uint32_t stop = ar_skip_group(tokens, open), found = 0;
    for (uint32_t i = open + 1; i < stop; i++) {
        if (ar_token_is(tokens, i, "(") || ar_token_is(tokens, i, "{"))
            i = ar_skip_group(tokens, i) - 1;
        else if (ar_token_is(tokens, i, ";"))
            *(found++ ? &out->second : &out->first) =
                tokens->list.data[i].begin;
    }
    out->file = at.file;
    return found == 2;
}

/* Which part of the header a cursor is, by what it does: for headers whose
 * semicolons are in a macro body and whose parts come from its arguments. */
static uint32_t part_by_kind(CXCursor cursor, uint32_t least) {
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(cursor);
    if (kind == CXCursor_DeclStmt)
        return 0;
    if (kind == CXCursor_UnaryOperator ||
        kind == CXCursor_CompoundAssignOperator)
        return 2;
    bool stores =
        kind == CXCursor_BinaryOperator &&
        (op == CXBinaryOperator_Assign || op == CXBinaryOperator_Comma);
    if (stores)
        return least == 0 ? 0 : 2;
    return 1;
}

static uint32_t header_part(ar_collector *c, CXCursor cursor,
                            const ar_semicolons *marks, uint32_t least) {
    ar_point at =
        ar_spelling_of(c, clang_getRangeStart(clang_getCursorExtent(cursor)));
    uint32_t part;
    if (marks && at.file == marks->file)
        part = (uint32_t)(at.offset > marks->first) +
               (uint32_t)(at.offset > marks->second);
    else
        part = part_by_kind(cursor, least);
    return part > least ? part : least;
}

static void for_stmt(ar_collector *c, ar_node *node, CXCursor cursor,
                     ar_kids kids) {
    if (!fits(kids, 1, 4)) {
        unknown(c, node, kids);
        return;
    }
    ar_set_kids(c, node, 4);
    ar_semicolons marks;
    bool all = kids.count == 4;
    bool marked = !all && find_semicolons(c, cursor, &marks);
    uint32_t least = 0;
    for (uint32_t i = 0; i + 1 < kids.count; i++) {
        CXCursor kid = ar_kid(c, kids, i);
        uint32_t part =
            all ? i : header_part(c, kid, marked ? &marks : NULL, least);
        if (part > 2)
            AR_BUG("for header with too many parts");
        bool is_decl = clang_getCursorKind(kid) == CXCursor_DeclStmt;
        node->kids[part] = is_decl ? ar_stmt(c, kid) : ar_expr(c, kid);
        least = part + 1;
    }
    node->kids[3] = kid_stmt(c, node, ar_kid(c, kids, kids.count - 1));
}

/* ---- jumps and the rest ------------------------------------------------ */

static const char *label_name(ar_collector *c, CXCursor cursor) {
    ar_kids kids = ar_push_kids(c, cursor);
    const char *name = NULL;
    for (uint32_t i = 0; i < kids.count && !name; i++) {
        CXCursor kid = ar_kid(c, kids, i);
        if (clang_getCursorKind(kid) == CXCursor_LabelRef)
            name = ar_take(c, clang_getCursorSpelling(kid));
    }
    ar_pop_kids(c, kids);
    return name;
}

static void return_stmt(ar_collector *c, ar_node *node, ar_kids kids) {
    ar_set_kids(c, node, 1);
    if (kids.count == 1)
        node->kids[0] = ar_expr(c, ar_kid(c, kids, 0));
    take_semicolon(c, node);
}

static void labelled(ar_collector *c, ar_node *node, ar_kids kids) {
    if (!fits(kids, 1, 1)) {
        unknown(c, node, kids);
        return;
    }
    ar_set_kids(c, node, 1);
    node->kids[0] = kid_stmt(c, node, ar_kid(c, kids, 0));
}

static void asm_stmt(ar_collector *c, ar_node *node, ar_kids kids) {
    ar_set_kids(c, node, kids.count);
    for (uint32_t i = 0; i < kids.count; i++)
        node->kids[i] = ar_expr(c, ar_kid(c, kids, i));
    ar_collect_asm(c, node->range);
    take_semicolon(c, node);
}

/* The range of such an expression's node has no parentheses around it. */
static bool may_be_parenthesised(CXCursor cursor) {
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    return kind == CXCursor_ParenExpr || kind == CXCursor_UnexposedExpr ||
           kind == CXCursor_UnaryOperator;
}

static ar_node *expr_stmt(ar_collector *c, CXCursor cursor) {
    ar_node *node = ar_new_node(c, AR_EXPR_STMT, AR_NO_RANGE);
    ar_set_kids(c, node, 1);
    node->kids[0] = ar_expr(c, cursor);
    node->range = may_be_parenthesised(cursor) ? ar_extent(c, cursor)
                                               : node->kids[0]->range;
    cover(node, node->kids[0]);
    note_start(c, node);
    take_semicolon(c, node);
    return node;
}

static ar_node_kind stmt_kind(enum CXCursorKind kind) {
    switch ((int)kind) {
    case CXCursor_CompoundStmt:
        return AR_COMPOUND;
    case CXCursor_DeclStmt:
        return AR_DECL_STMT;
    case CXCursor_IfStmt:
        return AR_IF;
    case CXCursor_ForStmt:
        return AR_FOR;
    case CXCursor_WhileStmt:
        return AR_WHILE;
    case CXCursor_DoStmt:
        return AR_DO;
    case CXCursor_SwitchStmt:
        return AR_SWITCH;
    case CXCursor_CaseStmt:
        return AR_CASE;
    case CXCursor_DefaultStmt:
        return AR_DEFAULT;
    case CXCursor_BreakStmt:
        return AR_BREAK;
    case CXCursor_ContinueStmt:
        return AR_CONTINUE;
    case CXCursor_ReturnStmt:
        return AR_RETURN;
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
        return AR_GOTO;
    case CXCursor_LabelStmt:
        return AR_LABEL;
    case CXCursor_NullStmt:
        return AR_NULL_STMT;
    case CXCursor_GCCAsmStmt:
    case CXCursor_MSAsmStmt:
        return AR_ASM;
    default:
        return AR_UNKNOWN_STMT;
    }
}

static void fill_leaf(ar_collector *c, ar_node *node, CXCursor cursor,
                      ar_kids kids) {
    switch ((int)node->kind) {
    case AR_GOTO:
        if (clang_getCursorKind(cursor) == CXCursor_GotoStmt)
            node->text = label_name(c, cursor);
        take_semicolon(c, node);
        break;
    case AR_BREAK:
    case AR_CONTINUE:
        take_semicolon(c, node);
        break;
    case AR_RETURN:
        return_stmt(c, node, kids);
        break;
    case AR_ASM:
        asm_stmt(c, node, kids);
        break;
    case AR_NULL_STMT:
        break;
    default:
        unknown(c, node, kids);
        break;
    }
}

static void fill(ar_collector *c, ar_node *node, CXCursor cursor,
                 ar_kids kids) {
    switch ((int)node->kind) {
    case AR_COMPOUND:
        compound(c, node, kids);
        break;
    case AR_DECL_STMT:
        decl_stmt(c, node, cursor);
        break;
    case AR_IF:
        if_stmt(c, node, kids);
        break;
    case AR_FOR:
        for_stmt(c, node, cursor, kids);
        break;
    case AR_WHILE:
    case AR_SWITCH:
        pair(c, node, kids);
        break;
    case AR_DO:
        do_stmt(c, node, kids);
        break;
    case AR_CASE:
        case_stmt(c, node, kids);
        break;
    case AR_LABEL:
        node->text = ar_take(c, clang_getCursorSpelling(cursor));
        labelled(c, node, kids);
        break;
    case AR_DEFAULT:
        labelled(c, node, kids);
        break;
    default:
        fill_leaf(c, node, cursor, kids);
        break;
    }
}

ar_node *ar_stmt(ar_collector *c, CXCursor cursor) {
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    if (clang_isExpression(kind))
        return expr_stmt(c, cursor);
    ar_kids kids = push_parts(c, cursor);
    ar_node *node;
    if (kind == CXCursor_UnexposedStmt && kids.count == 1) {
        node = ar_stmt(c, ar_kid(c, kids, 0)); /* an attribute around it */
    } else {
        node = start(c, stmt_kind(kind), cursor);
        fill(c, node, cursor, kids);
    }
    ar_pop_kids(c, kids);
    return node;
}
