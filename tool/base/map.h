/* Hash tables in an arena: ar_map takes 64-bit keys (a pointer, an id, two ids
 * packed), ar_strmap takes strings, which it does not copy. Values are
 * pointers and never NULL, so that NULL says "not there". There is no removal
 * and no iteration: whatever is listed in an order is kept in a vector beside
 * the table, so that no output depends on addresses. */
#ifndef AR_MAP_H
#define AR_MAP_H

#include "base/arena.h"

#include <stdint.h>

typedef struct ar_map {
    ar_arena *arena;
    struct ar_map_entry *entries; /* of map.c */
} ar_map;

/* NULL when the key is not there. */
void *ar_map_get(const ar_map *map, uint64_t key);
/* Adds the key or replaces its value. */
void ar_map_put(ar_map *map, uint64_t key, void *value);

static inline uint64_t ar_key(const void *pointer) {
    return (uint64_t)(uintptr_t)pointer;
}
static inline uint64_t ar_key2(uint32_t high, uint32_t low) {
    return (uint64_t)high << 32 | low;
}

typedef struct ar_strmap {
    ar_arena *arena;
    struct ar_strmap_entry *entries;
} ar_strmap;

void *ar_strmap_get(const ar_strmap *map, const char *key);
void ar_strmap_put(ar_strmap *map, const char *key, void *value);

#endif
