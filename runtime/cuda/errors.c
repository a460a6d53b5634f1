#include "errors.h"

#include "device.h"

#include <stdatomic.h>
#include <string.h>

static atomic_int first_error = AMP_OK;

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The function's name without its arguments. */
static int name_length(const char *call) {
    return (int)strcspn(call, "(");
}

amp_status amp_cuda_seen(cudaError_t error, const char *call, const char *file,
                         int line) {
    if (error == cudaSuccess)
        return AMP_OK;
    cudaGetLastError();
    amp_device_log(AMP_LOG_ERROR, "%.*s: %s (%s) at %s:%d", name_length(call),
                   call, cudaGetErrorString(error), cudaGetErrorName(error),
                   base_name(file), line);
    return error == cudaErrorMemoryAllocation ? AMP_ERR_MEMORY
                                              : AMP_ERR_BACKEND;
}

amp_status amp_cublas_seen(cublasStatus_t status, const char *call,
                           const char *file, int line) {
    if (status == CUBLAS_STATUS_SUCCESS)
        return AMP_OK;
    amp_device_log(AMP_LOG_ERROR, "%.*s: %s (%s) at %s:%d", name_length(call),
                   call, cublasGetStatusString(status),
                   cublasGetStatusName(status), base_name(file), line);
    return status == CUBLAS_STATUS_ALLOC_FAILED ? AMP_ERR_MEMORY
                                                : AMP_ERR_BACKEND;
}

amp_status amp_cuda_remember(amp_status status) {
    int none = AMP_OK;
    if (status != AMP_OK)
        atomic_compare_exchange_strong(&first_error, &none, (int)status);
    return status;
}

amp_status amp_cuda_status(void) {
    return (amp_status)atomic_exchange(&first_error, AMP_OK);
}
