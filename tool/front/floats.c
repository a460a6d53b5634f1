/* Where a float is spelled. libclang gives no place for builtin type names,
 * so the tokens of the specifiers are read. */
#include "front/internal.h"

#include <stdlib.h>

static bool word_in(const char *text, size_t length, const char *const *list) {
    for (; *list; list++)
        if (strlen(*list) == length && memcmp(*list, text, length) == 0)
            return true;
    return false;
}

static bool is_specifier_word(const char *text, size_t length) {
    static const char *const words[] = {"const",
                                        "volatile",
                                        "restrict",
                                        "__restrict",
                                        "__restrict__",
                                        "static",
                                        "extern",
                                        "inline",
                                        "__inline",
                                        "__inline__",
                                        "register",
                                        "auto",
                                        "typedef",
                                        "signed",
                                        "unsigned",
                                        "short",
                                        "long",
                                        "int",
                                        "char",
                                        "double",
                                        "void",
                                        "_Noreturn",
                                        "noreturn",
                                        "_Bool",
                                        "bool",
                                        "constexpr",
                                        "__extension__",
                                        "__const",
                                        "__volatile__",
                                        "_Thread_local",
                                        "thread_local",
                                        "__thread",
                                        "_Atomic",
                                        "virtual",
                                        "friend",
                                        "mutable",
                                        "static_cast",
                                        "reinterpret_cast",
                                        "const_cast",
                                        "__global__",
                                        "__device__",
                                        "__host__",
                                        "__shared__",
                                        "__constant__",
                                        "__forceinline__",
                                        "__noinline__",
                                        "__managed__",
                                        NULL};
    return word_in(text, length, words);
}

static bool is_tag_word(const char *text, size_t length) {
    static const char *const words[] = {"struct", "union",    "enum",
                                        "class",  "typename", NULL};
    return word_in(text, length, words);
}

static bool is_parenthesised_word(const char *text, size_t length) {
    static const char *const words[] = {
        "__attribute__", "__attribute",       "_Alignas", "alignas",
        "__declspec",    "__launch_bounds__", NULL};
    return word_in(text, length, words);
}

static bool is_typeof(const char *text, size_t length) {
    static const char *const words[] = {"typeof", "__typeof__", "__typeof",
                                        "typeof_unqual", NULL};
    return word_in(text, length, words);
}

uint32_t ar_skip_group(const ar_tokens *tokens, uint32_t at) {
    int depth = 0;
    for (; at < tokens->list.count; at++) {
        if (ar_token_is(tokens, at, "("))
            depth++;
        else if (ar_token_is(tokens, at, ")") && --depth == 0)
            return at + 1;
    }
    return at;
}

static const ar_macro *find_macro(const ar_collector *c, const char *text,
                                  size_t length) {
    for (uint32_t i = c->unit->macros.count; i > 0; i--) {
        const ar_macro *macro = &c->unit->macros.data[i - 1];
        if (strlen(macro->name) == length &&
            memcmp(macro->name, text, length) == 0)
            return macro;
    }
    return NULL;
}

/* #define real float; #define SIGNAL real, with a macro or a typedef below. */
static bool macro_says_float(ar_collector *c, const char *text, size_t length,
                             int depth) {
    const ar_macro *macro = find_macro(c, text, length);
    ar_tokens *tokens = macro ? ar_tokens_of(c, macro->range.file) : NULL;
    if (!tokens || depth == 0)
        return false;
    uint32_t at = ar_token_at(tokens, macro->range.begin) + 1;
    uint32_t first = at;
    for (; at < tokens->list.count &&
           tokens->list.data[at].begin < macro->range.end;
         at++)
        if (ar_token_is(tokens, at, "float"))
            return true;
    if (at != first + 1 || tokens->list.data[first].kind != AR_TOKEN_WORD)
        return false;
    const char *word = tokens->bytes + tokens->list.data[first].begin;
    size_t size = tokens->list.data[first].end - tokens->list.data[first].begin;
    if (find_macro(c, word, size))
        return macro_says_float(c, word, size, depth - 1);
    return !is_specifier_word(word, size) && !is_tag_word(word, size) &&
           !is_parenthesised_word(word, size);
}

enum { ALIASES = 8 }; /* a macro may name itself */

static ar_float_place place(ar_file_id file, ar_token token, bool is_alias) {
    return (ar_float_place){{file, token.begin, token.end, false}, is_alias};
}

ar_float_place ar_find_float(ar_collector *c, ar_file_id file, uint32_t begin,
                             uint32_t end, const ar_type *type) {
    ar_float_place none = {AR_NO_RANGE, false}, macro = none;
    if (ar_bottom(type)->kind != AR_TYPE_FLOAT)
        return none;
    ar_tokens *tokens = ar_tokens_of(c, file);
    if (!tokens)
        return none;
    for (uint32_t at = ar_token_at(tokens, begin);
         at < tokens->list.count && tokens->list.data[at].begin < end; at++) {
        ar_token token = tokens->list.data[at];
        const char *text = tokens->bytes + token.begin;
        size_t length = token.end - token.begin;
        if (token.kind != AR_TOKEN_WORD || token.in_directive)
            continue;
        if (ar_token_is(tokens, at, "float"))
            return place(file, token, false);
        if (is_typeof(text, length)) {
            token.end =
                tokens->list.data[ar_skip_group(tokens, at + 1) - 1].end;
            return place(file, token, true);
        }
        if (is_parenthesised_word(text, length))
            at = ar_skip_group(tokens, at + 1) - 1;
        else if (is_tag_word(text, length))
            at++;
        else if (is_specifier_word(text, length))
            continue;
        else if (!ar_is_macro_use(c, file, token.begin) ||
                 macro_says_float(c, text, length, ALIASES))
            return place(file, token, true);
        else
            macro = place(file, token, true);
    }
    return macro;
}

ar_float_place ar_find_record(ar_collector *c, ar_file_id file, uint32_t begin,
                              uint32_t end, const ar_type *type) {
    ar_float_place none = {AR_NO_RANGE, false}, macro = none;
    ar_tokens *tokens =
        ar_bottom(type)->kind == AR_TYPE_RECORD ? ar_tokens_of(c, file) : NULL;
    if (!tokens)
        return none;
    for (uint32_t at = ar_token_at(tokens, begin);
         at < tokens->list.count && tokens->list.data[at].begin < end; at++) {
        ar_token token = tokens->list.data[at];
        const char *text = tokens->bytes + token.begin;
        size_t length = token.end - token.begin;
        if (token.kind != AR_TOKEN_WORD || token.in_directive)
            continue;
        if (is_typeof(text, length))
            return none;
        if (is_parenthesised_word(text, length)) {
            at = ar_skip_group(tokens, at + 1) - 1;
        } else if (is_tag_word(text, length)) {
            bool has_tag = at + 1 < tokens->list.count &&
                           tokens->list.data[at + 1].kind == AR_TOKEN_WORD &&
                           !ar_token_is(tokens, at + 2, "{");
            return has_tag ? place(file, tokens->list.data[at + 1], false)
                           : none;
        } else if (is_specifier_word(text, length)) {
            continue;
        } else if (!ar_is_macro_use(c, file, token.begin)) {
            return place(file, token, true);
        } else {
            macro = place(file, token, true);
        }
    }
    return macro;
}

/* ---- type names -------------------------------------------------------- */

typedef struct type_name {
    ar_collector *c;
    CXCursor type_ref;
    const ar_type *type;
    int longs, shorts, signs, unsigneds;
    bool is_int; /* a word of the integer family was seen */
    bool is_double;
    bool failed;
    uint32_t depth; /* of macros */
} type_name;

static void parse_tokens(type_name *p, ar_file_id file, uint32_t begin,
                         uint32_t end);

/* Turns the specifier words seen so far into a type. */
static void settle(type_name *p) {
    if (p->type || p->failed)
        return;
    const char *name = NULL;
    if (p->is_double)
        name = p->longs ? "long double" : "double";
    else if (p->shorts)
        name = p->unsigneds ? "unsigned short" : "short";
    else if (p->longs > 1)
        name = p->unsigneds ? "unsigned long long" : "long long";
    else if (p->longs)
        name = p->unsigneds ? "unsigned long" : "long";
    else if (p->is_int)
        name = p->unsigneds ? "unsigned int" : "int";
    if (name)
        p->type = ar_builtin(p->c, name);
    else
        p->failed = true;
}

static void named_type(type_name *p) {
    if (clang_Cursor_isNull(p->type_ref))
        p->failed = true;
    else
        p->type = ar_type_of(p->c, clang_getCursorType(p->type_ref));
}

static bool builtin_word(type_name *p, const ar_tokens *tokens, uint32_t at) {
    static const char *const simple[] = {"float",    "void",   "_Bool",
                                         "_Float16", "__bf16", NULL};
    for (const char *const *word = simple; *word; word++)
        if (ar_token_is(tokens, at, *word)) {
            p->type = ar_builtin(p->c, *word);
            return true;
        }
    bool is_char = ar_token_is(tokens, at, "char");
    if (is_char)
        p->type = ar_builtin(p->c, p->unsigneds ? "unsigned char"
                                   : p->signs   ? "signed char"
                                                : "char");
    bool is_double = ar_token_is(tokens, at, "double");
    bool is_long = ar_token_is(tokens, at, "long");
    bool is_short = ar_token_is(tokens, at, "short");
    bool is_signed = ar_token_is(tokens, at, "signed");
    bool is_unsigned = ar_token_is(tokens, at, "unsigned");
    bool is_int = ar_token_is(tokens, at, "int");
    p->is_double |= is_double;
    p->longs += is_long;
    p->shorts += is_short;
    p->signs += is_signed;
    p->unsigneds += is_unsigned;
    p->is_int |= is_int || is_signed || is_unsigned || is_long || is_short;
    return is_char || is_double || is_long || is_short || is_signed ||
           is_unsigned || is_int;
}

static void word(type_name *p, const ar_tokens *tokens, uint32_t *at) {
    ar_token token = tokens->list.data[*at];
    const char *text = tokens->bytes + token.begin;
    size_t length = token.end - token.begin;
    if (builtin_word(p, tokens, *at))
        return;
    if (is_tag_word(text, length)) {
        ++*at;
        named_type(p);
    } else if (is_typeof(text, length)) {
        p->failed = true;
    } else if (!is_specifier_word(text, length)) {
        const ar_macro *macro = find_macro(p->c, text, length);
        if (macro && !macro->is_function_like && p->depth < 8) {
            p->depth++;
            parse_tokens(p, macro->range.file,
                         macro->range.begin + (uint32_t)length,
                         macro->range.end);
            p->depth--;
        } else {
            named_type(p);
        }
    }
}

/* `[ number ]`; anything else is a variable length. */
static void array_suffix(type_name *p, const ar_tokens *tokens, uint32_t *at,
                         uint32_t end) {
    uint64_t count = 0;
    uint32_t i = *at + 1;
    if (i < tokens->list.count && ar_token_is(tokens, i + 1, "]") &&
        tokens->list.data[i].kind == AR_TOKEN_NUMBER)
        count = strtoull(tokens->bytes + tokens->list.data[i].begin, NULL, 0);
    while (i < tokens->list.count && tokens->list.data[i].begin < end &&
           !ar_token_is(tokens, i, "]"))
        i++;
    settle(p);
    if (!p->failed)
        p->type = ar_array_of(p->c, p->type, count);
    *at = i;
}

static void parse_tokens(type_name *p, ar_file_id file, uint32_t begin,
                         uint32_t end) {
    ar_tokens *tokens = ar_tokens_of(p->c, file);
    if (!tokens) {
        p->failed = true;
        return;
    }
    for (uint32_t at = ar_token_at(tokens, begin);
         !p->failed && at < tokens->list.count &&
         tokens->list.data[at].begin < end;
         at++) {
        if (tokens->list.data[at].kind == AR_TOKEN_WORD) {
            word(p, tokens, &at);
        } else if (ar_token_is(tokens, at, "*")) {
            settle(p);
            if (!p->failed)
                p->type = ar_pointer_to(p->c, p->type);
        } else if (ar_token_is(tokens, at, "[")) {
            array_suffix(p, tokens, &at, end);
        } else {
            p->failed = true;
        }
    }
}

const ar_type *ar_parse_type_name(ar_collector *c, ar_file_id file,
                                  uint32_t begin, uint32_t end,
                                  CXCursor type_ref) {
    type_name p = {.c = c, .type_ref = type_ref};
    parse_tokens(&p, file, begin, end);
    settle(&p);
    return p.failed ? NULL : p.type;
}
