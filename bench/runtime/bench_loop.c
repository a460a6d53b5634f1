/* A loop as a rewritten source has it: load, compute in FP32, store. Built
 * once per half type and set of instructions, as BENCH_LOOP says. */
#include "bench.h"

#include <amp/amp_storage.h>

void BENCH_LOOP(void *context) {
    const bench_loop *l = context;
    const amp_half *x = l->from;
    amp_half *y = l->to;
    for (size_t i = 0; i < l->n; i++)
        y[i] = amp_to_half(amp_to_float(x[i]) * l->scale + l->shift);
}
