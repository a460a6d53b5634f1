// A number of bytes that is compared with another, to find the largest, and
// then allocated stays as it was: the memory is larger than it need be.
// RUN: %same --exact %s --rules %S/Inputs/half.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
// RUN: %amp-rewrite %s --rules %S/Inputs/half.amp -O2 --loss-scale=none --dump-after=solve 2>/dev/null | %FileCheck --check-prefix=SOLVE %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layer {
    int n;
    size_t room;
};

static size_t room_of(int n) { return (size_t)n * sizeof(float); }

// What is compared is also the length of something.
// SOLVE-DAG: fp32 cleared:h_c/1 {{.*}}: a number that comes from its sizeof is compared, and is more than the size of an allocation [{{.*}}:[[#@LINE+2]]:
static float cleared(int n) {
    size_t bytes = (size_t)n * sizeof(float);
    if (bytes < 8)
        bytes = 8;
    float *h_c = malloc(bytes);
    memset(h_c, 0, bytes);
    float first = h_c[0];
    free(h_c);
    return first;
}

// CHECK-NOT: room_of
int main(void) {
    struct layer all[3] = {{2, 0}, {5, 0}, {3, 0}};
    size_t most = 0;
    for (int i = 0; i < 3; i++) {
        all[i].room = room_of(all[i].n);
        if (all[i].room > most)
            most = all[i].room;
    }
    if (most > 1000)
        return 1;
    // SOLVE-DAG: half main:h_a/1
    float *h_a = calloc(1, most);
    // CHECK: +    amp_half *h_a = calloc(1, most);
    float *h_b = NULL;
    // CHECK-NEXT: +    amp_half *h_b = NULL;
    size_t count = 3 * sizeof *h_b;
    // CHECK-NEXT: +    size_t count = 3 * sizeof(float);
    if (count <= most)
        h_b = realloc(h_b, count);
    for (int i = 0; i < 5; i++)
        h_a[i] = (float)i;
    h_b[2] = h_a[4] + cleared(3);
    printf("%g %zu\n", h_b[2], most);
    free(h_a), free(h_b);
    return 0;
}
