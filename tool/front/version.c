#include "front/version.h"

#include <clang-c/Index.h>

const char *ar_libclang_version(ar_arena *arena) {
    CXString text = clang_getClangVersion();
    const char *copy = ar_strdup(arena, clang_getCString(text));
    clang_disposeString(text);
    return copy;
}
