/* MLP with hand-written loops under OpenMP.  Threads split rows or outputs,
 * never a sum, so the result does not depend on their number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Layer {
    int in, out;
    float *w, *b, *gw, *gb, *vw, *vb;
} Layer;

static Layer *layer_new(int in, int out, float (*init)(void))
{
    Layer *l = malloc(sizeof *l);
    l->in = in;
    l->out = out;
    l->w = malloc(sizeof(float) * in * out);
    l->b = calloc(out, sizeof(float));
    l->gw = calloc(in * out, sizeof(float));
    l->gb = calloc(out, sizeof(float));
    l->vw = calloc(in * out, sizeof(float));
    l->vb = calloc(out, sizeof(float));
    for (int i = 0; i < in * out; i++)
        l->w[i] = init() * sqrtf(6.0f / in);
    return l;
}

static void layer_delete(Layer *l)
{
    free(l->w); free(l->b);
    free(l->gw); free(l->gb);
    free(l->vw); free(l->vb);
    free(l);
}

void affine(float *out, const float *inp, const float *weight,
            const float *bias, int rows, int in, int outn)
{
#pragma omp parallel for
    for (int r = 0; r < rows; r++) {
        for (int o = 0; o < outn; o++) {
            float s = bias[o];
            for (int i = 0; i < in; i++)
                s += inp[r * in + i] * weight[o * in + i];
            out[r * outn + o] = s;
        }
    }
}

/* adds to dinp, dweight and dbias */
void affine_grad(float *dinp, float *dweight, float *dbias, const float *dout,
                 const float *inp, const float *weight, int rows, int in,
                 int outn)
{
    if (dinp) {
#pragma omp parallel for
        for (int r = 0; r < rows; r++)
            for (int o = 0; o < outn; o++) {
                float d = dout[r * outn + o];
                for (int i = 0; i < in; i++)
                    dinp[r * in + i] += d * weight[o * in + i];
            }
    }
#pragma omp parallel for
    for (int o = 0; o < outn; o++)
        for (int r = 0; r < rows; r++) {
            float d = dout[r * outn + o];
            dbias[o] += d;
            for (int i = 0; i < in; i++)
                dweight[o * in + i] += d * inp[r * in + i];
        }
}

static void nesterov(float *w, float *v, const float *g, int n, float lr,
                     float mu)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float prev = v[i];
        v[i] = mu * v[i] - lr * g[i];
        w[i] += -mu * prev + (1.0f + mu) * v[i];
    }
}

static unsigned rand_state = 4242u;

static float sym(void)
{
    rand_state = rand_state * 1664525u + 1013904223u;
    return (rand_state >> 8) / 8388608.0f - 1.0f;
}

enum { IN = 64, HIDDEN = 96, OUT = 64, LABELS = 10, BATCH = 64, ITERS = 100 };

static float pattern[LABELS][IN];

static void batch(float *x, int *y)
{
    for (int r = 0; r < BATCH; r++) {
        y[r] = (int)((sym() + 1.0f) * 0.5f * LABELS);
        float amp = sym() > 0 ? 1.0f : -1.0f;
        for (int i = 0; i < IN; i++)
            x[r * IN + i] = amp * pattern[y[r]][i] + 0.8f * sym();
    }
}

int main(int argc, char **argv)
{
    float *x = malloc(sizeof(float) * BATCH * IN);
    float *hid = malloc(sizeof(float) * BATCH * HIDDEN);
    float *dhid = malloc(sizeof(float) * BATCH * HIDDEN);
    float *logit = malloc(sizeof(float) * BATCH * OUT);
    float *dlogit = malloc(sizeof(float) * BATCH * OUT);
    float *row_loss = malloc(sizeof(float) * BATCH);
    int *y = malloc(sizeof(int) * BATCH);

    for (int k = 0; k < LABELS * IN; k++)
        pattern[k / IN][k % IN] = 0.6f * sym();
    Layer *l1 = layer_new(IN, HIDDEN, sym);
    Layer *l2 = layer_new(HIDDEN, OUT, sym);

    for (int it = 0; it < ITERS; it++) {
        batch(x, y);
        affine(hid, x, l1->w, l1->b, BATCH, IN, HIDDEN);
#pragma omp parallel for
        for (int i = 0; i < BATCH * HIDDEN; i++)
            hid[i] = hid[i] > 0.0f ? hid[i] : 0.0f;
        affine(logit, hid, l2->w, l2->b, BATCH, HIDDEN, OUT);

#pragma omp parallel for
        for (int r = 0; r < BATCH; r++) {
            const float *z = logit + r * OUT;
            float m = z[0], s = 0.0f;
            for (int o = 1; o < OUT; o++)
                m = z[o] > m ? z[o] : m;
            for (int o = 0; o < OUT; o++)
                s += expf(z[o] - m);
            row_loss[r] = logf(s) + m - z[y[r]];
            for (int o = 0; o < OUT; o++)
                dlogit[r * OUT + o] =
                    (expf(z[o] - m) / s - (o == y[r])) * (1.0f / BATCH);
        }
        float loss = 0.0f;
        for (int r = 0; r < BATCH; r++)
            loss += row_loss[r];

        memset(l1->gw, 0, sizeof(float) * IN * HIDDEN);
        memset(l1->gb, 0, sizeof(float) * HIDDEN);
        memset(l2->gw, 0, sizeof(float) * HIDDEN * OUT);
        memset(l2->gb, 0, sizeof(float) * OUT);
        memset(dhid, 0, sizeof(float) * BATCH * HIDDEN);
        affine_grad(dhid, l2->gw, l2->gb, dlogit, hid, l2->w, BATCH, HIDDEN, OUT);
#pragma omp parallel for
        for (int i = 0; i < BATCH * HIDDEN; i++)
            if (hid[i] <= 0.0f)
                dhid[i] = 0.0f;
        affine_grad(NULL, l1->gw, l1->gb, dhid, x, l1->w, BATCH, IN, HIDDEN);

        nesterov(l1->w, l1->vw, l1->gw, IN * HIDDEN, 0.03f, 0.9f);
        nesterov(l1->b, l1->vb, l1->gb, HIDDEN, 0.03f, 0.9f);
        nesterov(l2->w, l2->vw, l2->gw, HIDDEN * OUT, 0.03f, 0.9f);
        nesterov(l2->b, l2->vb, l2->gb, OUT, 0.03f, 0.9f);
        if (it % 10 == 9)
            printf("iter %d loss %.9g\n", it + 1, loss / BATCH);
    }

    /* fresh data, one thread */
    int right = 0, n = 0;
    float loss = 0.0f, h[HIDDEN], z[OUT];
    for (int k = 0; k < 10; k++) {
        batch(x, y);
        for (int r = 0; r < BATCH; r++, n++) {
            int best = 0;
            float s = 0.0f;
            for (int o = 0; o < HIDDEN; o++) {
                h[o] = l1->b[o];
                for (int i = 0; i < IN; i++)
                    h[o] += x[r * IN + i] * l1->w[o * IN + i];
                if (h[o] < 0.0f)
                    h[o] = 0.0f;
            }
            for (int o = 0; o < OUT; o++) {
                z[o] = l2->b[o];
                for (int i = 0; i < HIDDEN; i++)
                    z[o] += h[i] * l2->w[o * HIDDEN + i];
                if (z[o] > z[best])
                    best = o;
            }
            for (int o = 0; o < OUT; o++)
                s += expf(z[o] - z[best]);
            loss += logf(s) + z[best] - z[y[r]];
            right += best == y[r];
        }
    }
    printf("final loss %.9g accuracy %.9g\n", loss / n, (float)right / n);
    if (argc > 1) {
        FILE *f = fopen(argv[1], "wb");
        if (!f) {
            perror(argv[1]);
            return 1;
        }
        fwrite(l1->w, sizeof(float), IN * HIDDEN, f);
        fwrite(l1->b, sizeof(float), HIDDEN, f);
        fwrite(l2->w, sizeof(float), HIDDEN * OUT, f);
        fwrite(l2->b, sizeof(float), OUT, f);
        fclose(f);
    }
    layer_delete(l1);
    layer_delete(l2);
    free(x); free(hid); free(dhid); free(logit); free(dlogit); free(row_loss);
    free(y);
    return 0;
}
