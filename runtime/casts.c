/* casts.c - the public casts: kernels over a team of threads. */
#include <amp/amp.h>

#include "kernels.h"
#include "threads.h"

typedef struct cast_job {
    void (*narrow)(uint16_t *dst, const float *src, size_t n);
    void (*widen)(float *dst, const uint16_t *src, size_t n);
    float *floats;
    const float *source;
    uint16_t *halves;
    const uint16_t *half_source;
} cast_job;

static void narrow_range(void *context, size_t begin, size_t end) {
    const cast_job *job = context;
    job->narrow(job->halves + begin, job->source + begin, end - begin);
}

static void widen_range(void *context, size_t begin, size_t end) {
    const cast_job *job = context;
    job->widen(job->floats + begin, job->half_source + begin, end - begin);
}

void amp_cast_to_fp16(uint16_t *dst, const float *src, size_t n) {
    cast_job job = {
        .narrow = amp_kernels_get()->to_fp16, .halves = dst, .source = src};
    amp_parallel(n, narrow_range, &job);
}

void amp_cast_to_bf16(uint16_t *dst, const float *src, size_t n) {
    cast_job job = {
        .narrow = amp_kernels_get()->to_bf16, .halves = dst, .source = src};
    amp_parallel(n, narrow_range, &job);
}

void amp_cast_from_fp16(float *dst, const uint16_t *src, size_t n) {
    cast_job job = {.widen = amp_kernels_get()->from_fp16,
                    .floats = dst,
                    .half_source = src};
    amp_parallel(n, widen_range, &job);
}

void amp_cast_from_bf16(float *dst, const uint16_t *src, size_t n) {
    cast_job job = {.widen = amp_kernels_get()->from_bf16,
                    .floats = dst,
                    .half_source = src};
    amp_parallel(n, widen_range, &job);
}

uint16_t amp_fp16_from_float(float x) {
    return amp_half_fp16_bits(x);
}

uint16_t amp_bf16_from_float(float x) {
    return amp_half_bf16_bits(x);
}

float amp_float_from_fp16(uint16_t x) {
    return amp_half_fp16_value(x);
}

float amp_float_from_bf16(uint16_t x) {
    return amp_half_bf16_value(x);
}
