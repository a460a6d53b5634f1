#include "../shape.h"

struct node {
    struct node *next;
    float *value;
};

int verbose = 1;

static int count(const struct node *list) {
    int n = 0;
    for (; list; list = list->next)
        n++;
    return n;
}

float total(const shape *tensor) {
    return tensor->data[0] * (float)count(0);
}
