#ifndef MAT_H
#define MAT_H
#include <stddef.h>

struct mat;
typedef struct mat Mat;
struct mat {
    int rows, cols;
    float *data, *spare; /* two on a line */
}; /* a comment
      that goes on */
typedef Mat Same;
typedef Mat *MatP;

extern Mat shared;
extern Mat table[2];
Mat by_value(Mat m);
Mat *make(int rows, int cols);
void make_into(Mat **out, int rows, int cols);
void swap(struct mat *a, struct mat *b);
float sum(const Mat *m);
float first(MatP m);
void each(const Mat *m, void (*f)(Mat *), Mat *to);
void plus(Same *m, float v);
void scale_by(Mat m, float v);
Mat *pick(int which, Mat *a, Mat *b);
#endif
