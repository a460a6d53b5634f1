/* sums.c - rows of half buffers that a loop adds up in FP32. */
#include "log.h"
#include "storage.h"
#include "worker.h"

#include <stdlib.h>

/* What was rewritten has no other way to add up. */
_Noreturn static void stop(int64_t n) {
    amp_log(AMP_LOG_ERROR, "no memory for the sums of %lld elements",
            (long long)n);
    abort();
}

/* One of those that the thread keeps, or memory that is freed at the end. */
static float *take(size_t n) {
    amp_worker *w = amp_worker_get();
    for (int i = 0; w && i < AMP_SUM_ROWS; i++) {
        amp_sum_row *row = &w->rows[i];
        if (row->open)
            continue;
        if (row->n < n) {
            float *grown = malloc(n * sizeof *grown);
            if (!grown)
                return NULL;
            free(row->data);
            row->data = grown;
            row->n = n;
        }
        row->open = true;
        return row->data;
    }
    return malloc(n * sizeof(float));
}

static void give_back(float *sums) {
    amp_worker *w = amp_worker_get();
    for (int i = 0; w && i < AMP_SUM_ROWS; i++)
        if (w->rows[i].data == sums) {
            w->rows[i].open = false;
            return;
        }
    free(sums);
}

float *amp_sum_open(amp_buffer row, int64_t n) {
    if (n <= 0 || row.type == AMP_FP32)
        return row.data;
    float *sums =
        n <= PTRDIFF_MAX / (int64_t)sizeof *sums ? take((size_t)n) : NULL;
    if (!sums)
        stop(n);
    amp_storage_read(row, 0, (size_t)n, sums);
    return sums;
}

void amp_sum_close(float *sums, amp_buffer row, int64_t n) {
    if (n <= 0 || row.type == AMP_FP32)
        return;
    amp_storage_write(row, 0, sums, (size_t)n);
    give_back(sums);
}
