// A decoder that is entered in a million contexts, and no float in it: it is
// not followed. What it may have left in the caller's numbers is unknown: both
// paths of the test on `mode` count, so that d has two seeds.
// RUN: %amp-rewrite %s --dump-after=scale | %FileCheck %s
#include <stdio.h>

typedef struct stream {
    const unsigned char *at, *end;
    int bits, left;
} stream;

typedef struct settings {
    int mode;
} settings;

static float w[8], x[8], y[8], d[8], g[8];
static const unsigned char file[64] = {1, 2, 3};

static int bit(stream *s) {
    while (s->left == 0 && s->at < s->end) {
        s->bits = *s->at++;
        s->left = 8;
    }
    return s->bits >> --s->left & 1;
}

static int code1(stream *s) {
    return bit(s) + 2 * bit(s) + 4 * bit(s) + 8 * bit(s);
}

static int code2(stream *s) {
    return code1(s) + 2 * code1(s) + 4 * code1(s) + 8 * code1(s);
}

static int code3(stream *s) {
    return code2(s) + 2 * code2(s) + 4 * code2(s) + 8 * code2(s);
}

static int code4(stream *s) {
    return code3(s) + 2 * code3(s) + 4 * code3(s) + 8 * code3(s);
}

static int code5(stream *s) {
    return code4(s) + 2 * code4(s) + 4 * code4(s) + 8 * code4(s);
}

static int code6(stream *s) {
    return code5(s) + 2 * code5(s) + 4 * code5(s) + 8 * code5(s);
}

static int code7(stream *s) {
    return code6(s) + 2 * code6(s) + 4 * code6(s) + 8 * code6(s);
}

static int code8(stream *s) {
    return code7(s) + 2 * code7(s) + 4 * code7(s) + 8 * code7(s);
}

static int code9(stream *s) {
    return code8(s) + 2 * code8(s) + 4 * code8(s) + 8 * code8(s);
}

static int code10(stream *s) {
    return code9(s) + 2 * code9(s) + 4 * code9(s) + 8 * code9(s);
}

static int decode(stream *s, settings *found) {
    found->mode = code10(s) & 1;
    return found->mode;
}

int main(void) {
    stream s = {file, file + sizeof file, 0, 0};
    settings found = {0};
    decode(&s, &found);
    for (int i = 0; i < 8; i++)
        x[i] = file[i] / 255.0f;
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 8; i++)
            y[i] = w[i] * x[i];
        for (int i = 0; i < 8; i++) {
            if (found.mode == 0)
                d[i] = y[i] - 1.0f;
            else
                d[i] = y[i] - 2.0f;
        }
        for (int i = 0; i < 8; i++)
            g[i] = d[i] * x[i];
        for (int i = 0; i < 8; i++)
            w[i] -= 0.1f * g[i];
    }
    printf("%f\n", w[0]);
    return 0;
}
// CHECK: loss scale: found
// CHECK: param w
// CHECK: grad g
// CHECK: seed
// CHECK-SAME: y[i] - 1.0f
// CHECK: seed
// CHECK-SAME: y[i] - 2.0f
