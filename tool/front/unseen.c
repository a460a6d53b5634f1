/* Names that the program uses outside its C: in the arguments of attributes
 * and asm labels, and in the text of asm. libclang says that an attribute is
 * there, not what it says; only its printer spells it out, macros and all. */
#include "front/internal.h"

#include <ctype.h>

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static void add_word(ar_collector *c, ar_range range, const char *text,
                     size_t length) {
    ar_unseen unseen = {range, ar_strndup(c->arena, text, length)};
    AR_PUSH(c->arena, &c->unit->unseen, unseen);
}

static size_t word_length(const char *text) {
    size_t length = 0;
    while (is_word(text[length]))
        length++;
    return length;
}

static void add_words(ar_collector *c, ar_range range, const char *text,
                      const char *end) {
    while (text < end) {
        size_t length = word_length(text);
        if (length > (size_t)(end - text))
            length = (size_t)(end - text);
        if (length && !isdigit((unsigned char)*text))
            add_word(c, range, text, length);
        text += length ? length : 1;
    }
}

/* ---- attributes ---------------------------------------------------------- */

/* Reads ((name(argument), ...)) and gives what is behind; names stand in so
 * many brackets, arguments in more. */
static const char *read_group(ar_collector *c, ar_decl *decl, const char *text,
                              int outer) {
    int depth = 0;
    while (*text) {
        size_t length = word_length(text);
        if (length && depth > outer && !isdigit((unsigned char)*text))
            add_word(c, decl->name_range, text, length);
        if (length == strlen("cleanup") && depth == outer &&
            strncmp(text, "cleanup", length) == 0)
            decl->has_cleanup = true;
        depth += *text == '(' || *text == '[';
        depth -= *text == ')' || *text == ']';
        text += length ? length : 1;
        if (depth == 0)
            break;
    }
    return text;
}

static void read_attributes(ar_collector *c, ar_decl *decl, const char *text) {
    static const struct {
        const char *word;
        int brackets;
    } starts[] = {{"__attribute__", 2}, {"__declspec", 1}, {"asm", 0}};
    while (*text) {
        size_t length = word_length(text);
        if (strncmp(text, "[[", 2) == 0) {
            text = read_group(c, decl, text, 2);
            continue;
        }
        int outer = -1;
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
            if (length == strlen(starts[i].word) && text[length] == '(' &&
                strncmp(text, starts[i].word, length) == 0)
                outer = starts[i].brackets;
        text += length ? length : 1;
        if (outer >= 0)
            text = read_group(c, decl, text, outer);
    }
}

void ar_collect_attributes(ar_collector *c, ar_decl *decl, CXCursor cursor) {
    if (decl->is_system || !clang_Cursor_hasAttrs(cursor))
        return;
    CXPrintingPolicy policy = clang_getCursorPrintingPolicy(cursor);
    clang_PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);
    CXString text = clang_getCursorPrettyPrinted(cursor, policy);
    clang_PrintingPolicy_dispose(policy);
    if (clang_getCString(text))
        read_attributes(c, decl, clang_getCString(text));
    clang_disposeString(text);
}

/* ---- asm ----------------------------------------------------------------- */

/* Its instructions; the strings behind a colon belong to operands. */
void ar_collect_asm(ar_collector *c, ar_range range) {
    ar_tokens *tokens = ar_tokens_of(c, range.file);
    for (uint32_t i = tokens ? ar_token_at(tokens, range.begin) : 0;
         tokens && i < tokens->list.count &&
         tokens->list.data[i].begin < range.end && !ar_token_is(tokens, i, ":");
         i++)
        if (tokens->list.data[i].kind == AR_TOKEN_STRING)
            add_words(c, range, tokens->bytes + tokens->list.data[i].begin,
                      tokens->bytes + tokens->list.data[i].end);
}
