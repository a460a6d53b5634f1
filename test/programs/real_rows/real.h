/* A multi-layer perceptron in the style of the nineties: a typedef for the
 * element type, rows of pointers, activations as function pointers, indices in
 * macros, pointers that walk, and a workspace that grows.
 */
#ifndef REAL_H
#define REAL_H

#include <stdio.h>
#include <stdlib.h>

typedef float real;
#define SIGNAL real	/* what passes through the net */

typedef struct activation {
	const char *name;
	real (*f)(real);
	real (*df)(real);	/* of the output */
} activation;

typedef struct dense {
	int in, out;
	real **w, **dw;		/* rows: one per output */
	real *b, *db;
	SIGNAL *y, *dy;		/* batch by out */
	const activation *act;
} dense;

#define CELL(a, ld, r, c) ((a)[(r) * (ld) + (c)])
#define EACH(i, n) for (int i = 0; i < (n); i++)

extern const activation act_tanh, act_leaky, act_none;

/* vec.c */
real uniform(void);
real *row(int n);
real dot(const real *a, const real *b, int n);
void add_scaled(real *to, const real *from, real by, int n);
void fill(real *a, real value, int n);

/* dense.c */
void dense_init(dense *d, int in, int out, int batch, const activation *act);
void dense_forward(dense *d, const SIGNAL *x, int batch);
void dense_backward(dense *d, const SIGNAL *x, SIGNAL *dx, int batch);
void dense_step(dense *d, real rate);
void dense_save(const dense *d, FILE *f);

#endif
