/* One sample at a time; the weights are updated inside the backward pass,
 * so there is no gradient buffer at all. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define INPUT_SIZE 196
#define HIDDEN_SIZE 256
#define OUTPUT_SIZE 10
#define TRAIN 600
#define TEST 400
#define EPOCHS 3
#define LEARNING_RATE 0.002f
#define MOMENTUM 0.9f

typedef struct {
    float *weights;   /* output x input */
    float *biases;
    float *weight_momentum;
    float *bias_momentum;
    int input_size, output_size;
} Layer;

typedef struct {
    Layer hidden, output;
} Network;

static unsigned rng = 2024u;
static float randf(void)
{
    rng = rng * 1664525u + 1013904223u;
    return (rng >> 8) / 16777216.0f;
}

static void init_layer(Layer *l, int in, int out)
{
    int n = in * out;
    float scale = sqrtf(2.0f / in);
    l->input_size = in;
    l->output_size = out;
    l->weights = malloc(n * sizeof(float));
    l->biases = calloc(out, sizeof(float));
    l->weight_momentum = calloc(n, sizeof(float));
    l->bias_momentum = calloc(out, sizeof(float));
    for (int i = 0; i < n; i++)
        l->weights[i] = (randf() - 0.5f) * 2 * scale;
}

static void free_layer(Layer *l)
{
    free(l->weights);
    free(l->biases);
    free(l->weight_momentum);
    free(l->bias_momentum);
}

static void forward(const Layer *l, const float *input, float *output)
{
    for (int i = 0; i < l->output_size; i++)
        output[i] = l->biases[i];
    cblas_sgemv(CblasRowMajor, CblasNoTrans, l->output_size, l->input_size,
                1.0f, l->weights, l->input_size, input, 1, 1.0f, output, 1);
}

static void backward(Layer *l, const float *input, const float *output_grad,
                     float *input_grad, float lr)
{
    if (input_grad)
        for (int j = 0; j < l->input_size; j++) {
            input_grad[j] = 0.0f;
            for (int i = 0; i < l->output_size; i++)
                input_grad[j] += output_grad[i] * l->weights[i * l->input_size + j];
        }
    for (int i = 0; i < l->output_size; i++) {
        float *w = &l->weights[i * l->input_size];
        float *m = &l->weight_momentum[i * l->input_size];
        for (int j = 0; j < l->input_size; j++) {
            m[j] = MOMENTUM * m[j] + lr * output_grad[i] * input[j];
            w[j] -= m[j];
        }
        l->bias_momentum[i] = MOMENTUM * l->bias_momentum[i] + lr * output_grad[i];
        l->biases[i] -= l->bias_momentum[i];
    }
}

static void softmax(float *x, int n)
{
    float max = x[0], sum = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > max)
            max = x[i];
    for (int i = 0; i < n; i++) {
        x[i] = expf(x[i] - max);
        sum += x[i];
    }
    for (int i = 0; i < n; i++)
        x[i] /= sum;
}

static float train(Network *net, const float *input, int label, float lr)
{
    float hidden_output[HIDDEN_SIZE], final_output[OUTPUT_SIZE];
    float output_grad[OUTPUT_SIZE], hidden_grad[HIDDEN_SIZE];

    forward(&net->hidden, input, hidden_output);
    for (int i = 0; i < HIDDEN_SIZE; i++)
        hidden_output[i] = hidden_output[i] > 0 ? hidden_output[i] : 0;
    forward(&net->output, hidden_output, final_output);
    softmax(final_output, OUTPUT_SIZE);

    for (int i = 0; i < OUTPUT_SIZE; i++)
        output_grad[i] = final_output[i] - (i == label);
    backward(&net->output, hidden_output, output_grad, hidden_grad, lr);
    for (int i = 0; i < HIDDEN_SIZE; i++)
        hidden_grad[i] *= hidden_output[i] > 0 ? 1 : 0;
    backward(&net->hidden, input, hidden_grad, NULL, lr);
    return -logf(final_output[label] + 1e-10f);
}

static void test(const Network *net, const float *images, const int *labels)
{
    float h[HIDDEN_SIZE], o[OUTPUT_SIZE], loss = 0;
    int right = 0;
    for (int s = 0; s < TEST; s++) {
        const float *x = images + s * INPUT_SIZE;
        int best = 0;
        for (int i = 0; i < HIDDEN_SIZE; i++) {
            float a = net->hidden.biases[i];
            for (int j = 0; j < INPUT_SIZE; j++)
                a += net->hidden.weights[i * INPUT_SIZE + j] * x[j];
            h[i] = a > 0 ? a : 0;
        }
        for (int i = 0; i < OUTPUT_SIZE; i++) {
            o[i] = net->output.biases[i];
            for (int j = 0; j < HIDDEN_SIZE; j++)
                o[i] += net->output.weights[i * HIDDEN_SIZE + j] * h[j];
        }
        softmax(o, OUTPUT_SIZE);
        for (int i = 1; i < OUTPUT_SIZE; i++)
            if (o[i] > o[best])
                best = i;
        loss -= logf(o[labels[s]] + 1e-10f);
        right += best == labels[s];
    }
    printf("final loss %.9g accuracy %.9g\n", loss / TEST, (float)right / TEST);
}

static float glyph[OUTPUT_SIZE][INPUT_SIZE];

static void make_images(float *images, int *labels, int n)
{
    for (int s = 0; s < n; s++) {
        labels[s] = (int)(randf() * OUTPUT_SIZE);
        float ink = 0.5f + 0.5f * randf();
        for (int j = 0; j < INPUT_SIZE; j++)
            images[s * INPUT_SIZE + j] =
                ink * glyph[labels[s]][j] + 0.8f * randf();
    }
}

int main(int argc, char **argv)
{
    Network net;
    float *images = malloc(TRAIN * INPUT_SIZE * sizeof(float));
    float *test_images = malloc(TEST * INPUT_SIZE * sizeof(float));
    int *labels = malloc(TRAIN * sizeof(int));
    int *test_labels = malloc(TEST * sizeof(int));

    init_layer(&net.hidden, INPUT_SIZE, HIDDEN_SIZE);
    init_layer(&net.output, HIDDEN_SIZE, OUTPUT_SIZE);
    for (int i = 0; i < OUTPUT_SIZE; i++)
        for (int j = 0; j < INPUT_SIZE; j++)
            glyph[i][j] = randf() < 0.3f ? 0.7f : 0.0f;
    make_images(images, labels, TRAIN);
    make_images(test_images, test_labels, TEST);

    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        float total_loss = 0;
        for (int i = 0; i < TRAIN; i++)
            total_loss += train(&net, images + i * INPUT_SIZE, labels[i],
                                LEARNING_RATE);
        printf("Epoch %d, loss %.9g\n", epoch + 1, total_loss / TRAIN);
    }
    test(&net, test_images, test_labels);
    if (argc > 1) {
        FILE *f = fopen(argv[1], "wb");
        if (!f)
            exit(1);
        fwrite(net.hidden.weights, sizeof(float), INPUT_SIZE * HIDDEN_SIZE, f);
        fwrite(net.hidden.biases, sizeof(float), HIDDEN_SIZE, f);
        fwrite(net.output.weights, sizeof(float), HIDDEN_SIZE * OUTPUT_SIZE, f);
        fwrite(net.output.biases, sizeof(float), OUTPUT_SIZE, f);
        fclose(f);
    }
    free_layer(&net.hidden);
    free_layer(&net.output);
    free(images);
    free(test_images);
    free(labels);
    free(test_labels);
    return 0;
}
