#include "base/map.h"

/* uthash keeps its own storage; here that comes from the arena of the map in
 * hand, so that tables vanish with it (and may live in a shared arena). */
#define uthash_malloc(size)        ar_alloc(map->arena, (size))
#define uthash_free(pointer, size) ((void)(pointer), (void)(size))
#define HASH_NONFATAL_OOM          0
#include <uthash.h>

struct ar_map_entry {
    uint64_t key;
    void *value;
    UT_hash_handle hh;
};

struct ar_strmap_entry {
    const char *key;
    void *value;
    UT_hash_handle hh;
};

void *ar_map_get(const ar_map *map, uint64_t key) {
    struct ar_map_entry *entry;
    HASH_FIND(hh, map->entries, &key, sizeof key, entry);
    return entry ? entry->value : NULL;
}

void ar_map_put(ar_map *map, uint64_t key, void *value) {
    struct ar_map_entry *entry;
    if (!value)
        AR_BUG("NULL put into a map");
    HASH_FIND(hh, map->entries, &key, sizeof key, entry);
    if (!entry) {
        entry = AR_NEW(map->arena, struct ar_map_entry);
        entry->key = key;
        HASH_ADD(hh, map->entries, key, sizeof key, entry);
    }
    entry->value = value;
}

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
