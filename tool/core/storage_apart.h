/* Structs told apart by object.
 *
 * A field is one memory for all objects of its struct. Where that memory stays
 * FP32 although some of it would be half, small structs that handle buffers are
 * looked at again with every object by itself; the better of the two outcomes
 * is taken, the plain one if they are equal. */
#ifndef AR_STORAGE_APART_H
#define AR_STORAGE_APART_H

#include "core/solve_storage.h"

/* ar_solve_storage(), if it pays on other facts: those of the plan. */
ar_storage_plan *ar_solve_storage_apart(ar_arena *arena, ar_program *program,
                                        const ar_rules *rules,
                                        ar_storage_policy policy,
                                        const ar_storage_facts *facts,
                                        const ar_ops *ops,
                                        const ar_scale *scale, ar_diags *diags);

#endif
