/* toolchain: where the headers are that belong to the parser and to CUDA. */
#ifndef AR_TOOLCHAIN_H
#define AR_TOOLCHAIN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* 22 of "Debian clang version 22.1.8"; 0 when libclang does not say. */
unsigned ar_libclang_major(void);
/* The folder with clang's own headers, for -resource-dir; NULL: libclang finds
 * it by itself or it is nowhere. */
const char *ar_resource_dir(ar_arena *arena);
/* Do these flags lead libclang to its headers? Parses a line: to be asked only
 * where ar_resource_dir gives nothing. */
bool ar_finds_headers(const char *const *flags, uint32_t count);
/* The CUDA toolkit: `asked` when it is one, else CUDA_PATH, CUDA_HOME, the
 * folder of nvcc in PATH, /usr/local/cuda, /usr/lib/cuda; NULL: none. */
const char *ar_cuda_path(ar_arena *arena, const char *asked);

#endif
