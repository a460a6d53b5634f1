/* Edits: replacements of byte ranges, planned from decisions.
 *
 * An edit list is merged over all units, so that a header planned twice is
 * edited once: equal edits collapse, edits that overlap otherwise are a
 * conflict and nothing is written. Insertions at one place keep the order of
 * their `order` field, then of how they nest, then of adding; two insertions
 * that must both stay although their text is equal (two closing parentheses)
 * need different orders or nestings. An insertion at the edge of a replaced
 * range is no overlap: it goes before or after the new text. Texts are not
 * copied and must live as long as the list. Applying knows nothing of C. */
#ifndef AR_EDIT_H
#define AR_EDIT_H

#include "base/diag.h"

typedef struct ar_edit {
    ar_range range; /* begin == end: an insertion */
    const char *text;
    int order;       /* among insertions at one offset: lower comes first */
    int64_t nest;    /* of equal orders: lower comes first */
    const char *why; /* rule or reason, for messages and exports */
} ar_edit;

/* Text around a range that other edits may go around, too: what encloses more
 * text is further out, of equal ranges what has the higher layer. */
typedef struct ar_wrap {
    ar_range range;
    int layer; /* 0 to 15 */
    const char *head, *tail;
    const char *why;
} ar_wrap;

typedef struct ar_edits {
    ar_arena *arena;
    AR_VEC(ar_edit) list;
} ar_edits;

void ar_edit_add(ar_edits *edits, ar_edit edit);
void ar_edit_wrap(ar_edits *edits, ar_wrap wrap);
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
/* Those of a part of the file; all edits of the file must lie in it. */
ar_bytes ar_edits_apply_in(ar_arena *arena, const ar_edits *edits,
                           ar_files *files, ar_range range);
/* Files that some edit touches, in id order. */
uint32_t ar_edits_files(const ar_edits *edits, ar_arena *arena,
                        ar_file_id **out);

/* Unified diff, 3 lines of context, that patch(1) can apply (including "\ No
 * newline at end of file"); nothing if equal. */
void ar_diff_print(FILE *out, const char *old_name, const char *new_name,
                   ar_bytes before, ar_bytes after);

/* Writing. A file is written to a temporary beside it, synced, and renamed, so
 * that it is either the old one or the new one. All temporaries are written
 * before the first rename: a full disk, a missing directory or a name that
 * cannot be written changes nothing, is a CANNOT_WRITE (or BACKUP_EXISTS)
 * diagnostic, and leaves neither temporaries nor new directories behind. Where
 * a rename fails, files that were replaced before get their old contents back:
 * each keeps a second name until the last is done. Nor does a signal that ends
 * the process leave any behind; one that comes between the first rename and the
 * last waits for it (base/crash.h).
 *
 * Parent directories are made. The mode is that of `like` (a path), else of
 * the file that is replaced, else what the umask allows; the owner is kept
 * where the system lets us. A symbolic link stays, and the file it points to
 * is replaced. A device or pipe is written to directly. A file without write
 * permission is not replaced, even where its directory would let us. */
typedef enum ar_write_kind {
    AR_WRITE_REPLACE, /* create or replace */
    AR_WRITE_BACKUP   /* create; never replaces anything */
} ar_write_kind;

typedef struct ar_output {
    const char *path;
    ar_bytes bytes;
    const char *like; /* NULL: as said above */
    ar_write_kind kind;
} ar_output;

/* Renames in the order given: backups go before what they back up. */
bool ar_write_files(const ar_output *outputs, uint32_t count, ar_diags *diags);
bool ar_write_file(const char *path, ar_bytes bytes, const char *like,
                   ar_diags *diags);

#endif
