#ifndef MM_H
#define MM_H
void mm(int ta, int m, int n, int k, const float *a, const float *b, float *c);
float noise(void);
#endif
