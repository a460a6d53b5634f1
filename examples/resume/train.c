/* A trainer that stops and goes on: `train STEPS FILE` goes on from FILE if it
 * exists, makes STEPS steps, and writes FILE. Two runs of 20 steps print what
 * one of 40 prints, in mixed precision too: the scaler's state is kept beside
 * the checkpoint. That takes the lines inside WITH_AMP, which the rewritten
 * program is compiled with. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef WITH_AMP
#include <amp/amp.h>
#endif

enum { ROWS = 512, BATCH = 64, IN = 64, HIDDEN = 64, OUT = 8 };

static float x[ROWS][IN], target[ROWS][OUT];
static float w1[IN][HIDDEN], w2[HIDDEN][OUT];
static float g1[IN][HIDDEN], g2[HIDDEN][OUT];
static float m1[IN][HIDDEN], m2[HIDDEN][OUT];
static float h[BATCH][HIDDEN], y[BATCH][OUT];
static float dh[BATCH][HIDDEN], dy[BATCH][OUT];

static float noise(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(*seed >> 8) / 8388608.0f - 1.0f;
}

static void make_data(void) {
    unsigned seed = 7;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < IN; j++)
            x[i][j] = noise(&seed);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < OUT; j++)
            target[i][j] = x[i][j] * x[i][j + OUT];
    for (int i = 0; i < IN; i++)
        for (int j = 0; j < HIDDEN; j++)
            w1[i][j] = 0.2f * noise(&seed);
    for (int i = 0; i < HIDDEN; i++)
        for (int j = 0; j < OUT; j++)
            w2[i][j] = 0.2f * noise(&seed);
}

static float train(int step) {
    int first = step % (ROWS / BATCH) * BATCH;
    float loss = 0;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, BATCH, HIDDEN, IN, 1,
                x[first], IN, w1[0], HIDDEN, 0, h[0], HIDDEN);
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < HIDDEN; j++)
            h[i][j] = tanhf(h[i][j]);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, BATCH, OUT, HIDDEN,
                1, h[0], HIDDEN, w2[0], OUT, 0, y[0], OUT);
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < OUT; j++) {
            float e = y[i][j] - target[first + i][j];
            loss += e * e / (BATCH * OUT);
            dy[i][j] = 2 * e / BATCH;
        }
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, HIDDEN, OUT, BATCH, 1,
                h[0], HIDDEN, dy[0], OUT, 0, g2[0], OUT);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BATCH, HIDDEN, OUT, 1,
                dy[0], OUT, w2[0], OUT, 0, dh[0], HIDDEN);
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < HIDDEN; j++)
            dh[i][j] *= 1 - h[i][j] * h[i][j];
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, IN, HIDDEN, BATCH, 1,
                x[first], IN, dh[0], HIDDEN, 0, g1[0], HIDDEN);
    for (int i = 0; i < IN; i++)
        for (int j = 0; j < HIDDEN; j++) {
            m1[i][j] = 0.9f * m1[i][j] + g1[i][j];
            w1[i][j] -= 0.02f * m1[i][j];
        }
    for (int i = 0; i < HIDDEN; i++)
        for (int j = 0; j < OUT; j++) {
            m2[i][j] = 0.9f * m2[i][j] + g2[i][j];
            w2[i][j] -= 0.02f * m2[i][j];
        }
    return loss;
}

static void save(const char *path, int step) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(&step, sizeof step, 1, file) != 1 ||
        fwrite(w1, sizeof w1, 1, file) != 1 ||
        fwrite(w2, sizeof w2, 1, file) != 1 ||
        fwrite(m1, sizeof m1, 1, file) != 1 ||
        fwrite(m2, sizeof m2, 1, file) != 1 || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
#ifdef WITH_AMP
    char beside[512];
    snprintf(beside, sizeof beside, "%s.amp", path);
    if (amp_state_save(beside) != AMP_OK) {
        perror(beside);
        exit(1);
    }
#endif
}

/* If there is one. */
static void load(const char *path, int *step) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    if (fread(step, sizeof *step, 1, file) != 1 ||
        fread(w1, sizeof w1, 1, file) != 1 ||
        fread(w2, sizeof w2, 1, file) != 1 ||
        fread(m1, sizeof m1, 1, file) != 1 ||
        fread(m2, sizeof m2, 1, file) != 1) {
        fprintf(stderr, "%s: no checkpoint\n", path);
        exit(1);
    }
    fclose(file);
#ifdef WITH_AMP
    char beside[512];
    snprintf(beside, sizeof beside, "%s.amp", path);
    if (amp_state_load(beside) != AMP_OK)
        fprintf(stderr, "no state in '%s': the loss scale starts anew\n",
                beside);
#endif
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s STEPS FILE\n", argv[0]);
        return 2;
    }
    int step = 0, last;
    make_data();
    load(argv[2], &step);
    last = step + atoi(argv[1]);
    for (; step < last; step++)
        printf("step %d loss %.9g\n", step, (double)train(step));
    save(argv[2], step);
    return 0;
}
