#include "base/map.h"

#include <string.h>

/* uthash keeps its own storage; here that comes from the arena of the map in
 * hand, so that tables vanish with it (and may live in a shared arena). */
#define uthash_malloc(size)        ar_alloc(map->arena, (size))
#define uthash_free(pointer, size) ((void)(pointer), (void)(size))
#define HASH_NONFATAL_OOM          0
#include <uthash.h>

/* ---- words --------------------------------------------------------------- */

enum { FIRST_CAPACITY = 16 }; /* a power of two */

uint64_t ar_mix(uint64_t a, uint64_t b) {
    uint64_t h = a * 0x9e3779b97f4a7c15u ^ (b + 0x7f4a7c159e3779b9u);
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

/* The entry of the key, or the free one where it belongs. */
static struct ar_table_entry *find(const ar_table *table, uint64_t a,
                                   uint64_t b) {
    uint32_t mask = table->capacity - 1;
    uint32_t at = (uint32_t)ar_mix(a, b) & mask;
    struct ar_table_entry *e = &table->entries[at];
    while (e->value && (e->a != a || e->b != b)) {
        at = (at + 1) & mask;
        e = &table->entries[at];
    }
    return e;
}

static void grow(ar_table *table) {
    ar_table old = *table;
    table->capacity = old.capacity ? 2 * old.capacity : FIRST_CAPACITY;
    table->entries =
        AR_NEW_ARRAY(table->arena, struct ar_table_entry, table->capacity);
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.entries[i].value)
            *find(table, old.entries[i].a, old.entries[i].b) = old.entries[i];
}

/* As find; a free entry may be filled, and is counted. */
static struct ar_table_entry *reserve(ar_table *table, uint64_t a, uint64_t b) {
    if (table->capacity) {
        struct ar_table_entry *known = find(table, a, b);
        if (known->value)
            return known;
    }
    if (2 * (table->count + 1) > table->capacity)
        grow(table);
    table->count++;
    return find(table, a, b);
}

uint64_t ar_table_get(const ar_table *table, uint64_t a, uint64_t b) {
    return table->count ? find(table, a, b)->value : 0;
}

void ar_table_put(ar_table *table, uint64_t a, uint64_t b, uint64_t value) {
    if (!value)
        AR_BUG("0 put into a table");
    *reserve(table, a, b) = (struct ar_table_entry){a, b, value};
}

bool ar_table_add(ar_table *table, uint64_t a, uint64_t b) {
    struct ar_table_entry *e = reserve(table, a, b);
    if (e->value)
        return false;
    *e = (struct ar_table_entry){a, b, 1};
    return true;
}

void ar_table_clear(ar_table *table) {
    if (table->count)
        memset(table->entries, 0, table->capacity * sizeof *table->entries);
    table->count = 0;
}

/* ---- strings ------------------------------------------------------------- */

struct ar_strmap_entry {
    const char *key;
    void *value;
    UT_hash_handle hh;
};

void *ar_strmap_get(const ar_strmap *map, const char *key) {
    struct ar_strmap_entry *entry;
    HASH_FIND_STR(map->entries, key, entry);
    return entry ? entry->value : NULL;
}

void ar_strmap_put(ar_strmap *map, const char *key, void *value) {
    struct ar_strmap_entry *entry;
    if (!value)
        AR_BUG("NULL put into a map under '%s'", key);
    HASH_FIND_STR(map->entries, key, entry);
    if (!entry) {
        entry = AR_NEW(map->arena, struct ar_strmap_entry);
        entry->key = key;
        HASH_ADD_KEYPTR(hh, map->entries, entry->key, strlen(entry->key),
                        entry);
    }
    entry->value = value;
}
