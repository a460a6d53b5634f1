#include "core/flows.h"

/* Conversions: what a cast, written or implied, says about memory. */

/* (size_t)(failed ? NULL : NULL) is null in disguise. */
static bool is_null(ar_node *node) {
    node = ar_skip_casts(node);
    if (!node)
        return false;
    if (node->kind == AR_CONDITIONAL && node->kid_count == 3)
        return is_null(node->kids[1]) && is_null(node->kids[2]);
    return node->kind == AR_INT_LIT && node->int_value == 0;
}

uint32_t ar_pinned_memory(ar_walk *w, ar_node *node, ar_pin_kind kind,
                          const char *reason) {
    uint32_t cell = ar_cell_new(w->g);
    ar_cell_pin(w->g, cell, kind, ar_here(w, node), reason);
    return cell;
}

uint32_t ar_pinned_object(ar_walk *w, ar_node *node, ar_pin_kind kind,
                          const char *reason) {
    if (!ar_is_apart_value(w, node->type))
        return 0;
    uint32_t cell = ar_pinned_memory(w, node, kind, reason);
    ar_cell_typed(w->g, cell, node->type, ar_here(w, node));
    return cell;
}

void ar_names_record(ar_walk *w, ar_node *node, const ar_type *type,
                     uint32_t cell) {
    if (!w->is_quiet && cell && ar_apart_record(w->g, type))
        ar_site_of_record(w->g, ar_here(w, node), node,
                          ar_object_below(w->g, cell, type));
}

static const ar_decl *pointed_record(const ar_type *type) {
    if (!ar_is_kind(type, AR_TYPE_POINTER) ||
        !ar_is_kind(type->element, AR_TYPE_RECORD) || !type->element->record ||
        type->element->record->is_system)
        return NULL;
    return type->element->record;
}

static void view_struct(ar_walk *w, ar_node *node) {
    const ar_decl *from = pointed_record(node->kids[0]->type);
    const ar_decl *to = pointed_record(node->type);
    if (!from || !to || ar_can_be_viewed_as(w->g, from, to))
        return;
    const char *reason = "its struct is also viewed as another";
    ar_seen_as_both(w->g, from, to, ar_here(w, node));
    ar_pin_fields(w->g, from, ar_here(w, node), reason);
    ar_pin_fields(w->g, to, ar_here(w, node), reason);
}

uint32_t ar_floats_in(ar_walk *w, uint32_t cell, const ar_type *type) {
    for (; cell && ar_is_address(type); type = type->element)
        if (type->kind == AR_TYPE_POINTER)
            cell = ar_cell_pointee(w->g, cell);
    return cell;
}

uint32_t ar_eval_conversion(ar_walk *w, ar_node *node) {
    ar_node *kid = node->kids[0];
    const ar_type *to = node->type, *from = kid->type;
    uint32_t target = ar_eval(w, kid);
    if (w->is_quiet)
        return target;
    if (ar_is_kind(to, AR_TYPE_POINTER)) {
        bool from_int = ar_is_kind(from, AR_TYPE_INT);
        if (from_int && !target && !is_null(kid))
            target = ar_pinned_memory(w, node, AR_PIN_FROM_INTEGER,
                                      "an integer is converted to its address");
        if (node->kind == AR_CAST && !target && ar_apart_record(w->g, to))
            target = ar_cell_new(w->g); /* (struct matrix *)NULL */
        view_struct(w, node);
        ar_target_typed(w->g, target, to, ar_here(w, node));
        if (node->kind == AR_CAST && ar_float_depth(to) > 0)
            ar_walk_site(w, AR_SITE_CAST, node,
                         ar_floats_in(w, target, to->element));
        if (node->kind == AR_CAST)
            ar_names_record(w, node, to->element, target);
        return target;
    }
    if (target && ar_is_kind(to, AR_TYPE_INT) &&
        (ar_is_kind(from, AR_TYPE_POINTER) || ar_is_kind(from, AR_TYPE_ARRAY)))
        ar_cell_pin(w->g, target, AR_PIN_TO_INTEGER, ar_here(w, node),
                    "its address is converted to an integer");
    return ar_is_kind(to, AR_TYPE_BOOL) ? 0 : target;
}
