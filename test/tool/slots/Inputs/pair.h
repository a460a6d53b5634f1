#ifndef PAIR_H
#define PAIR_H
struct pair {
    float *left, *right;
};
void pair_open(struct pair *p);
float pair_use(struct pair *p);
static inline float pair_first(const struct pair *p) {
    return p->left[0];
}
#endif
