/* args: the arguments of another compiler as libclang understands them. */
#ifndef AR_ARGS_H
#define AR_ARGS_H

#include "core/facts.h"

typedef struct ar_args {
    ar_arena *arena;
    AR_VEC(const char *) list;
    bool is_cuda;          /* -x cu or -x cuda was given */
    bool has_openmp;       /* -fopenmp was given */
    const char *gpu;       /* sm_XX, NULL: not given */
    const char *cuda_path; /* --cuda-path, NULL: not given */
} ar_args;

/* Adds what matters for parsing out of `argv` (no argv[0]); drops the input
 * file, outputs, warnings, code generation, linking. Never fails: what is not
 * known is left out, because a parser only needs what changes the meaning. */
void ar_translate_args(ar_args *args, const char *const *argv, uint32_t count);

#endif
