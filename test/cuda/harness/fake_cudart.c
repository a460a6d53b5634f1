/* fake_cudart.c - the CUDA runtime calls used here, on host memory. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

fake_state fake = {.fail_malloc_after = (size_t)-1};

static cudaError_t last_error;
static void *recycled;

void fake_reset(void) {
    size_t live = fake.allocations;
    fake = (fake_state){.allocations = live, .fail_malloc_after = (size_t)-1};
    last_error = cudaSuccess;
}

static cudaError_t done(cudaError_t error) {
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

cudaError_t fake_launch(dim3 grid, dim3 block, cudaStream_t stream) {
    unsigned threads = block.x * block.y * block.z;
    bool fits = threads > 0 && threads <= 1024 && grid.x > 0 && grid.y > 0 &&
                grid.z > 0 && grid.y <= 65535 && grid.z <= 65535;
    if (fake.fail_launch || !fits)
        return done(cudaErrorInvalidConfiguration);
    fake.launches++;
    fake.last_stream = stream;
    if (threads > fake.max_block)
        fake.max_block = threads;
    return cudaSuccess;
}

static cudaError_t allocate(void **p, size_t bytes) {
    *p = NULL;
    if (fake.fail_malloc_after == 0 || fake.capturing)
        return done(fake.capturing ? cudaErrorStreamCaptureUnsupported
                                   : cudaErrorMemoryAllocation);
    if (fake.fail_malloc_after != (size_t)-1)
        fake.fail_malloc_after--;
    if (bytes == 0)
        return cudaSuccess;
    if (recycled) {
        *p = recycled;
        recycled = NULL;
    } else if (posix_memalign(p, 256, bytes) != 0) {
        return done(cudaErrorMemoryAllocation);
    }
    /* All ones is a NaN in every type. */
    memset(*p, 0xff, bytes);
    fake.allocations++;
    fake.mallocs++;
    return cudaSuccess;
}

static cudaError_t release(void *p) {
    if (p)
        fake.allocations--;
    if (p && fake.recycle && !recycled)
        recycled = p;
    else
        free(p);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes) {
    return allocate(p, bytes);
}

cudaError_t cudaMallocHost(void **p, size_t bytes) {
    return allocate(p, bytes);
}

cudaError_t cudaFree(void *p) {
    return release(p);
}

cudaError_t cudaFreeHost(void *p) {
    return release(p);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes,
                       enum cudaMemcpyKind kind) {
    (void)kind;
    memcpy(dst, src, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpy(dst, src, bytes, kind);
}

cudaError_t cudaMemset(void *p, int value, size_t bytes) {
    memset(p, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes,
                            cudaStream_t stream) {
    (void)stream;
    return cudaMemset(p, value, bytes);
}

cudaError_t cudaDeviceSynchronize(void) {
    fake.synchronisations++;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    (void)stream;
    fake.synchronisations++;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  enum cudaStreamCaptureStatus *status) {
    (void)stream;
    *status = fake.capturing ? cudaStreamCaptureStatusActive
                             : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
    *device = fake.device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    fake.device = device;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorName(cudaError_t error) {
    return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
                                              : "cudaErrorFake";
}

const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaSuccess ? "no error" : "made to fail";
}
