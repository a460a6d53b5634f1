// What code that is not seen fills is not zero, though it was before: the tests
// of it decide nothing.
// RUN: %amp-rewrite %s --dump-after=scale 2>&1 | %FileCheck %s
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

static glob_t files;
static float w[8], g[8], x[8];

int main(void) {
    int count = 0;
    glob("*.bin", 0, NULL, &files);
    if (files.gl_pathc == 0 || !files.gl_pathv)
        return 1;
    fread(&count, sizeof count, 1, stdin);
    if (count == 0)
        exit(1);
    fread(x, sizeof x, 1, stdin);
    for (int step = 0; step < count; step++) {
        for (int i = 0; i < 8; i++)
            g[i] = w[i] * x[i] - 1;
        for (int i = 0; i < 8; i++)
            w[i] -= 0.1f * g[i];
        printf("%f\n", w[0]);
    }
    return 0;
}
// CHECK: loss scale: found
// CHECK: unscale before {{.*}}:23:9 (the step)
