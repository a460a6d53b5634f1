/* Everything is a Matrix from createMatrix; elements go through getMatrix and
 * setMatrix.  Two losses to choose from.  The averaged gradient gets an L2
 * term, then momentum. */
#include <assert.h>
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Matrix_ {
    size_t rows;
    size_t cols;
    float *data;
} Matrix;

typedef enum LOSS_FUNCTION_ { CROSS_ENTROPY_LOSS, MEAN_SQUARED_ERROR } LOSS_FUNCTION;

typedef struct Network_ {
    size_t numConnections;
    Matrix **weights;    /* from x to */
    Matrix **bias;
    Matrix **outputs;    /* numConnections + 1, the first is the input */
} Network;

static Matrix *createMatrix(size_t rows, size_t cols, float *data)
{
    assert(rows > 0 && cols > 0);
    Matrix *matrix = (Matrix *)malloc(sizeof(Matrix));
    matrix->rows = rows;
    matrix->cols = cols;
    matrix->data = data;
    return matrix;
}

static Matrix *createMatrixZeroes(size_t rows, size_t cols)
{
    float *data = (float *)calloc(rows * cols, sizeof(float));
    return createMatrix(rows, cols, data);
}

static float getMatrix(const Matrix *mat, size_t row, size_t col)
{
    assert(row < mat->rows && col < mat->cols);
    return mat->data[row * mat->cols + col];
}

static void setMatrix(Matrix *mat, size_t row, size_t col, float val)
{
    assert(row < mat->rows && col < mat->cols);
    mat->data[row * mat->cols + col] = val;
}

static void destroyMatrix(Matrix *matrix)
{
    free(matrix->data);
    free(matrix);
}

static void copyValuesInto(const Matrix *from, Matrix *to)
{
    assert(from->rows == to->rows && from->cols == to->cols);
    memcpy(to->data, from->data, sizeof(float) * to->rows * to->cols);
}

static void zeroMatrix(Matrix *m)
{
    for (size_t i = 0; i < m->rows * m->cols; i++)
        m->data[i] = 0;
}

/* transA, transB: 0 or 1; the result replaces or is added to C */
static void multiplyInto(const Matrix *A, int transA, const Matrix *B,
                         int transB, float beta, Matrix *C)
{
    size_t inner = transA ? A->rows : A->cols;
    assert(inner == (transB ? B->cols : B->rows));
    cblas_sgemm(CblasRowMajor, transA ? CblasTrans : CblasNoTrans,
                transB ? CblasTrans : CblasNoTrans, (int)C->rows,
                (int)C->cols, (int)inner, 1, A->data, (int)A->cols, B->data,
                (int)B->cols, beta, C->data, (int)C->cols);
}

static void addTo(const Matrix *from, Matrix *to)
{
    for (size_t i = 0; i < to->rows; i++)
        for (size_t j = 0; j < to->cols; j++)
            setMatrix(to, i, j, getMatrix(from, i, j) + getMatrix(to, i, j));
}

static void scalarMultiply(Matrix *m, float c)
{
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++)
            setMatrix(m, i, j, getMatrix(m, i, j) * c);
}

static unsigned long randState = 20250101UL;
static float uniformRandom(float lo, float hi)
{
    randState = (randState * 69069UL + 1UL) & 0xffffffffUL;
    return lo + (hi - lo) * (float)(randState >> 8) / 16777216.0f;
}

static Network *createNetwork(size_t batch, const size_t *sizes, size_t layers)
{
    Network *network = (Network *)malloc(sizeof(Network));
    network->numConnections = layers - 1;
    network->weights = (Matrix **)malloc(sizeof(Matrix *) * (layers - 1));
    network->bias = (Matrix **)malloc(sizeof(Matrix *) * (layers - 1));
    network->outputs = (Matrix **)malloc(sizeof(Matrix *) * layers);
    for (size_t i = 0; i < layers; i++)
        network->outputs[i] = createMatrixZeroes(batch, sizes[i]);
    for (size_t i = 0; i + 1 < layers; i++) {
        float range = sqrtf(6.0f / (sizes[i] + sizes[i + 1]));
        network->weights[i] = createMatrixZeroes(sizes[i], sizes[i + 1]);
        network->bias[i] = createMatrixZeroes(1, sizes[i + 1]);
        for (size_t j = 0; j < sizes[i] * sizes[i + 1]; j++)
            network->weights[i]->data[j] = uniformRandom(-range, range);
    }
    return network;
}

static void destroyNetwork(Network *network)
{
    for (size_t i = 0; i < network->numConnections; i++) {
        destroyMatrix(network->weights[i]);
        destroyMatrix(network->bias[i]);
    }
    for (size_t i = 0; i <= network->numConnections; i++)
        destroyMatrix(network->outputs[i]);
    free(network->weights);
    free(network->bias);
    free(network->outputs);
    free(network);
}

static void softmaxRows(Matrix *m)
{
    for (size_t i = 0; i < m->rows; i++) {
        float max = getMatrix(m, i, 0), sum = 0;
        for (size_t j = 1; j < m->cols; j++)
            if (getMatrix(m, i, j) > max)
                max = getMatrix(m, i, j);
        for (size_t j = 0; j < m->cols; j++) {
            setMatrix(m, i, j, expf(getMatrix(m, i, j) - max));
            sum += getMatrix(m, i, j);
        }
        for (size_t j = 0; j < m->cols; j++)
            setMatrix(m, i, j, getMatrix(m, i, j) / sum);
    }
}

static void forwardPass(Network *network, const Matrix *input)
{
    copyValuesInto(input, network->outputs[0]);
    for (size_t k = 0; k < network->numConnections; k++) {
        Matrix *out = network->outputs[k + 1];
        multiplyInto(network->outputs[k], 0, network->weights[k], 0, 0, out);
        for (size_t i = 0; i < out->rows; i++)
            for (size_t j = 0; j < out->cols; j++) {
                float v = getMatrix(out, i, j) + getMatrix(network->bias[k], 0, j);
                if (k + 1 < network->numConnections)
                    v = tanhf(v);
                setMatrix(out, i, j, v);
            }
    }
    softmaxRows(network->outputs[network->numConnections]);
}

static float lossOf(const Matrix *prediction, const Matrix *target,
                    LOSS_FUNCTION function)
{
    float total = 0;
    for (size_t i = 0; i < target->rows; i++)
        for (size_t j = 0; j < target->cols; j++) {
            float p = getMatrix(prediction, i, j), t = getMatrix(target, i, j);
            if (function == CROSS_ENTROPY_LOSS)
                total -= t > 0 ? t * logf(p + 1e-8f) : 0;
            else
                total += 0.5f * (p - t) * (p - t);
        }
    return total / target->rows;
}

static void gradientDescent(Network *network, Matrix **inputs, Matrix **targets,
                            size_t numBatches, LOSS_FUNCTION function, float rate,
                            float regularization, float momentum, int iterations)
{
    size_t n = network->numConnections;
    Matrix **errors = (Matrix **)malloc(sizeof(Matrix *) * n);
    Matrix **dW = (Matrix **)malloc(sizeof(Matrix *) * n);
    Matrix **dB = (Matrix **)malloc(sizeof(Matrix *) * n);
    Matrix **lastW = (Matrix **)malloc(sizeof(Matrix *) * n);
    Matrix **lastB = (Matrix **)malloc(sizeof(Matrix *) * n);
    for (size_t k = 0; k < n; k++) {
        const Matrix *w = network->weights[k];
        errors[k] = createMatrixZeroes(network->outputs[k + 1]->rows, w->cols);
        dW[k] = createMatrixZeroes(w->rows, w->cols);
        dB[k] = createMatrixZeroes(1, w->cols);
        lastW[k] = createMatrixZeroes(w->rows, w->cols);
        lastB[k] = createMatrixZeroes(1, w->cols);
    }

    for (int it = 0; it < iterations; it++) {
        Matrix *x = inputs[it % numBatches], *y = targets[it % numBatches];
        Matrix *prediction = network->outputs[n];
        forwardPass(network, x);
        float loss = lossOf(prediction, y, function);

        for (size_t k = 0; k < n; k++) {
            zeroMatrix(dW[k]);
            zeroMatrix(dB[k]);
        }
        for (size_t i = 0; i < y->rows; i++) {
            if (function == CROSS_ENTROPY_LOSS) {
                for (size_t j = 0; j < y->cols; j++)
                    setMatrix(errors[n - 1], i, j, getMatrix(prediction, i, j) - getMatrix(y, i, j));
            } else {
                float dot = 0;
                for (size_t j = 0; j < y->cols; j++)
                    dot += (getMatrix(prediction, i, j) - getMatrix(y, i, j)) * getMatrix(prediction, i, j);
                for (size_t j = 0; j < y->cols; j++)
                    setMatrix(errors[n - 1], i, j, getMatrix(prediction, i, j) * (getMatrix(prediction, i, j) - getMatrix(y, i, j) - dot));
            }
        }
        for (size_t k = n; k-- > 0;) {
            multiplyInto(network->outputs[k], 1, errors[k], 0, 1, dW[k]);
            for (size_t i = 0; i < errors[k]->rows; i++)
                for (size_t j = 0; j < errors[k]->cols; j++)
                    setMatrix(dB[k], 0, j, getMatrix(dB[k], 0, j) + getMatrix(errors[k], i, j));
            if (k > 0) {
                Matrix *e = errors[k - 1], *o = network->outputs[k];
                multiplyInto(errors[k], 0, network->weights[k], 1, 0, e);
                for (size_t i = 0; i < e->rows; i++)
                    for (size_t j = 0; j < e->cols; j++)
                        setMatrix(e, i, j, getMatrix(e, i, j) * (1 - getMatrix(o, i, j) * getMatrix(o, i, j)));
            }
        }

        for (size_t k = 0; k < n; k++) {
            scalarMultiply(dW[k], 1.0f / y->rows);
            scalarMultiply(dB[k], 1.0f / y->rows);
            for (size_t i = 0; i < dW[k]->rows; i++)
                for (size_t j = 0; j < dW[k]->cols; j++)
                    setMatrix(dW[k], i, j, getMatrix(dW[k], i, j) + regularization * getMatrix(network->weights[k], i, j));
            scalarMultiply(dW[k], -rate);
            scalarMultiply(dB[k], -rate);
            scalarMultiply(lastW[k], momentum);
            scalarMultiply(lastB[k], momentum);
            addTo(dW[k], lastW[k]);
            addTo(dB[k], lastB[k]);
            addTo(lastW[k], network->weights[k]);
            addTo(lastB[k], network->bias[k]);
        }
        if (it % 20 == 0)
            printf("iteration %d: loss %.9g\n", it, loss);
    }
    for (size_t k = 0; k < n; k++) {
        destroyMatrix(errors[k]);
        destroyMatrix(dW[k]);
        destroyMatrix(dB[k]);
        destroyMatrix(lastW[k]);
        destroyMatrix(lastB[k]);
    }
    free(errors);
    free(dW);
    free(dB);
    free(lastW);
    free(lastB);
}

enum { FEATURES = 64, CLASSES = 64, USED = 10, BATCH = 64, BATCHES = 16 };

static float centers[2 * USED][FEATURES];

static void fillBatch(Matrix *x, Matrix *y)
{
    zeroMatrix(y);
    for (size_t i = 0; i < x->rows; i++) {
        size_t c = (size_t)uniformRandom(0, 2 * USED);
        setMatrix(y, i, c / 2, 1);
        for (size_t j = 0; j < x->cols; j++)
            setMatrix(x, i, j, centers[c][j] + uniformRandom(-1.5f, 1.5f));
    }
}

static void testNetwork(const Network *network)
{
    Matrix *x = createMatrixZeroes(640, FEATURES), *y = createMatrixZeroes(640, CLASSES);
    float a[128], z[128], loss = 0;
    int right = 0;
    fillBatch(x, y);
    for (size_t i = 0; i < x->rows; i++) {
        size_t best = 0;
        float sum = 0;
        for (size_t j = 0; j < x->cols; j++)
            a[j] = getMatrix(x, i, j);
        for (size_t k = 0; k < network->numConnections; k++) {
            const Matrix *w = network->weights[k];
            for (size_t o = 0; o < w->cols; o++) {
                z[o] = getMatrix(network->bias[k], 0, o);
                for (size_t j = 0; j < w->rows; j++)
                    z[o] += a[j] * getMatrix(w, j, o);
            }
            for (size_t o = 0; o < w->cols; o++)
                a[o] = k + 1 < network->numConnections ? tanhf(z[o]) : z[o];
        }
        for (size_t j = 1; j < CLASSES; j++)
            if (a[j] > a[best])
                best = j;
        for (size_t j = 0; j < CLASSES; j++) {
            sum += expf(a[j] - a[best]);
            if (getMatrix(y, i, j) > 0)
                loss += a[best] - a[j];
        }
        loss += logf(sum);
        right += getMatrix(y, i, best) > 0;
    }
    printf("final loss %.9g accuracy %.9g\n", loss / x->rows, (float)right / x->rows);
    destroyMatrix(x);
    destroyMatrix(y);
}

int main(int argc, char **argv)
{
    size_t sizes[] = {FEATURES, 96, CLASSES};
    Matrix *inputs[BATCHES], *targets[BATCHES];
    LOSS_FUNCTION function = getenv("NET_MSE") ? MEAN_SQUARED_ERROR : CROSS_ENTROPY_LOSS;

    for (int i = 0; i < 2 * USED * FEATURES; i++)
        centers[i / FEATURES][i % FEATURES] = uniformRandom(-1, 1);
    for (int i = 0; i < BATCHES; i++) {
        inputs[i] = createMatrixZeroes(BATCH, FEATURES);
        targets[i] = createMatrixZeroes(BATCH, CLASSES);
        fillBatch(inputs[i], targets[i]);
    }
    Network *network = createNetwork(BATCH, sizes, 3);
    gradientDescent(network, inputs, targets, BATCHES, function, 0.1f, 0.001f, 0.9f, 160);
    testNetwork(network);
    if (argc > 1) {
        FILE *fp = fopen(argv[1], "wb");
        if (!fp)
            return 1;
        for (size_t k = 0; k < network->numConnections; k++) {
            Matrix *w = network->weights[k];
            fwrite(w->data, sizeof(float), w->rows * w->cols, fp);
            fwrite(network->bias[k]->data, sizeof(float), w->cols, fp);
        }
        fclose(fp);
    }
    destroyNetwork(network);
    for (int i = 0; i < BATCHES; i++) {
        destroyMatrix(inputs[i]);
        destroyMatrix(targets[i]);
    }
    return 0;
}
