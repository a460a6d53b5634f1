#include "base/map.h"

#include <stdbool.h>
#include <string.h>

struct ar_map_entry {
    uint64_t key;
    void *value; /* NULL: free */
};

struct ar_strmap_entry {
    const char *key;
    uint64_t hash;
    void *value;
};

enum { FIRST_CAPACITY = 16 };

/* Pointers differ in few bits; spread them over the word. */
static uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    return x;
}

static uint64_t hash_string(const char *text) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    return mix(hash);
}

static bool is_full(uint32_t count, uint32_t capacity) {
    return (uint64_t)(count + 1) * 4 > (uint64_t)capacity * 3;
}

static struct ar_map_entry *find(struct ar_map_entry *entries,
                                 uint32_t capacity, uint64_t key) {
    for (uint64_t i = mix(key);; i++) {
        struct ar_map_entry *entry = &entries[i & (capacity - 1)];
        if (!entry->value || entry->key == key)
            return entry;
    }
}

void *ar_map_get(const ar_map *map, uint64_t key) {
    return map->count ? find(map->entries, map->capacity, key)->value : NULL;
}

static void grow(ar_map *map) {
    uint32_t capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY;
    struct ar_map_entry *fresh =
        AR_NEW_ARRAY(map->arena, struct ar_map_entry, capacity);
    for (uint32_t i = 0; i < map->capacity; i++)
        if (map->entries[i].value)
            *find(fresh, capacity, map->entries[i].key) = map->entries[i];
    map->entries = fresh;
    map->capacity = capacity;
}

void ar_map_put(ar_map *map, uint64_t key, void *value) {
    if (!value)
        AR_BUG("NULL put into a map");
    if (is_full(map->count, map->capacity))
        grow(map);
    struct ar_map_entry *entry = find(map->entries, map->capacity, key);
    map->count += !entry->value;
    *entry = (struct ar_map_entry){key, value};
}

static struct ar_strmap_entry *find_string(struct ar_strmap_entry *entries,
                                           uint32_t capacity, uint64_t hash,
                                           const char *key) {
    for (uint64_t i = hash;; i++) {
        struct ar_strmap_entry *entry = &entries[i & (capacity - 1)];
        if (!entry->value ||
            (entry->hash == hash && strcmp(entry->key, key) == 0))
            return entry;
    }
}

void *ar_strmap_get(const ar_strmap *map, const char *key) {
    if (!map->count)
        return NULL;
    return find_string(map->entries, map->capacity, hash_string(key), key)
        ->value;
}

static void grow_strings(ar_strmap *map) {
    uint32_t capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY;
    struct ar_strmap_entry *fresh =
        AR_NEW_ARRAY(map->arena, struct ar_strmap_entry, capacity);
    for (uint32_t i = 0; i < map->capacity; i++) {
        struct ar_strmap_entry *old = &map->entries[i];
        if (old->value)
            *find_string(fresh, capacity, old->hash, old->key) = *old;
    }
    map->entries = fresh;
    map->capacity = capacity;
}

void ar_strmap_put(ar_strmap *map, const char *key, void *value) {
    if (!value)
        AR_BUG("NULL put into a map under '%s'", key);
    if (is_full(map->count, map->capacity))
        grow_strings(map);
    uint64_t hash = hash_string(key);
    struct ar_strmap_entry *entry =
        find_string(map->entries, map->capacity, hash, key);
    map->count += !entry->value;
    *entry = (struct ar_strmap_entry){key, hash, value};
}
