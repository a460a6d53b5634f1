#include "operand.h"

#include "kernels.h"
#include "threads.h"

#include <string.h>

size_t amp_element_bytes(amp_dtype type) {
    return type == AMP_FP32 ? sizeof(float) : sizeof(uint16_t);
}

static size_t elements(const amp_matrix *m) {
    return (size_t)(m->rows * m->cols * m->batch);
}

/* One of the elements that lie furthest apart, and of the cast form; a little
 * room is left for the rounding up that allocators do. */
bool amp_matrix_fits(const amp_matrix *m) {
    const int64_t most = PTRDIFF_MAX / (int64_t)sizeof(float) - 4096;
    int64_t cells, stacked, rows;
    return !__builtin_mul_overflow(m->rows, m->cols, &cells) &&
           !__builtin_mul_overflow(cells, m->batch, &cells) && cells <= most &&
           !__builtin_mul_overflow(m->batch - 1, m->stride, &stacked) &&
           !__builtin_mul_overflow(m->rows - 1, m->ld, &rows) &&
           !__builtin_add_overflow(stacked, rows, &rows) &&
           !__builtin_add_overflow(rows, m->cols, &rows) && rows <= most;
}

size_t amp_matrix_extent(const amp_matrix *m) {
    int64_t last = (m->batch - 1) * m->stride + (m->rows - 1) * m->ld + m->cols;
    return (size_t)last * amp_element_bytes(m->type);
}

bool amp_operand_in_place(const amp_matrix *m, amp_operand_kind kind) {
    return (kind == AMP_OPERAND_BF16 && m->type == AMP_BF16) ||
           (kind == AMP_OPERAND_FP32 && m->type == AMP_FP32);
}

size_t amp_operand_bytes(const amp_matrix *m, amp_operand_kind kind) {
    size_t element =
        kind == AMP_OPERAND_BF16 ? sizeof(uint16_t) : sizeof(float);
    return elements(m) * element;
}

/* ---- runs of adjacent elements ------------------------------------------ */

typedef struct cast_job {
    const amp_kernels *kernels;
    const amp_matrix *matrix;
    void *dst;
    const float *results; /* of amp_result_store, which has no kind */
    amp_operand_kind kind;
    void (*run)(const struct cast_job *job, size_t flat, size_t placed,
                size_t n);
} cast_job;

/* `flat` counts elements of the contiguous form, `placed` those between the
 * start of the matrix and the run. */
static void widen_run(const cast_job *job, size_t flat, size_t placed,
                      size_t n) {
    const uint16_t *src = (const uint16_t *)job->matrix->data + placed;
    float *dst = (float *)job->dst + flat;
    if (job->matrix->type == AMP_FP16)
        job->kernels->from_fp16(dst, src, n);
    else
        job->kernels->from_bf16(dst, src, n);
}

static void cast_run(const cast_job *job, size_t flat, size_t placed,
                     size_t n) {
    const float *src = (const float *)job->matrix->data + placed;
    switch (job->kind) {
    case AMP_OPERAND_BF16:
        job->kernels->to_bf16((uint16_t *)job->dst + flat, src, n);
        return;
    case AMP_OPERAND_ROUNDED_BF16:
        job->kernels->round_bf16((float *)job->dst + flat, src, n);
        return;
    case AMP_OPERAND_ROUNDED_FP16:
        job->kernels->round_fp16((float *)job->dst + flat, src, n);
        return;
    case AMP_OPERAND_FP32:
        memcpy((float *)job->dst + flat, src, n * sizeof *src);
        return;
    }
}

static void store_run(const cast_job *job, size_t flat, size_t placed,
                      size_t n) {
    uint16_t *dst = (uint16_t *)job->dst + placed;
    if (job->matrix->type == AMP_FP16)
        job->kernels->to_fp16(dst, job->results + flat, n);
    else
        job->kernels->to_bf16(dst, job->results + flat, n);
}

/* begin and end count elements of the contiguous form. */
static void cast_range(void *context, size_t begin, size_t end) {
    const cast_job *job = context;
    const amp_matrix *m = job->matrix;
    size_t cols = (size_t)m->cols;
    size_t rows = (size_t)m->rows;
    while (begin < end) {
        size_t row = begin / cols;
        size_t col = begin % cols;
        size_t n = cols - col < end - begin ? cols - col : end - begin;
        size_t placed = (row / rows) * (size_t)m->stride +
                        (row % rows) * (size_t)m->ld + col;
        job->run(job, begin, placed, n);
        begin += n;
    }
}

static void cast_flat(void *context, size_t begin, size_t end) {
    const cast_job *job = context;
    job->run(job, begin, begin, end - begin);
}

static void cast_all(const amp_matrix *m, cast_job *job) {
    int contiguous = (m->rows == 1 || m->ld == m->cols) &&
                     (m->batch == 1 || m->stride == m->rows * m->cols);
    amp_parallel(elements(m), contiguous ? cast_flat : cast_range, job);
}

void amp_operand_cast(void *dst, const amp_matrix *m, amp_operand_kind kind) {
    cast_job job = {.kernels = amp_kernels_get(),
                    .matrix = m,
                    .dst = dst,
                    .kind = kind,
                    .run = m->type == AMP_FP32 ? cast_run : widen_run};
    cast_all(m, &job);
}

void amp_result_store(void *dst, const amp_matrix *m, const float *src) {
    cast_job job = {.kernels = amp_kernels_get(),
                    .matrix = m,
                    .dst = dst,
                    .results = src,
                    .run = store_run};
    cast_all(m, &job);
}
