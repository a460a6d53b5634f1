/* A chain of dense layers. Backward, one loop goes down the layers: the error
 * of the last is the copied output minus the target, that of any other comes
 * from the error of the layer above it. Gradients are summed over the samples
 * of a batch, averaged, get weight decay, then the previous step times the
 * momentum; the step taken is kept for the next one. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 4, IN = 32, HIDDEN = 48, OUT = 8, BATCH = 16, BATCHES = 24 };
enum objective { SOFTMAX, SIGMOID };

struct vec {
    int n;
    float *v;
};

struct chain {
    int n; /* weights; activations are one more */
    struct vec **act;
    struct vec **weight;
    struct vec **bias;
};

static unsigned state = 7;

static float uniform(void)
{
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 8388608.0f - 1;
}

static struct vec *vec_new(int n)
{
    struct vec *x = malloc(sizeof *x);
    x->n = n;
    x->v = calloc((size_t)n, sizeof(float));
    return x;
}

static void vec_free(struct vec *x)
{
    free(x->v);
    free(x);
}

static void vec_clear(struct vec *x)
{
    memset(x->v, 0, (size_t)x->n * sizeof(float));
}

static void vec_copy(const struct vec *from, struct vec *to)
{
    memcpy(to->v, from->v, (size_t)to->n * sizeof(float));
}

static void vec_add(struct vec *to, float factor, const struct vec *from)
{
    for (int i = 0; i < to->n; i++)
        to->v[i] += factor * from->v[i];
}

static void vec_scale(struct vec *x, float factor)
{
    for (int i = 0; i < x->n; i++)
        x->v[i] *= factor;
}

static struct chain *chain_new(const int *sizes, int layers)
{
    struct chain *c = malloc(sizeof *c);
    c->n = layers - 1;
    c->act = malloc(sizeof *c->act * (size_t)layers);
    c->weight = malloc(sizeof *c->weight * (size_t)c->n);
    c->bias = malloc(sizeof *c->bias * (size_t)c->n);
    for (int l = 0; l < layers; l++)
        c->act[l] = vec_new(sizes[l]);
    for (int l = 0; l < c->n; l++) {
        c->weight[l] = vec_new(sizes[l] * sizes[l + 1]);
        c->bias[l] = vec_new(sizes[l + 1]);
        for (int i = 0; i < c->weight[l]->n; i++)
            c->weight[l]->v[i] = uniform() * sqrtf(3.0f / sizes[l]);
    }
    return c;
}

static void chain_free(struct chain *c)
{
    for (int l = 0; l <= c->n; l++)
        vec_free(c->act[l]);
    for (int l = 0; l < c->n; l++) {
        vec_free(c->weight[l]);
        vec_free(c->bias[l]);
    }
    free(c->act);
    free(c->weight);
    free(c->bias);
    free(c);
}

static void activate(struct vec *x, int is_last, enum objective objective)
{
    float sum = 0;
    if (!is_last) {
        for (int i = 0; i < x->n; i++)
            x->v[i] = tanhf(x->v[i]);
        return;
    }
    if (objective == SIGMOID) {
        for (int i = 0; i < x->n; i++)
            x->v[i] = 1.0f / (1.0f + expf(-x->v[i]));
        return;
    }
    for (int i = 0; i < x->n; i++) {
        x->v[i] = expf(x->v[i]);
        sum += x->v[i];
    }
    for (int i = 0; i < x->n; i++)
        x->v[i] /= sum;
}

static void forward(struct chain *c, const float *input,
                    enum objective objective)
{
    memcpy(c->act[0]->v, input, (size_t)c->act[0]->n * sizeof(float));
    for (int l = 0; l < c->n; l++) {
        struct vec *x = c->act[l], *y = c->act[l + 1];
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, y->n, x->n,
                    1, x->v, x->n, c->weight[l]->v, y->n, 0, y->v, y->n);
        for (int i = 0; i < y->n; i++)
            y->v[i] += c->bias[l]->v[i];
        activate(y, l + 1 == c->n, objective);
    }
}

static void train(struct chain *c, float (*x)[IN], float (*target)[OUT],
                  enum objective objective, int steps)
{
    int n = c->n;
    struct vec *error[LAYERS], *slope[LAYERS], *dw[LAYERS], *db[LAYERS];
    struct vec *sum_w[LAYERS], *sum_b[LAYERS], *last_w[LAYERS], *last_b[LAYERS];
    for (int l = 0; l < n; l++) {
        error[l] = vec_new(c->act[l]->n);
        slope[l] = vec_new(c->act[l]->n);
        dw[l] = vec_new(c->weight[l]->n);
        db[l] = vec_new(c->bias[l]->n);
        sum_w[l] = vec_new(c->weight[l]->n);
        sum_b[l] = vec_new(c->bias[l]->n);
        last_w[l] = vec_new(c->weight[l]->n);
        last_b[l] = vec_new(c->bias[l]->n);
    }
    error[n] = vec_new(c->act[n]->n);

    for (int step = 0; step < steps; step++) {
        float loss = 0;
        for (int b = 0; b < BATCH; b++) {
            int sample = step % BATCHES * BATCH + b;
            const float *t = target[sample];
            forward(c, x[sample], objective);
            for (int l = n; l > 0; l--) {
                if (l == n) {
                    vec_copy(c->act[l], error[l]);
                    if (objective == SOFTMAX) {
                        for (int j = 0; j < error[l]->n; j++) {
                            loss -= t[j] * logf(error[l]->v[j] + 1e-9f);
                            error[l]->v[j] -= t[j];
                        }
                    } else {
                        for (int j = 0; j < error[l]->n; j++) {
                            float y = error[l]->v[j], d = y - t[j];
                            loss += 0.5f * d * d;
                            error[l]->v[j] = d * y * (1 - y);
                        }
                    }
                } else {
                    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, 1,
                                error[l]->n, error[l + 1]->n, 1,
                                error[l + 1]->v, error[l + 1]->n,
                                c->weight[l]->v, error[l + 1]->n, 0,
                                error[l]->v, error[l]->n);
                    vec_copy(c->act[l], slope[l]);
                    for (int j = 0; j < slope[l]->n; j++)
                        slope[l]->v[j] = 1 - slope[l]->v[j] * slope[l]->v[j];
                    for (int j = 0; j < error[l]->n; j++)
                        error[l]->v[j] *= slope[l]->v[j];
                }
                cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans,
                            c->act[l - 1]->n, error[l]->n, 1, 1,
                            c->act[l - 1]->v, c->act[l - 1]->n, error[l]->v,
                            error[l]->n, 0, dw[l - 1]->v, error[l]->n);
                vec_copy(error[l], db[l - 1]);
            }
            for (int l = 0; l < n; l++) {
                vec_add(sum_w[l], 1, dw[l]);
                vec_add(sum_b[l], 1, db[l]);
            }
            for (int l = 0; l <= n; l++)
                vec_clear(error[l]);
        }
        for (int l = 0; l < n; l++) {
            vec_scale(sum_w[l], 0.1f / BATCH);
            vec_scale(sum_b[l], 0.1f / BATCH);
        }
        for (int l = 0; l < n; l++)
            vec_add(sum_w[l], 1e-5f, c->weight[l]);
        for (int l = 0; l < n; l++) {
            vec_add(sum_w[l], 0.8f, last_w[l]);
            vec_add(sum_b[l], 0.8f, last_b[l]);
        }
        for (int l = 0; l < n; l++) {
            vec_add(c->weight[l], -1, sum_w[l]);
            vec_add(c->bias[l], -1, sum_b[l]);
        }
        for (int l = 0; l < n; l++) {
            vec_copy(sum_w[l], last_w[l]);
            vec_copy(sum_b[l], last_b[l]);
        }
        for (int l = 0; l < n; l++) {
            vec_clear(sum_w[l]);
            vec_clear(sum_b[l]);
        }
        if (step % 20 == 0)
            printf("step %d: loss %.9g\n", step, loss / BATCH);
    }
    for (int l = 0; l < n; l++) {
        vec_free(error[l]);
        vec_free(slope[l]);
        vec_free(dw[l]);
        vec_free(db[l]);
        vec_free(sum_w[l]);
        vec_free(sum_b[l]);
        vec_free(last_w[l]);
        vec_free(last_b[l]);
    }
    vec_free(error[n]);
}

static void judge(const struct chain *c, float (*x)[IN], float (*target)[OUT],
                  int samples)
{
    double loss = 0;
    int right = 0;
    for (int s = 0; s < samples; s++) {
        double a[HIDDEN], z[HIDDEN], sum = 0;
        int best = 0, wanted = 0;
        for (int i = 0; i < IN; i++)
            a[i] = x[s][i];
        for (int l = 0; l < c->n; l++) {
            for (int o = 0; o < c->act[l + 1]->n; o++) {
                z[o] = c->bias[l]->v[o];
                for (int i = 0; i < c->act[l]->n; i++)
                    z[o] += a[i] * c->weight[l]->v[i * c->act[l + 1]->n + o];
            }
            for (int o = 0; o < c->act[l + 1]->n; o++)
                a[o] = l + 1 < c->n ? tanh(z[o]) : z[o];
        }
        for (int j = 0; j < OUT; j++) {
            sum += exp(a[j]);
            best = a[j] > a[best] ? j : best;
            wanted = target[s][j] > 0 ? j : wanted;
        }
        loss += log(sum) - a[wanted];
        right += best == wanted;
    }
    printf("final loss %.9g accuracy %.9g\n", loss / samples,
           (double)right / samples);
}

int main(int argc, char **argv)
{
    static float x[BATCHES * BATCH][IN], target[BATCHES * BATCH][OUT];
    static float center[2 * OUT][IN];
    const int sizes[LAYERS] = {IN, HIDDEN, HIDDEN, OUT};
    enum objective objective = getenv("CHAIN_SIGMOID") ? SIGMOID : SOFTMAX;
    for (int k = 0; k < 2 * OUT; k++)
        for (int i = 0; i < IN; i++)
            center[k][i] = uniform();
    for (int s = 0; s < BATCHES * BATCH; s++) {
        target[s][s % OUT] = 1;
        for (int i = 0; i < IN; i++)
            x[s][i] = center[s % (2 * OUT)][i] + uniform() * 0.7f;
    }
    struct chain *c = chain_new(sizes, LAYERS);
    train(c, x, target, objective, 240);
    judge(c, x, target, BATCHES * BATCH);

    FILE *out = argc > 1 ? fopen(argv[1], "wb") : NULL;
    if (!out)
        return 1;
    for (int l = 0; l < c->n; l++) {
        fwrite(c->weight[l]->v, sizeof(float), (size_t)c->weight[l]->n, out);
        fwrite(c->bias[l]->v, sizeof(float), (size_t)c->bias[l]->n, out);
    }
    fclose(out);
    chain_free(c);
    return 0;
}
