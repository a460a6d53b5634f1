/* Storage decisions: which float memory is stored in half.
 *
 * For each class of float memory (core/storage.h) one precision and one
 * reason, from the roles that the loss-scale analysis found, the rules of the
 * level, the pins and the sums (docs/storage-levels.md). Levels below O2 keep
 * everything in FP32. A function that is called with both precisions has a
 * version for each (core/storage_versions.h), or, where its text does not allow
 * that, keeps all that it is called with in FP32. Names play no part, nor does
 * the order of files.
 * Everything lives in the arena given and is read-only. */
#ifndef AR_SOLVE_STORAGE_H
#define AR_SOLVE_STORAGE_H

#include "base/map.h"
#include "core/level.h"
#include "core/ops.h"
#include "core/scale.h"
#include "core/storage.h"
#include "core/storage_index.h"
#include "core/storage_sums.h"
#include "core/storage_versions.h"

typedef struct ar_storage_decision {
    bool half;
    const char *reason;
    ar_range reason_at; /* AR_NO_RANGE: the reason names a rule or the level */
    const char *unlock; /* what would make it half, or NULL */
    ar_role role;       /* of several the one that decides */
    uint32_t roles;     /* all of them: a set of 1u << ar_role */
} ar_storage_decision;

typedef struct ar_storage_plan {
    const ar_storage_facts *facts;
    ar_storage_policy policy;
    const ar_scale *scale; /* or NULL */
    /* by class id; what is generic in a function: in its first version */
    ar_storage_decision *classes;
    const ar_storage_index *index; /* NULL below O2 */
    const ar_storage_sums *sums;   /* NULL below O2 */
    ar_storage_versions *versions; /* NULL below O2 */
    ar_table cells; /* ar_cell of the analysis -> 1 + class that holds it */
    uint32_t half_count;
    bool *is_split; /* by arena: each part has a precision of its own */
} ar_storage_plan;

/* Never NULL. scale may be NULL: no role is known. */
ar_storage_plan *
ar_solve_storage(ar_arena *arena, ar_program *program, const ar_rules *rules,
                 ar_storage_policy policy, const ar_storage_facts *facts,
                 const ar_ops *ops, const ar_scale *scale, ar_diags *diags);

/* The class that holds the cell of the loss-scale analysis, or AR_NO_ID. */
uint32_t ar_storage_class_of_cell(const ar_storage_plan *plan,
                                  const ar_cell *cell);
/* The arena with parts of their own precisions that the cell is a part of, and
 * the place of the part in its table; NULL: none. */
const ar_storage_arena *ar_storage_part_of(const ar_storage_plan *plan,
                                           const ar_scale *scale,
                                           const ar_cell *cell, uint32_t *part);
/* The object is such an arena. */
bool ar_storage_is_handed_out(const ar_storage_plan *plan,
                              const ar_scale *scale, const ar_object *object);
/* Nothing but single floats. */
bool ar_storage_is_scalar(const ar_storage_facts *facts, uint32_t id);

/* --dump-after=solve: one line per class. */
void ar_storage_plan_dump(FILE *out, ar_program *program,
                          const ar_storage_plan *plan);

#endif
