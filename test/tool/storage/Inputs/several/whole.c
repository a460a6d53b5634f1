#define WHOLE_NUMBERS
typedef int real;
#include "body.h"

int count(const struct net *a) {
    return a->n;
}
