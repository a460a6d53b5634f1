/* Storage edits: a macro whose use is one element.
 *
 * `#define OUT(net, i) (net)->out[i]` is an accessor: what stands around its
 * use stands around the element, so that nothing of the body has to change. The
 * text of the definition must be one operand, and the element all of it. */
#include "core/layout.h"
#include "core/plan_storage_parts.h"

#include <ctype.h>

enum { MAX_MACROS = 8 }; /* one in the body of another */

typedef struct reader {
    const ar_rewriter *r;
    const ar_unit *unit;
} reader;

/* NULL: not defined, or several times. */
static const ar_macro *the_macro(const ar_unit *unit, const char *name,
                                 size_t length, bool *is_macro) {
    const ar_macro *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < unit->macros.count; i++) {
        const ar_macro *macro = &unit->macros.data[i];
        if (strlen(macro->name) != length ||
            memcmp(macro->name, name, length) != 0)
            continue;
        found = macro;
        count++;
    }
    *is_macro = count > 0;
    return count == 1 ? found : NULL;
}

static const char *skip(const char *text) {
    for (;;) {
        if (isspace((unsigned char)*text))
            text++;
        else if (text[0] == '\\' && (text[1] == '\n' || text[1] == '\r'))
            text++;
        else
            return text;
    }
}

static size_t word_length(const char *text) {
    size_t length = 0;
    while (ar_is_word(text[length]))
        length++;
    return length;
}

/* Behind the bracket that closes this one; NULL where more than words, numbers
 * and operators is in it. */
static const char *behind_bracket(const char *text) {
    int open = 0;
    for (; *text; text++) {
        if (strchr("\"'#", *text) ||
            (text[0] == '/' && (text[1] == '/' || text[1] == '*')))
            return NULL;
        open += strchr("([{", *text) ? 1 : 0;
        open -= strchr(")]}", *text) ? 1 : 0;
        if (open == 0)
            return text + 1;
    }
    return NULL;
}

/* Behind the macro's name or parameter list. */
static const char *body_of(const reader *in, const ar_macro *macro) {
    const char *text =
        ar_source_text(in->r, macro->range) + strlen(macro->name);
    return macro->is_function_like ? behind_bracket(text) : text;
}

static bool is_operand(const reader *in, const char *text, int depth);

/* Behind the word, and what it takes if it is a macro; NULL: it is a macro of
 * more than an operand. */
static const char *behind_word(const reader *in, const char *text, int depth) {
    size_t length = word_length(text);
    bool is_macro;
    const ar_macro *macro = the_macro(in->unit, text, length, &is_macro);
    const char *next = text + length;
    if (length == 11 && memcmp(text, "__VA_ARGS__", length) == 0)
        return NULL;
    if (!is_macro)
        return next;
    if (!macro || depth == 0)
        return NULL;
    if (macro->is_function_like) {
        next = skip(next);
        next = *next == '(' ? behind_bracket(next) : NULL;
    }
    const char *body = body_of(in, macro);
    return next && body && is_operand(in, body, depth - 1) ? next : NULL;
}

/* (p)->x[i].y, f(x)[2], *p: no operator of what is around it gets between its
 * parts, nor does its own get hold of something outside as long as the parser
 * takes all of it for one node. */
static bool is_operand(const reader *in, const char *text, int depth) {
    text = skip(text);
    while (*text == '*')
        text = skip(text + 1);
    if (*text == '(')
        text = behind_bracket(text);
    else if (ar_is_word(*text) && !isdigit((unsigned char)*text))
        text = behind_word(in, text, depth);
    else
        return false;
    while (text && *(text = skip(text))) {
        if (*text == '[' || *text == '(')
            text = behind_bracket(text);
        else if (*text == '.' && text[1] != '.')
            text = skip(text + 1) + word_length(skip(text + 1));
        else if (text[0] == '-' && text[1] == '>')
            text = skip(text + 2) + word_length(skip(text + 2));
        else
            return false;
    }
    return text != NULL;
}

/* ---- parameters that stand bare at the front ------------------------------
 */

static const char *front_word(const char *body) {
    body = skip(body);
    while (*body == '*')
        body = skip(body + 1);
    return body;
}

/* The nth piece between commas of a list that begins with its bracket. */
static const char *piece_of(const reader *in, const char *list, uint32_t n) {
    const char *begin = list + 1;
    int open = 0;
    for (const char *at = begin; *at; at++) {
        bool ends = open == 0 && (*at == ',' || *at == ')');
        open += strchr("([{", *at) ? 1 : 0;
        open -= strchr(")]}", *at) ? 1 : 0;
        if (!ends)
            continue;
        if (n-- == 0)
            return ar_strndup(in->r->arena, begin, (size_t)(at - begin));
        if (*at == ')')
            return NULL;
        begin = at + 1;
    }
    return NULL;
}

/* Which parameter of the macro the word is; -1: none. */
static int parameter(const reader *in, const ar_macro *macro,
                     const char *word) {
    size_t length = word_length(word);
    if (!macro->is_function_like || !length)
        return -1;
    const char *list =
        skip(ar_source_text(in->r, macro->range) + strlen(macro->name));
    const char *param;
    for (uint32_t i = 0; (param = piece_of(in, list, i)) != NULL; i++) {
        param = skip(param);
        if (word_length(param) == length && memcmp(param, word, length) == 0)
            return (int)i;
    }
    return -1;
}

/* A parameter at the front without brackets is what it is given: of a + b the
 * body would take the b alone. use: the text of the use; NULL: it is in another
 * macro's body. */
static bool fits_front(const reader *in, const ar_macro *macro, const char *use,
                       int depth) {
    const char *body = body_of(in, macro);
    const char *word = body ? front_word(body) : NULL;
    if (!word || depth == 0)
        return false;
    int index = parameter(in, macro, word);
    if (index >= 0) {
        const char *list = use ? skip(use + strlen(macro->name)) : "";
        const char *given =
            *list == '(' ? piece_of(in, list, (uint32_t)index) : NULL;
        return given && is_operand(in, given, MAX_MACROS);
    }
    bool is_macro;
    const ar_macro *inner =
        the_macro(in->unit, word, word_length(word), &is_macro);
    return !is_macro || (inner && fits_front(in, inner, NULL, depth - 1));
}

/* ---- a use ----------------------------------------------------------------
 */

/* Nothing that comes from the same use is around it. */
static bool is_all_of_use(const ar_storage_index *index, const ar_unit *unit,
                          const ar_node *node) {
    const ar_node *parent = ar_storage_parent(index, unit, node);
    while (parent && parent->kind == AR_IMPLICIT)
        parent = ar_storage_parent(index, unit, parent);
    return parent && !(parent->range.in_macro_body &&
                       parent->range.file == node->range.file &&
                       parent->range.begin == node->range.begin);
}

bool ar_is_whole_use(const ar_rewriter *r, const ar_unit *unit,
                     const ar_node *node) {
    if (!node->range.in_macro_body || node->range.file == AR_NO_FILE)
        return false;
    const reader in = {r, unit};
    const char *use = ar_source_text(r, node->range);
    size_t length = word_length(use);
    bool is_macro;
    const ar_macro *macro = the_macro(unit, use, length, &is_macro);
    const char *end = skip(use + length);
    if (macro && macro->is_function_like)
        end = *end == '(' ? behind_bracket(end) : NULL;
    const char *body = macro ? body_of(&in, macro) : NULL;
    return end && !*end && body && is_operand(&in, body, MAX_MACROS) &&
           fits_front(&in, macro, use, MAX_MACROS) &&
           is_all_of_use(r->storage->index, unit, node);
}
