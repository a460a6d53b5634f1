/* gemm.c - the cuBLAS entry points.
 *
 * Each tries the product in half and runs the original if that was not
 * possible. Unusual arguments (empty, negative, null) go to the original
 * unseen, so that its answer is the one that the program gets.
 */
#include <amp/amp_cuda.h>

#include "casts.h"
#include "errors.h"
#include "device.h"
#include "registry.h"

#include <limits.h>
#include <stdatomic.h>

typedef struct product {
    cublasHandle_t handle;
    cublasOperation_t transa;
    cublasOperation_t transb;
    int m;
    int n;
    int k;
    const float *alpha; /* host or device, as the handle says */
    const float *beta;
    amp_cuda_matrices a; /* as stored */
    amp_cuda_matrices b;
    float *c;
    int ldc;
    long long stridec;
    int batch;
} product;

/* One operand of the argument list of cublasSgemmStridedBatched. */
typedef struct plane {
    const float *data;
    int ld;
    long long stride;
} plane;

/* Of an operand that is rows x cols once transposed or not. */
static amp_cuda_matrices stored(plane p, cublasOperation_t trans, int rows,
                                int cols, int batch) {
    /* Stride 0: the whole batch reads one matrix. */
    return (amp_cuda_matrices){.data = p.data,
                               .rows = trans == CUBLAS_OP_N ? rows : cols,
                               .cols = trans == CUBLAS_OP_N ? cols : rows,
                               .ld = p.ld,
                               .stride = p.stride,
                               .batch = p.stride == 0 ? 1 : batch};
}

static product product_of(cublasHandle_t handle, cublasOperation_t transa,
                          cublasOperation_t transb, int m, int n, int k,
                          const float *alpha, plane a, plane b,
                          const float *beta, float *c, int ldc, int batch) {
    return (product){.handle = handle,
                     .transa = transa,
                     .transb = transb,
                     .m = m,
                     .n = n,
                     .k = k,
                     .alpha = alpha,
                     .beta = beta,
                     .a = stored(a, transa, m, k, batch),
                     .b = stored(b, transb, k, n, batch),
                     .c = c,
                     .ldc = ldc,
                     .batch = batch};
}

static bool usual_operand(const amp_cuda_matrices *m) {
    /* The packed leading dimension has to fit cuBLAS's int. */
    return m->data && m->ld >= m->rows && m->rows <= INT_MAX - 7;
}

static bool usual_trans(cublasOperation_t trans) {
    return trans == CUBLAS_OP_N || trans == CUBLAS_OP_T || trans == CUBLAS_OP_C;
}

static bool usual(const product *p) {
    return p->handle && p->alpha && p->beta && p->c && p->m > 0 && p->n > 0 &&
           p->k > 0 && p->ldc >= p->m && p->batch > 0 &&
           usual_trans(p->transa) && usual_trans(p->transb);
}

static amp_status multiply(const product *p, cudaDataType type,
                           const amp_cuda_operand *a,
                           const amp_cuda_operand *b) {
    if (p->batch == 1)
        return AMP_CUBLAS(cublasGemmEx(
            p->handle, p->transa, p->transb, p->m, p->n, p->k, p->alpha,
            a->data, type, a->ld, b->data, type, b->ld, p->beta, p->c,
            CUDA_R_32F, p->ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    return AMP_CUBLAS(cublasGemmStridedBatchedEx(
        p->handle, p->transa, p->transb, p->m, p->n, p->k, p->alpha, a->data,
        type, a->ld, a->stride, b->data, type, b->ld, b->stride, p->beta, p->c,
        CUDA_R_32F, p->ldc, p->stridec, p->batch, CUBLAS_COMPUTE_32F,
        CUBLAS_GEMM_DEFAULT));
}

/* A product that writes a parameter is its update, whoever runs it: copies
 * that were cast before are void. */
static void note_update(const product *p) {
    amp_cuda_matrices c = {.data = p->c,
                           .rows = p->m,
                           .cols = p->n,
                           .ld = p->ldc,
                           .stride = p->stridec,
                           .batch = p->batch};
    if (amp_cuda_registry_touches_param(c.data, amp_cuda_extent(&c)))
        amp_params_changed();
}

static amp_status in_half(amp_dtype half, const product *p) {
    if (!usual(p) || !usual_operand(&p->a) || !usual_operand(&p->b))
        return AMP_DECLINED;
    note_update(p);
    amp_cuda_lane *lane;
    amp_status status = amp_cuda_lane_enter(p->handle, &lane);
    if (status != AMP_OK)
        return status;
    amp_cuda_operand cast_a, cast_b;
    status = amp_cuda_operand_get(lane, AMP_CUDA_SLOT_A, half, &p->a, &cast_a);
    if (status == AMP_OK)
        status =
            amp_cuda_operand_get(lane, AMP_CUDA_SLOT_B, half, &p->b, &cast_b);
    if (status == AMP_OK)
        status = multiply(p, half == AMP_FP16 ? CUDA_R_16F : CUDA_R_16BF,
                          &cast_a, &cast_b);
    amp_cuda_lane_leave(lane);
    return status;
}

static bool done_in_half(amp_dtype half, const product *p) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    amp_device_note_half(half);
    amp_status status = half == AMP_FP32 ? AMP_DECLINED : in_half(half, p);
    amp_cuda_count_product(status == AMP_OK ? AMP_CUDA_PRODUCT_HALF
                                            : AMP_CUDA_PRODUCT_FP32);
    if (status < 0 && amp_once(&said))
        amp_device_log(
            AMP_LOG_WARN,
            "a %d x %d x %d product ran in FP32 instead of half (%s); this "
            "is said once",
            p->m, p->n, p->k, amp_status_string(status));
    return status == AMP_OK;
}

cublasStatus_t amp_cublasSgemm_as(amp_dtype half, cublasHandle_t handle,
                                  cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k,
                                  const float *alpha, const float *A, int lda,
                                  const float *B, int ldb, const float *beta,
                                  float *C, int ldc) {
    product p =
        product_of(handle, transa, transb, m, n, k, alpha, (plane){A, lda, 0},
                   (plane){B, ldb, 0}, beta, C, ldc, 1);
    if (done_in_half(half, &p))
        return CUBLAS_STATUS_SUCCESS;
    return cublasSgemm(handle, transa, transb, m, n, k, alpha, A, lda, B, ldb,
                       beta, C, ldc);
}

cublasStatus_t amp_cublasSgemmStridedBatched_as(
    amp_dtype half, cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const float *alpha,
    const float *A, int lda, long long int strideA, const float *B, int ldb,
    long long int strideB, const float *beta, float *C, int ldc,
    long long int strideC, int batchCount) {
    product p = product_of(handle, transa, transb, m, n, k, alpha,
                           (plane){A, lda, strideA}, (plane){B, ldb, strideB},
                           beta, C, ldc, batchCount);
    p.stridec = strideC;
    if (done_in_half(half, &p))
        return CUBLAS_STATUS_SUCCESS;
    return cublasSgemmStridedBatched(handle, transa, transb, m, n, k, alpha, A,
                                     lda, strideA, B, ldb, strideB, beta, C,
                                     ldc, strideC, batchCount);
}
