/* Hash tables in an arena. There is no removal and no iteration: whatever is
 * listed in an order is kept in a vector beside the table, so that no output
 * depends on addresses. What a table maps to is never 0 or NULL, which says
 * "not there". A table is ready with its arena set and all else 0. */
#ifndef AR_MAP_H
#define AR_MAP_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- words --------------------------------------------------------------- */

/* From two words to one, by open addressing: the analyses spend much of their
 * time here, and an allocation per entry costs more than the search. */
typedef struct ar_table {
    ar_arena *arena;
    struct ar_table_entry {
        uint64_t a, b, value; /* value 0: free */
    } *entries;
    uint32_t count, capacity;
} ar_table;

uint64_t ar_table_get(const ar_table *table, uint64_t a, uint64_t b);
/* Adds the key or replaces its value. */
void ar_table_put(ar_table *table, uint64_t a, uint64_t b, uint64_t value);
/* Adds the key with value 1; false: it was there, and keeps its value. */
bool ar_table_add(ar_table *table, uint64_t a, uint64_t b);
/* Empties it; the room stays. */
void ar_table_clear(ar_table *table);

/* A hash of both words: equal words give equal hashes. */
uint64_t ar_mix(uint64_t a, uint64_t b);
static inline uint64_t ar_key(const void *pointer) {
    return (uint64_t)(uintptr_t)pointer;
}
static inline uint64_t ar_key2(uint32_t high, uint32_t low) {
    return (uint64_t)high << 32 | low;
}

/* The table with ids, positions or flags as values. */
typedef ar_table ar_idtable;

static inline uint32_t ar_idtable_get(const ar_idtable *table, uint64_t a,
                                      uint64_t b) {
    return (uint32_t)ar_table_get(table, a, b);
}
static inline void ar_idtable_put(ar_idtable *table, uint64_t a, uint64_t b,
                                  uint32_t value) {
    ar_table_put(table, a, b, value);
}
static inline void ar_idtable_clear(ar_idtable *table) {
    ar_table_clear(table);
}

/* The table with one word as key and pointers as values. */
typedef ar_table ar_map;

static inline void *ar_map_get(const ar_map *map, uint64_t key) {
    return (void *)(uintptr_t)ar_table_get(map, key, 0);
}
static inline void ar_map_put(ar_map *map, uint64_t key, void *value) {
    ar_table_put(map, key, 0, (uintptr_t)value);
}

/* ---- strings, which are not copied --------------------------------------- */

typedef struct ar_strmap {
    ar_arena *arena;
    struct ar_strmap_entry *entries; /* of map.c */
} ar_strmap;

void *ar_strmap_get(const ar_strmap *map, const char *key);
/* Adds the key or replaces its value. */
void ar_strmap_put(ar_strmap *map, const char *key, void *value);

#endif
