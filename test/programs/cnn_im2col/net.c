// small convolutional network: conv - relu - maxpool - conv - relu - fc - softmax
// layers carry their own forward/backward/update pointers
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

struct layer;
typedef struct layer layer;

typedef struct network {
    int n;
    int batch;
    layer *layers;
    float *input;
    float *delta;
    float *workspace;
    float *truth;
    float cost;
    float learning_rate;
} network;

struct layer {
    const char *name;
    int batch;
    int h, w, c;
    int out_h, out_w, n;
    int size, pad;
    int inputs, outputs;
    int nweights, nbiases;
    float *weights;
    float *weight_updates;
    float *biases;
    float *bias_updates;
    float *output;
    float *delta;
    int *indexes;
    void (*forward)(layer, network *);
    void (*backward)(layer, network *);
    void (*update)(layer, network *);
};

static unsigned rng = 2463534242u;
static unsigned xs(void) { rng = rng * 1103515245u + 12345u; return (rng >> 9) & 0x7fffff; }
static float rand_uniform(float lo, float hi) { return lo + (hi - lo) * ((float)xs() / 8388608.0f); }

void gemm_nn(int M, int N, int K, float ALPHA, float *A, int lda, float *B, int ldb, float *C, int ldc)
{
    int i, j, k;
    for(i = 0; i < M; ++i){
        for(k = 0; k < K; ++k){
            float A_PART = ALPHA*A[i*lda+k];
            for(j = 0; j < N; ++j){
                C[i*ldc+j] += A_PART*B[k*ldb+j];
            }
        }
    }
}

void gemm_nt(int M, int N, int K, float ALPHA, float *A, int lda, float *B, int ldb, float *C, int ldc)
{
    int i, j, k;
    for(i = 0; i < M; ++i){
        for(j = 0; j < N; ++j){
            float sum = 0;
            for(k = 0; k < K; ++k){
                sum += ALPHA*A[i*lda+k]*B[j*ldb+k];
            }
            C[i*ldc+j] += sum;
        }
    }
}

void gemm_tn(int M, int N, int K, float ALPHA, float *A, int lda, float *B, int ldb, float *C, int ldc)
{
    int i, j, k;
    for(i = 0; i < M; ++i){
        for(k = 0; k < K; ++k){
            float A_PART = ALPHA*A[k*lda+i];
            for(j = 0; j < N; ++j){
                C[i*ldc+j] += A_PART*B[k*ldb+j];
            }
        }
    }
}

void gemm(int TA, int TB, int M, int N, int K, float ALPHA,
        float *A, int lda,
        float *B, int ldb,
        float BETA,
        float *C, int ldc)
{
    int i, j;
    if(BETA != 1){
        for(i = 0; i < M; ++i){
            for(j = 0; j < N; ++j){
                C[i*ldc + j] *= BETA;
            }
        }
    }
    if(!TA && !TB) gemm_nn(M, N, K, ALPHA, A, lda, B, ldb, C, ldc);
    else if(TA && !TB) gemm_tn(M, N, K, ALPHA, A, lda, B, ldb, C, ldc);
    else gemm_nt(M, N, K, ALPHA, A, lda, B, ldb, C, ldc);
}

static void im2col(float *im, int c, int h, int w, int size, int pad, float *col)
{
    int k, y, x;
    for(k = 0; k < c*size*size; ++k){
        int dx = k % size - pad, dy = (k / size) % size - pad, ch = k / size / size;
        for(y = 0; y < h; ++y){
            for(x = 0; x < w; ++x){
                int yy = y + dy, xx = x + dx;
                float v = 0;
                if(yy >= 0 && yy < h && xx >= 0 && xx < w) v = im[(ch*h + yy)*w + xx];
                col[(k*h + y)*w + x] = v;
            }
        }
    }
}

static void col2im(float *col, int c, int h, int w, int size, int pad, float *im)
{
    int k, y, x;
    for(k = 0; k < c*size*size; ++k){
        int dx = k % size - pad, dy = (k / size) % size - pad, ch = k / size / size;
        for(y = 0; y < h; ++y){
            for(x = 0; x < w; ++x){
                int yy = y + dy, xx = x + dx;
                if(yy >= 0 && yy < h && xx >= 0 && xx < w) im[(ch*h + yy)*w + xx] += col[(k*h + y)*w + x];
            }
        }
    }
}

static void add_bias(float *output, float *biases, int batch, int n, int spatial)
{
    int b, i, j;
    for(b = 0; b < batch; ++b)
        for(i = 0; i < n; ++i)
            for(j = 0; j < spatial; ++j)
                output[(b*n + i)*spatial + j] += biases[i];
}

static void backward_bias(float *bias_updates, float *delta, int batch, int n, int spatial)
{
    int b, i, j;
    for(b = 0; b < batch; ++b){
        for(i = 0; i < n; ++i){
            float sum = 0;
            for(j = 0; j < spatial; ++j) sum += delta[(b*n + i)*spatial + j];
            bias_updates[i] += sum;
        }
    }
}

static void relu(float *x, int n) { int i; for(i = 0; i < n; ++i) x[i] = x[i]*(x[i] > 0); }
static void relu_gradient(float *x, float *delta, int n) { int i; for(i = 0; i < n; ++i) delta[i] *= (x[i] > 0); }

static void forward_conv(layer l, network *net)
{
    int b, k = l.size*l.size*l.c, sp = l.out_h*l.out_w;
    memset(l.output, 0, (size_t)l.batch*l.outputs*sizeof(float));
    for(b = 0; b < l.batch; ++b){
        im2col(net->input + b*l.inputs, l.c, l.h, l.w, l.size, l.pad, net->workspace);
        gemm(0, 0, l.n, sp, k, 1, l.weights, k, net->workspace, sp, 1, l.output + b*l.outputs, sp);
    }
    add_bias(l.output, l.biases, l.batch, l.n, sp);
    relu(l.output, l.batch*l.outputs);
}

static void backward_conv(layer l, network *net)
{
    int b, k = l.size*l.size*l.c, sp = l.out_h*l.out_w;
    relu_gradient(l.output, l.delta, l.batch*l.outputs);
    backward_bias(l.bias_updates, l.delta, l.batch, l.n, sp);
    for(b = 0; b < l.batch; ++b){
        float *d = l.delta + b*l.outputs;
        im2col(net->input + b*l.inputs, l.c, l.h, l.w, l.size, l.pad, net->workspace);
        gemm(0, 1, l.n, k, sp, 1, d, sp, net->workspace, sp, 1, l.weight_updates, k);
        if(net->delta){
            gemm(1, 0, k, sp, l.n, 1, l.weights, k, d, sp, 0, net->workspace, sp);
            col2im(net->workspace, l.c, l.h, l.w, l.size, l.pad, net->delta + b*l.inputs);
        }
    }
}

static void update_params(layer l, network *net)
{
    int i;
    float rate = net->learning_rate/net->batch;
    for(i = 0; i < l.nweights; ++i) l.weights[i] += rate*l.weight_updates[i];
    for(i = 0; i < l.nbiases; ++i) l.biases[i] += rate*l.bias_updates[i];
}

static void forward_pool(layer l, network *net)
{
    int b, y, x, i, j;
    for(b = 0; b < l.batch*l.c; ++b){
        for(y = 0; y < l.out_h; ++y){
            for(x = 0; x < l.out_w; ++x){
                int best = -1;
                float max = -1e30f;
                for(i = 0; i < 2; ++i){
                    for(j = 0; j < 2; ++j){
                        int idx = (b*l.h + 2*y + i)*l.w + 2*x + j;
                        if(net->input[idx] > max){ max = net->input[idx]; best = idx; }
                    }
                }
                l.output[(b*l.out_h + y)*l.out_w + x] = max;
                l.indexes[(b*l.out_h + y)*l.out_w + x] = best;
            }
        }
    }
}

static void backward_pool(layer l, network *net)
{
    int i;
    for(i = 0; i < l.batch*l.outputs; ++i) net->delta[l.indexes[i]] += l.delta[i];
}

static void forward_fc(layer l, network *net)
{
    memset(l.output, 0, (size_t)l.batch*l.outputs*sizeof(float));
    gemm(0, 1, l.batch, l.outputs, l.inputs, 1, net->input, l.inputs, l.weights, l.inputs, 1, l.output, l.outputs);
    add_bias(l.output, l.biases, l.batch, l.outputs, 1);
}

static void backward_fc(layer l, network *net)
{
    backward_bias(l.bias_updates, l.delta, l.batch, l.outputs, 1);
    gemm(1, 0, l.outputs, l.inputs, l.batch, 1, l.delta, l.outputs, net->input, l.inputs, 1, l.weight_updates, l.inputs);
    if(net->delta) gemm(0, 0, l.batch, l.inputs, l.outputs, 1, l.delta, l.outputs, l.weights, l.inputs, 1, net->delta, l.inputs);
}

static void forward_softmax(layer l, network *net)
{
    int b, i;
    float cost = 0;
    for(b = 0; b < l.batch; ++b){
        float *in = net->input + b*l.inputs, *out = l.output + b*l.inputs, *t = net->truth + b*l.inputs;
        float largest = in[0], sum = 0;
        for(i = 1; i < l.inputs; ++i) if(in[i] > largest) largest = in[i];
        for(i = 0; i < l.inputs; ++i){ out[i] = expf(in[i] - largest); sum += out[i]; }
        for(i = 0; i < l.inputs; ++i){
            out[i] /= sum;
            if(t[i]) cost += -logf(out[i] + 1e-12f);
            l.delta[b*l.inputs + i] = t[i] - out[i];
        }
    }
    net->cost = cost/l.batch;
}

static void backward_softmax(layer l, network *net)
{
    int i;
    for(i = 0; i < l.batch*l.inputs; ++i) net->delta[i] += l.delta[i];
}

static void no_update(layer l, network *net) { (void)l; (void)net; }

static layer make_layer(const char *name, int batch, int h, int w, int c, int oh, int ow, int n)
{
    layer l;
    memset(&l, 0, sizeof l);
    l.name = name;
    l.batch = batch;
    l.h = h; l.w = w; l.c = c;
    l.out_h = oh; l.out_w = ow; l.n = n;
    l.inputs = h*w*c;
    l.outputs = oh*ow*n;
    l.output = calloc((size_t)batch*l.outputs, sizeof(float));
    l.delta = calloc((size_t)batch*l.outputs, sizeof(float));
    l.update = no_update;
    return l;
}

static void make_params(layer *l, int fan_in, int n)
{
    int i;
    float scale = sqrtf(2.f/fan_in);
    l->nweights = fan_in*n;
    l->nbiases = n;
    l->weights = calloc(l->nweights, sizeof(float));
    l->weight_updates = calloc(l->nweights, sizeof(float));
    l->biases = calloc(n, sizeof(float));
    l->bias_updates = calloc(n, sizeof(float));
    for(i = 0; i < l->nweights; ++i) l->weights[i] = scale*rand_uniform(-1.7f, 1.7f);
    l->update = update_params;
}

static layer make_conv(int batch, int h, int w, int c, int n)
{
    layer l = make_layer("conv", batch, h, w, c, h, w, n);
    l.size = 3; l.pad = 1;
    make_params(&l, 9*c, n);
    l.forward = forward_conv; l.backward = backward_conv;
    return l;
}

static layer make_pool(int batch, int h, int w, int c)
{
    layer l = make_layer("pool", batch, h, w, c, h/2, w/2, c);
    l.indexes = calloc((size_t)batch*l.outputs, sizeof(int));
    l.forward = forward_pool; l.backward = backward_pool;
    return l;
}

static layer make_fc(int batch, int inputs, int outputs)
{
    layer l = make_layer("fc", batch, 1, 1, inputs, 1, 1, outputs);
    make_params(&l, inputs, outputs);
    l.forward = forward_fc; l.backward = backward_fc;
    return l;
}

static layer make_softmax(int batch, int inputs)
{
    layer l = make_layer("softmax", batch, 1, 1, inputs, 1, 1, inputs);
    l.forward = forward_softmax; l.backward = backward_softmax;
    return l;
}

static void forward_network(network *net, float *input)
{
    int i;
    net->input = input;
    for(i = 0; i < net->n; ++i){
        layer l = net->layers[i];
        memset(l.delta, 0, (size_t)l.batch*l.outputs*sizeof(float));
        l.forward(l, net);
        net->input = l.output;
    }
}

static void backward_network(network *net, float *input)
{
    int i;
    for(i = net->n - 1; i >= 0; --i){
        layer l = net->layers[i];
        if(i == 0){
            net->input = input;
            net->delta = 0;
        }else{
            net->input = net->layers[i-1].output;
            net->delta = net->layers[i-1].delta;
        }
        l.backward(l, net);
    }
}

static void zero_updates(network *net)
{
    int i;
    for(i = 0; i < net->n; ++i){
        layer l = net->layers[i];
        if(l.weight_updates) memset(l.weight_updates, 0, l.nweights*sizeof(float));
        if(l.bias_updates) memset(l.bias_updates, 0, l.nbiases*sizeof(float));
    }
}

static void update_network(network *net)
{
    int i;
    for(i = 0; i < net->n; ++i){
        layer l = net->layers[i];
        l.update(l, net);
    }
}

#define SIDE 16
#define CLASSES 4
#define BATCH 16

// bars of four directions at a random place, with noise
static void load_batch(float *X, float *y)
{
    int b, i, j;
    memset(y, 0, BATCH*CLASSES*sizeof(float));
    for(b = 0; b < BATCH; ++b){
        int c = xs() % CLASSES, off = 2 + xs() % (SIDE - 4);
        y[b*CLASSES + c] = 1;
        for(i = 0; i < SIDE; ++i){
            for(j = 0; j < SIDE; ++j){
                int hit = c == 0 ? i == off : c == 1 ? j == off : c == 2 ? i - j == off - 8 : i + j == off + 7;
                X[(b*SIDE + i)*SIDE + j] = (hit ? 1.f : 0.f) + rand_uniform(-.3f, .3f);
            }
        }
    }
}

int main(int argc, char **argv)
{
    static float X[BATCH*SIDE*SIDE], y[BATCH*CLASSES];
    layer layers[5];
    network net;
    int it, i, b, seen = 0, right = 0;
    float avg = -1, total = 0;

    layers[0] = make_conv(BATCH, SIDE, SIDE, 1, 16);
    layers[1] = make_pool(BATCH, SIDE, SIDE, 16);
    layers[2] = make_conv(BATCH, SIDE/2, SIDE/2, 16, 64);
    layers[3] = make_fc(BATCH, SIDE/2*SIDE/2*64, CLASSES);
    layers[4] = make_softmax(BATCH, CLASSES);
    memset(&net, 0, sizeof net);
    net.n = 5;
    net.layers = layers;
    net.batch = BATCH;
    net.learning_rate = .03f;
    net.truth = y;
    net.workspace = calloc(16*9*SIDE*SIDE, sizeof(float));

    for(it = 0; it < 48; ++it){
        load_batch(X, y);
        zero_updates(&net);
        forward_network(&net, X);
        backward_network(&net, X);
        update_network(&net);
        avg = avg < 0 ? net.cost : avg*.9f + net.cost*.1f;
        if(it % 4 == 3) printf("%d: loss %.9g, %.9g avg\n", it + 1, net.cost, avg);
    }
    for(it = 0; it < 8; ++it){
        load_batch(X, y);
        forward_network(&net, X);
        total += net.cost;
        for(b = 0; b < BATCH; ++b){
            float *o = layers[4].output + b*CLASSES;
            int best = 0;
            for(i = 1; i < CLASSES; ++i) if(o[i] > o[best]) best = i;
            right += y[b*CLASSES + best] > 0;
            ++seen;
        }
    }
    printf("final loss %.9g accuracy %.9g\n", total/8, (float)right/seen);
    if(argc > 1){
        FILE *fp = fopen(argv[1], "wb");
        if(!fp){ fprintf(stderr, "Couldn't open file: %s\n", argv[1]); return 1; }
        for(i = 0; i < net.n; ++i){
            layer l = layers[i];
            if(!l.weights) continue;
            fwrite(l.biases, sizeof(float), l.nbiases, fp);
            fwrite(l.weights, sizeof(float), l.nweights, fp);
        }
        fclose(fp);
    }
    return 0;
}
