#ifndef GUARD_H
#define GUARD_H
#include "header.h"
#endif
