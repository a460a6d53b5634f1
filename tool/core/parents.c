#include "core/parents.h"

ar_parents ar_parents_new(ar_arena *arena) {
    return (ar_parents){.arena = arena, .units = {.arena = arena}};
}

static void note_parents(ar_node **table, ar_node *node, ar_node *parent) {
    if (!node)
        return;
    table[node->id] = parent;
    for (uint32_t i = 0; i < node->kid_count; i++)
        note_parents(table, node->kids[i], node);
    for (uint32_t i = 0; i < node->decl_count; i++)
        note_parents(table, node->decls[i]->init, node);
}

static ar_node **table_of(ar_parents *parents, const ar_unit *unit) {
    ar_node **table = ar_map_get(&parents->units, ar_key(unit));
    if (table)
        return table;
    table = AR_NEW_ARRAY(parents->arena, ar_node *, unit->node_count + 1u);
    for (uint32_t i = 0; i < unit->decls.count; i++) {
        ar_decl *decl = unit->decls.data[i];
        note_parents(table, decl->body, NULL);
        if (decl->is_file_scope)
            note_parents(table, decl->init, NULL);
    }
    ar_map_put(&parents->units, ar_key(unit), table);
    return table;
}

ar_node *ar_parent_of(ar_parents *parents, const ar_unit *unit,
                      const ar_node *node) {
    return table_of(parents, unit)[node->id];
}
