// Bytes of what is stored in half: allocations, clearing, copies to and from
// FP32 memory, and files, which stay FP32.
// RUN: %same --exact %s --rules %S/Inputs/half.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 6
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static float h_all[N];

static void *reserve(size_t bytes) {
    void *p = malloc(bytes);
    if (!p || bytes == 0) {
        fprintf(stderr, "no %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

static size_t room(int n) {
    return n * sizeof(float);
    // CHECK: +    return n * sizeof(amp_half);
}

static void print(const char *what, const float *x, int n) {
    printf("%s", what);
    for (int i = 0; i < n; i++)
        printf(" %g", x[i]);
    printf("\n");
}

int main(void) {
    size_t bytes = N * sizeof(float);
    // CHECK-NEXT: +    size_t bytes = N * sizeof(amp_half);
    float *h_a = malloc(bytes), *h_b = malloc(N * sizeof(*h_b));
    // CHECK-NEXT: +    amp_half *h_a = malloc(bytes), *h_b = malloc(N * sizeof(*h_b));
    float *h_c = reserve(sizeof(float) * N), *c = calloc(N, sizeof(float));
    // CHECK-NEXT: +    amp_half *h_c = reserve(sizeof(amp_half) * N);
    // CHECK-NEXT: +    float *c = calloc(N, sizeof(float));
    float *h_d = malloc(room(N)), d[N];
    // CHECK-NEXT: +    amp_half *h_d = malloc(room(N));
    // CHECK-NEXT: +    float d[N];
    memset(h_a, 0, bytes);
    memset(h_b, 0, sizeof *h_b * N);
    for (size_t i = 0; i < COUNT(h_all); i++)
        h_all[i] = h_c[i] = (float)i;
    h_c = realloc(h_c, 2 * N * sizeof(float));
    // CHECK: +    h_c = realloc(h_c, 2 * N * sizeof(amp_half));
    memcpy(h_a, h_c, N * sizeof(float));
    // CHECK-NEXT: +    memcpy(h_a, h_c, N * sizeof(amp_half));
    memmove(h_a + 1, h_a, 2 * sizeof *h_a);
    memcpy(c, h_a, N * sizeof(float));
    // CHECK-NEXT: +    amp_copy(AMP_BUFFER(c), AMP_BUFFER(h_a), N);
    print("c", c, N);
    memcpy(&h_b[1], c, (N - 1) * sizeof(float));
    // CHECK-NEXT: +    amp_copy(AMP_BUFFER(&h_b[1]), AMP_BUFFER(c), (N - 1));
    memcpy(d, h_b, sizeof d);
    // CHECK-NEXT: +    amp_copy(AMP_BUFFER(d), AMP_BUFFER(h_b), (sizeof d) / sizeof(float));
    print("d", d, N);
    memcpy((print("of", d, 1), d), h_b, N * sizeof(float));
    // CHECK: +    amp_copy((AMP_BUFFER((print("of", d, 1), d))), AMP_BUFFER(h_b), N);
    memcpy(d, h_all, sizeof(h_all));
    // CHECK-NEXT: +    amp_copy(AMP_BUFFER(d), AMP_BUFFER(h_all), ((sizeof(float) * (sizeof(h_all) / sizeof(amp_half)))) / sizeof(float));
    print("d", d, N);
    memcpy(h_d, d, N * sizeof *h_d);
    // CHECK-NEXT: +    amp_copy(AMP_BUFFER(h_d), AMP_BUFFER(d), (N * sizeof(float)) / sizeof(float));

    FILE *file = tmpfile();
    size_t done = fwrite(h_d, sizeof(float), N, file);
    // CHECK-NEXT: +    size_t done = amp_fwrite(h_d, sizeof(float), N, file);
    done += fwrite(h_a, sizeof *h_a, N, file);
    // CHECK-NEXT: +    done += amp_fwrite(h_a, sizeof(float), N, file);
    done += fwrite(h_all, sizeof h_all, 1, file);
    // CHECK-NEXT: +    done += amp_fwrite(h_all, (sizeof(float) * (sizeof h_all / sizeof(amp_half))), 1, file);
    rewind(file);
    float raw[3 * N];
    done += fread(raw, sizeof(float), 3 * N, file);
    print("raw", raw, 3 * N);
    rewind(file);
    done += fread(h_b, sizeof(float), N, file);
    // CHECK-NEXT: +    done += amp_fread(h_b, sizeof(float), N, file);
    printf("%zu %g %ld\n", done, h_b[3], ftell(file));
    char *start = (char *)h_b;
    float *h_e = (float *)(start + 2 * sizeof(float));
    // CHECK: +    amp_half *h_e = (amp_half *)(start + 2 * sizeof(amp_half));
    printf("%g\n", h_e[1]);
    fclose(file);
    free(h_a), free(h_b), free(h_c), free(h_d), free(c);
    return 0;
}
