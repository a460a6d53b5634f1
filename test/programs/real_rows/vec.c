#include "real.h"

static unsigned long next = 11;

real uniform(void)
{
	next = (next * 1103515245 + 12345) & 0x7fffffff;
	return (real)(next >> 7) / 16777216;
}

real *row(int n)
{
	real *r = malloc(n * sizeof *r), *p = r;

	if (r == NULL)
		exit(1);
	while (p < r + n)
		*p++ = 0;
	return r;
}

real dot(const real *a, const real *b, int n)
{
	real sum = 0;
	const real *end = a + n;

	while (a < end)
		sum += *a++ * *b++;
	return sum;
}

void add_scaled(real *to, const real *from, real by, int n)
{
	for (; n-- > 0; to++, from++)
		*to += by * *from;
}

void fill(real *a, real value, int n)
{
	do
		*a++ = value;
	while (--n > 0);
}
