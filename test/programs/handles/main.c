/* One struct for everything: weights, gradients, outputs, errors and data are
 * tensors made by one function and handled by the same few. */
#include <math.h>
#include <stdlib.h>

#include "net.h"

enum { INPUTS = 32, CLASSES = 6, BATCH = 32, BATCHES = 20, STEPS = 400 };

static float centers[CLASSES][INPUTS];

static void make_data(tensor *x, int *label)
{
    for (size_t i = 0; i < x->rows; i++) {
        label[i] = (int)(uniform() * CLASSES) % CLASSES;
        for (size_t j = 0; j < x->cols; j++)
            x->at[i * x->cols + j] =
                centers[label[i]][j] + 1.2f * (uniform() - 0.5f);
    }
}

/* Leaves the error of the output, averaged over the batch. */
static float cross_entropy(const tensor *out, const int *label, tensor *error)
{
    float loss = 0;
    for (size_t i = 0; i < out->rows; i++) {
        size_t row = i * out->cols;
        float top = out->at[row], sum = 0;
        for (size_t j = 1; j < out->cols; j++)
            top = out->at[row + j] > top ? out->at[row + j] : top;
        for (size_t j = 0; j < out->cols; j++)
            sum += expf(out->at[row + j] - top);
        loss += logf(sum) + top - out->at[row + (size_t)label[i]];
        for (size_t j = 0; j < out->cols; j++) {
            float p = expf(out->at[row + j] - top) / sum;
            float target = (int)j == label[i] ? 1 : 0;
            error->at[row + j] = (p - target) / (float)out->rows;
        }
    }
    return loss / (float)out->rows;
}

static int count_right(const tensor *out, const int *label)
{
    int right = 0;
    for (size_t i = 0; i < out->rows; i++) {
        const float *row = out->at + i * out->cols;
        size_t best = 0;
        for (size_t j = 1; j < out->cols; j++)
            best = row[j] > row[best] ? j : best;
        right += (int)best == label[i];
    }
    return right;
}

static int save(const net *n, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return EXIT_FAILURE;
    const stage *all[] = {&n->hidden, &n->last};
    for (int i = 0; i < 2; i++) {
        tensor_write(all[i]->w, file);
        tensor_write(all[i]->b, file);
    }
    return fclose(file) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const size_t sizes[] = {INPUTS, 64, CLASSES};
    static int label[BATCH * BATCHES];
    net n;
    for (int i = 0; i < CLASSES; i++)
        for (int j = 0; j < INPUTS; j++)
            centers[i][j] = uniform() - 0.5f;
    net_make(&n, BATCH, sizes);
    tensor *data = tensor_new(BATCH * BATCHES, INPUTS);
    make_data(data, label);
    for (int step = 0; step < STEPS; step++) {
        size_t first = (size_t)(step % BATCHES) * BATCH;
        tensor x = tensor_rows(data, first, BATCH);
        const tensor *out = net_forward(&n, &x);
        float loss =
            cross_entropy(out, label + first, n.last.error);
        net_backward(&n, &x);
        net_update(&n, 0.2f);
        if (step % 40 == 0)
            printf("step %d loss %.9g\n", step, loss);
    }
    float loss = 0;
    int right = 0;
    for (size_t first = 0; first < data->rows; first += BATCH) {
        tensor x = tensor_rows(data, first, BATCH);
        const tensor *out = net_forward(&n, &x);
        loss += cross_entropy(out, label + first, n.last.error);
        right += count_right(out, label + first);
    }
    printf("final loss %.9g accuracy %.9g\n", loss / BATCHES,
           (float)right / (float)data->rows);
    int status = argc > 1 ? save(&n, argv[1]) : EXIT_SUCCESS;
    net_free(&n);
    tensor_free(data);
    return status;
}
