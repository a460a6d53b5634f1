/* What holds a node: the tree itself only points downwards. The table of a unit
 * is made when first asked for, and lives in the arena. */
#ifndef AR_PARENTS_H
#define AR_PARENTS_H

#include "base/map.h"
#include "core/facts.h"

typedef struct ar_parents {
    ar_arena *arena;
    ar_map units; /* unit -> parents by node id */
} ar_parents;

ar_parents ar_parents_new(ar_arena *arena);

/* NULL at the top of a body or initialiser at file scope. The parent of a
 * local's initialiser is its DECL_STMT. */
ar_node *ar_parent_of(ar_parents *parents, const ar_unit *unit,
                      const ar_node *node);

#endif
