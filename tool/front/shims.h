/* shims: headers the parser gets that lie in no folder.
 *
 * They only declare: what they declare is never compiled into anything, and
 * they are system headers to the collector. They stand in AR_SHIM_DIR, which
 * exists in the parser's eyes only. */
#ifndef AR_SHIMS_H
#define AR_SHIMS_H

#include "base/arena.h"

#include <clang-c/Index.h>

#define AR_SHIM_DIR  "/amp-rewrite-headers"
#define AR_SHIM_CUDA "amp_cuda_compat.h"

enum { AR_SHIM_COUNT = 4 };

/* cuda_path: the toolkit in use, or NULL. */
void ar_shims(ar_arena *arena, const char *cuda_path,
              struct CXUnsavedFile files[AR_SHIM_COUNT]);

#endif
