#include "real.h"
#include <math.h>

enum { IN = 24, HIDDEN = 48, CLASSES = 6, BATCH = 32, STEPS = 240 };

static real proto[CLASSES][IN];
static real x[BATCH * IN], target[BATCH * CLASSES];
static int label[BATCH];

static void draw(void)
{
	fill(target, 0, BATCH * CLASSES);
	EACH(s, BATCH) {
		label[s] = (int)(uniform() * CLASSES);
		CELL(target, CLASSES, s, label[s]) = 1;
		EACH(i, IN)
			x[s * IN + i] = proto[label[s]][i] +
					1.5f * (uniform() - 0.5f);
	}
}

static real error(dense *last, real *right)
{
	real sum = 0;

	EACH(s, BATCH) {
		int best = 0;
		EACH(o, CLASSES) {
			real e = CELL(last->y, CLASSES, s, o) -
				 CELL(target, CLASSES, s, o);
			sum += e * e;
			CELL(last->dy, CLASSES, s, o) = 2 * e / BATCH;
			if (CELL(last->y, CLASSES, s, o) >
			    CELL(last->y, CLASSES, s, best))
				best = o;
		}
		*right += best == label[s];
	}
	return sum / BATCH;
}

int main(int argc, char **argv)
{
	dense net[3];
	real loss = 0, right = 0;
	int last = sizeof net / sizeof net[0] - 1;

	EACH(c, CLASSES)
		EACH(i, IN)
			proto[c][i] = uniform() - 0.5f;
	dense_init(&net[0], IN, HIDDEN, BATCH, &act_leaky);
	dense_init(&net[1], HIDDEN, HIDDEN, BATCH, &act_tanh);
	dense_init(&net[2], HIDDEN, CLASSES, BATCH, &act_none);
	EACH(step, STEPS) {
		right = 0;
		draw();
		dense_forward(&net[0], x, BATCH);
		for (int l = 1; l <= last; l++)
			dense_forward(&net[l], net[l - 1].y, BATCH);
		loss = error(&net[last], &right);
		for (int l = last; l > 0; l--)
			dense_backward(&net[l], net[l - 1].y, net[l - 1].dy,
				       BATCH);
		dense_backward(&net[0], x, NULL, BATCH);
		EACH(l, last + 1)
			dense_step(&net[l], 0.15f);
		if (step % 20 == 0)
			printf("%d loss %.9g\n", step, loss);
	}
	printf("final loss %.9g accuracy %.9g\n", loss, right / BATCH);
	if (argc > 1) {
		FILE *f = fopen(argv[1], "wb");
		if (f == NULL)
			return 1;
		EACH(l, last + 1)
			dense_save(&net[l], f);
		fclose(f);
	}
	return 0;
}
