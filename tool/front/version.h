/* Which parser the tool runs on. */
#ifndef AR_VERSION_H
#define AR_VERSION_H

#include "base/arena.h"

/* For example "Debian clang version 22.1.8". */
const char *ar_libclang_version(ar_arena *arena);

#endif
