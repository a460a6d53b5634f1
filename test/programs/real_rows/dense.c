#include "real.h"
#include <math.h>

static real act_tanh_f(real x) { return tanhf(x); }
static real act_tanh_df(real y) { return 1 - y * y; }
static real act_leaky_f(real x) { return x > 0 ? x : 0.1f * x; }
static real act_leaky_df(real y) { return y > 0 ? 1 : 0.1f; }
static real act_none_f(real x) { return x; }
static real act_none_df(real y) { (void)y; return 1; }

const activation act_tanh = { "tanh", act_tanh_f, act_tanh_df };
const activation act_leaky = { "leaky", act_leaky_f, act_leaky_df };
const activation act_none = { "none", act_none_f, act_none_df };

/* One transposed layer input for all layers, as large as the largest needs. */
static SIGNAL *space;
static int space_size;

static SIGNAL *workspace(int n)
{
	if (n > space_size) {
		SIGNAL *grown = realloc(space, n * sizeof(SIGNAL));
		if (grown == NULL)
			exit(1);
		space = grown;
		space_size = n;
	}
	return space;
}

void dense_init(dense *d, int in, int out, int batch, const activation *act)
{
	d->in = in;
	d->out = out;
	d->w = malloc(out * sizeof *d->w);
	d->dw = malloc(out * sizeof(real *));
	if (d->w == NULL || d->dw == NULL)
		exit(1);
	d->b = row(out);
	d->db = row(out);
	d->y = row(out * batch);
	d->dy = row(out * batch);
	d->act = act;
	EACH(o, out) {
		d->w[o] = row(in);
		d->dw[o] = row(in);
		EACH(i, in)
			d->w[o][i] = (uniform() - 0.5f) * 3 / sqrtf(in);
	}
}

void dense_forward(dense *d, const SIGNAL *x, int batch)
{
	EACH(s, batch)
		EACH(o, d->out)
			CELL(d->y, d->out, s, o) =
			    d->act->f(d->b[o] + dot(d->w[o], x + s * d->in, d->in));
}

/* dy is the gradient of the output on entry, that of the sum on return. */
void dense_backward(dense *d, const SIGNAL *x, SIGNAL *dx, int batch)
{
	SIGNAL *xt = workspace(d->in * batch);

	EACH(s, batch)
		EACH(i, d->in)
			CELL(xt, batch, i, s) = CELL(x, d->in, s, i);
	EACH(i, d->out * batch)
		d->dy[i] *= d->act->df(d->y[i]);
	EACH(o, d->out) {
		real sum = 0;
		EACH(s, batch)
			sum += CELL(d->dy, d->out, s, o);
		d->db[o] = sum;
		EACH(i, d->in) {
			sum = 0;
			EACH(s, batch)
				sum += CELL(d->dy, d->out, s, o) *
				       CELL(xt, batch, i, s);
			d->dw[o][i] = sum;
		}
	}
	if (dx == NULL)
		return;
	EACH(s, batch)
		EACH(i, d->in) {
			real sum = 0;
			EACH(o, d->out)
				sum += CELL(d->dy, d->out, s, o) * d->w[o][i];
			CELL(dx, d->in, s, i) = sum;
		}
}

void dense_step(dense *d, real rate)
{
	EACH(o, d->out)
		add_scaled(d->w[o], d->dw[o], -rate, d->in);
	add_scaled(d->b, d->db, -rate, d->out);
}

/* A header, then row after row. */
void dense_save(const dense *d, FILE *f)
{
	int shape[2] = { d->in, d->out };

	fwrite(shape, sizeof shape, 1, f);
	EACH(o, d->out)
		fwrite(d->w[o], sizeof(real), d->in, f);
	fwrite(d->b, sizeof *d->b, d->out, f);
}
