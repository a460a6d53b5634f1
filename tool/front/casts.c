/* Expressions that name a type: casts, compound literals, sizeof. */
#include "front/internal.h"

static void place_type(ar_collector *c, ar_node *node, const ar_type *type,
                       uint32_t end) {
    if (node->range.in_macro_body || node->range.file == AR_NO_FILE)
        return;
    ar_float_place place =
        ar_find_float(c, node->range.file, node->range.begin, end, type);
    node->float_token = place.range;
    node->float_is_alias = place.is_alias;
    place = ar_find_record(c, node->range.file, node->range.begin, end, type);
    node->record_token = place.range;
    node->record_is_alias = place.is_alias;
}

ar_node *ar_cast(ar_collector *c, CXCursor cursor, ar_node_kind kind) {
    ar_node *node = ar_new_expr(c, kind, cursor);
    if (kind == AR_CAST)
        node->type = ar_decay(c, node->type);
    node->type_operand = node->type;
    ar_kids kids = ar_push_exprs(c, cursor);
    if (kids.count == 0) {
        node->kind = AR_UNKNOWN_EXPR;
        return node;
    }
    /* Array bounds in the type name come first. */
    CXCursor operand = ar_kid(c, kids, kids.count - 1);
    uint32_t end = ar_extent(c, operand).begin;
    ar_set_kids(c, node, 1);
    node->kids[0] = ar_expr(c, operand);
    ar_pop_kids(c, kids);
    place_type(c, node, node->type_operand, end);
    return node;
}

/* `sizeof(T[n])` shows n as its only child: an expression that begins after
 * the first token within the parentheses is not the operand. */
static bool begins_inside(ar_collector *c, const ar_tokens *tokens,
                          ar_file_id file, uint32_t first, CXCursor operand) {
    if (!ar_token_is(tokens, first + 1, "("))
        return false;
    uint32_t close = ar_skip_group(tokens, first + 1) - 1;
    ar_point at =
        ar_spelling_of(c, clang_getRangeStart(clang_getCursorExtent(operand)));
    return at.file == file && at.offset > tokens->list.data[first + 2].begin &&
           at.offset < tokens->list.data[close].begin;
}

/* The operand of sizeof(type): read from the tokens where it is written. */
static void sizeof_type(ar_collector *c, ar_node *node, ar_point at,
                        CXCursor type_ref) {
    ar_tokens *tokens = ar_tokens_of(c, at.file);
    if (!tokens)
        return;
    uint32_t open = ar_token_at(tokens, at.offset) + 1;
    if (!ar_token_is(tokens, open, "("))
        return;
    uint32_t close = ar_skip_group(tokens, open) - 1;
    uint32_t begin = tokens->list.data[open].end;
    uint32_t end = tokens->list.data[close].begin;
    node->type_operand = ar_parse_type_name(c, at.file, begin, end, type_ref);
    if (!node->type_operand)
        node->type_operand = ar_builtin(c, "<unknown>");
    if (!node->range.in_macro_body && node->range.file == at.file) {
        ar_float_place place =
            ar_find_float(c, at.file, begin, end, node->type_operand);
        node->float_token = place.range;
        node->float_is_alias = place.is_alias;
        place = ar_find_record(c, at.file, begin, end, node->type_operand);
        node->record_token = place.range;
        node->record_is_alias = place.is_alias;
    }
}

ar_node *ar_size_of(ar_collector *c, CXCursor cursor) {
    ar_point at =
        ar_spelling_of(c, clang_getRangeStart(clang_getCursorExtent(cursor)));
    ar_tokens *tokens = ar_tokens_of(c, at.file);
    uint32_t first = tokens ? ar_token_at(tokens, at.offset) : 0;
    /* alignof and the like, and what is written nowhere that can be read */
    if (!tokens || !ar_token_is(tokens, first, "sizeof")) {
        ar_node *constant = ar_int_literal(c, cursor);
        constant->text = constant->kind == AR_UNKNOWN_EXPR ? "alignof" : NULL;
        return constant;
    }
    ar_node *node = ar_new_expr(c, AR_SIZEOF, cursor);
    ar_kids kids = ar_push_kids(c, cursor);
    CXCursor operand = clang_getNullCursor(), type_ref = operand;
    for (uint32_t i = 0; i < kids.count; i++) {
        CXCursor kid = ar_kid(c, kids, i);
        if (clang_isExpression(clang_getCursorKind(kid)))
            operand = kid;
        else if (clang_Cursor_isNull(type_ref))
            type_ref = kid;
    }
    ar_pop_kids(c, kids);
    bool is_type = clang_Cursor_isNull(operand) ||
                   !clang_Cursor_isNull(type_ref) ||
                   begins_inside(c, tokens, at.file, first, operand);
    if (is_type) {
        sizeof_type(c, node, at, type_ref);
        return node;
    }
    ar_set_kids(c, node, 1);
    node->kids[0] = ar_expr(c, operand);
    return node;
}
