/* dispatch.c - which instruction set runs the loops.
 *
 * Threads that race to choose compute the same answer, so a plain atomic
 * pointer is enough. AVX-512 code has to prove itself on edge values before it
 * is used, because not every machine that builds and tests this library has
 * that unit.
 */
#include "kernels.h"

#include "log.h"

#include <stdatomic.h>
#include <string.h>

#define KERNELS_TABLE(isa, text)                                               \
    {text,                                                                     \
     amp_to_fp16_##isa,                                                        \
     amp_to_bf16_##isa,                                                        \
     amp_from_fp16_##isa,                                                      \
     amp_from_bf16_##isa,                                                      \
     amp_round_fp16_##isa,                                                     \
     amp_round_bf16_##isa,                                                     \
     amp_unscale_##isa,                                                        \
     amp_finite_##isa}

static const amp_kernels portable = KERNELS_TABLE(portable, "portable");

#if AMP_KERNELS_X86

#include <cpuid.h>

static const amp_kernels avx2 = KERNELS_TABLE(avx2, "avx2+f16c");
static const amp_kernels avx512 = KERNELS_TABLE(avx512, "avx512");

/* Bits of XCR0: the register state that the operating system saves. */
#define XCR0_YMM 0x06u
#define XCR0_ZMM 0xe6u

static uint32_t xcr0(void) {
    uint32_t lo;
    uint32_t hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return lo;
}

static amp_isa best_isa(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) ||
        !(c & bit_AVX) || !(c & bit_F16C))
        return AMP_ISA_PORTABLE;
    uint32_t saved = xcr0();
    if ((saved & XCR0_YMM) != XCR0_YMM ||
        !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2))
        return AMP_ISA_PORTABLE;
    if ((saved & XCR0_ZMM) == XCR0_ZMM && (b & bit_AVX512F))
        return AMP_ISA_AVX512;
    return AMP_ISA_AVX2;
}

/* ---- proof on edge values ---------------------------------------------- */

static const uint32_t edges[] = {
    0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x3f800000,
    0xbf800000, 0x3f801000, 0x3f803000, 0x3f801001, 0x3f808000, 0x3f818000,
    0x3f808001, 0x3f807fff, 0x33000000, 0x33000001, 0x32ffffff, 0xb3000001,
    0x33800000, 0x33c00000, 0x33c00001, 0x38000000, 0x387fe000, 0x387ff000,
    0x387fffff, 0x38800000, 0x38801000, 0x477fe000, 0x477fefff, 0x477ff000,
    0xc77ff000, 0x47800000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0xff7fffff,
    0x7f800000, 0xff800000, 0x7f800001, 0xff800001, 0x7fbfffff, 0x7fc00000,
    0xffc12345, 0x7fffffff, 0x00008000, 0x00018000, 0x00007fff, 0x80008001,
};

#define EDGES (sizeof edges / sizeof edges[0])

static bool same_casts(const amp_kernels *k, const float *x) {
    uint16_t h[2][EDGES];
    float f[2][EDGES];
    const amp_kernels *both[2] = {&portable, k};
#define BOTH_EQUAL(call, out)                                                  \
    do {                                                                       \
        for (int i = 0; i < 2; i++)                                            \
            both[i]->call;                                                     \
        if (memcmp(out[0], out[1], sizeof out[0]) != 0)                        \
            return false;                                                      \
    } while (0)
    BOTH_EQUAL(to_bf16(h[i], x, EDGES), h);
    BOTH_EQUAL(from_bf16(f[i], h[0], EDGES), f);
    BOTH_EQUAL(round_bf16(f[i], x, EDGES), f);
    BOTH_EQUAL(to_fp16(h[i], x, EDGES), h);
    BOTH_EQUAL(from_fp16(f[i], h[0], EDGES), f);
    BOTH_EQUAL(round_fp16(f[i], x, EDGES), f);
#undef BOTH_EQUAL
    return true;
}

static bool same_unscale(const amp_kernels *k, const float *x) {
    for (size_t at = 0; at + 16 <= EDGES; at++) {
        float a[16];
        float b[16];
        memcpy(a, x + at, sizeof a);
        memcpy(b, x + at, sizeof b);
        if (portable.finite(a, 16) != k->finite(a, 16) ||
            portable.unscale(a, 16, 0.25f) != k->unscale(b, 16, 0.25f) ||
            memcmp(a, b, sizeof a) != 0)
            return false;
    }
    return true;
}

static bool proves_itself(const amp_kernels *k) {
    float x[EDGES];
    memcpy(x, edges, sizeof x);
    return same_casts(k, x) && same_unscale(k, x);
}

static const amp_kernels *table_of(amp_isa isa) {
    switch (isa) {
    case AMP_ISA_PORTABLE:
        return &portable;
    case AMP_ISA_AVX2:
        return &avx2;
    case AMP_ISA_AVX512:
        return &avx512;
    }
    return &portable;
}

const amp_kernels *amp_kernels_of(amp_isa isa) {
    return isa <= best_isa() ? table_of(isa) : NULL;
}

static const amp_kernels *choose(void) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    amp_isa isa = best_isa();
    if (isa == AMP_ISA_AVX512 && !proves_itself(&avx512)) {
        isa = AMP_ISA_AVX2;
        if (amp_once(&said))
            amp_log(AMP_LOG_WARN, "the AVX-512 casts differ from the portable "
                                  "ones on this machine: using AVX2");
    }
    return table_of(isa);
}

#else

const amp_kernels *amp_kernels_of(amp_isa isa) {
    return isa == AMP_ISA_PORTABLE ? &portable : NULL;
}

static const amp_kernels *choose(void) {
    return &portable;
}

#endif

const amp_kernels *amp_kernels_get(void) {
    static _Atomic(const amp_kernels *) chosen;
    const amp_kernels *k = atomic_load_explicit(&chosen, memory_order_acquire);
    if (!k) {
        k = choose();
        atomic_store_explicit(&chosen, k, memory_order_release);
    }
    return k;
}
