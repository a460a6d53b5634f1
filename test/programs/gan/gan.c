/* A generator and a discriminator, each with its own Adam.  One iteration
 * trains the discriminator on a real and a generated batch, then the
 * generator through the discriminator. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define B 64
#define Z 64
#define X 64
#define GH 64
#define DH 64
#define ITERS 400

typedef struct net {
    int in, hid, out;
    float *w1, *b1, *w2, *b2;
    float *gw1, *gb1, *gw2, *gb2;
    float *h, *y, *gh;
} net_t;

typedef struct opt {
    float *m[4], *v[4];
    float lr;
    int step;
} opt_t;

static unsigned long long rng_state = 88172645463325252ULL;

static float rng(void)
{
    rng_state = rng_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (float)(rng_state >> 40) / 16777216.0f;
}

static float gauss(void)
{
    int i;
    float s = 0.0f;
    for (i = 0; i < 12; i++)
        s += rng();
    return s - 6.0f;
}

static float *vec(int n)
{
    float *p = (float *)calloc((size_t)n, sizeof(float));
    if (p == NULL)
        exit(3);
    return p;
}

static void net_init(net_t *n, int in, int hid, int out)
{
    int i;
    n->in = in;
    n->hid = hid;
    n->out = out;
    n->w1 = vec(in * hid);
    n->b1 = vec(hid);
    n->w2 = vec(hid * out);
    n->b2 = vec(out);
    n->gw1 = vec(in * hid);
    n->gb1 = vec(hid);
    n->gw2 = vec(hid * out);
    n->gb2 = vec(out);
    n->h = vec(B * hid);
    n->y = vec(B * out);
    n->gh = vec(B * hid);
    for (i = 0; i < in * hid; i++)
        n->w1[i] = gauss() / sqrtf((float)in);
    for (i = 0; i < hid * out; i++)
        n->w2[i] = gauss() / sqrtf((float)hid);
}

static void net_forward(net_t *n, const float *x)
{
    int i, j;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, n->hid, n->in,
                1.0f, x, n->in, n->w1, n->hid, 0.0f, n->h, n->hid);
    for (i = 0; i < B; i++)
        for (j = 0; j < n->hid; j++) {
            float a = n->h[i * n->hid + j] + n->b1[j];
            n->h[i * n->hid + j] = a >= 0.0f ? a : 0.2f * a;
        }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, B, n->out, n->hid,
                1.0f, n->h, n->hid, n->w2, n->out, 0.0f, n->y, n->out);
    for (i = 0; i < B; i++)
        for (j = 0; j < n->out; j++)
            n->y[i * n->out + j] += n->b2[j];
}

static void net_zero(net_t *n)
{
    memset(n->gw1, 0, sizeof(float) * n->in * n->hid);
    memset(n->gb1, 0, sizeof(float) * n->hid);
    memset(n->gw2, 0, sizeof(float) * n->hid * n->out);
    memset(n->gb2, 0, sizeof(float) * n->out);
}

/* gy: gradient of the output; gx: of the input, or NULL.
 * params: accumulate the parameter gradients as well */
static void net_backward(net_t *n, const float *x, const float *gy, float *gx,
                         int params)
{
    int i, j;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, B, n->hid, n->out,
                1.0f, gy, n->out, n->w2, n->out, 0.0f, n->gh, n->hid);
    for (i = 0; i < B * n->hid; i++)
        n->gh[i] *= n->h[i] >= 0.0f ? 1.0f : 0.2f;
    if (params) {
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n->hid, n->out, B,
                    1.0f, n->h, n->hid, gy, n->out, 1.0f, n->gw2, n->out);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n->in, n->hid, B,
                    1.0f, x, n->in, n->gh, n->hid, 1.0f, n->gw1, n->hid);
        for (i = 0; i < B; i++) {
            for (j = 0; j < n->out; j++)
                n->gb2[j] += gy[i * n->out + j];
            for (j = 0; j < n->hid; j++)
                n->gb1[j] += n->gh[i * n->hid + j];
        }
    }
    if (gx)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, B, n->in, n->hid,
                    1.0f, n->gh, n->hid, n->w1, n->hid, 0.0f, gx, n->in);
}

static void opt_init(opt_t *o, const net_t *n, float lr)
{
    int k, size[4];
    size[0] = n->in * n->hid;
    size[1] = n->hid;
    size[2] = n->hid * n->out;
    size[3] = n->out;
    for (k = 0; k < 4; k++) {
        o->m[k] = vec(size[k]);
        o->v[k] = vec(size[k]);
    }
    o->lr = lr;
    o->step = 0;
}

static void adam(float *w, const float *g, float *m, float *v, int n, float a)
{
    int i;
    for (i = 0; i < n; i++) {
        m[i] = 0.5f * m[i] + 0.5f * g[i];
        v[i] = 0.99f * v[i] + 0.01f * g[i] * g[i];
        w[i] -= a * m[i] / (sqrtf(v[i]) + 1e-6f);
    }
}

static void opt_step(opt_t *o, net_t *n)
{
    float a;
    o->step++;
    a = o->lr * sqrtf(1.0f - powf(0.99f, (float)o->step)) /
        (1.0f - powf(0.5f, (float)o->step));
    adam(n->w1, n->gw1, o->m[0], o->v[0], n->in * n->hid, a);
    adam(n->b1, n->gb1, o->m[1], o->v[1], n->hid, a);
    adam(n->w2, n->gw2, o->m[2], o->v[2], n->hid * n->out, a);
    adam(n->b2, n->gb2, o->m[3], o->v[3], n->out, a);
}

static float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/* binary cross entropy on logits; writes its gradient */
static float bce(const float *logit, float label, float *g)
{
    int i;
    float loss = 0.0f;
    for (i = 0; i < B; i++) {
        float l = logit[i];
        loss += fmaxf(l, 0.0f) - l * label + log1pf(expf(-fabsf(l)));
        g[i] = (sigmoid(l) - label) / B;
    }
    return loss / B;
}

static float mix[X * 4], shift[X];

static void real_batch(float *x)
{
    int i, j, k;
    for (i = 0; i < B; i++) {
        float u[4];
        for (k = 0; k < 4; k++)
            u[k] = gauss();
        for (j = 0; j < X; j++) {
            float s = shift[j];
            for (k = 0; k < 4; k++)
                s += mix[j * 4 + k] * u[k];
            x[i * X + j] = s + 0.2f * gauss();
        }
    }
}

static void noise(float *z)
{
    int i;
    for (i = 0; i < B * Z; i++)
        z[i] = gauss();
}

/* squared distance of the means of generated and real data, over the
 * squared length of the real mean; generator run by plain loops */
static float mean_distance(const net_t *g, float *z, float *x)
{
    double mr[X] = {0}, mf[X] = {0}, d = 0, r = 0;
    float h[GH];
    int rep, i, j, k;
    for (rep = 0; rep < 8; rep++) {
        noise(z);
        real_batch(x);
        for (i = 0; i < B; i++) {
            for (j = 0; j < GH; j++) {
                float s = g->b1[j];
                for (k = 0; k < Z; k++)
                    s += z[i * Z + k] * g->w1[k * GH + j];
                h[j] = s >= 0.0f ? s : 0.2f * s;
            }
            for (j = 0; j < X; j++) {
                float s = g->b2[j];
                for (k = 0; k < GH; k++)
                    s += h[k] * g->w2[k * X + j];
                mf[j] += s / (8 * B);
                mr[j] += x[i * X + j] / (8 * B);
            }
        }
    }
    for (j = 0; j < X; j++) {
        d += (mf[j] - mr[j]) * (mf[j] - mr[j]);
        r += mr[j] * mr[j];
    }
    return (float)(d / r);
}

int main(int argc, char **argv)
{
    net_t G, D;
    opt_t og, od;
    float *z = vec(B * Z), *real = vec(B * X), *glogit = vec(B);
    float *gfake = vec(B * X);
    float before;
    int i, it;

    for (i = 0; i < X * 4; i++)
        mix[i] = 0.3f * gauss();
    for (i = 0; i < X; i++)
        shift[i] = gauss();
    net_init(&G, Z, GH, X);
    net_init(&D, X, DH, 1);
    opt_init(&og, &G, 2e-3f);
    opt_init(&od, &D, 1e-3f);
    before = mean_distance(&G, z, real);

    for (it = 1; it <= ITERS; it++) {
        float dloss, gloss;

        /* discriminator */
        net_zero(&D);
        real_batch(real);
        net_forward(&D, real);
        dloss = bce(D.y, 0.9f, glogit);
        net_backward(&D, real, glogit, NULL, 1);
        noise(z);
        net_forward(&G, z);
        net_forward(&D, G.y);
        dloss += bce(D.y, 0.0f, glogit);
        net_backward(&D, G.y, glogit, NULL, 1);
        opt_step(&od, &D);

        /* generator */
        net_zero(&G);
        net_forward(&D, G.y);
        gloss = bce(D.y, 1.0f, glogit);
        net_backward(&D, G.y, glogit, gfake, 0);
        net_backward(&G, z, gfake, NULL, 1);
        opt_step(&og, &G);

        if (it % 40 == 0)
            printf("iter %d dloss %.9g gloss %.9g\n", it, dloss, gloss);
    }
    printf("final before %.9g distance %.9g\n", before,
           mean_distance(&G, z, real));
    if (argc > 1) {
        FILE *f = fopen(argv[1], "wb");
        if (f == NULL) {
            perror(argv[1]);
            return 1;
        }
        fwrite(G.w1, sizeof(float), Z * GH, f);
        fwrite(G.b1, sizeof(float), GH, f);
        fwrite(G.w2, sizeof(float), GH * X, f);
        fwrite(G.b2, sizeof(float), X, f);
        fwrite(D.w1, sizeof(float), X * DH, f);
        fwrite(D.b1, sizeof(float), DH, f);
        fwrite(D.w2, sizeof(float), DH, f);
        fwrite(D.b2, sizeof(float), 1, f);
        fclose(f);
    }
    return 0;
}
