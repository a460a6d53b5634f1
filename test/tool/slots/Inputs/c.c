#include "pair.h"

int main(void) {
    struct pair p;
    pair_open(&p);
    return pair_use(&p) > 0;
}
