#include "../shape.h"

struct node {
    int key;
};

static int count(const struct node *n) {
    static int calls;
    return ++calls + n->key;
}

int main(void) {
    struct node n = {1};
    shape s = {1, 0};
    return verbose ? count(&n) : (int)total(&s);
}
