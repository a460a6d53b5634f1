#include "operand.h"

#include "kernels.h"
#include "threads.h"

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
    return (size_t)last * sizeof(float);
}

size_t amp_operand_bytes(const amp_matrix *m, amp_operand_kind kind) {
    size_t element =
        kind == AMP_OPERAND_BF16 ? sizeof(uint16_t) : sizeof(float);
    return elements(m) * element;
}

typedef struct cast_job {
    const amp_kernels *kernels;
    const amp_matrix *matrix;
    void *dst;
    amp_operand_kind kind;
} cast_job;

static void cast_run(const cast_job *job, size_t to, const float *src,
                     size_t n) {
    switch (job->kind) {
    case AMP_OPERAND_BF16:
        job->kernels->to_bf16((uint16_t *)job->dst + to, src, n);
        return;
    case AMP_OPERAND_ROUNDED_BF16:
        job->kernels->round_bf16((float *)job->dst + to, src, n);
        return;
    case AMP_OPERAND_ROUNDED_FP16:
        job->kernels->round_fp16((float *)job->dst + to, src, n);
        return;
    }
}

/* begin and end count elements of the contiguous result. */
static void cast_range(void *context, size_t begin, size_t end) {
    const cast_job *job = context;
    const amp_matrix *m = job->matrix;
    size_t cols = (size_t)m->cols;
    size_t rows = (size_t)m->rows;
    while (begin < end) {
        size_t row = begin / cols;
        size_t col = begin % cols;
        size_t n = cols - col < end - begin ? cols - col : end - begin;
        const float *src = m->data + (row / rows) * (size_t)m->stride +
                           (row % rows) * (size_t)m->ld + col;
        cast_run(job, begin, src, n);
        begin += n;
    }
}

static void cast_flat(void *context, size_t begin, size_t end) {
    const cast_job *job = context;
    cast_run(job, begin, job->matrix->data + begin, end - begin);
}

void amp_operand_cast(void *dst, const amp_matrix *m, amp_operand_kind kind) {
    cast_job job = {
        .kernels = amp_kernels_get(), .matrix = m, .dst = dst, .kind = kind};
    int contiguous = (m->rows == 1 || m->ld == m->cols) &&
                     (m->batch == 1 || m->stride == m->rows * m->cols);
    amp_parallel(elements(m), contiguous ? cast_flat : cast_range, &job);
}
