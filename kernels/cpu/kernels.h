/* kernels.h - the number loops of libamp's CPU side.
 *
 * A table per instruction set holds one function per loop. All tables give
 * the same bits; they differ in speed. amp_kernels_get picks one on first use
 * (nothing runs at start-up), from what the CPU has and what the operating
 * system saves. The loops are single-threaded, keep no state, allocate nothing
 * and cannot fail. Counts are in elements; pointers need the alignment of
 * their type only.
 */
#ifndef AMP_KERNELS_H
#define AMP_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct amp_kernels {
    const char *name;
    /* FP32 to half: nearest even, NaN quieted, overflow to inf. */
    void (*to_fp16)(uint16_t *dst, const float *src, size_t n);
    void (*to_bf16)(uint16_t *dst, const float *src, size_t n);
    /* Half to FP32, exact. */
    void (*from_fp16)(float *dst, const uint16_t *src, size_t n);
    void (*from_bf16)(float *dst, const uint16_t *src, size_t n);
    /* FP32 to the nearest half value, kept in FP32. dst may equal src. */
    void (*round_fp16)(float *dst, const float *src, size_t n);
    void (*round_bf16)(float *dst, const float *src, size_t n);
    /* x *= factor; true if every x was finite before. */
    bool (*unscale)(float *x, size_t n, float factor);
    /* The check alone: nothing is written. */
    bool (*finite)(const float *x, size_t n);
} amp_kernels;

typedef enum amp_isa { AMP_ISA_PORTABLE, AMP_ISA_AVX2, AMP_ISA_AVX512 } amp_isa;

#define AMP_ISA_COUNT 3

/* The best table for this machine. */
const amp_kernels *amp_kernels_get(void);

/* The table of one instruction set, or NULL where it cannot run here. For
 * tests and benchmarks. */
const amp_kernels *amp_kernels_of(amp_isa isa);

/* One element, by integer arithmetic: the definition that every other path
 * has to equal. */
uint16_t amp_half_fp16_bits(float x);
uint16_t amp_half_bf16_bits(float x);
float amp_half_fp16_value(uint16_t x);
float amp_half_bf16_value(uint16_t x);

/* The loops themselves, one set per file and instruction set. */
#define AMP_DECLARE_KERNELS(isa)                                               \
    void amp_to_fp16_##isa(uint16_t *dst, const float *src, size_t n);         \
    void amp_to_bf16_##isa(uint16_t *dst, const float *src, size_t n);         \
    void amp_from_fp16_##isa(float *dst, const uint16_t *src, size_t n);       \
    void amp_from_bf16_##isa(float *dst, const uint16_t *src, size_t n);       \
    void amp_round_fp16_##isa(float *dst, const float *src, size_t n);         \
    void amp_round_bf16_##isa(float *dst, const float *src, size_t n);         \
    bool amp_unscale_##isa(float *x, size_t n, float factor);                  \
    bool amp_finite_##isa(const float *x, size_t n);

AMP_DECLARE_KERNELS(portable)
#if defined(__x86_64__)
#define AMP_KERNELS_X86 1
AMP_DECLARE_KERNELS(avx2)
AMP_DECLARE_KERNELS(avx512)
#else
#define AMP_KERNELS_X86 0
#endif

#endif
