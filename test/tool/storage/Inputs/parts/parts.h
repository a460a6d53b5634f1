#ifndef PARTS_H
#define PARTS_H
typedef struct part {
    float *h_out, *w;
    int n;
} part;
float *h_room(int n);
void relu(float *h_x, int n); /* in place */
extern float h_shared[8];
static inline float first(const float *h_x) {
    return h_x[0];
}
#endif
