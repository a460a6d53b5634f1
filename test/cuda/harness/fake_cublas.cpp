/* fake_cublas.cpp - the cuBLAS calls used here: plain loops, FP32 sums.
 *
 * C++ because the half types' host conversions are. */
#include "fake.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <new>

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t mode;
};

static float as_float(float x) {
    return x;
}
static float as_float(__half x) {
    return __half2float(x);
}
static float as_float(__nv_bfloat16 x) {
    return __bfloat162float(x);
}

struct shape {
    bool ta, tb;
    int m, n, k;
    int lda, ldb, ldc;
    long long sa, sb, sc;
    int batch;
};

static bool wrong(const shape &s) {
    return s.m < 0 || s.n < 0 || s.k < 0 || s.lda < (s.ta ? s.k : s.m) ||
           s.ldb < (s.tb ? s.n : s.k) || s.ldc < s.m || s.batch < 0;
}

template <typename T>
static void multiply(const shape &s, float alpha, const T *a, const T *b,
                     float beta, float *c) {
    for (int i = 0; i < s.batch; i++)
        for (int col = 0; col < s.n; col++)
            for (int row = 0; row < s.m; row++) {
                const T *x = a + i * s.sa;
                const T *y = b + i * s.sb;
                float sum = 0.0f;
                for (int k = 0; k < s.k; k++) {
                    size_t at = s.ta ? (size_t)row * (size_t)s.lda + (size_t)k
                                     : (size_t)k * (size_t)s.lda + (size_t)row;
                    size_t bt = s.tb ? (size_t)k * (size_t)s.ldb + (size_t)col
                                     : (size_t)col * (size_t)s.ldb + (size_t)k;
                    sum += as_float(x[at]) * as_float(y[bt]);
                }
                float *out = c + i * s.sc + (size_t)col * (size_t)s.ldc + row;
                *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
            }
}

static cublasStatus_t sgemm(cublasHandle_t handle, const shape &s,
                            const float *alpha, const float *a, const float *b,
                            const float *beta, float *c) {
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (wrong(s))
        return CUBLAS_STATUS_INVALID_VALUE;
    fake.sgemm++;
    fake.last_stream = handle->stream;
    multiply(s, *alpha, a, b, *beta, c);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t gemm_ex(cublasHandle_t handle, const shape &s,
                              const void *alpha, const void *a,
                              cudaDataType atype, const void *b,
                              cudaDataType btype, const void *beta, void *c,
                              cudaDataType ctype, cublasComputeType_t compute) {
    if (fake.gemm_ex_status != CUBLAS_STATUS_SUCCESS)
        return fake.gemm_ex_status;
    if (atype != btype || ctype != CUDA_R_32F || compute != CUBLAS_COMPUTE_32F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (wrong(s))
        return CUBLAS_STATUS_INVALID_VALUE;
    fake.gemm_ex++;
    fake.last_stream = handle->stream;
    fake.last_lda = s.lda;
    fake.last_type = atype;
    fake.last_compute = compute;
    float al = *(const float *)alpha;
    float be = *(const float *)beta;
    if (atype == CUDA_R_16F)
        multiply(s, al, (const __half *)a, (const __half *)b, be, (float *)c);
    else if (atype == CUDA_R_16BF)
        multiply(s, al, (const __nv_bfloat16 *)a, (const __nv_bfloat16 *)b, be,
                 (float *)c);
    else
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return CUBLAS_STATUS_SUCCESS;
}

static bool is_trans(cublasOperation_t op) {
    return op != CUBLAS_OP_N;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
    *handle = new (std::nothrow) cublasContext();
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream) {
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusName(cublasStatus_t) {
    return "CUBLAS_STATUS_FAKE";
}

const char *cublasGetStatusString(cublasStatus_t) {
    return "made to fail";
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t ta,
                              cublasOperation_t tb, int m, int n, int k,
                              const float *alpha, const float *A, int lda,
                              const float *B, int ldb, const float *beta,
                              float *C, int ldc) {
    shape s = {is_trans(ta), is_trans(tb), m, n, k, lda, ldb, ldc, 0, 0, 0, 1};
    return sgemm(handle, s, alpha, A, B, beta, C);
}

cublasStatus_t cublasSgemmStridedBatched(
    cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,
    int n, int k, const float *alpha, const float *A, int lda, long long sa,
    const float *B, int ldb, long long sb, const float *beta, float *C, int ldc,
    long long sc, int batch) {
    shape s = {is_trans(ta), is_trans(tb), m,  n,  k,  lda,
               ldb,          ldc,          sa, sb, sc, batch};
    return sgemm(handle, s, alpha, A, B, beta, C);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta,
                            cublasOperation_t tb, int m, int n, int k,
                            const void *alpha, const void *A,
                            cudaDataType atype, int lda, const void *B,
                            cudaDataType btype, int ldb, const void *beta,
                            void *C, cudaDataType ctype, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
    shape s = {is_trans(ta), is_trans(tb), m, n, k, lda, ldb, ldc, 0, 0, 0, 1};
    return gemm_ex(handle, s, alpha, A, atype, B, btype, beta, C, ctype,
                   compute);
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,
    int n, int k, const void *alpha, const void *A, cudaDataType atype, int lda,
    long long sa, const void *B, cudaDataType btype, int ldb, long long sb,
    const void *beta, void *C, cudaDataType ctype, int ldc, long long sc,
    int batch, cublasComputeType_t compute, cublasGemmAlgo_t) {
    shape s = {is_trans(ta), is_trans(tb), m,  n,  k,  lda,
               ldb,          ldc,          sa, sb, sc, batch};
    return gemm_ex(handle, s, alpha, A, atype, B, btype, beta, C, ctype,
                   compute);
}
