/* Source files: the bytes on disk, lines, and byte ranges.
 *
 * A file is known by its real path, so that the same header reached through
 * two names is one file. Offsets are bytes from the start of the file, a BOM
 * included. Tables live in the arena they were made with; the index of a file
 * in its table is its id. Ids of one unit's table are mapped to the program's
 * table by link. */
#ifndef AR_SOURCE_H
#define AR_SOURCE_H

#include "base/vec.h"

#include <stdbool.h>

typedef uint32_t ar_file_id;
#define AR_NO_FILE UINT32_MAX

typedef struct ar_range {
    ar_file_id file;     /* AR_NO_FILE: no place (built in) */
    uint32_t begin, end; /* bytes, end exclusive */
    /* The text comes from a macro body: the range is that of the whole macro
     * use and must not be edited piecewise. Text in a macro argument has its
     * own true range and is not marked. */
    bool in_macro_body;
} ar_range;

/* All of the inner range lies in the outer one, or is it. */
static inline bool ar_range_holds(ar_range outer, ar_range inner) {
    return outer.file == inner.file && outer.begin <= inner.begin &&
           outer.end >= inner.end;
}

typedef struct ar_file {
    const char *name; /* as the user or the compiler spelled it */
    const char *real; /* real path; the key */
    bool is_system;   /* from a system include path */
    bool loaded;      /* bytes were read; `size` 0 and false: unreadable */
    const char *bytes;
    uint32_t size;
    uint32_t *line_starts; /* filled when first needed */
    uint32_t line_count;
} ar_file;

typedef struct ar_files {
    ar_arena *arena;
    AR_VEC(ar_file) list;
} ar_files;

/* Finds or adds by real path. */
ar_file_id ar_files_add(ar_files *files, const char *name, const char *real,
                        bool is_system);
/* As the user or the compiler spelled it; "" for AR_NO_FILE. */
const char *ar_file_name(const ar_files *files, ar_file_id id);
/* Reads the bytes once; NULL and errno when that fails. Files of 2 GiB and
 * more fail with EFBIG. */
const ar_file *ar_files_load(ar_files *files, ar_file_id id);

typedef struct ar_line_col {
    uint32_t line, column; /* from 1; column in bytes */
} ar_line_col;
/* {0,0} when the file cannot be read. */
ar_line_col ar_line_col_at(ar_files *files, ar_file_id id, uint32_t offset);
/* The bytes of the line that holds offset, without its line end. */
ar_range ar_line_range(ar_files *files, ar_file_id id, uint32_t offset);
/* "file:line:col", or "<built in>". */
const char *ar_place(ar_arena *arena, ar_files *files, ar_range range);
/* A copy of the text of a range; "" when it cannot be read. */
const char *ar_text(ar_arena *arena, ar_files *files, ar_range range);

#endif
