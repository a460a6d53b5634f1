/*
Next-token model: two token embeddings (this token, the one before) are
summed, then fc -> gelu -> residual -> logits -> softmax.
All parameters live in one block of memory, and so do all activations; the
tables below hold pointers into them.
*/
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUM_PARAMETER_TENSORS 8
typedef struct {
    float *wte;   // (V, C)
    float *wpe;   // (V, C) embedding of the previous token
    float *fcw;   // (4C, C)
    float *fcb;   // (4C)
    float *pjw;   // (C, 4C)
    float *pjb;   // (C)
    float *lmw;   // (V, C)
    float *lmb;   // (V)
} ParameterTensors;

#define NUM_ACTIVATION_TENSORS 7
typedef struct {
    float *encoded;  // (B, T, C)
    float *fch;      // (B, T, 4C)
    float *gelu;     // (B, T, 4C)
    float *proj;     // (B, T, C)
    float *residual; // (B, T, C)
    float *logits;   // (B, T, V)
    float *losses;   // (B, T)
} ActivationTensors;

typedef struct {
    int V, C;
    ParameterTensors params;
    size_t param_sizes[NUM_PARAMETER_TENSORS];
    float *params_memory;
    size_t num_parameters;
    ParameterTensors grads;
    float *grads_memory;
    float *m_memory;
    float *v_memory;
    ActivationTensors acts;
    size_t act_sizes[NUM_ACTIVATION_TENSORS];
    float *acts_memory;
    size_t num_activations;
    float *probs;
    ActivationTensors grads_acts;
    float *grads_acts_memory;
    int batch_size, seq_len;
    int *inputs, *targets;
    float mean_loss;
} Model;

static void *check_malloc(size_t bytes)
{
    void *p = malloc(bytes);
    if (p == NULL) {
        fprintf(stderr, "out of memory: %zu bytes\n", bytes);
        exit(EXIT_FAILURE);
    }
    return p;
}

static uint32_t random_u32(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(*state >> 33);
}
static float random_f32(uint64_t *state)
{
    return (random_u32(state) >> 7) / 16777216.0f;
}

// ----------------------------------------------------------------------------
// layers

void encoder_forward(float *out, const int *inp, const float *wte,
                     const float *wpe, int B, int T, int C)
{
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            float *out_bt = out + b * T * C + t * C;
            int ix = inp[b * T + t];
            int ip = t > 0 ? inp[b * T + t - 1] : 0;
            for (int i = 0; i < C; i++) {
                out_bt[i] = wte[ix * C + i] + wpe[ip * C + i];
            }
        }
    }
}

void encoder_backward(float *dwte, float *dwpe, const float *dout,
                      const int *inp, int B, int T, int C)
{
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            const float *dout_bt = dout + b * T * C + t * C;
            int ix = inp[b * T + t];
            int ip = t > 0 ? inp[b * T + t - 1] : 0;
            for (int i = 0; i < C; i++) {
                float d = dout_bt[i];
                dwte[ix * C + i] += d;
                dwpe[ip * C + i] += d;
            }
        }
    }
}

void matmul_forward(float *out, const float *inp, const float *weight,
                    const float *bias, int B, int T, int C, int OC)
{
    // inp is (B,T,C), weight is (OC,C), out is (B,T,OC)
    for (int bt = 0; bt < B * T; bt++) {
        for (int o = 0; o < OC; o++) {
            float val = (bias != NULL) ? bias[o] : 0.0f;
            for (int i = 0; i < C; i++) {
                val += inp[bt * C + i] * weight[o * C + i];
            }
            out[bt * OC + o] = val;
        }
    }
}

void matmul_backward(float *dinp, float *dweight, float *dbias,
                     const float *dout, const float *inp, const float *weight,
                     int B, int T, int C, int OC)
{
    for (int bt = 0; bt < B * T; bt++) {
        const float *dout_bt = dout + bt * OC;
        float *dinp_bt = dinp + bt * C;
        for (int o = 0; o < OC; o++) {
            const float *wrow = weight + o * C;
            float d = dout_bt[o];
            for (int i = 0; i < C; i++) {
                dinp_bt[i] += wrow[i] * d;
            }
        }
    }
    for (int o = 0; o < OC; o++) {
        float *dwrow = dweight + o * C;
        for (int bt = 0; bt < B * T; bt++) {
            float d = dout[bt * OC + o];
            if (dbias != NULL) {
                dbias[o] += d;
            }
            for (int i = 0; i < C; i++) {
                dwrow[i] += inp[bt * C + i] * d;
            }
        }
    }
}

#define GELU_SCALING_FACTOR 0.7978845608f
void gelu_forward(float *out, const float *inp, int N)
{
    for (int i = 0; i < N; i++) {
        float x = inp[i];
        float cube = 0.044715f * x * x * x;
        out[i] = 0.5f * x * (1.0f + tanhf(GELU_SCALING_FACTOR * (x + cube)));
    }
}

void gelu_backward(float *dinp, const float *inp, const float *dout, int N)
{
    for (int i = 0; i < N; i++) {
        float x = inp[i];
        float cube = 0.044715f * x * x * x;
        float th = tanhf(GELU_SCALING_FACTOR * (x + cube));
        float local = 0.5f * (1.0f + th) +
                      x * 0.5f * (1.0f - th * th) * GELU_SCALING_FACTOR *
                          (1.0f + 3.0f * 0.044715f * x * x);
        dinp[i] += local * dout[i];
    }
}

void residual_forward(float *out, const float *a, const float *b, int N)
{
    for (int i = 0; i < N; i++) {
        out[i] = a[i] + b[i];
    }
}

void residual_backward(float *da, float *db, const float *dout, int N)
{
    for (int i = 0; i < N; i++) {
        da[i] += dout[i];
        db[i] += dout[i];
    }
}

void softmax_xent_forward(float *losses, float *probs, const float *logits,
                          const int *targets, int BT, int V)
{
    for (int bt = 0; bt < BT; bt++) {
        const float *l = logits + bt * V;
        float *p = probs + bt * V;
        float maxval = -10000.0f;
        for (int i = 0; i < V; i++) {
            if (l[i] > maxval) {
                maxval = l[i];
            }
        }
        float sum = 0.0f;
        for (int i = 0; i < V; i++) {
            p[i] = expf(l[i] - maxval);
            sum += p[i];
        }
        for (int i = 0; i < V; i++) {
            p[i] /= sum;
        }
        losses[bt] = -logf(p[targets[bt]]);
    }
}

void softmax_xent_backward(float *dlogits, const float *dlosses,
                           const float *probs, const int *targets, int BT,
                           int V)
{
    for (int bt = 0; bt < BT; bt++) {
        float dloss = dlosses[bt];
        for (int i = 0; i < V; i++) {
            float indicator = i == targets[bt] ? 1.0f : 0.0f;
            dlogits[bt * V + i] += (probs[bt * V + i] - indicator) * dloss;
        }
    }
}

// ----------------------------------------------------------------------------
// model

static float *point_parameters(ParameterTensors *params, size_t *sizes)
{
    size_t n = 0;
    for (int i = 0; i < NUM_PARAMETER_TENSORS; i++) {
        n += sizes[i];
    }
    float *memory = (float *)check_malloc(n * sizeof(float));
    float **ptrs[] = {&params->wte, &params->wpe, &params->fcw, &params->fcb,
                      &params->pjw, &params->pjb, &params->lmw, &params->lmb};
    float *it = memory;
    for (int i = 0; i < NUM_PARAMETER_TENSORS; i++) {
        *(ptrs[i]) = it;
        it += sizes[i];
    }
    return memory;
}

static float *point_activations(ActivationTensors *acts, size_t *sizes)
{
    size_t n = 0;
    for (int i = 0; i < NUM_ACTIVATION_TENSORS; i++) {
        n += sizes[i];
    }
    float *memory = (float *)check_malloc(n * sizeof(float));
    float **ptrs[] = {&acts->encoded, &acts->fch, &acts->gelu, &acts->proj,
                      &acts->residual, &acts->logits, &acts->losses};
    float *it = memory;
    for (int i = 0; i < NUM_ACTIVATION_TENSORS; i++) {
        *(ptrs[i]) = it;
        it += sizes[i];
    }
    return memory;
}

static void model_build(Model *model, int V, int C, int B, int T)
{
    memset(model, 0, sizeof(*model));
    model->V = V;
    model->C = C;
    model->batch_size = B;
    model->seq_len = T;

    size_t *ps = model->param_sizes;
    ps[0] = (size_t)V * C;
    ps[1] = (size_t)V * C;
    ps[2] = (size_t)4 * C * C;
    ps[3] = (size_t)4 * C;
    ps[4] = (size_t)4 * C * C;
    ps[5] = (size_t)C;
    ps[6] = (size_t)V * C;
    ps[7] = (size_t)V;
    for (int i = 0; i < NUM_PARAMETER_TENSORS; i++) {
        model->num_parameters += ps[i];
    }
    model->params_memory = point_parameters(&model->params, ps);

    uint64_t rng = 1337;
    size_t k = 0;
    for (int i = 0; i < NUM_PARAMETER_TENSORS; i++) {
        for (size_t j = 0; j < ps[i]; j++, k++) {
            int is_bias = i == 3 || i == 5 || i == 7;
            float scale = i < 2 ? 0.6f : 0.12f;
            model->params_memory[k] =
                is_bias ? 0.0f : (2.0f * random_f32(&rng) - 1.0f) * scale;
        }
    }

    size_t BT = (size_t)B * T;
    size_t *as = model->act_sizes;
    as[0] = BT * C;
    as[1] = BT * 4 * C;
    as[2] = BT * 4 * C;
    as[3] = BT * C;
    as[4] = BT * C;
    as[5] = BT * V;
    as[6] = BT;
    for (int i = 0; i < NUM_ACTIVATION_TENSORS; i++) {
        model->num_activations += as[i];
    }
    model->acts_memory = point_activations(&model->acts, as);
    model->probs = (float *)check_malloc(BT * V * sizeof(float));
    model->inputs = (int *)check_malloc(BT * sizeof(int));
    model->targets = (int *)check_malloc(BT * sizeof(int));
}

static void model_forward(Model *model, const int *inputs, const int *targets)
{
    int V = model->V, C = model->C, B = model->batch_size, T = model->seq_len;
    ParameterTensors params = model->params;
    ActivationTensors acts = model->acts;

    memcpy(model->inputs, inputs, B * T * sizeof(int));
    memcpy(model->targets, targets, B * T * sizeof(int));
    encoder_forward(acts.encoded, inputs, params.wte, params.wpe, B, T, C);
    matmul_forward(acts.fch, acts.encoded, params.fcw, params.fcb, B, T, C, 4 * C);
    gelu_forward(acts.gelu, acts.fch, B * T * 4 * C);
    matmul_forward(acts.proj, acts.gelu, params.pjw, params.pjb, B, T, 4 * C, C);
    residual_forward(acts.residual, acts.encoded, acts.proj, B * T * C);
    matmul_forward(acts.logits, acts.residual, params.lmw, params.lmb, B, T, C, V);
    softmax_xent_forward(acts.losses, model->probs, acts.logits, targets, B * T, V);

    float mean_loss = 0.0f;
    for (int i = 0; i < B * T; i++) {
        mean_loss += acts.losses[i];
    }
    model->mean_loss = mean_loss / (B * T);
}

static void model_zero_grad(Model *model)
{
    if (model->grads_memory != NULL) {
        memset(model->grads_memory, 0, model->num_parameters * sizeof(float));
    }
    if (model->grads_acts_memory != NULL) {
        memset(model->grads_acts_memory, 0, model->num_activations * sizeof(float));
    }
}

static void model_backward(Model *model)
{
    // gradients are allocated when first needed
    if (model->grads_memory == NULL) {
        model->grads_memory = point_parameters(&model->grads, model->param_sizes);
        model->grads_acts_memory = point_activations(&model->grads_acts, model->act_sizes);
        model_zero_grad(model);
    }
    int V = model->V, C = model->C, B = model->batch_size, T = model->seq_len;
    ParameterTensors params = model->params;
    ParameterTensors grads = model->grads;
    ActivationTensors acts = model->acts;
    ActivationTensors dacts = model->grads_acts;

    float dloss_mean = 1.0f / (B * T);
    for (int i = 0; i < B * T; i++) {
        dacts.losses[i] = dloss_mean;
    }
    softmax_xent_backward(dacts.logits, dacts.losses, model->probs, model->targets, B * T, V);
    matmul_backward(dacts.residual, grads.lmw, grads.lmb, dacts.logits, acts.residual, params.lmw, B, T, C, V);
    residual_backward(dacts.encoded, dacts.proj, dacts.residual, B * T * C);
    matmul_backward(dacts.gelu, grads.pjw, grads.pjb, dacts.proj, acts.gelu, params.pjw, B, T, 4 * C, C);
    gelu_backward(dacts.fch, acts.fch, dacts.gelu, B * T * 4 * C);
    matmul_backward(dacts.encoded, grads.fcw, grads.fcb, dacts.fch, acts.encoded, params.fcw, B, T, C, 4 * C);
    encoder_backward(grads.wte, grads.wpe, dacts.encoded, model->inputs, B, T, C);
}

static void model_update(Model *model, float learning_rate, float beta1,
                         float beta2, float eps, float weight_decay, int t)
{
    if (model->m_memory == NULL) {
        model->m_memory = (float *)calloc(model->num_parameters, sizeof(float));
        model->v_memory = (float *)calloc(model->num_parameters, sizeof(float));
    }
    for (size_t i = 0; i < model->num_parameters; i++) {
        float param = model->params_memory[i];
        float grad = model->grads_memory[i];

        float m = beta1 * model->m_memory[i] + (1.0f - beta1) * grad;
        float v = beta2 * model->v_memory[i] + (1.0f - beta2) * grad * grad;
        float m_hat = m / (1.0f - powf(beta1, t));
        float v_hat = v / (1.0f - powf(beta2, t));

        model->m_memory[i] = m;
        model->v_memory[i] = v;
        model->params_memory[i] -= learning_rate * (m_hat / (sqrtf(v_hat) + eps) + weight_decay * param);
    }
}

static void model_free(Model *model)
{
    free(model->params_memory);
    free(model->grads_memory);
    free(model->m_memory);
    free(model->v_memory);
    free(model->acts_memory);
    free(model->grads_acts_memory);
    free(model->probs);
    free(model->inputs);
    free(model->targets);
}

// ----------------------------------------------------------------------------
// data: the next token depends on the last two, with some noise

static int next_token(int a, int b, int V, uint64_t *rng)
{
    if (random_f32(rng) < 0.1f) {
        return (int)(random_u32(rng) % V);
    }
    return (5 * b + a / 8 + 3) % V;
}

static void fill_batch(int *inputs, int *targets, int B, int T, int V,
                       uint64_t *rng)
{
    for (int b = 0; b < B; b++) {
        int prev = 0;
        int cur = (int)(random_u32(rng) % V);
        for (int t = 0; t < T; t++) {
            inputs[b * T + t] = cur;
            int nxt = next_token(prev, cur, V, rng);
            targets[b * T + t] = nxt;
            prev = cur;
            cur = nxt;
        }
    }
}

int main(int argc, char **argv)
{
    enum { V = 64, C = 64, B = 4, T = 16, STEPS = 90 };
    Model model;
    int inputs[B * T], targets[B * T];
    uint64_t rng = 42;

    model_build(&model, V, C, B, T);
    printf("parameters: %zu\n", model.num_parameters);
    for (int step = 0; step < STEPS; step++) {
        fill_batch(inputs, targets, B, T, V, &rng);
        model_forward(&model, inputs, targets);
        model_zero_grad(&model);
        model_backward(&model);
        model_update(&model, 5e-3f, 0.9f, 0.99f, 1e-8f, 0.01f, step + 1);
        if (step % 10 == 0) {
            printf("step %d: train loss %.9g\n", step, model.mean_loss);
        }
    }

    int right = 0, n = 0;
    float loss = 0.0f;
    for (int k = 0; k < 6; k++) {
        fill_batch(inputs, targets, B, T, V, &rng);
        model_forward(&model, inputs, targets);
        loss += model.mean_loss;
        for (int i = 0; i < B * T; i++, n++) {
            int best = 0;
            for (int j = 1; j < V; j++) {
                if (model.probs[i * V + j] > model.probs[i * V + best]) {
                    best = j;
                }
            }
            right += best == targets[i];
        }
    }
    printf("final loss %.9g accuracy %.9g\n", loss / 6.0f, (float)right / n);

    if (argc > 1) {
        FILE *f = fopen(argv[1], "wb");
        if (f == NULL) {
            fprintf(stderr, "could not open %s\n", argv[1]);
            return EXIT_FAILURE;
        }
        int header[4] = {20240407, V, C, (int)model.num_parameters};
        fwrite(header, sizeof(int), 4, f);
        fwrite(model.params_memory, sizeof(float), model.num_parameters, f);
        fclose(f);
    }
    model_free(&model);
    return 0;
}
