/* Literals and constants. */
#include "front/internal.h"

#include <errno.h>
#include <stdlib.h>

bool ar_evaluate(CXCursor cursor, int64_t *value) {
    CXEvalResult result = clang_Cursor_Evaluate(cursor);
    if (!result)
        return false;
    bool is_int = clang_EvalResult_getKind(result) == CXEval_Int;
    if (is_int)
        *value = clang_EvalResult_getAsLongLong(result);
    clang_EvalResult_dispose(result);
    return is_int;
}

/* A literal that is written in the file is read from there: evaluating every
 * one through the parser takes most of the time on tables of numbers. */
static bool read_literal(ar_collector *c, ar_range range, char *text,
                         size_t size) {
    if (range.in_macro_body || range.file == AR_NO_FILE)
        return false;
    const ar_file *file = ar_files_load(&c->unit->files, range.file);
    uint32_t length = range.end - range.begin;
    if (!file || range.end > file->size || length == 0 || length >= size)
        return false;
    memcpy(text, file->bytes + range.begin, length);
    text[length] = '\0';
    return true;
}

static bool read_int(const char *text, int64_t *value) {
    bool is_binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
    if (*text < '0' || *text > '9' || is_binary || strchr(text, '\''))
        return false;
    char *end;
    errno = 0;
    *value = (int64_t)strtoull(text, &end, 0);
    return errno == 0 && end[strspn(end, "uUlL")] == '\0';
}

ar_node *ar_int_literal(ar_collector *c, CXCursor cursor) {
    bool is_number = clang_getCursorKind(cursor) == CXCursor_IntegerLiteral;
    ar_node *node = is_number ? ar_new_word(c, AR_INT_LIT, cursor)
                              : ar_new_expr(c, AR_INT_LIT, cursor);
    char text[64];
    if (read_literal(c, node->range, text, sizeof text) &&
        read_int(text, &node->int_value))
        return node;
    if (!ar_evaluate(cursor, &node->int_value)) {
        node->kind = AR_UNKNOWN_EXPR;
        node->text = "IntegerLiteral";
    }
    return node;
}

static bool read_float(const char *text, const ar_type *type, double *value) {
    char *end;
    if ((*text < '0' || *text > '9') && *text != '.')
        return false;
    if (strchr(text, '\''))
        return false;
    if (type->kind == AR_TYPE_FLOAT)
        *value = (double)strtof(text, &end);
    else if (type->kind == AR_TYPE_DOUBLE && type->bytes == 8)
        *value = strtod(text, &end);
    else
        return false;
    return *end == '\0' || strcmp(end, "f") == 0 || strcmp(end, "F") == 0;
}

ar_node *ar_float_literal(ar_collector *c, CXCursor cursor) {
    ar_node *node = ar_new_word(c, AR_FLOAT_LIT, cursor);
    char text[64];
    if (read_literal(c, node->range, text, sizeof text) &&
        read_float(text, node->type, &node->float_value))
        return node;
    CXEvalResult result = clang_Cursor_Evaluate(cursor);
    if (!result) {
        node->kind = AR_UNKNOWN_EXPR;
        node->text = "FloatingLiteral";
        return node;
    }
    node->float_value = clang_EvalResult_getAsDouble(result);
    clang_EvalResult_dispose(result);
    return node;
}

ar_node *ar_string_literal(ar_collector *c, CXCursor cursor) {
    ar_node *node = ar_new_expr(c, AR_STRING_LIT, cursor);
    CXString spelling = clang_getCursorSpelling(cursor);
    const char *text = clang_getCString(spelling);
    const char *open = text ? strchr(text, '"') : NULL;
    const char *close = open ? strrchr(text, '"') : NULL;
    node->text = close > open ? ar_strndup(c->arena, open + 1,
                                           (size_t)(close - open - 1))
                              : "";
    clang_disposeString(spelling);
    return node;
}
