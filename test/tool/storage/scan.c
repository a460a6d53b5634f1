// scanf fills a float that the runtime keeps; what it reached is stored.
// RUN: %same --exact %s --rules %S/Inputs/half.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    float *h_w;
    int n;
} layer;

#define W(l, i) (l)->h_w[i]

static int read_layer(layer *l, const char *text) {
    float *h_at = l->h_w + 2;
    int index = 0;
    if (sscanf(text, "%f %f", &l->h_w[0], l->h_w + 1) != 2)
        // CHECK: +    if (amp_scanned(sscanf(text, "%f %f", amp_scan(&l->h_w[0]), amp_scan(l->h_w + 1))) != 2)
        return -1;
    int got = sscanf(text, "%*f %*f %d %f", &index, &h_at[index]);
    // CHECK: +    int got = amp_scanned(sscanf(text, "%*f %*f %d %f", &index, amp_scan(&h_at[index])));
    sscanf("2.5", "%f", &W(l, 3));
    // CHECK: +    amp_scanned(sscanf("2.5", "%f", amp_scan(&W(l, 3))));
    return got + index;
}

int main(void) {
    layer l = {malloc(4 * sizeof(float)), 4};
    for (int i = 0; i < l.n; i++)
        l.h_w[i] = (float)-i;
    float kept;
    printf("%d\n", read_layer(&l, "0.5 1.25 2 8"));
    for (int i = 0; i < l.n; i++)
        printf("%g ", l.h_w[i]);
    /* the second is not reached */
    printf("%d\n", read_layer(&l, "7 seven"));
    if (sscanf("3", "%f", &kept) == 1)
        // CHECK-NOT: &kept
        printf("%g %g %g\n", l.h_w[0], l.h_w[1], kept);
    free(l.h_w);
    return 0;
}
