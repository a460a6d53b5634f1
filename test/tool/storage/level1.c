// Level-1 BLAS on memory that is stored in half: no faster, but no reason to
// keep it FP32. Calls without half operands stay as they are.
// RUN: echo 'keep half variable "half_*";' > %t.amp
// RUN: %amp-rewrite -O2 --loss-scale=none --half=bf16 --rules %t.amp %s \
// RUN:   -o %t.c 2>/dev/null
// RUN: %FileCheck %s < %t.c
#include <cblas.h>
// CHECK: #include <amp/amp_cblas_storage.h>

float half_x[8], half_y[8], x[8], y[8];

float all(float *p) {
    cblas_scopy(8, x, 1, y, 1);
    // CHECK: {{^    }}cblas_scopy(8, x, 1, y, 1);
    cblas_scopy(8, x, 1, half_y, 1);
    // CHECK: amp_cblas_scopy_mixed(8, AMP_BUFFER(x), 1, AMP_BUFFER(half_y), 1);
    cblas_saxpy(4, 0.5f, half_x + 4, 1, p, 2);
    // CHECK: amp_cblas_saxpy_mixed(4, 0.5f, AMP_BUFFER(half_x + 4), 1, AMP_BUFFER(p), 2);
    cblas_sscal(8, 2, half_x, 1);
    // CHECK: amp_cblas_sscal_mixed(8, 2, AMP_BUFFER(half_x), 1);
    return cblas_sdot(8, half_x, 1, &half_y[0], 1);
    // CHECK: return amp_cblas_sdot_mixed(8, AMP_BUFFER(half_x), 1, AMP_BUFFER(&half_y[0]), 1);
}

// RUN: %amp-rewrite -O2 --loss-scale=none --half=bf16 --rules %t.amp %s \
// RUN:   --dump-after=solve 2>/dev/null | %FileCheck %s --check-prefix=SOLVE
float half_z[8];
float others(void) { return cblas_sasum(8, half_z, 1); }
// SOLVE: storage fp32 half_z/1 {{.*}}: 'cblas_sasum' takes float [
