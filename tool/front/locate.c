/* Files, points and ranges.
 *
 * Both ends of a range go through clang_getFileLocation: it gives a macro
 * argument's own place and, for text of a macro body, the start of the macro
 * use. Ranges that overlap a macro use only in part, or whose ends lie in a
 * body, are widened to whole uses; those within one use are then marked. */
#include "front/internal.h"

#include <ctype.h>
#include <stdlib.h>

const char *ar_take(ar_collector *c, CXString text) {
    const char *s = clang_getCString(text);
    const char *copy = ar_strdup(c->arena, s ? s : "");
    clang_disposeString(text);
    return copy;
}

static ar_file_id add_file(ar_collector *c, CXFile file, CXSourceLocation at) {
    CXString name = clang_getFileName(file);
    CXString real = clang_File_tryGetRealPathName(file);
    const char *spelled = clang_getCString(name);
    const char *best = clang_getCString(real);
    if (!best || !*best)
        best = spelled;
    char *resolved = realpath(best, NULL);
    ar_file_id id =
        ar_files_add(&c->unit->files, spelled, resolved ? resolved : best,
                     clang_Location_isInSystemHeader(at) != 0);
    free(resolved);
    clang_disposeString(name);
    clang_disposeString(real);
    return id;
}

ar_file_id ar_file_of(ar_collector *c, CXFile file, CXSourceLocation where) {
    if (!file)
        return AR_NO_FILE;
    if (file == c->last_handle)
        return c->last_id;
    for (uint32_t i = 0; i < c->handles.count; i++) {
        if (c->handles.data[i] != file)
            continue;
        c->last_handle = file;
        c->last_id = c->handle_ids.data[i];
        return c->last_id;
    }
    ar_file_id id = add_file(c, file, where);
    AR_PUSH(c->scratch, &c->handles, file);
    AR_PUSH(c->scratch, &c->handle_ids, id);
    c->last_handle = file;
    c->last_id = id;
    return id;
}

ar_file_facts *ar_facts_of(ar_collector *c, ar_file_id file) {
    while (c->file_facts.count <= file) {
        ar_file_facts none = {0};
        AR_PUSH(c->scratch, &c->file_facts, none);
    }
    return &c->file_facts.data[file];
}

ar_tokens *ar_tokens_of(ar_collector *c, ar_file_id file) {
    if (file == AR_NO_FILE)
        return NULL;
    ar_file_facts *facts = ar_facts_of(c, file);
    if (facts->tokens || facts->no_tokens)
        return facts->tokens;
    const ar_file *loaded = ar_files_load(&c->unit->files, file);
    if (!loaded) {
        facts->no_tokens = true;
        return NULL;
    }
    facts->tokens = AR_NEW(c->scratch, ar_tokens);
    ar_tokenise(c->scratch, loaded->bytes, loaded->size, facts->tokens);
    return facts->tokens;
}

ar_point ar_spelling_of(ar_collector *c, CXSourceLocation where) {
    CXFile file;
    unsigned offset;
    if (!c->spells_bodies && ar_point_of(c, where).in_body)
        return (ar_point){AR_NO_FILE, 0, false};
    clang_getSpellingLocation(where, &file, NULL, NULL, &offset);
    if (!file)
        return (ar_point){AR_NO_FILE, 0, false};
    return (ar_point){ar_file_of(c, file, where), offset, false};
}

static bool is_covered(const ar_file_facts *facts, uint32_t offset) {
    return offset < facts->covered_size &&
           (facts->covered[offset / 64] >> (offset % 64) & 1);
}

/* Index of the innermost use that holds offset (begin <= offset < end). */
static uint32_t use_at(const ar_file_facts *facts, uint32_t offset) {
    if (!is_covered(facts, offset))
        return UINT32_MAX;
    uint32_t low = 0, high = facts->uses.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (facts->uses.data[middle].begin <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t use = low ? low - 1 : UINT32_MAX;
    while (use != UINT32_MAX && facts->uses.data[use].end <= offset)
        use = facts->uses.data[use].parent;
    return use;
}

bool ar_is_macro_use(ar_collector *c, ar_file_id file, uint32_t offset) {
    const ar_file_facts *facts = ar_facts_of(c, file);
    uint32_t use = use_at(facts, offset);
    while (use != UINT32_MAX && facts->uses.data[use].begin != offset)
        use = facts->uses.data[use].parent;
    return use != UINT32_MAX;
}

/* Text of a body is located where its macro use begins, so only such places
 * need the second, slower question. Uses in system headers are not known. */
static bool may_be_body(ar_collector *c, ar_file_id file, uint32_t offset) {
    return c->unit->files.list.data[file].is_system ||
           ar_is_macro_use(c, file, offset);
}

typedef enum ar_side { AR_SIDE_BEGIN, AR_SIDE_END } ar_side;

/* Before 19 clang_getSpellingLocation gives what clang_getFileLocation gives.
 * What begins where a macro use does is its body's; what ends there may be
 * text before it, unless both are within another use. */
static bool is_body_unspelled(CXSourceLocation where, ar_side side, CXFile file,
                              unsigned offset) {
    if (side == AR_SIDE_BEGIN)
        return true;
    CXFile outer;
    unsigned outer_offset;
    clang_getExpansionLocation(where, &outer, NULL, NULL, &outer_offset);
    return outer != file || outer_offset != offset;
}

static ar_point point_at(ar_collector *c, CXSourceLocation where,
                         ar_side side) {
    CXFile file, spelling_file;
    unsigned offset, spelling_offset;
    clang_getFileLocation(where, &file, NULL, NULL, &offset);
    if (!file)
        return (ar_point){AR_NO_FILE, 0, false};
    ar_file_id id = ar_file_of(c, file, where);
    if (!may_be_body(c, id, offset))
        return (ar_point){id, offset, false};
    if (!c->spells_bodies)
        return (ar_point){id, offset,
                          !c->unit->files.list.data[id].is_system &&
                              is_body_unspelled(where, side, file, offset)};
    clang_getSpellingLocation(where, &spelling_file, NULL, NULL,
                              &spelling_offset);
    return (ar_point){id, offset,
                      file != spelling_file || offset != spelling_offset};
}

ar_point ar_point_of(ar_collector *c, CXSourceLocation where) {
    return point_at(c, where, AR_SIDE_BEGIN);
}

ar_point ar_end_of(ar_collector *c, CXSourceLocation where) {
    return point_at(c, where, AR_SIDE_END);
}

/* The outermost use that begins exactly at offset widens the range to its
 * end; text of a body is located at such a beginning. */
static void cover_use_at(const ar_file_facts *facts, uint32_t offset,
                         ar_range *range) {
    for (uint32_t i = use_at(facts, offset); i != UINT32_MAX;
         i = facts->uses.data[i].parent) {
        const ar_macro_use *use = &facts->uses.data[i];
        if (use->begin == offset && use->end > range->end)
            range->end = use->end;
    }
}

/* A use that the range enters or leaves in its middle is taken in whole; the
 * range is the body's when that use is all of it. */
static void cover_crossed(const ar_file_facts *facts, ar_range *range) {
    for (uint32_t i = use_at(facts, range->begin); i != UINT32_MAX;
         i = facts->uses.data[i].parent) {
        const ar_macro_use *use = &facts->uses.data[i];
        if (use->begin < range->begin && use->end <= range->end) {
            range->begin = use->begin;
            range->in_macro_body |= use->end == range->end;
        }
    }
    if (range->end == range->begin)
        return;
    for (uint32_t i = use_at(facts, range->end - 1); i != UINT32_MAX;
         i = facts->uses.data[i].parent) {
        const ar_macro_use *use = &facts->uses.data[i];
        if (use->begin >= range->begin && use->end > range->end) {
            range->end = use->end;
            range->in_macro_body |= use->begin == range->begin;
        }
    }
}

static bool is_within(ar_range range, const ar_macro_use *use) {
    return use->begin <= range.begin && range.end <= use->end;
}

/* A use that begins at offset, where its body's text is located, and holds the
 * range: what reaches beyond is written here, with the use in it. */
static bool is_body_at(const ar_file_facts *facts, uint32_t offset,
                       ar_range range) {
    for (uint32_t i = use_at(facts, offset); i != UINT32_MAX;
         i = facts->uses.data[i].parent)
        if (facts->uses.data[i].begin == offset &&
            is_within(range, &facts->uses.data[i]))
            return true;
    return false;
}

bool ar_cuts_use(ar_collector *c, ar_range outer, ar_range inner) {
    if (inner.file == AR_NO_FILE || inner.file != outer.file)
        return false;
    const ar_file_facts *facts = ar_facts_of(c, inner.file);
    for (uint32_t i = use_at(facts, inner.begin); i != UINT32_MAX;
         i = facts->uses.data[i].parent) {
        const ar_macro_use *use = &facts->uses.data[i];
        bool is_part = is_within(inner, use) &&
                       inner.end - inner.begin < use->end - use->begin;
        if (is_part && !is_within(outer, use))
            return true;
    }
    return false;
}

ar_range ar_between(ar_collector *c, ar_point b, ar_point e) {
    if (b.file == AR_NO_FILE)
        return AR_NO_RANGE;
    ar_range range = {b.file, b.offset, b.offset, false};
    if (e.file == b.file && e.offset > b.offset)
        range.end = e.offset;
    const ar_file_facts *facts = ar_facts_of(c, b.file);
    if (facts->uses.count == 0)
        return range;
    bool e_in_body = e.in_body && e.file == b.file;
    if (b.in_body)
        cover_use_at(facts, b.offset, &range);
    if (e_in_body)
        cover_use_at(facts, e.offset, &range);
    cover_crossed(facts, &range);
    range.in_macro_body |= (b.in_body && is_body_at(facts, b.offset, range)) ||
                           (e_in_body && is_body_at(facts, e.offset, range));
    return range;
}

ar_range ar_range_of(ar_collector *c, CXSourceRange source) {
    return ar_between(c, ar_point_of(c, clang_getRangeStart(source)),
                      ar_end_of(c, clang_getRangeEnd(source)));
}

ar_range ar_extent(ar_collector *c, CXCursor cursor) {
    return ar_range_of(c, clang_getCursorExtent(cursor));
}

/* ---- without asking for an extent -------------------------------------- */

/* C only: in C++ a name may have a qualifier before it. Uses in system headers
 * are not known. */
static bool is_own_c(const ar_collector *c, ar_file_id file) {
    return c->unit->language == AR_LANG_C && file != AR_NO_FILE &&
           !c->unit->files.list.data[file].is_system;
}

static bool is_uncovered(ar_collector *c, ar_file_id file, uint32_t offset) {
    return is_own_c(c, file) && !is_covered(ar_facts_of(c, file), offset);
}

bool ar_is_plain(ar_collector *c, ar_range range) {
    return !range.in_macro_body && range.begin < range.end &&
           is_uncovered(c, range.file, range.begin) &&
           is_uncovered(c, range.file, range.end - 1);
}

static bool is_word_byte(char byte) {
    return isalnum((unsigned char)byte) || byte == '_';
}

/* 0 where the word or number at offset may have more to it than letters,
 * digits and points: a sign, a splice, a separator. */
static uint32_t simple_word_end(const ar_file *file, uint32_t offset) {
    if (offset >= file->size)
        return 0;
    bool is_number = isdigit((unsigned char)file->bytes[offset]) != 0;
    uint32_t end = offset;
    while (end < file->size && (is_word_byte(file->bytes[end]) ||
                                (is_number && file->bytes[end] == '.')))
        end++;
    if (end == offset || end == file->size)
        return 0;
    char next = file->bytes[end];
    bool ends_here = (unsigned char)next < 0x80 && !strchr("\\$'", next);
    bool may_be_exponent =
        is_number && strchr("+-", next) && strchr("eEpP", file->bytes[end - 1]);
    return ends_here && !may_be_exponent ? end : 0;
}

/* All text that a use gives is located where it begins, unless its name is
 * that of a function-like macro given by another: that takes in what follows.
 */
static bool takes_no_more(ar_collector *c, ar_point at) {
    ar_range range = {at.file, at.offset, at.offset, false};
    cover_use_at(ar_facts_of(c, at.file), at.offset, &range);
    const ar_file *file = ar_files_load(&c->unit->files, at.file);
    uint32_t next = range.end;
    while (file && next < file->size &&
           isspace((unsigned char)file->bytes[next]))
        next++;
    return file && range.end > at.offset && next < file->size &&
           !strchr("(/\\", file->bytes[next]);
}

ar_range ar_word_extent(ar_collector *c, CXCursor cursor) {
    ar_point at = ar_point_of(c, clang_getCursorLocation(cursor));
    if (!is_own_c(c, at.file))
        return ar_extent(c, cursor);
    if (at.in_body)
        return takes_no_more(c, at) ? ar_between(c, at, at)
                                    : ar_extent(c, cursor);
    const ar_file *file = ar_files_load(&c->unit->files, at.file);
    uint32_t end = file ? simple_word_end(file, at.offset) : 0;
    if (!end)
        return ar_extent(c, cursor);
    if (!is_covered(ar_facts_of(c, at.file), at.offset))
        return (ar_range){at.file, at.offset, end, false};
    return ar_between(c, at, (ar_point){at.file, end, false});
}

const ar_macro_use *ar_use_around(ar_collector *c, ar_range range) {
    if (range.file == AR_NO_FILE)
        return NULL;
    const ar_file_facts *facts = ar_facts_of(c, range.file);
    uint32_t use = use_at(facts, range.begin);
    while (use != UINT32_MAX && (facts->uses.data[use].begin >= range.begin ||
                                 facts->uses.data[use].end <= range.end))
        use = facts->uses.data[use].parent;
    return use == UINT32_MAX ? NULL : &facts->uses.data[use];
}

ar_range ar_widen_to_use(ar_collector *c, ar_range range) {
    const ar_macro_use *use = ar_use_around(c, range);
    if (!use)
        return range;
    const ar_file_facts *facts = ar_facts_of(c, range.file);
    while (use->parent != UINT32_MAX)
        use = &facts->uses.data[use->parent];
    return (ar_range){range.file, use->begin, use->end, true};
}
