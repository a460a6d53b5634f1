/* load: from a command line or a compile database to parse jobs.
 *
 * A job is one main file with the arguments the parser gets for it. Arguments
 * are translated here from what gcc, clang or nvcc would take to what libclang
 * accepts, so that the collector never sees a compiler's own dialect. All
 * memory belongs to the arena passed in. Problems are diagnostics; a job that
 * cannot be made is left out. */
#ifndef AR_LOAD_H
#define AR_LOAD_H

#include "core/facts.h"

typedef struct ar_job {
    const char *main_name; /* as given by the user or the database */
    const char *directory; /* absolute; relative names are relative to it */
    const char *const *args;
    uint32_t arg_count; /* without argv[0], the input and -c/-o */
    ar_language language;
    const char *cuda_path; /* the SDK in use; NULL for C or without an SDK */
} ar_job;

typedef AR_VEC(ar_job) ar_jobs;

/* Jobs for files named on the command line; flags: what followed `--`. A .cu
 * file gives two jobs, the host pass and then the device pass. */
void ar_load_files(ar_arena *arena, const char *const *names, uint32_t count,
                   const char *const *flags, uint32_t flag_count, ar_jobs *jobs,
                   ar_diags *diags);

/* Jobs for the compile database in `build_dir`: for the named files, or for
 * every file of the database when count is 0. extra: flags added to each. */
void ar_load_database(ar_arena *arena, const char *build_dir,
                      const char *const *names, uint32_t count,
                      const char *const *extra, uint32_t extra_count,
                      ar_jobs *jobs, ar_diags *diags);

#endif
