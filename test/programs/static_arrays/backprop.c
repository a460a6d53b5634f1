/*
 *	backprop - everything in fixed global arrays
 */
#include <stdio.h>
#include <math.h>
#include <cblas.h>

#define NI	64		/* inputs */
#define NH	128		/* hidden units */
#define NO	64		/* outputs, NC in use */
#define NC	8
#define NB	64		/* batch */
#define MAXIT	140

float W1[NH][NI], B1[NH];
float W2[NO][NH], B2[NO];
float dW1[NH][NI], dB1[NH];
float dW2[NO][NH], dB2[NO];
float X[NB][NI];
float H[NB][NH], EH[NB][NH];
float Y[NB][NO], EY[NB][NO];
int label[NB];
float proto[NC][2][NI];

static unsigned long next = 1;

float rnd(void)
{
	next = (next * 1103515245 + 12345) & 0x7fffffff;
	return (float)(next >> 7) / 16777216.0f;
}

void setup(void)
{
	int i, j;
	for (i = 0; i < NC; i++)
		for (j = 0; j < NI; j++) {
			proto[i][0][j] = rnd() * 2 - 1;
			proto[i][1][j] = rnd() * 2 - 1;
		}
	for (i = 0; i < NH; i++)
		for (j = 0; j < NI; j++)
			W1[i][j] = (rnd() - 0.5f) * 0.3f;
	for (i = 0; i < NO; i++)
		for (j = 0; j < NH; j++)
			W2[i][j] = (rnd() - 0.5f) * 0.2f;
}

void draw(void)
{
	int b, j, k;
	for (b = 0; b < NB; b++) {
		label[b] = (int)(rnd() * NC);
		k = rnd() < 0.5f;
		for (j = 0; j < NI; j++)
			X[b][j] = proto[label[b]][k][j] + 2.4f * (rnd() - 0.5f);
	}
}

float forward(void)
{
	int b, i;
	float big, sum, e = 0;

	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, NB, NH, NI,
		1, X[0], NI, W1[0], NI, 0, H[0], NH);
	for (b = 0; b < NB; b++)
		for (i = 0; i < NH; i++)
			H[b][i] = 1 / (1 + expf(-(H[b][i] + B1[i])));
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, NB, NO, NH,
		1, &H[0][0], NH, &W2[0][0], NH, 0, &Y[0][0], NO);
	for (b = 0; b < NB; b++) {
		big = -1e30f;
		sum = 0;
		for (i = 0; i < NO; i++) {
			Y[b][i] += B2[i];
			if (Y[b][i] > big)
				big = Y[b][i];
		}
		for (i = 0; i < NO; i++)
			sum += (Y[b][i] = expf(Y[b][i] - big));
		for (i = 0; i < NO; i++)
			Y[b][i] /= sum;
		e -= logf(Y[b][label[b]]);
	}
	return e / NB;
}

void backward(void)
{
	int b, i;
	for (b = 0; b < NB; b++)
		for (i = 0; i < NO; i++) {
			EY[b][i] = Y[b][i];
			if (i == label[b])
				EY[b][i] -= 1;
		}
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, NB, NH, NO,
		1, *EY, NO, *W2, NH, 0, *EH, NH);
	for (b = 0; b < NB; b++)
		for (i = 0; i < NH; i++)
			EH[b][i] *= H[b][i] * (1 - H[b][i]);
	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, NO, NH, NB,
		1.0f / NB, *EY, NO, *H, NH, 0, *dW2, NH);
	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, NH, NI, NB,
		1.0f / NB, *EH, NH, *X, NI, 0, *dW1, NI);
	for (i = 0; i < NO; i++) {
		dB2[i] = 0;
		for (b = 0; b < NB; b++)
			dB2[i] += EY[b][i] / NB;
	}
	for (i = 0; i < NH; i++) {
		dB1[i] = 0;
		for (b = 0; b < NB; b++)
			dB1[i] += EH[b][i] / NB;
	}
}

void step(float eta)
{
	int i, j;
	for (i = 0; i < NH; i++) {
		B1[i] -= eta * dB1[i];
		for (j = 0; j < NI; j++)
			W1[i][j] -= eta * dW1[i][j];
	}
	for (i = 0; i < NO; i++) {
		B2[i] -= eta * dB2[i];
		for (j = 0; j < NH; j++)
			W2[i][j] -= eta * dW2[i][j];
	}
}

void check(void)
{
	int b, i, j, k, best, ok = 0;
	float h[NH], y[NO], s, e = 0;
	for (k = 0; k < 10; k++) {
		draw();
		for (b = 0; b < NB; b++) {
			for (i = 0; i < NH; i++) {
				s = B1[i];
				for (j = 0; j < NI; j++)
					s += W1[i][j] * X[b][j];
				h[i] = 1 / (1 + expf(-s));
			}
			best = 0;
			for (i = 0; i < NO; i++) {
				s = B2[i];
				for (j = 0; j < NH; j++)
					s += W2[i][j] * h[j];
				y[i] = s;
				if (y[i] > y[best])
					best = i;
			}
			s = 0;
			for (i = 0; i < NO; i++)
				s += expf(y[i] - y[best]);
			e += logf(s) + y[best] - y[label[b]];
			ok += best == label[b];
		}
	}
	printf("final loss %.9g accuracy %.9g\n", e / (10 * NB), ok / (10.0f * NB));
}

int main(int argc, char **argv)
{
	int it;
	float e;
	FILE *f;

	setup();
	for (it = 1; it <= MAXIT; it++) {
		draw();
		e = forward();
		backward();
		step(0.5f);
		if (it % 14 == 0)
			printf("%d loss %.9g\n", it, e);
	}
	check();
	if (argc > 1) {
		if ((f = fopen(argv[1], "wb")) == NULL)
			return 1;
		fwrite(W1, sizeof W1, 1, f);
		fwrite(B1, sizeof B1, 1, f);
		fwrite(W2, sizeof W2, 1, f);
		fwrite(B2, sizeof B2, 1, f);
		fclose(f);
	}
	return 0;
}
