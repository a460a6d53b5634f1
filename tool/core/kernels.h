/* Kernels and their launches over the whole program, and which kernels can get
 * one more parameter: the way for a host number, such as the loss scale, into
 * device code. */
#ifndef AR_KERNELS_H
#define AR_KERNELS_H

#include "core/program.h"

typedef struct ar_launch {
    ar_unit *unit;
    ar_node *node; /* LAUNCH */
    const ar_entity *kernel;
} ar_launch;

typedef struct ar_kernels {
    ar_program *program;
    AR_VEC(ar_launch) launches;
    bool *is_fixed; /* entity id: named otherwise than in a launch */
} ar_kernels;

ar_kernels *ar_kernels_find(ar_arena *arena, ar_program *program);

/* A function that runs on the device: host calls cannot be put into it. */
bool ar_is_device_code(const ar_decl *function);
/* Every declaration and every launch of the kernel can be edited. */
bool ar_kernel_can_grow(const ar_kernels *kernels, const ar_decl *kernel);

#endif
