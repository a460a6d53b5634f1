/* workers: parses and collects all jobs in parallel, one forked process per
 * unit, so that a crash of the parser costs one file. The facts are built in a
 * mapping shared with the parent: nothing is serialised. */
#ifndef AR_WORKERS_H
#define AR_WORKERS_H

#include "front/load.h"

typedef enum ar_progress {
    AR_PROGRESS_OFF,
    AR_PROGRESS_TERMINAL /* a line on stderr while work is long */
} ar_progress;

/* One unit per job, in the order of the jobs. A job whose worker died gives a
 * unit with parsed == false and an AR_DIAG_WORKER_CRASHED of its own. Each
 * unit owns its arena: ar_arena_free(unit->arena) ends it. `arena` holds the
 * array only. parallel 0: as many as there are processors. */
ar_unit **ar_collect_all(ar_arena *arena, const ar_jobs *jobs,
                         uint32_t parallel, ar_progress progress);

#endif
