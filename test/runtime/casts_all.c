/* All 2^32 floats: every path of this CPU against the portable one, and the
 * portable one against the compiler's own conversions where it has them.
 * Minutes, so not in ctest: build the target amp_casts_all and run it. */
#include "kernels.h"

#include <stdio.h>
#include <string.h>

#define CHUNK 65536

static float x[CHUNK];
static uint16_t want[CHUNK];
static uint16_t got[CHUNK];
static float want_float[CHUNK];
static float got_float[CHUNK];

static int differ(const char *path, const char *what, uint64_t from) {
    printf("%s %s differs in the block at 0x%08llx\n", path, what,
           (unsigned long long)from);
    return 1;
}

static int block(const amp_kernels *k, uint64_t from) {
    const amp_kernels *p = amp_kernels_of(AMP_ISA_PORTABLE);
    p->to_fp16(want, x, CHUNK);
    k->to_fp16(got, x, CHUNK);
    if (memcmp(want, got, sizeof want) != 0)
        return differ(k->name, "to_fp16", from);
    p->from_fp16(want_float, want, CHUNK);
    k->round_fp16(got_float, x, CHUNK);
    if (memcmp(want_float, got_float, sizeof want_float) != 0)
        return differ(k->name, "round_fp16", from);
    p->to_bf16(want, x, CHUNK);
    k->to_bf16(got, x, CHUNK);
    if (memcmp(want, got, sizeof want) != 0)
        return differ(k->name, "to_bf16", from);
    p->from_bf16(want_float, want, CHUNK);
    k->round_bf16(got_float, x, CHUNK);
    if (memcmp(want_float, got_float, sizeof want_float) != 0)
        return differ(k->name, "round_bf16", from);
    return 0;
}

#if defined(__FLT16_MAX__)
static int compiler_block(uint64_t from) {
    amp_kernels_of(AMP_ISA_PORTABLE)->to_fp16(want, x, CHUNK);
    for (size_t i = 0; i < CHUNK; i++) {
        _Float16 h = (_Float16)x[i];
        memcpy(&got[i], &h, sizeof h);
    }
    return memcmp(want, got, sizeof want) != 0
               ? differ("compiler", "to_fp16", from)
               : 0;
}
#else
static int compiler_block(uint64_t from) {
    (void)from;
    return 0;
}
#endif

int main(void) {
    int bad = 0;
    for (uint64_t from = 0; from < (uint64_t)1 << 32; from += CHUNK) {
        for (uint32_t i = 0; i < CHUNK; i++) {
            uint32_t u = (uint32_t)from + i;
            memcpy(&x[i], &u, sizeof u);
        }
        bad += compiler_block(from);
        for (int isa = AMP_ISA_AVX2; isa < AMP_ISA_COUNT; isa++)
            if (amp_kernels_of((amp_isa)isa))
                bad += block(amp_kernels_of((amp_isa)isa), from);
    }
    for (int isa = 0; isa < AMP_ISA_COUNT; isa++)
        printf("%-10s %s\n",
               isa == 0   ? "portable"
               : isa == 1 ? "avx2"
                          : "avx512",
               amp_kernels_of((amp_isa)isa) ? "compared" : "not on this CPU");
    printf("%d blocks differ\n", bad);
    return bad != 0;
}
