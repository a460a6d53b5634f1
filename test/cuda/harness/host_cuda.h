/* host_cuda.h - compiles CUDA sources with the host's C++ compiler.
 *
 * Force-included in front of a .cu file whose launches have been translated
 * (launches.py) or are written AMP_LAUNCH. A kernel runs as nested loops over
 * grid and block, one thread after the other, in a fixed order. The real CUDA
 * headers are used, so types and signatures are the real ones.
 *
 * Not there, on purpose, so that it does not compile: __syncthreads, shared
 * memory, warp shuffles. It shows that two programs compute the same under one
 * executor, not what a GPU computes.
 */
#ifndef AMP_HOST_CUDA_H
#define AMP_HOST_CUDA_H

#include <cuda_runtime.h>

#include "fake.h"

static dim3 gridDim, blockDim;
static uint3 blockIdx, threadIdx;

template <typename Thread>
static inline cudaError_t amp_host_launch(dim3 grid, dim3 block,
                                          cudaStream_t stream, Thread thread) {
    cudaError_t error = fake_launch(grid, block, stream);
    if (error != cudaSuccess)
        return error;
    gridDim = grid;
    blockDim = block;
    for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
                for (threadIdx.z = 0; threadIdx.z < block.z; threadIdx.z++)
                    for (threadIdx.y = 0; threadIdx.y < block.y; threadIdx.y++)
                        for (threadIdx.x = 0; threadIdx.x < block.x;
                             threadIdx.x++)
                            thread();
    return cudaSuccess;
}

#define AMP_LAUNCH(kernel, grid, block, stream, ...)                           \
    amp_host_launch(dim3(grid), dim3(block), stream,                           \
                    [&] { kernel(__VA_ARGS__); })

static inline float atomicAdd(float *address, float value) {
    float before = *address;
    *address = before + value;
    return before;
}

#endif
