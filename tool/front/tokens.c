#include "front/tokens.h"

typedef struct scanner {
    ar_arena *arena;
    const char *s;
    uint32_t at, size;
    bool line_start, in_directive;
    ar_tokens *out;
} scanner;

static char peek(const scanner *sc, uint32_t ahead) {
    return sc->at + ahead < sc->size ? sc->s[sc->at + ahead] : '\0';
}

static bool is_word_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Length of a line splice at the current place, or 0. */
static uint32_t splice_length(const scanner *sc) {
    if (peek(sc, 0) != '\\')
        return 0;
    if (peek(sc, 1) == '\n')
        return 2;
    return peek(sc, 1) == '\r' && peek(sc, 2) == '\n' ? 3 : 0;
}

static void skip_line_comment(scanner *sc) {
    while (sc->at < sc->size && sc->s[sc->at] != '\n') {
        uint32_t splice = splice_length(sc);
        sc->at += splice ? splice : 1;
    }
}

static void skip_block_comment(scanner *sc) {
    sc->at += 2;
    while (sc->at < sc->size && !(peek(sc, 0) == '*' && peek(sc, 1) == '/'))
        sc->at++;
    sc->at = sc->at + 2 < sc->size ? sc->at + 2 : sc->size;
}

/* Blanks, comments and line ends before the next token. */
static void skip_space(scanner *sc) {
    while (sc->at < sc->size) {
        char c = sc->s[sc->at];
        if (c == ' ') {
            sc->at++;
        } else if (splice_length(sc)) {
            sc->at += splice_length(sc);
        } else if (c == '\n') {
            sc->line_start = true;
            sc->in_directive = false;
            sc->at++;
        } else if (c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            sc->at++;
        } else if (c == '/' && peek(sc, 1) == '/') {
            skip_line_comment(sc);
        } else if (c == '/' && peek(sc, 1) == '*') {
            skip_block_comment(sc);
        } else {
            return;
        }
    }
}

static void scan_quoted(scanner *sc, char quote) {
    sc->at++;
    while (sc->at < sc->size && sc->s[sc->at] != quote) {
        if (sc->s[sc->at] == '\n')
            return; /* unterminated: an apostrophe in text of #if 0 */
        sc->at += sc->s[sc->at] == '\\' ? 2 : 1;
    }
    sc->at = sc->at < sc->size ? sc->at + 1 : sc->size;
}

/* R"delim( ... )delim" of C++; at: the quote. */
static void scan_raw_string(scanner *sc) {
    uint32_t start = ++sc->at;
    while (sc->at < sc->size && sc->s[sc->at] != '(')
        sc->at++;
    uint32_t length = sc->at - start;
    for (; sc->at < sc->size; sc->at++) {
        if (sc->s[sc->at] != ')' || sc->size - sc->at < length + 2)
            continue;
        if (memcmp(sc->s + sc->at + 1, sc->s + start, length) == 0 &&
            sc->s[sc->at + 1 + length] == '"') {
            sc->at += length + 2;
            return;
        }
    }
}

static ar_token_kind scan_word(scanner *sc) {
    uint32_t begin = sc->at;
    for (;;) {
        while (sc->at < sc->size &&
               (is_word_start(sc->s[sc->at]) || is_digit(sc->s[sc->at])))
            sc->at++;
        uint32_t splice = splice_length(sc);
        if (!splice)
            break;
        sc->at += splice;
    }
    uint32_t length = sc->at - begin;
    char quote = peek(sc, 0);
    if (length > 3 || (quote != '"' && quote != '\''))
        return AR_TOKEN_WORD;
    static const char *const prefixes[] = {"L",  "u",  "U",  "u8", "R",
                                           "LR", "uR", "UR", "u8R"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strlen(prefixes[i]) != length ||
            memcmp(sc->s + begin, prefixes[i], length) != 0)
            continue;
        if (sc->s[sc->at - 1] == 'R' && quote == '"')
            scan_raw_string(sc);
        else
            scan_quoted(sc, quote);
        return AR_TOKEN_STRING;
    }
    return AR_TOKEN_WORD;
}

static void scan_number(scanner *sc) {
    while (sc->at < sc->size) {
        char c = sc->s[sc->at];
        bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
        if (exponent && (peek(sc, 1) == '+' || peek(sc, 1) == '-'))
            sc->at += 2;
        else if (is_digit(c) || is_word_start(c) || c == '.')
            sc->at++;
        else if (c == '\'' && is_word_start(peek(sc, 1)))
            sc->at++; /* digit separator of C23 before a hex digit */
        else if (c == '\'' && is_digit(peek(sc, 1)))
            sc->at++;
        else
            return;
    }
}

static bool doubles(char c) {
    return c == '<' || c == '>' || c == '+' || c == '-' || c == '=' ||
           c == '&' || c == '|' || c == '#' || c == ':';
}

static bool takes_equals(char c) {
    return c == '<' || c == '>' || c == '!' || c == '=' || c == '+' ||
           c == '-' || c == '*' || c == '/' || c == '%' || c == '&' ||
           c == '|' || c == '^';
}

static void scan_punct(scanner *sc) {
    char a = peek(sc, 0), b = peek(sc, 1), d = peek(sc, 2);
    uint32_t length = 1;
    if ((a == '<' || a == '>') && b == a && (d == a || d == '='))
        length = 3;
    else if (a == '.' && b == '.' && d == '.')
        length = 3;
    else if ((b == a && doubles(a)) || (b == '=' && takes_equals(a)) ||
             (a == '-' && b == '>'))
        length = 2;
    sc->at += length;
}

static ar_token_kind scan_token(scanner *sc) {
    char c = sc->s[sc->at];
    if (is_word_start(c))
        return scan_word(sc);
    if (is_digit(c) || (c == '.' && is_digit(peek(sc, 1)))) {
        scan_number(sc);
        return AR_TOKEN_NUMBER;
    }
    if (c == '"' || c == '\'') {
        scan_quoted(sc, c);
        return AR_TOKEN_STRING;
    }
    scan_punct(sc);
    return AR_TOKEN_PUNCT;
}

enum {
    AR_BLOCK = 64,
    AR_TYPICAL_TOKEN = 4 /* bytes, blanks and comments included */
};

static void index_blocks(ar_arena *arena, uint32_t size, ar_tokens *tokens) {
    tokens->block_count = size / AR_BLOCK + 1;
    tokens->blocks = AR_NEW_ARRAY(arena, uint32_t, tokens->block_count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < tokens->block_count; i++) {
        while (at < tokens->list.count &&
               tokens->list.data[at].begin < i * AR_BLOCK)
            at++;
        tokens->blocks[i] = at;
    }
}

void ar_tokenise(ar_arena *arena, const char *bytes, uint32_t size,
                 ar_tokens *tokens) {
    scanner sc = {.arena = arena,
                  .s = bytes,
                  .size = size,
                  .line_start = true,
                  .out = tokens};
    tokens->bytes = bytes;
    tokens->list.capacity = size / AR_TYPICAL_TOKEN + 1;
    tokens->list.data = AR_NEW_ARRAY(arena, ar_token, tokens->list.capacity);
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        sc.at = 3;
    for (;;) {
        skip_space(&sc);
        if (sc.at >= sc.size)
            break;
        ar_token token = {.begin = sc.at};
        if (sc.line_start && sc.s[sc.at] == '#') {
            sc.in_directive = true;
            token.is_hash = true;
        }
        sc.line_start = false;
        token.kind = scan_token(&sc);
        if (sc.at > sc.size)
            sc.at = sc.size;
        token.end = sc.at;
        token.in_directive = sc.in_directive;
        AR_PUSH(arena, &tokens->list, token);
    }
    index_blocks(arena, size, tokens);
}

uint32_t ar_token_at(const ar_tokens *tokens, uint32_t offset) {
    uint32_t block = offset / AR_BLOCK;
    if (block >= tokens->block_count)
        return tokens->list.count;
    uint32_t at = tokens->blocks[block];
    while (at < tokens->list.count && tokens->list.data[at].begin < offset)
        at++;
    return at;
}

bool ar_token_is(const ar_tokens *tokens, uint32_t index, const char *text) {
    if (index >= tokens->list.count)
        return false;
    ar_token token = tokens->list.data[index];
    size_t length = strlen(text);
    return token.end - token.begin == length &&
           memcmp(tokens->bytes + token.begin, text, length) == 0;
}
