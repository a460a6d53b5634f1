/* thresholds.h - when half precision pays, measured on an AMX CPU.
 *
 * A declined op runs in FP32: the audit's "in half" is a plan, and small
 * shapes leave it here. The same table holds on every machine, so that a
 * program's numbers do not depend on where it ran. AMP_MIN_MNK=N replaces it
 * by the one rule batch * m * n * k >= N (0 accepts every product).
 *
 *   rule                                                  limit
 *   k (the summed dimension)                              >= 32
 *   m * n * k, one matrix of a batch                      >= 2^18
 *     ... if one operand is a parameter, in plain layout  >= 2^17
 *   m and n, neither operand a parameter                  >= 16
 *   rows that meet a parameter in plain layout            any
 *   rows that meet a parameter in the other layout        >= 8
 *
 * A parameter is registered AMP_PARAM, so its cast is made once per step; a
 * matrix stored in half, which needs none, counts as one.
 * Plain layout is the one in which each output sums along a row of it.
 */
#ifndef AMP_THRESHOLDS_H
#define AMP_THRESHOLDS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct amp_work {
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t k;
    bool transa;
    bool transb;
    bool ready_a; /* a parameter or in half */
    bool ready_b;
} amp_work;

bool amp_pays(const amp_work *work);

#endif
