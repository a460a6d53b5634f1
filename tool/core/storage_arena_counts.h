/* Arenas: numbers that count elements of more than one part. Used on one part
 * they reach into the next, whose elements may have another size. Followed are
 * the lengths, what they are copied to, and what is computed from them; an
 * index that mentions no length is taken to stay within its part. */
#ifndef AR_STORAGE_ARENA_COUNTS_H
#define AR_STORAGE_ARENA_COUNTS_H

#include "core/storage.h"

/* Does what the node names point to memory of a marked class? */
bool ar_arena_points_to(ar_program *program, const ar_storage_facts *facts,
                        const ar_node *node, const bool *marks);

/* Why lengths may count more than a part that they are used on, and where;
 * NULL: they do not. is_part is by class. */
const char *ar_arena_count_problem(ar_arena *arena, ar_program *program,
                                   const ar_storage_facts *facts,
                                   const ar_storage_arena *of,
                                   const bool *is_part, ar_range *at);

#endif
