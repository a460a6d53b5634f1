/* Edits: replacements of byte ranges, planned from decisions.
 *
 * An edit list is merged over all units, so that a header planned twice is
 * edited once: equal edits collapse, edits that overlap otherwise are a
 * conflict and nothing is written. Insertions at one place keep the order of
 * their `order` field, then of adding; two insertions that must both stay
 * although their text is equal (two closing parentheses) need different
 * orders. An insertion at the edge of a replaced range is no overlap: it goes
 * before or after the new text. Texts are not copied and must live as long as
 * the list. Applying knows nothing of C. */
#ifndef AR_EDIT_H
#define AR_EDIT_H

#include "base/diag.h"

typedef struct ar_edit {
    ar_range range; /* begin == end: an insertion */
    const char *text;
    int order;       /* among insertions at one offset: lower comes first */
    const char *why; /* rule or reason, for messages and exports */
} ar_edit;

typedef struct ar_edits {
    ar_arena *arena;
    AR_VEC(ar_edit) list;
} ar_edits;

void ar_edit_add(ar_edits *edits, ar_edit edit);
/* Sorts, drops duplicates, reports every conflict; false if there is one. */
bool ar_edits_finish(ar_edits *edits, ar_files *files, ar_diags *diags);

/* The new bytes of one file. Line ends inserted by edits (\n) become \r\n in a
 * file that uses \r\n throughout. edits must be finished. */
typedef struct ar_bytes {
    const char *data;
    size_t size;
} ar_bytes;
ar_bytes ar_edits_apply(ar_arena *arena, const ar_edits *edits, ar_files *files,
                        ar_file_id file);
/* Files that some edit touches, in id order. */
uint32_t ar_edits_files(const ar_edits *edits, ar_arena *arena,
                        ar_file_id **out);

/* Unified diff, 3 lines of context, as `diff -u` prints it (including "\ No
 * newline at end of file"); nothing if equal. */
void ar_diff_print(FILE *out, const char *old_name, const char *new_name,
                   ar_bytes before, ar_bytes after);

/* Writes through a temporary file in the same directory and a rename; keeps
 * the mode of `like` (a path or NULL). false + diagnostic on failure, and
 * nothing is left behind. */
bool ar_write_file(const char *path, ar_bytes bytes, const char *like,
                   ar_diags *diags);
/* The same for several files: all temporaries are written before the first
 * rename, so that a full disk or a missing directory changes nothing. Parent
 * directories are made. */
typedef struct ar_output {
    const char *path;
    ar_bytes bytes;
    const char *like;
} ar_output;
bool ar_write_files(const ar_output *outputs, uint32_t count, ar_diags *diags);

#endif
