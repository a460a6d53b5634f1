/* The extent of two operands and what joins them, from the operands' ranges and
 * the tokens around them: libclang walks down to the first and last token of
 * an expression and reads that again, for every operator. */
#include "front/internal.h"

/* Are these tokens all `text`, outside of directives? */
static bool are_all(const ar_tokens *tokens, uint32_t at, uint32_t count,
                    const char *text) {
    for (uint32_t i = at; i < at + count; i++)
        if (!ar_token_is(tokens, i, text) || tokens->list.data[i].in_directive)
            return false;
    return true;
}

/* The tokens around a plain operand: `before` opening parentheses, none of
 * them part of anything that libclang counts to the operand. */
static bool opens_with(const ar_tokens *tokens, uint32_t first,
                       uint32_t before) {
    return before <= first && are_all(tokens, first - before, before, "(") &&
           (before == first ||
            !ar_token_is(tokens, first - before - 1, "__extension__"));
}

bool ar_find_infix(ar_collector *c, ar_range left, ar_range right,
                   const char *spelling, ar_infix *out) {
    if (left.file != right.file || left.end > right.begin ||
        !ar_is_plain(c, left) || !ar_is_plain(c, right))
        return false;
    const ar_tokens *tokens = ar_tokens_of(c, left.file);
    if (!tokens)
        return false;
    const ar_token *list = tokens->list.data;
    uint32_t first = ar_token_at(tokens, left.begin);
    uint32_t close = ar_token_at(tokens, left.end), op = close;
    while (ar_token_is(tokens, op, ")"))
        op++;
    uint32_t operand = ar_token_at(tokens, right.begin);
    uint32_t after = ar_token_at(tokens, right.end);
    if (operand <= op || !ar_token_is(tokens, op, spelling) ||
        list[op].in_directive || !opens_with(tokens, first, op - close) ||
        !are_all(tokens, op + 1, operand - op - 1, "(") ||
        !are_all(tokens, after, operand - op - 1, ")"))
        return false;
    out->next = after + (operand - op - 1);
    out->whole = (ar_range){
        left.file, list[first - (op - close)].begin,
        after < out->next ? list[out->next - 1].end : right.end, false};
    out->op = (ar_range){left.file, list[op].begin, list[op].end, false};
    return ar_is_plain(c, out->whole) && ar_is_plain(c, out->op);
}
