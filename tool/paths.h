/* Paths: where the tool's own files are, and containment by whole components
 * of real paths (so that /a/bc is not below /a/b). */
#ifndef AR_PATHS_H
#define AR_PATHS_H

#include "base/arena.h"

#include <stdbool.h>

/* Beside the installed command, else in the source tree it was built from. */
const char *ar_pack_directory(ar_arena *arena);
const char *ar_include_directory(ar_arena *arena);

/* The path itself when it cannot be resolved. */
const char *ar_real_path(ar_arena *arena, const char *path);
const char *ar_directory_of(ar_arena *arena, const char *path);
/* The deepest directory that holds both. */
const char *ar_common_directory(ar_arena *arena, const char *directory,
                                const char *path);
/* Relative to the directory if it is below it, else as it is. Both real. */
const char *ar_path_from(const char *directory, const char *path);
bool ar_path_is_below(const char *path, const char *directory);
/* The last components of path are those of tail. */
bool ar_path_ends_with(const char *path, const char *tail);

#endif
