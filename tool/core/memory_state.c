/* States: counted tries from cell to value. A node may be changed in place by
 * its only holder; else the path to it is copied. */
#include "core/memory.h"

#include <stdlib.h>

enum { BITS = 4, WIDTH = 1 << BITS, LEVELS = 6 };

struct ar_trie {
    uint32_t refs;
    bool is_leaf;
    union {
        ar_trie *kids[WIDTH];
        uint32_t values[WIDTH];
        ar_trie *next_free;
    } u;
};

static ar_trie *new_node(ar_memory *m, bool is_leaf) {
    ar_trie **list = is_leaf ? &m->free_leaves : &m->free_inner;
    ar_trie *node = *list;
    if (node) {
        *list = node->u.next_free;
        memset(&node->u, 0,
               is_leaf ? sizeof node->u.values : sizeof node->u.kids);
    } else {
        size_t header = offsetof(ar_trie, u);
        node = ar_alloc(m->arena, is_leaf ? header + sizeof(uint32_t[WIDTH])
                                          : sizeof(ar_trie));
    }
    node->refs = 1;
    node->is_leaf = is_leaf;
    return node;
}

static void drop(ar_memory *m, ar_trie *node) {
    if (!node || --node->refs)
        return;
    if (!node->is_leaf)
        for (int i = 0; i < WIDTH; i++)
            drop(m, node->u.kids[i]);
    ar_trie **list = node->is_leaf ? &m->free_leaves : &m->free_inner;
    node->u.next_free = *list;
    *list = node;
}

ar_state ar_state_copy(ar_state state) {
    if (state.root)
        state.root->refs++;
    return state;
}

void ar_state_drop(ar_memory *m, ar_state *state) {
    drop(m, state->root);
    *state = (ar_state){NULL, true};
}

static uint32_t slot_of(uint32_t cell, int level) {
    return cell >> (BITS * level) & (WIDTH - 1);
}

uint32_t ar_state_get(const ar_state *state, uint32_t cell) {
    const ar_trie *node = state->root;
    for (int level = LEVELS - 1; node && level > 0; level--)
        node = node->u.kids[slot_of(cell, level)];
    return node ? node->u.values[slot_of(cell, 0)] : 0;
}

/* Makes *place a node that only this path holds. */
static ar_trie *own(ar_memory *m, ar_trie **place, bool is_leaf) {
    ar_trie *node = *place;
    if (node && node->refs == 1)
        return node;
    ar_trie *copy = new_node(m, is_leaf);
    if (node) {
        if (is_leaf) {
            memcpy(copy->u.values, node->u.values, sizeof copy->u.values);
        } else {
            memcpy(copy->u.kids, node->u.kids, sizeof copy->u.kids);
            for (int i = 0; i < WIDTH; i++)
                if (copy->u.kids[i])
                    copy->u.kids[i]->refs++;
        }
        node->refs--;
    }
    *place = copy;
    return copy;
}

void ar_state_set(ar_memory *m, ar_state *state, uint32_t cell,
                  uint32_t value) {
    if (cell >> (BITS * LEVELS))
        AR_BUG("more than %u cells", 1u << (BITS * LEVELS));
    if (ar_state_get(state, cell) == value)
        return;
    ar_trie **place = &state->root;
    for (int level = LEVELS - 1; level > 0; level--)
        place = &own(m, place, false)->u.kids[slot_of(cell, level)];
    own(m, place, true)->u.values[slot_of(cell, 0)] = value;
}

static void diff(const ar_trie *a, const ar_trie *b, int level, uint32_t base,
                 ar_diff_visit *visit, void *context) {
    if (a == b)
        return;
    for (uint32_t i = 0; i < WIDTH; i++) {
        uint32_t cell = base | i << (BITS * level);
        if (level) {
            diff(a ? a->u.kids[i] : NULL, b ? b->u.kids[i] : NULL, level - 1,
                 cell, visit, context);
            continue;
        }
        uint32_t x = a ? a->u.values[i] : 0, y = b ? b->u.values[i] : 0;
        if (x != y)
            visit(context, cell, x, y);
    }
}

void ar_state_diff(const ar_state *a, const ar_state *b, ar_diff_visit *visit,
                   void *context) {
    diff(a->root, b->root, LEVELS - 1, 0, visit, context);
}
