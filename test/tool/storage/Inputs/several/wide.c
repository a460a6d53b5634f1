typedef double real;
#include "body.h"
