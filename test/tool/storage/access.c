// Every way to read and write an element of what is stored in half. The numbers
// fit into both half types, so that all builds print the same.
// RUN: %same --exact %s --rules %S/Inputs/half.amp -O2 --loss-scale=none > %t.diff
// RUN: grep '^[+]' %t.diff | %FileCheck %s
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SQUARE(a) ((a) * (a))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define RATE 1 + 1
#define N 8

static float half_of(float x) {
    return x / 2;
}

static double wide(double x) {
    return x;
}

static int next(int *i) {
    return (*i)++;
}

static float last(const float *h_v, int n) {
    return h_v[n - 1];
    // CHECK: +    return amp_to_float(h_v[n - 1]);
}

static void show(const char *what, const float *h_v) {
    printf("%s", what);
    for (int i = 0; i < N; i++)
        printf(" %g", h_v[i]);
        // CHECK: +        printf(" %g", amp_to_float(h_v[i]));
    printf("\n");
}

static void reads(const float *h_x, float *h_y, const int *at) {
    float a = h_x[0], b = *h_x;
    // CHECK: +    float a = amp_to_float(h_x[0]), b = amp_to_float(*h_x);
    a += h_x[1] * 0.5 - -h_x[2];
    // CHECK: +    a += amp_to_float(h_x[1]) * 0.5 - -amp_to_float(h_x[2]);
    b = a > h_x[3] ? h_x[3] : (h_x[4]);
    // CHECK: +    b = a > amp_to_float(h_x[3]) ? amp_to_float(h_x[3]) : (amp_to_float(h_x[4]));
    if (!h_x[7] && h_x[1] <= 2 && (int)h_x[2] == 2)
        // CHECK: +    if (!amp_to_float(h_x[7]) && amp_to_float(h_x[1]) <= 2 && (int)amp_to_float(h_x[2]) == 2)
        b += SQUARE(h_x[1]) + LARGER(h_x[0], h_x[1]);
        // CHECK: +        b += SQUARE(amp_to_float(h_x[1])) + LARGER(amp_to_float(h_x[0]), amp_to_float(h_x[1]));
    b += h_y[(int)h_x[1]] + h_y[at[2]] + (a++, h_x[3]);
    // CHECK: +    b += amp_to_float(h_y[(int)amp_to_float(h_x[1])]) + amp_to_float(h_y[at[2]]) + (a++, amp_to_float(h_x[3]));
    b += _Generic(h_x[1], float: 1, default: 0);
    // CHECK: +    b += _Generic(amp_to_float(h_x[1]), float: 1, default: 0);
    const float *p = h_x;
    // CHECK: +    const amp_half *p = h_x;
    b += *p++;
    // CHECK: +    b += amp_to_float(*p++);
    b += *++p;
    // CHECK: +    b += amp_to_float(*++p);
    b += p[-1] + *(p + 1) + 2[p];
    // CHECK: +    b += amp_to_float(p[-1]) + amp_to_float(*(p + 1)) + amp_to_float(2[p]);
    b += half_of(h_x[4]) + (float)wide(h_x[5]) + sqrtf(h_x[4]);
    // CHECK: +    b += half_of(amp_to_float(h_x[4])) + (float)wide(amp_to_float(h_x[5])) + sqrtf(amp_to_float(h_x[4]));
    b += last(&h_x[2], 3) + last(h_x + 1, 2);
    // CHECK-NOT: last(
    printf("%g %g %g\n", a, b, h_x[1] + 1.0);
}

static void writes(float *h_y, const float *h_x, int i) {
    float s;
    h_y[0] = 3;
    // CHECK: +    h_y[0] = amp_to_half(3);
    *(h_y + 1) = (h_x[1] + h_x[2]);
    // CHECK: +    *(h_y + 1) = (amp_to_half(amp_to_float(h_x[1]) + amp_to_float(h_x[2])));
    (h_y[2]) = 0.5;
    // CHECK: +    (h_y[2]) = amp_to_half(0.5);
    h_y[3] = s = h_x[3];
    // CHECK: +    h_y[3] = amp_to_half(s = amp_to_float(h_x[3]));
    h_y[4] = h_y[5] = h_x[4];
    // CHECK: +    h_y[4] = amp_to_half(amp_to_float(h_y[5] = amp_to_half(amp_to_float(h_x[4]))));
    s += h_y[6] = 2;
    // CHECK: +    s += amp_to_float(h_y[6] = amp_to_half(2));
    h_y[0] = (s += 1, s / 2);
    // CHECK: +    h_y[0] = (amp_to_half((s += 1, s / 2)));
    *(i ? &h_y[7] : h_y) = s;
    // CHECK: +    *(i ? &h_y[7] : h_y) = amp_to_half(s);
    float *p = h_y;
    *p++ = s, *p++ = 1;
    // CHECK: +    *p++ = amp_to_half(s), *p++ = amp_to_half(1);
    h_y[next(&i)] = s > 1 ? h_x[2] : 4;
    // CHECK: +    h_y[next(&i)] = amp_to_half(s > 1 ? amp_to_float(h_x[2]) : 4);
    while ((h_y[2] = h_y[2] - 1) > -2)
        // CHECK: +    while ((amp_to_float(h_y[2] = amp_to_half(amp_to_float(h_y[2]) - 1))) > -2)
        continue;
    for (h_y[3] = 0; h_y[3] < 2; h_y[3]++)
        // CHECK: +    for (h_y[3] = amp_to_half(0); amp_to_float(h_y[3]) < 2; h_y[3] = amp_to_half(amp_to_float(h_y[3]) + 1.0f))
        continue;
    show("writes", h_y);
}

static void updates(float *h_y, const float *h_x, int i) {
    h_y[0] += h_x[1];
    // CHECK: +    h_y[0] = amp_to_half(amp_to_float(h_y[0]) + amp_to_float(h_x[1]));
    h_y[1] -= h_x[2] - 1;
    // CHECK: +    h_y[1] = amp_to_half(amp_to_float(h_y[1]) - (amp_to_float(h_x[2]) - 1));
    h_y[2] *= h_x[1] + 1;
    // CHECK: +    h_y[2] = amp_to_half(amp_to_float(h_y[2]) * (amp_to_float(h_x[1]) + 1));
    h_y[3] /= (h_x[2] + 2);
    // CHECK: +    h_y[3] = amp_to_half(amp_to_float(h_y[3]) / (amp_to_float(h_x[2]) + 2));
    h_y[4] += 0.25;
    // CHECK: +    h_y[4] = amp_to_half(amp_to_float(h_y[4]) + 0.25);
    h_y[5] *= RATE;
    // CHECK: +    h_y[5] = amp_to_half(amp_to_float(h_y[5]) * (RATE));
    h_y[i++] += h_x[3];
    // CHECK: +    amp_half_add(&h_y[i++], amp_to_float(h_x[3]));
    h_y[(int)h_x[2]] -= 0.5;
    // CHECK: +    amp_half_sub(&h_y[(int)amp_to_float(h_x[2])], 0.5);
    h_y[1] += next(&i);
    // CHECK: +    amp_half_add(&h_y[1], next(&i));
    h_y[6] = h_y[7] += 2;
    // CHECK: +    h_y[6] = amp_to_half(amp_to_float(h_y[7] = amp_to_half(amp_to_float(h_y[7]) + 2)));
    float *p = h_y;
    *p++ *= 2, *++p /= 2;
    // CHECK: +    amp_half_mul(&*p++, 2), amp_half_div(&*++p, 2);
    h_y[0]++;
    // CHECK: +    h_y[0] = amp_to_half(amp_to_float(h_y[0]) + 1.0f);
    --h_y[1];
    // CHECK: +    h_y[1] = amp_to_half(amp_to_float(h_y[1]) - 1.0f);
    (h_y[2])--;
    // CHECK: +    (h_y[2]) = amp_to_half(amp_to_float(h_y[2]) - 1.0f);
    float old = h_y[3]++, new = ++h_y[4], down = h_y[5]--;
    // CHECK: +    float old = amp_half_post_add(&h_y[3], 1.0f), new = amp_half_add(&h_y[4], 1.0f), down = amp_half_post_add(&h_y[5], -1.0f);
    (*p)++;
    printf("%g %g %g\n", old, new, down);
    show("updates", h_y);
}

int main(void) {
    float h_x[N], h_y[N] = {0};
    // CHECK: +    amp_half h_x[N], h_y[N] = {0};
    int at[3] = {2, 1, 0};
    for (int i = 0; i < N; i++)
        h_x[i] = (float)(i % 7);
    reads(h_x, h_y, at);
    writes(h_y, h_x, 1);
    updates(h_y, h_x, 2);
    return 0;
}
