/* collect: one parse job to the facts of one translation unit.
 *
 * Runs on the calling thread and needs a big stack, since both the parser and
 * the facts follow the nesting of the program (see base/stack.h); workers.h
 * arranges that. Parse errors become diagnostics of the unit: one inside a
 * function costs that function its body, any other leaves parsed == false. */
#ifndef AR_COLLECT_H
#define AR_COLLECT_H

#include "front/load.h"

/* The unit is allocated in `arena` and keeps pointing into it. */
ar_unit *ar_collect(ar_arena *arena, const ar_job *job);

#endif
