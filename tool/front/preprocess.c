/* The preprocessor's side: macro uses, includes and macros from libclang's
 * record, pragmas and conditionals from the tokens. */
#include "front/internal.h"

#include <ctype.h>
#include <stdlib.h>

void ar_collect_preprocessing(ar_collector *c, CXCursor cursor) {
    CXSourceLocation at = clang_getCursorLocation(cursor);
    if (clang_Location_isInSystemHeader(at))
        return;
    CXSourceRange extent = clang_getCursorExtent(cursor);
    ar_point b = ar_point_of(c, clang_getRangeStart(extent));
    ar_point e = ar_end_of(c, clang_getRangeEnd(extent));
    if (b.file == AR_NO_FILE || b.file != e.file)
        return;
    ar_range range = {b.file, b.offset, e.offset, false};
    switch ((int)clang_getCursorKind(cursor)) {
    case CXCursor_MacroExpansion: {
        ar_macro_use use = {b.offset, e.offset, UINT32_MAX};
        AR_PUSH(c->scratch, &ar_facts_of(c, b.file)->uses, use);
        break;
    }
    case CXCursor_MacroDefinition: {
        ar_macro macro = {ar_take(c, clang_getCursorSpelling(cursor)), range,
                          clang_Cursor_isMacroFunctionLike(cursor) != 0};
        AR_PUSH(c->arena, &c->unit->macros, macro);
        break;
    }
    case CXCursor_InclusionDirective: {
        CXFile target = clang_getIncludedFile(cursor);
        ar_include include = {range, AR_NO_FILE, false};
        if (target) /* system or not: by a place inside it */
            include.target = ar_file_of(
                c, target, clang_getLocationForOffset(c->tu, target, 0));
        AR_PUSH(c->arena, &c->unit->includes, include);
        break;
    }
    default:
        break;
    }
}

static int compare_uses(const void *a, const void *b) {
    const ar_macro_use *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end;
}

static void mark_covered(ar_collector *c, ar_file_facts *facts) {
    uint32_t size = 0;
    for (uint32_t i = 0; i < facts->uses.count; i++)
        if (facts->uses.data[i].end > size)
            size = facts->uses.data[i].end;
    facts->covered_size = size;
    facts->covered = AR_NEW_ARRAY(c->scratch, uint64_t, size / 64 + 1);
    for (uint32_t i = 0; i < facts->uses.count; i++) {
        ar_macro_use use = facts->uses.data[i];
        if (use.parent != UINT32_MAX)
            continue;
        for (uint32_t k = use.begin; k < use.end; k++)
            facts->covered[k / 64] |= (uint64_t)1 << (k % 64);
    }
}

void ar_finish_macro_uses(ar_collector *c) {
    for (uint32_t f = 0; f < c->file_facts.count; f++) {
        ar_file_facts *facts = &c->file_facts.data[f];
        ar_macro_use *uses = facts->uses.data;
        uint32_t count = facts->uses.count;
        if (count)
            qsort(uses, count, sizeof *uses, compare_uses);
        for (uint32_t i = 1; i < count; i++) {
            uint32_t parent = i - 1;
            while (parent != UINT32_MAX && uses[parent].end <= uses[i].begin)
                parent = uses[parent].parent;
            uses[i].parent = parent;
        }
        mark_covered(c, facts);
    }
}

/* ---- pragmas ----------------------------------------------------------- */

static int compare_starts(const void *a, const void *b) {
    const ar_start *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    uint32_t i = x->node ? x->node->id : x->decl->id;
    uint32_t k = y->node ? y->node->id : y->decl->id;
    return i < k ? -1 : i > k;
}

/* Words of the directive from token `at`, single spaces between them. */
static const char *directive_text(ar_collector *c, const ar_tokens *tokens,
                                  uint32_t at, uint32_t stop) {
    ar_str text = {.arena = c->arena};
    uint32_t end = 0;
    for (; at < stop; at++) {
        ar_token token = tokens->list.data[at];
        if (end && token.begin > end)
            ar_str_add(&text, " ");
        ar_str_addn(&text, tokens->bytes + token.begin,
                    token.end - token.begin);
        end = token.end;
    }
    return ar_str_text(&text);
}

static uint32_t directive_end(const ar_tokens *tokens, uint32_t hash) {
    uint32_t at = hash + 1;
    while (at < tokens->list.count && tokens->list.data[at].in_directive &&
           !tokens->list.data[at].is_hash)
        at++;
    return at;
}

/* Sorted when the first pragma asks; most units have none. */
static void sort_starts(ar_collector *c) {
    if (c->starts_sorted)
        return;
    c->starts_sorted = true;
    if (c->starts.count)
        qsort(c->starts.data, c->starts.count, sizeof *c->starts.data,
              compare_starts);
}

/* _Pragma ( "text" ), outside of directives; gives the token behind it. */
static bool is_operator(const ar_tokens *tokens, uint32_t at, uint32_t *end) {
    *end = at + 4;
    return *end <= tokens->list.count && !tokens->list.data[at].in_directive &&
           ar_token_is(tokens, at, "_Pragma") &&
           ar_token_is(tokens, at + 1, "(") &&
           tokens->list.data[at + 2].kind == AR_TOKEN_STRING &&
           tokens->bytes[tokens->list.data[at + 2].begin] == '"' &&
           ar_token_is(tokens, at + 3, ")");
}

/* A macro use that is all pragmas begins at the token. */
static bool is_pragma_use(const ar_collector *c, ar_file_id file,
                          const ar_tokens *tokens, uint32_t at, uint32_t *end) {
    for (uint32_t i = 0; i < c->pragma_uses.count; i++) {
        ar_range use = c->pragma_uses.data[i];
        if (use.file != file || use.begin != tokens->list.data[at].begin)
            continue;
        *end = ar_token_at(tokens, use.end);
        return true;
    }
    return false;
}

static void find_next(ar_collector *c, const ar_tokens *tokens, uint32_t at,
                      ar_pragma *pragma) {
    uint32_t end;
    while (at < tokens->list.count) {
        if (tokens->list.data[at].in_directive)
            at++;
        else if (is_operator(tokens, at, &end) ||
                 is_pragma_use(c, pragma->range.file, tokens, at, &end))
            at = end;
        else
            break;
    }
    if (at == tokens->list.count)
        return;
    uint32_t offset = tokens->list.data[at].begin;
    sort_starts(c);
    uint32_t low = 0, high = c->starts.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const ar_start *s = &c->starts.data[middle];
        if (s->file < pragma->range.file ||
            (s->file == pragma->range.file && s->begin < offset))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < c->starts.count; low++) {
        const ar_start *s = &c->starts.data[low];
        if (s->file != pragma->range.file || s->begin != offset)
            return;
        if (s->node && !pragma->next_stmt)
            pragma->next_stmt = s->node;
        if (s->decl && !pragma->next_decl)
            pragma->next_decl = s->decl;
    }
}

static bool is_skipped(const ar_collector *c, ar_file_id file,
                       uint32_t offset) {
    for (uint32_t i = 0; i < c->unit->skipped.count; i++) {
        ar_range range = c->unit->skipped.data[i];
        if (range.file == file && range.begin <= offset && offset < range.end)
            return true;
    }
    return false;
}

static bool is_word(const char *text, const char *word) {
    size_t length = strlen(word);
    return strncmp(text, word, length) == 0 &&
           !isalnum((unsigned char)text[length]) && text[length] != '_';
}

/* Compilers want the loop right behind these. */
static bool is_loop_pragma(const char *text) {
    static const char *const words[] = {
        "unroll",   "nounroll",   "ivdep",     "simd",       "vector",
        "acc",      "novector",   "GCC ivdep", "GCC unroll", "GCC novector",
        "nofusion", "loop_count", "clang loop"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(text, words[i]))
            return true;
    return false;
}

/* text: what follows the word pragma. `next`: the token behind it all. */
static void add_pragma(ar_collector *c, ar_range range, const char *text,
                       const ar_tokens *tokens, uint32_t next) {
    ar_pragma pragma = {.kind = AR_PRAGMA_AMP, .range = range};
    if (is_word(text, "omp"))
        pragma.kind = AR_PRAGMA_OMP;
    else if (is_word(text, "once"))
        pragma.kind = AR_PRAGMA_ONCE;
    else if (is_loop_pragma(text))
        pragma.kind = AR_PRAGMA_LOOP;
    else if (!is_word(text, "amp"))
        return;
    if (is_skipped(c, range.file, range.begin))
        return;
    text += strcspn(text, " ");
    pragma.text = text + strspn(text, " ");
    find_next(c, tokens, next, &pragma);
    AR_PUSH(c->arena, &c->unit->pragmas, pragma);
}

static void add_directive(ar_collector *c, ar_file_id file,
                          const ar_tokens *tokens, uint32_t hash) {
    uint32_t word = hash + 2, stop = directive_end(tokens, hash);
    if (word >= stop)
        return;
    ar_range range = {file, tokens->list.data[hash].begin,
                      tokens->list.data[stop - 1].end, false};
    add_pragma(c, range, directive_text(c, tokens, word, stop), tokens, stop);
}

static void add_operator(ar_collector *c, ar_file_id file,
                         const ar_tokens *tokens, uint32_t at, uint32_t end) {
    ar_token string = tokens->list.data[at + 2];
    ar_range range = {file, tokens->list.data[at].begin,
                      tokens->list.data[end - 1].end, false};
    const char *text = ar_strndup(c->arena, tokens->bytes + string.begin + 1,
                                  string.end - string.begin - 2);
    add_pragma(c, range, text + strspn(text, " "), tokens, end);
}

/* ---- pragmas in macros --------------------------------------------------- */

/* A macro whose body is _Pragma operators and nothing else. */
typedef struct pragma_macro {
    const char *name;
    const char *text; /* of the first; NULL: made from the arguments */
} pragma_macro;

typedef struct pragma_macros {
    AR_VEC(pragma_macro) list;
} pragma_macros;

static const pragma_macro *named(const pragma_macros *found,
                                 const ar_tokens *tokens, uint32_t at) {
    for (uint32_t i = 0; i < found->list.count; i++)
        if (ar_token_is(tokens, at, found->list.data[i].name))
            return &found->list.data[i];
    return NULL;
}

static const char *string_at(ar_collector *c, const ar_tokens *tokens,
                             uint32_t at) {
    ar_token token = tokens->list.data[at];
    if (token.kind != AR_TOKEN_STRING || tokens->bytes[token.begin] != '"')
        return NULL;
    return ar_strndup(c->arena, tokens->bytes + token.begin + 1,
                      token.end - token.begin - 2);
}

static bool is_all_pragmas(ar_collector *c, const pragma_macros *found,
                           const ar_macro *macro, pragma_macro *out) {
    const ar_tokens *tokens = ar_tokens_of(c, macro->range.file);
    if (!tokens)
        return false;
    uint32_t first = ar_token_at(tokens, macro->range.begin) + 1;
    uint32_t stop = ar_token_at(tokens, macro->range.end);
    if (macro->is_function_like)
        first = ar_skip_group(tokens, first);
    *out = (pragma_macro){macro->name, NULL};
    for (uint32_t at = first; at < stop;) {
        const pragma_macro *inner = named(found, tokens, at);
        bool is_own = ar_token_is(tokens, at, "_Pragma") &&
                      ar_token_is(tokens, at + 1, "(");
        if (!inner && !is_own)
            return false;
        if (at == first)
            out->text = inner ? inner->text : string_at(c, tokens, at + 2);
        at++;
        if (at < stop && ar_token_is(tokens, at, "("))
            at = ar_skip_group(tokens, at);
    }
    return first < stop;
}

/* Those that use others come after them, as they are written. */
static pragma_macros find_pragma_macros(ar_collector *c) {
    pragma_macros found = {0};
    for (uint32_t i = 0; i < c->unit->macros.count; i++) {
        pragma_macro macro;
        if (is_all_pragmas(c, &found, &c->unit->macros.data[i], &macro))
            AR_PUSH(c->scratch, &found.list, macro);
    }
    return found;
}

/* What the use says: the macro's own text, or what it is given. */
static const char *text_of_use(ar_collector *c, const pragma_macro *macro,
                               const ar_tokens *tokens, uint32_t at) {
    if (macro->text)
        return macro->text;
    if (!ar_token_is(tokens, at + 1, "("))
        return "";
    return directive_text(c, tokens, at + 2, ar_skip_group(tokens, at + 1) - 1);
}

static void add_uses(ar_collector *c, ar_file_id file,
                     const pragma_macros *macros) {
    const ar_tokens *tokens = ar_tokens_of(c, file);
    const ar_file_facts *facts = ar_facts_of(c, file);
    for (uint32_t i = 0; tokens && i < facts->uses.count; i++) {
        const ar_macro_use *use = &facts->uses.data[i];
        uint32_t at = ar_token_at(tokens, use->begin);
        ar_range range = {file, use->begin, use->end, false};
        if (use->parent == UINT32_MAX && !tokens->list.data[at].in_directive &&
            named(macros, tokens, at))
            AR_PUSH(c->scratch, &c->pragma_uses, range);
    }
}

/* A pragma that is not known counts as one of a loop: it stays where it is. */
static void collect_pragma_uses(ar_collector *c) {
    pragma_macros macros = find_pragma_macros(c);
    for (ar_file_id f = 0; macros.list.count && f < c->file_facts.count; f++)
        add_uses(c, f, &macros);
    for (uint32_t i = 0; i < c->pragma_uses.count; i++) {
        ar_range use = c->pragma_uses.data[i];
        const ar_tokens *tokens = ar_tokens_of(c, use.file);
        uint32_t at = ar_token_at(tokens, use.begin);
        const char *text =
            text_of_use(c, named(&macros, tokens, at), tokens, at);
        bool is_known = is_word(text, "omp") || is_word(text, "once") ||
                        is_word(text, "amp") || is_loop_pragma(text);
        add_pragma(c, use, is_known ? text : "unroll", tokens,
                   ar_token_at(tokens, use.end));
    }
}

/* ---- conditionals ------------------------------------------------------ */

/* The include guard of a file: its first directive is `#ifndef X` and the
 * matching #endif ends the file. Gives the token after the guard's #ifndef. */
static bool opens_guard(const ar_tokens *tokens, uint32_t hash) {
    if (hash != 0 || !ar_token_is(tokens, 1, "ifndef"))
        return false;
    int depth = 0;
    for (uint32_t i = 0; i < tokens->list.count; i++) {
        if (!tokens->list.data[i].is_hash)
            continue;
        if (ar_token_is(tokens, i + 1, "if") ||
            ar_token_is(tokens, i + 1, "ifdef") ||
            ar_token_is(tokens, i + 1, "ifndef"))
            depth++;
        else if (ar_token_is(tokens, i + 1, "endif") && --depth == 0)
            return directive_end(tokens, i) == tokens->list.count;
    }
    return false;
}

static void mark_include(ar_collector *c, ar_file_id file, uint32_t offset) {
    for (uint32_t i = 0; i < c->unit->includes.count; i++) {
        ar_include *include = &c->unit->includes.data[i];
        if (include->range.file == file && include->range.begin == offset)
            include->in_conditional = true;
    }
}

static void scan_directives(ar_collector *c, ar_file_id file,
                            const ar_tokens *tokens) {
    int depth = opens_guard(tokens, 0) ? -1 : 0;
    for (uint32_t i = 0; i < tokens->list.count; i++) {
        uint32_t end;
        if (is_operator(tokens, i, &end))
            add_operator(c, file, tokens, i, end);
        if (!tokens->list.data[i].is_hash)
            continue;
        if (ar_token_is(tokens, i + 1, "if") ||
            ar_token_is(tokens, i + 1, "ifdef") ||
            ar_token_is(tokens, i + 1, "ifndef"))
            depth++;
        else if (ar_token_is(tokens, i + 1, "endif"))
            depth--;
        else if (ar_token_is(tokens, i + 1, "include") && depth > 0)
            mark_include(c, file, tokens->list.data[i].begin);
        else if (ar_token_is(tokens, i + 1, "pragma"))
            add_directive(c, file, tokens, i);
    }
}

/* A header whose guard is not its first line is skipped when it is included
 * again, and was seen all the same. */
static bool was_seen(ar_collector *c, ar_range range) {
    sort_starts(c);
    uint32_t low = 0, high = c->starts.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const ar_start *s = &c->starts.data[middle];
        if (s->file < range.file ||
            (s->file == range.file && s->begin < range.begin))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < c->starts.count && c->starts.data[low].file == range.file &&
        c->starts.data[low].begin < range.end)
        return true;
    for (uint32_t i = 0; i < c->unit->includes.count; i++) {
        const ar_range *include = &c->unit->includes.data[i].range;
        if (include->file == range.file && include->begin >= range.begin &&
            include->begin < range.end)
            return true;
    }
    return false;
}

static void collect_skipped(ar_collector *c) {
    CXSourceRangeList *list = clang_getAllSkippedRanges(c->tu);
    for (unsigned i = 0; list && i < list->count; i++) {
        CXSourceLocation at = clang_getRangeStart(list->ranges[i]);
        if (clang_Location_isInSystemHeader(at))
            continue;
        ar_point b = ar_point_of(c, at);
        ar_point e = ar_end_of(c, clang_getRangeEnd(list->ranges[i]));
        ar_range range = {b.file, b.offset, e.offset, false};
        if (b.file != AR_NO_FILE && b.file == e.file && !was_seen(c, range))
            AR_PUSH(c->arena, &c->unit->skipped, range);
    }
    if (list)
        clang_disposeSourceRangeList(list);
}

void ar_finish_preprocessing(ar_collector *c) {
    collect_skipped(c);
    collect_pragma_uses(c);
    for (ar_file_id f = 0; f < c->unit->files.list.count; f++) {
        if (c->unit->files.list.data[f].is_system)
            continue;
        const ar_tokens *tokens = ar_tokens_of(c, f);
        if (tokens)
            scan_directives(c, f, tokens);
    }
}
