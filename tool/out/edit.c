#include "out/edit.h"
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

void ar_edit_add(ar_edits *edits, ar_edit edit) {
    if (edit.range.file == AR_NO_FILE || edit.range.begin > edit.range.end)
        AR_BUG("edit of no place (%s)", edit.why ? edit.why : "no reason");
    if (!edit.text)
        AR_BUG("edit without a text (%s)", edit.why ? edit.why : "no reason");
    AR_PUSH(edits->arena, &edits->list, edit);
}

/* Heads come behind what is put before a statement, tails before what is put
 * after it. */
enum { WRAP_ORDER = 10, WRAP_LAYERS = 16 };

void ar_edit_wrap(ar_edits *edits, ar_wrap wrap) {
    if (wrap.layer < 0 || wrap.layer >= WRAP_LAYERS)
        AR_BUG("wrap of layer %d (%s)", wrap.layer,
               wrap.why ? wrap.why : "no reason");
    ar_range head = wrap.range, tail = wrap.range;
    head.end = head.begin;
    tail.begin = tail.end;
    int64_t reach = wrap.range.end - wrap.range.begin;
    int64_t nest = reach * WRAP_LAYERS + wrap.layer;
    ar_edit_add(edits, (ar_edit){.range = head,
                                 .text = wrap.head,
                                 .order = WRAP_ORDER,
                                 .nest = -nest,
                                 .why = wrap.why});
    ar_edit_add(edits, (ar_edit){.range = tail,
                                 .text = wrap.tail,
                                 .order = -WRAP_ORDER,
                                 .nest = nest,
                                 .why = wrap.why});
}

static bool is_insertion(const ar_edit *edit) {
    return edit->range.begin == edit->range.end;
}

/* qsort is not stable: the place in the list breaks ties. */
typedef struct ar_ranked {
    ar_edit edit;
    uint32_t rank;
} ar_ranked;

static int compare_u32(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

/* By place; at one offset insertions come before the replacement of what
 * follows, in their order. */
static int compare_ranked(const void *pa, const void *pb) {
    const ar_ranked *a = pa, *b = pb;
    int by = compare_u32(a->edit.range.file, b->edit.range.file);
    if (by == 0)
        by = compare_u32(a->edit.range.begin, b->edit.range.begin);
    if (by == 0)
        by = is_insertion(&b->edit) - is_insertion(&a->edit);
    if (by == 0)
        by = (a->edit.order > b->edit.order) - (a->edit.order < b->edit.order);
    if (by == 0)
        by = (a->edit.nest > b->edit.nest) - (a->edit.nest < b->edit.nest);
    return by != 0 ? by : compare_u32(a->rank, b->rank);
}

static void sort(ar_edits *edits) {
    uint32_t count = edits->list.count;
    ar_ranked *ranked = AR_NEW_ARRAY(edits->arena, ar_ranked, count);
    for (uint32_t i = 0; i < count; i++)
        ranked[i] = (ar_ranked){edits->list.data[i], i};
    if (count)
        qsort(ranked, count, sizeof *ranked, compare_ranked);
    for (uint32_t i = 0; i < count; i++)
        edits->list.data[i] = ranked[i].edit;
}

static bool same_edit(const ar_edit *a, const ar_edit *b) {
    return a->range.file == b->range.file && a->range.begin == b->range.begin &&
           a->range.end == b->range.end && a->order == b->order &&
           a->nest == b->nest && strcmp(a->text, b->text) == 0;
}

/* Is an edit equal to `edit` among the kept ones that begin at its place? */
static bool is_kept(const ar_edits *edits, uint32_t kept, const ar_edit *edit) {
    for (uint32_t i = kept; i-- > 0;) {
        const ar_edit *other = &edits->list.data[i];
        if (other->range.file != edit->range.file ||
            other->range.begin != edit->range.begin)
            return false;
        if (same_edit(other, edit))
            return true;
    }
    return false;
}

static uint64_t hash_text(const char *text) {
    uint64_t hash = 0;
    for (; *text; text++)
        hash = hash * 31 + (unsigned char)*text;
    return hash;
}

static void drop_duplicates(ar_edits *edits) {
    /* of thousands of insertions at one place, most are new at a glance */
    ar_table met = {.arena = edits->arena};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < edits->list.count; i++) {
        ar_edit edit = edits->list.data[i];
        bool nothing = is_insertion(&edit) && edit.text[0] == '\0';
        if (nothing)
            continue;
        bool fresh =
            ar_table_add(&met, ar_key2(edit.range.file, edit.range.begin),
                         hash_text(edit.text));
        if (fresh || !is_kept(edits, kept, &edit))
            edits->list.data[kept++] = edit;
    }
    edits->list.count = kept;
}

static const char *why_of(const ar_edit *edit) {
    return edit->why ? edit->why : "no reason given";
}

static void report_conflict(ar_diags *diags, const ar_edit *a,
                            const ar_edit *b) {
    ar_report(diags, AR_DIAG_EDIT_CONFLICT, a->range, why_of(a), why_of(b));
    ar_report(diags, AR_DIAG_EDIT_OTHER, b->range, why_of(b));
}

/* Sorted edits overlap when one begins before the furthest end so far. An
 * insertion strictly inside a replaced range would lose its place. */
static bool find_conflicts(const ar_edits *edits, ar_diags *diags) {
    bool found = false;
    const ar_edit *furthest = NULL;
    for (uint32_t i = 0; i < edits->list.count; i++) {
        const ar_edit *edit = &edits->list.data[i];
        if (furthest && furthest->range.file == edit->range.file &&
            edit->range.begin < furthest->range.end) {
            report_conflict(diags, furthest, edit);
            found = true;
        }
        if (!furthest || furthest->range.file != edit->range.file ||
            edit->range.end > furthest->range.end)
            furthest = edit;
    }
    return found;
}

static bool load_all(const ar_edits *edits, ar_files *files, ar_diags *diags) {
    bool ok = true;
    ar_file_id last = AR_NO_FILE;
    for (uint32_t i = 0; i < edits->list.count; i++) {
        ar_range range = edits->list.data[i].range;
        if (range.file != last && !ar_files_load(files, range.file)) {
            ar_report(diags, AR_DIAG_CANNOT_READ, AR_NO_RANGE,
                      files->list.data[range.file].name, strerror(errno));
            ok = false;
        }
        last = range.file;
        const ar_file *file = &files->list.data[range.file];
        if (file->loaded && range.end > file->size)
            AR_BUG("edit past the end of '%s' (%s)", file->name,
                   why_of(&edits->list.data[i]));
    }
    return ok;
}

bool ar_edits_finish(ar_edits *edits, ar_files *files, ar_diags *diags) {
    sort(edits);
    drop_duplicates(edits);
    return load_all(edits, files, diags) && !find_conflicts(edits, diags);
}

/* Every line end of the file is \r\n, and there is at least one. */
static bool uses_crlf(const ar_file *file) {
    bool any = false;
    const char *end = file->bytes + file->size;
    for (const char *p = file->bytes;
         p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++) {
        if (p == file->bytes || p[-1] != '\r')
            return false;
        any = true;
    }
    return any;
}

static void add_text(ar_str *out, const char *text, bool crlf) {
    if (!crlf) {
        ar_str_add(out, text);
        return;
    }
    for (const char *p = text; *p; p++) {
        if (*p == '\n' && (p == text || p[-1] != '\r'))
            ar_str_addn(out, "\r", 1);
        ar_str_addn(out, p, 1);
    }
}

ar_bytes ar_edits_apply_in(ar_arena *arena, const ar_edits *edits,
                           ar_files *files, ar_range range) {
    const ar_file *file = ar_files_load(files, range.file);
    if (!file)
        AR_BUG("edits of a file that was not loaded");
    bool crlf = uses_crlf(file);
    ar_str out = {.arena = arena};
    uint32_t done = range.begin;
    for (uint32_t i = 0; i < edits->list.count; i++) {
        const ar_edit *edit = &edits->list.data[i];
        if (edit->range.file != range.file)
            continue;
        if (edit->range.begin < done || edit->range.end > range.end)
            AR_BUG("edits of '%s' are not finished", file->name);
        ar_str_addn(&out, file->bytes + done, edit->range.begin - done);
        add_text(&out, edit->text, crlf);
        done = edit->range.end;
    }
    ar_str_addn(&out, file->bytes + done, range.end - done);
    return (ar_bytes){ar_str_text(&out), out.length};
}

ar_bytes ar_edits_apply(ar_arena *arena, const ar_edits *edits, ar_files *files,
                        ar_file_id id) {
    const ar_file *file = ar_files_load(files, id);
    uint32_t size = file ? (uint32_t)file->size : 0;
    return ar_edits_apply_in(arena, edits, files,
                             (ar_range){id, 0, size, false});
}

uint32_t ar_edits_files(const ar_edits *edits, ar_arena *arena,
                        ar_file_id **out) {
    ar_file_id *ids = AR_NEW_ARRAY(arena, ar_file_id, edits->list.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < edits->list.count; i++) {
        ar_file_id id = edits->list.data[i].range.file;
        if (count == 0 || ids[count - 1] != id)
            ids[count++] = id;
    }
    *out = ids;
    return count;
}
