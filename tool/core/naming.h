/* Names for memory: how a program reaches an object from its variables.
 *
 * Follows the recorded pointer stores from variables to the object and gives
 * the shortest C expression for the object's address: "G.w1", "net->w->data",
 * "layers[*].dw". A "[*]" stands for an index that differs; such a name is for
 * messages only. */
#ifndef AR_NAMING_H
#define AR_NAMING_H

#include "core/scale.h"

/* May the expression start at this variable? Between several names the better
 * root wins, then the one that is valid C, then the shorter. */
typedef enum ar_root_rank {
    AR_ROOT_NONE,
    AR_ROOT_GOOD,
    AR_ROOT_POOR /* for want of a better one */
} ar_root_rank;
typedef ar_root_rank ar_name_root(void *context, const ar_object *variable);

typedef struct ar_object_name {
    const char *text; /* NULL: none found */
    bool is_exact;    /* no "[*]": valid C where its variable is in scope */
    ar_root_rank rank;
} ar_object_name;

/* The names of all objects, by their id. */
ar_object_name *ar_name_objects(ar_arena *arena, const ar_scale *scale,
                                ar_name_root *accept, void *context);

/* The end of `path` (".layer.weight.val") that names a pointer inside a record
 * of this type (".val" or ".weight.val"), or NULL. */
const char *ar_path_in_record(const char *path, const ar_decl *record);

#endif
