/* errors.h - how libamp_cuda treats what CUDA and cuBLAS return.
 *
 * Every return value goes through AMP_CUDA or AMP_CUBLAS, which log the call,
 * its place and the library's text, and give an amp_status. CUDA's own "last
 * error" is read, so that the program's next check does not see ours.
 */
#ifndef AMP_CUDA_ERRORS_H
#define AMP_CUDA_ERRORS_H

#include <amp/amp_cuda.h>

amp_status amp_cuda_seen(cudaError_t error, const char *call, const char *file,
                         int line);
amp_status amp_cublas_seen(cublasStatus_t status, const char *call,
                           const char *file, int line);

#define AMP_CUDA(call)   amp_cuda_seen((call), #call, __FILE__, __LINE__)
#define AMP_CUBLAS(call) amp_cublas_seen((call), #call, __FILE__, __LINE__)

/* Keeps the first error for amp_cuda_status; returns its argument. */
amp_status amp_cuda_remember(amp_status status);

#endif
