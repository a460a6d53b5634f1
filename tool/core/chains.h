/* Lists of positions by key, for what would otherwise be a search through a
 * whole vector: the stores to an object, the cells of an object. Added from the
 * last position to the first, a list is walked in ascending order:
 *
 *     for (uint32_t i = count; i-- > 0;)
 *         ar_chain_add(&chains, key_of(i), i);
 *     for (uint32_t i = ar_chain(&chains, key); i; i = chains.next[i])
 *         use(i - 1);
 */
#ifndef AR_CHAINS_H
#define AR_CHAINS_H

#include "base/map.h"

typedef struct ar_chains {
    ar_idtable first;
    uint32_t *next; /* indexed by 1 + position, as all numbers here */
} ar_chains;

static inline ar_chains ar_chains_new(ar_arena *arena, uint32_t count) {
    return (ar_chains){.first = {.arena = arena},
                       .next = AR_NEW_ARRAY(arena, uint32_t, count + 1u)};
}

static inline uint32_t ar_chain(const ar_chains *chains, uint64_t key) {
    return ar_idtable_get(&chains->first, key, 0);
}

static inline void ar_chain_add(ar_chains *chains, uint64_t key,
                                uint32_t position) {
    chains->next[position + 1] = ar_chain(chains, key);
    ar_idtable_put(&chains->first, key, 0, position + 1);
}

#endif
