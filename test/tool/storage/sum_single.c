// A sum in a field that is a single float: no buffer, so that no access of it
// is of a class that could be half, and there is nothing to give a scratch to.
// RUN: %amp-rewrite -O2 --half=bf16 --dump-after=solve %s | %FileCheck %s
// CHECK: storage fp32 part.error/0 {{.*}}: a single float, no buffer
#include <stdio.h>

struct part {
    float error;
    unsigned count;
};

static void gather(struct part *all, struct part **parts, int n) {
    for (int i = 0; i < n; i++) {
        all->error += parts[i]->error;
        all->count += parts[i]->count;
    }
}

int main(void) {
    struct part all = {0, 0}, one[4], *parts[4];
    for (int i = 0; i < 4; i++) {
        parts[i] = &one[i];
        fread(&one[i].error, sizeof(float), 1, stdin);
        one[i].count = 1;
    }
    gather(&all, parts, 4);
    printf("%g %u\n", all.error, all.count);
    return 0;
}
