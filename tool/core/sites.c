#include "core/slots.h"

#include <stdlib.h>

uint32_t ar_site_add(ar_graph *g, ar_site_kind kind, ar_where where,
                     ar_node *node, ar_decl *decl, uint32_t cell) {
    ar_raw_site raw = {.site = {.kind = kind,
                                .where = where,
                                .node = node,
                                .decl = decl,
                                .in_macro_body = where.range.in_macro_body},
                       .cell = cell};
    AR_PUSH(g->arena, &g->sites, raw);
    return g->sites.count - 1;
}

/* ---- declarations -------------------------------------------------------- */

static uint32_t declared_memory(ar_graph *g, const ar_entity *entity) {
    const ar_type *type = entity->decl->type;
    uint32_t cell = g->entity_cell[entity->id];
    if (ar_field_is_apart(g, entity->decl))
        return 1; /* one in each object: its slots say which */
    if (!cell || !type)
        return 0;
    if (entity->decl->kind == AR_DECL_FUNCTION) {
        cell = ar_cell_result(g, cell);
        type = type->element;
    }
    if (ar_float_depth(type) < 0)
        return 0;
    for (; type && type->kind != AR_TYPE_FLOAT; type = type->element)
        if (type->kind == AR_TYPE_POINTER)
            cell = ar_cell_pointee(g, cell);
    return cell;
}

static bool same_range(ar_range a, ar_range b) {
    return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

void ar_sites_of_declarations(ar_graph *g) {
    for (uint32_t i = 0; i < g->program->entities.count; i++) {
        ar_entity *entity = &g->program->entities.data[i];
        uint32_t cell = declared_memory(g, entity);
        if (!cell)
            continue;
        for (uint32_t j = 0; j < entity->all_count; j++) {
            ar_decl *decl = entity->all[j];
            bool is_spelled = decl->float_token.file != AR_NO_FILE;
            bool is_known = !is_spelled && decl->is_system;
            /* One header read by many units declares once. */
            for (uint32_t k = 0; k < j && !is_known; k++)
                is_known = same_range(entity->all[k]->range, decl->range);
            if (is_known)
                continue;
            ar_where where = {entity->unit, NULL,
                              is_spelled ? decl->float_token : decl->range};
            ar_site_add(g, AR_SITE_DECLARATION, where, NULL, decl, cell);
        }
    }
}

/* ---- macros -------------------------------------------------------------- */

/* Text from a macro body has the range of the macro's use. A site of its own
 * range inside such a use was written as an argument. */
typedef AR_VEC(ar_range) range_list;

static int compare_ranges(const void *a, const void *b) {
    const ar_range *x = a, *y = b;
    if (x->file != y->file)
        return (x->file > y->file) - (x->file < y->file);
    if (x->begin != y->begin)
        return (x->begin > y->begin) - (x->begin < y->begin);
    return (x->end < y->end) - (x->end > y->end);
}

typedef struct macro_uses {
    ar_arena *arena;
    range_list list;
} macro_uses;

static void note_use(void *context, ar_unit *unit, ar_decl *function,
                     ar_node *node) {
    (void)unit;
    (void)function;
    macro_uses *uses = context;
    if (!node->range.in_macro_body || node->range.file == AR_NO_FILE)
        return;
    if (uses->list.count &&
        same_range(uses->list.data[uses->list.count - 1], node->range))
        return;
    AR_PUSH(uses->arena, &uses->list, node->range);
}

/* Uses are outermost ones, so they do not overlap. */
static bool is_inside(const range_list *uses, ar_range range) {
    uint32_t low = 0, high = uses->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const ar_range *use = &uses->data[middle];
        if (use->file < range.file ||
            (use->file == range.file && use->begin <= range.begin))
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    const ar_range *use = &uses->data[low - 1];
    return use->file == range.file && use->end >= range.end;
}

void ar_sites_mark_macros(ar_graph *g) {
    macro_uses uses = {.arena = ar_arena_new()};
    ar_program_visit(g->program, note_use, &uses);
    if (uses.list.count)
        qsort(uses.list.data, uses.list.count, sizeof *uses.list.data,
              compare_ranges);
    for (uint32_t i = 0; i < g->sites.count; i++) {
        ar_site *site = &g->sites.data[i].site;
        site->in_macro_argument =
            !site->in_macro_body && is_inside(&uses.list, site->where.range);
    }
    ar_arena_free(uses.arena);
}
