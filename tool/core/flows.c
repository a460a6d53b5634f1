#include "core/flows.h"

/* ---- small questions ----------------------------------------------------- */

ar_where ar_here(const ar_walk *w, const ar_node *node) {
    return (ar_where){w->unit, w->function, node->range};
}

bool ar_is_zero(ar_node *node) {
    node = ar_skip_casts(node);
    if (!node)
        return false;
    if (node->kind == AR_FLOAT_LIT)
        return node->float_value == 0.0;
    return node->kind == AR_INT_LIT && node->int_value == 0;
}

static bool is_element(const ar_node *lvalue) {
    return lvalue->kind == AR_INDEX || lvalue->kind == AR_DEREF;
}

static bool is_byte_pointer(const ar_type *type) {
    return ar_is_kind(type, AR_TYPE_POINTER) && type->element &&
           (type->element->kind == AR_TYPE_VOID ||
            (type->element->kind == AR_TYPE_INT && type->element->bytes == 1));
}

void ar_walk_site(ar_walk *w, ar_site_kind kind, ar_node *node, uint32_t cell) {
    if (!w->is_quiet && cell)
        ar_site_add(w->g, kind, ar_here(w, node), node, NULL, cell);
}

static void access_as(ar_walk *w, uint32_t cell, const ar_node *lvalue) {
    if (!w->is_quiet)
        ar_cell_typed(w->g, cell, lvalue->type, ar_here(w, lvalue));
}

/* ---- flows --------------------------------------------------------------- */

static void memory_flow(ar_walk *w, uint32_t from, uint32_t to, ar_node *value,
                        ar_decl *to_decl, ar_node *at) {
    if (w->is_quiet || !from || !to)
        return;
    ar_raw_flow flow = {AR_FLOW_MEMORY,      from,    to,
                        ar_root_decl(value), to_decl, ar_here(w, at)};
    AR_PUSH(w->g->arena, &w->g->flows, flow);
    ar_cell_unify(w->g, from, to);
}

void ar_store_pointer(ar_walk *w, uint32_t cell, uint32_t target,
                      ar_node *value, ar_decl *to, ar_node *at) {
    if (target && cell && !w->is_quiet)
        memory_flow(w, target, ar_cell_pointee(w->g, cell), value, to, at);
}

void ar_flow_values(ar_walk *w, uint32_t first_load, uint32_t to, ar_decl *decl,
                    ar_node *at) {
    for (uint32_t i = first_load; i < w->loads.count && !w->is_quiet; i++) {
        ar_raw_flow flow = {
            AR_FLOW_VALUE, w->loads.data[i].cell, to, w->loads.data[i].decl,
            decl,          ar_here(w, at)};
        AR_PUSH(w->g->arena, &w->g->flows, flow);
    }
}

void ar_note_accumulation(ar_walk *w, ar_accumulator_kind kind, uint32_t cell,
                          ar_node *node, ar_repetition repeated) {
    ar_graph *g = w->g;
    if (w->is_quiet)
        return;
    ar_accumulator found = {kind,
                            ar_here(w, node),
                            node,
                            repeated.inner,
                            repeated.outer,
                            repeated.loops,
                            repeated.loop_count,
                            AR_NO_ID};
    ar_cell_fact(g, cell, AR_FACT_ACCUMULATOR + (uint32_t)kind, found.where,
                 NULL, g->facts->accumulators.count);
    AR_PUSH(g->arena, &g->facts->accumulators, found);
    AR_PUSH(g->arena, &g->accumulator_cells, cell);
}

/* ---- lvalues ------------------------------------------------------------- */

/* A dereference of null or of something unknown names memory of its own. */
static uint32_t memory_at(ar_walk *w, uint32_t target) {
    return target ? target : ar_cell_new(w->g);
}

static uint32_t field_of_object(ar_walk *w, ar_node *node, uint32_t object) {
    ar_graph *g = w->g;
    uint32_t cell = ar_cell_field(g, memory_at(w, object), node->decl);
    AR_PUSH(g->arena, &g->members, (ar_raw_member){node, cell});
    return cell;
}

static uint32_t member(ar_walk *w, ar_node *node) {
    ar_graph *g = w->g;
    uint32_t object = 0;
    if (node->kid_count)
        object = node->is_arrow ? ar_eval(w, node->kids[0])
                                : ar_lvalue(w, node->kids[0]);
    if (!node->decl)
        return ar_cell_new(g);
    if (ar_field_is_apart(g, node->decl))
        return field_of_object(w, node, object);
    uint32_t shared = ar_cell_of(g, node->decl);
    uint32_t entity = ar_entity_of(g->program, node->decl)->id;
    if (!g->is_scratch[entity] || !node->is_lvalue_read || !w->function ||
        !ar_map_get(&g->scratch_uses,
                    ar_key2(entity, ar_entity_of(g->program, w->function)->id)))
        return shared;
    /* Every function that uses a scratch field has memory of its own. */
    uint32_t own = (uint32_t)(uintptr_t)ar_map_get(&w->scratch, entity + 1);
    if (!own) {
        own = ar_cell_new(g);
        ar_cell_typed(g, own, node->decl->type, ar_here(w, node));
        ar_map_put(&w->scratch, entity + 1, (void *)(uintptr_t)own);
        ar_web web = {ar_entity_of(g->program, node->decl), own,
                      ar_here(w, node), 0, true};
        AR_PUSH(g->arena, &g->webs, web);
    }
    return own;
}

static uint32_t compound_literal(ar_walk *w, ar_node *node) {
    uint32_t cell = ar_cell_new(w->g);
    ar_cell_typed(w->g, cell, node->type, ar_here(w, node));
    if (ar_float_depth(node->type) >= 0)
        ar_walk_site(w, AR_SITE_CAST, node, ar_floats_in(w, cell, node->type));
    ar_names_record(w, node, node->type, cell);
    if (node->kid_count)
        ar_initialise(w, cell, node->type, node->kids[0], NULL);
    return cell;
}

/* What the local holds where it is named here. */
static void name_version(ar_walk *w, ar_node *node, uint32_t cell) {
    if (cell && w->env && !w->is_quiet)
        AR_PUSH(w->g->arena, &w->g->members, (ar_raw_member){node, cell});
}

static uint32_t reference(ar_walk *w, ar_node *node) {
    if (!node->decl)
        return ar_cell_new(w->g);
    if (node->decl->kind == AR_DECL_FUNCTION)
        return ar_mention(w, node);
    uint32_t version = ar_local_read(w, node->decl);
    name_version(w, node, version);
    uint32_t cell = version ? version : ar_cell_of(w->g, node->decl);
    return ar_is_reference(node->decl->type) ? ar_cell_pointee(w->g, cell)
                                             : cell;
}

static uint32_t indexed(ar_walk *w, ar_node *node) {
    uint32_t target = ar_eval(w, node->kids[0]);
    uint32_t mark = w->loads.count;
    ar_eval(w, node->kids[1]);
    w->loads.count = mark;
    if (target && is_byte_pointer(node->kids[0]->type))
        ar_size_sink(w, node->kids[1], target, node, "an index of bytes");
    return memory_at(w, target);
}

static uint32_t lvalue_cell(ar_walk *w, ar_node *node) {
    switch (node->kind) {
    case AR_REF:
        return reference(w, node);
    case AR_MEMBER:
        return member(w, node);
    case AR_INDEX:
        return indexed(w, node);
    case AR_DEREF:
        return memory_at(w, ar_eval(w, node->kids[0]));
    case AR_COMPOUND_LITERAL:
        return compound_literal(w, node);
    case AR_CALL:
        if (ar_returns_reference(node))
            return memory_at(w, ar_eval_call(w, node));
        break;
    case AR_CAST:
    case AR_IMPLICIT:
        if (node->kid_count == 1 && node->type && node->kids[0]->type &&
            node->type->kind == node->kids[0]->type->kind &&
            node->type->kind == AR_TYPE_RECORD)
            return ar_lvalue(w, node->kids[0]);
        break;
    default:
        break;
    }
    /* Not an lvalue of its own: a temporary holds the value. */
    uint32_t target = ar_eval(w, node);
    if (target && ar_is_apart_value(w, node->type))
        return target;
    uint32_t cell = ar_cell_new(w->g);
    ar_store_pointer(w, cell, target, node, NULL, node);
    return cell;
}

uint32_t ar_lvalue(ar_walk *w, ar_node *node) {
    if (!node)
        return ar_cell_new(w->g);
    uint32_t cell = lvalue_cell(w, node);
    if (ar_is_kind(node->type, AR_TYPE_INT) && node->kind != AR_REF)
        ar_map_put(&w->cells, ar_key(node), (void *)(uintptr_t)cell);
    return cell;
}

/* ---- reading and writing ------------------------------------------------- */

/* A C++ function whose call is an lvalue. */
bool ar_returns_reference(ar_node *call) {
    ar_node *callee = ar_skip_casts(call->kids[0]);
    return callee && callee->kind == AR_REF && callee->decl &&
           ar_is_kind(callee->decl->type, AR_TYPE_FUNCTION) &&
           ar_is_reference(callee->decl->type->element);
}

static void read_float(ar_walk *w, uint32_t cell, ar_node *node) {
    if (w->is_quiet)
        return;
    AR_PUSH(w->g->arena, &w->loads, (ar_load){cell, ar_root_decl(node)});
    if (is_element(node))
        ar_walk_site(w, AR_SITE_LOAD, node, cell);
}

/* The value of an lvalue. */
static uint32_t read_lvalue(ar_walk *w, ar_node *node) {
    uint32_t cell = ar_lvalue(w, node);
    const ar_type *type = node->type;
    if (!type)
        return 0;
    if (type->kind == AR_TYPE_ARRAY || type->kind == AR_TYPE_FUNCTION)
        return cell;
    if (type->kind == AR_TYPE_RECORD)
        return ar_is_apart_value(w, type) ? cell : 0;
    access_as(w, cell, node);
    if (type->kind == AR_TYPE_POINTER)
        return ar_cell_pointee(w->g, cell);
    if (type->kind == AR_TYPE_FLOAT)
        read_float(w, cell, node);
    else if (type->kind == AR_TYPE_VECTOR && ar_is_float(type->element))
        ar_walk_site(w, AR_SITE_VECTOR, node, cell);
    return 0;
}

static void written(ar_walk *w, uint32_t cell, ar_node *lvalue, ar_node *store,
                    ar_site_kind kind) {
    if (w->is_quiet)
        return;
    access_as(w, cell, lvalue);
    const ar_type *type = lvalue->type;
    if (ar_is_kind(type, AR_TYPE_VECTOR) && ar_is_float(type->element))
        ar_walk_site(w, AR_SITE_VECTOR, lvalue, cell);
    if (!ar_is_float(type))
        return;
    if (is_element(lvalue))
        ar_walk_site(w, kind, store, cell);
    if (store->kind == AR_ASSIGN && ar_skip_casts(store->kids[1]) &&
        ar_skip_casts(store->kids[1])->kind == AR_FLOAT_LIT)
        ar_walk_site(w, AR_SITE_LITERAL, store->kids[1], cell);
    if (lvalue->kind == AR_REF)
        return;
    if (!ar_reads_its_target(store)) {
        ar_note_scaled_store(w, cell, store);
        return;
    }
    ar_note_updated(w, cell, store, NULL, 0);
    if (!w->accumulation)
        return;
    ar_repetition repeated = {0};
    ar_accumulator_kind how = ar_accumulates(w->accumulation, store, &repeated);
    if (how != AR_ACCUMULATE_KINDS)
        ar_note_accumulation(w, how, cell, store, repeated);
}

void ar_copy_object(ar_walk *w, uint32_t from, uint32_t to) {
    if (from && to && !w->is_quiet)
        ar_cell_unify(w->g, from, to);
}

static uint32_t assign(ar_walk *w, ar_node *node) {
    ar_node *left = node->kids[0], *right = node->kids[1];
    uint32_t mark = w->loads.count;
    uint32_t target = ar_eval(w, right);
    uint32_t cell = 0;
    if (left->kind == AR_REF && !w->is_quiet)
        cell = ar_local_write(w, left->decl, ar_here(w, left));
    name_version(w, left, cell);
    if (!cell)
        cell = ar_lvalue(w, left);
    written(w, cell, left, node, AR_SITE_STORE);
    ar_decl *to = ar_root_decl(left);
    if (ar_is_kind(left->type, AR_TYPE_POINTER))
        ar_store_pointer(w, cell, target, right, to, node);
    else if (ar_is_kind(left->type, AR_TYPE_INT))
        ar_size_flow(w, right, cell);
    else if (ar_is_float(left->type))
        ar_flow_values(w, mark, cell, to, node);
    else if (ar_is_apart_value(w, left->type))
        ar_copy_object(w, target, cell);
    return target;
}

static uint32_t compound_assign(ar_walk *w, ar_node *node) {
    ar_node *left = node->kids[0], *right = node->kids[1];
    uint32_t mark = w->loads.count;
    ar_eval(w, right);
    uint32_t cell = ar_lvalue(w, left);
    written(w, cell, left, node, AR_SITE_COMPOUND_STORE);
    if (ar_is_float(left->type))
        ar_flow_values(w, mark, cell, ar_root_decl(left), node);
    if (ar_is_kind(left->type, AR_TYPE_INT))
        ar_size_flow(w, right, cell);
    if (!ar_is_kind(left->type, AR_TYPE_POINTER))
        return 0;
    access_as(w, cell, left);
    uint32_t target = ar_cell_pointee(w->g, cell);
    if (is_byte_pointer(left->type))
        ar_size_sink(w, right, target, node, "pointer arithmetic");
    return target;
}

static uint32_t increment(ar_walk *w, ar_node *node) {
    ar_node *kid = node->kids[0];
    uint32_t cell = ar_lvalue(w, kid);
    written(w, cell, kid, node, AR_SITE_COMPOUND_STORE);
    if (ar_is_float(kid->type))
        read_float(w, cell, kid);
    return ar_is_kind(kid->type, AR_TYPE_POINTER) ? ar_cell_pointee(w->g, cell)
                                                  : 0;
}

/* ---- expressions --------------------------------------------------------- */

static uint32_t conditional(ar_walk *w, ar_node *node) {
    uint32_t first = ar_eval(w, node->kids[0]);
    if (node->kid_count == 3)
        first = ar_eval(w, node->kids[1]);
    uint32_t second = ar_eval(w, node->kids[node->kid_count - 1]);
    if (!first || !second || first == second)
        return first ? first : second;
    ar_node *one = node->kids[node->kid_count - 2];
    memory_flow(w, second, first, node->kids[node->kid_count - 1],
                ar_root_decl(one), node);
    return first;
}

/* (uintptr_t)p % 64 asks for the alignment and keeps no address. */
static ar_node *without_address(ar_node *node) {
    ar_node *inner = ar_skip_casts(node);
    bool is_pointer = inner && ar_is_kind(inner->type, AR_TYPE_POINTER);
    return is_pointer && ar_is_kind(node->type, AR_TYPE_INT) ? inner : node;
}

/* (char *)p - (char *)q is a number of bytes that comes from no sizeof. */
static void pin_distance(ar_walk *w, ar_node *node, uint32_t target) {
    bool is_distance = ar_is_kind(node->type, AR_TYPE_INT);
    if (target && is_distance && !w->is_quiet)
        ar_cell_pin(w->g, target, AR_PIN_LITERAL_BYTES, ar_here(w, node),
                    "the distance of two addresses in it is taken in bytes");
}

static bool points_to_floats(const ar_node *node) {
    return (ar_is_kind(node->type, AR_TYPE_POINTER) ||
            ar_is_kind(node->type, AR_TYPE_ARRAY)) &&
           ar_float_depth(node->type) > 0;
}

/* What p points to, of (p = NULL). */
static uint32_t assigned_memory(ar_walk *w, ar_node *node) {
    node = ar_skip_casts(node);
    while (node->kind == AR_COMMA)
        node = ar_skip_casts(node->kids[node->kid_count - 1]);
    if (node->kind != AR_ASSIGN || !points_to_floats(node))
        return 0;
    bool was_quiet = w->is_quiet;
    w->is_quiet = true;
    uint32_t cell = ar_lvalue(w, node->kids[0]);
    w->is_quiet = was_quiet;
    return cell ? ar_cell_pointee(w->g, cell) : 0;
}

/* Only addresses of one type can be compared or subtracted, and they mean
 * something only within one memory. */
static void compare_addresses(ar_walk *w, ar_node *node, uint32_t left,
                              uint32_t right) {
    ar_node *one = node->kids[0], *other = node->kids[1];
    left = left ? left : assigned_memory(w, one);
    right = right ? right : assigned_memory(w, other);
    bool gives_address = ar_is_kind(node->type, AR_TYPE_POINTER);
    if (left && right && left != right && !gives_address &&
        points_to_floats(one) && points_to_floats(other))
        memory_flow(w, right, left, other, ar_root_decl(one), node);
}

static uint32_t binary(ar_walk *w, ar_node *node) {
    if (node->op == AR_OP_AND || node->op == AR_OP_REM) {
        ar_eval(w, without_address(node->kids[0]));
        ar_eval(w, without_address(node->kids[1]));
        return 0;
    }
    uint32_t left = ar_eval(w, node->kids[0]);
    uint32_t right = ar_eval(w, node->kids[1]);
    if (node->op == AR_OP_SUB && is_byte_pointer(node->kids[0]->type))
        pin_distance(w, node, left ? left : right);
    if (node->op != AR_OP_LOGICAL_AND && node->op != AR_OP_LOGICAL_OR)
        compare_addresses(w, node, left, right);
    if (!ar_is_kind(node->type, AR_TYPE_POINTER))
        return 0;
    uint32_t target = left ? left : right;
    if (target && is_byte_pointer(node->type))
        ar_size_sink(w, node->kids[left ? 1 : 0], target, node,
                     "pointer arithmetic");
    return target;
}

static uint32_t address(ar_walk *w, ar_node *node) {
    ar_node *kid = node->kids[0];
    uint32_t cell = ar_lvalue(w, kid);
    if (ar_is_float(kid->type))
        ar_walk_site(w, AR_SITE_ADDRESS_OF, node, cell);
    return cell;
}

/* sizeof evaluates nothing; its operand only says which memory is meant. */
static void size_of(ar_walk *w, ar_node *node) {
    uint32_t cell = 0;
    const ar_type *type = node->type_operand;
    if (node->kid_count && node->kids[0]) {
        bool was_quiet = w->is_quiet;
        w->is_quiet = true;
        type = node->kids[0]->type;
        ar_node *operand = node->kids[0];
        if (ar_is_float(ar_array_bottom(type)))
            cell = ar_lvalue(w, operand);
        w->is_quiet = was_quiet;
    }
    if (w->is_quiet || ar_map_get(&w->size_sites, ar_key(node)))
        return;
    uint32_t site = AR_NO_ID - 1; /* of another type: known, not listed */
    if (ar_is_float(ar_array_bottom(type)))
        site = ar_site_add(w->g, AR_SITE_SIZEOF, ar_here(w, node), node, NULL,
                           cell);
    ar_map_put(&w->size_sites, ar_key(node), (void *)(uintptr_t)(site + 1));
}

static uint32_t statement_expression(ar_walk *w, ar_node *node) {
    ar_node *block = node->kid_count ? node->kids[0] : NULL;
    uint32_t target = 0;
    for (uint32_t i = 0; block && i < block->kid_count; i++) {
        ar_node *kid = block->kids[i];
        bool is_last = i + 1 == block->kid_count;
        if (is_last && kid && kid->kind == AR_EXPR_STMT && kid->kid_count)
            target = ar_eval(w, kid->kids[0]);
        else
            ar_statement(w, kid);
    }
    return target;
}

static uint32_t unmodelled(ar_walk *w, ar_node *node) {
    uint32_t target = 0;
    for (uint32_t i = 0; i < node->kid_count; i++) {
        uint32_t kid = node->kids[i] ? ar_eval(w, node->kids[i]) : 0;
        if (kid && !w->is_quiet)
            ar_cell_pin(w->g, kid, AR_PIN_UNMODELLED, ar_here(w, node),
                        "used in an expression that is not modelled");
        target = target ? target : kid;
    }
    return ar_is_kind(node->type, AR_TYPE_POINTER) ||
                   ar_is_apart_value(w, node->type)
               ? target
               : 0;
}

static uint32_t comma(ar_walk *w, ar_node *node) {
    uint32_t target = 0;
    for (uint32_t i = 0; i < node->kid_count; i++)
        target = ar_eval(w, node->kids[i]);
    return target;
}

uint32_t ar_eval(ar_walk *w, ar_node *node) {
    if (!node)
        return 0;
    switch (node->kind) {
    case AR_REF:
        if (node->decl && node->decl->kind == AR_DECL_ENUMERATOR)
            return 0;
        return read_lvalue(w, node);
    case AR_MEMBER:
    case AR_INDEX:
    case AR_DEREF:
    case AR_COMPOUND_LITERAL:
        return read_lvalue(w, node);
    case AR_CALL:
        return ar_returns_reference(node) ? read_lvalue(w, node)
                                          : ar_eval_call(w, node);
    case AR_LAUNCH:
        return ar_eval_call(w, node);
    case AR_UNARY:
        if (node->op >= AR_OP_PRE_INC)
            return increment(w, node);
        ar_eval(w, node->kids[0]);
        return 0;
    case AR_ADDRESS:
        return address(w, node);
    case AR_BINARY:
        return binary(w, node);
    case AR_ASSIGN:
        return assign(w, node);
    case AR_COMPOUND_ASSIGN:
        return compound_assign(w, node);
    case AR_CONDITIONAL:
        return conditional(w, node);
    case AR_COMMA:
        return comma(w, node);
    case AR_CAST:
    case AR_IMPLICIT:
        return node->kid_count ? ar_eval_conversion(w, node) : 0;
    case AR_SIZEOF:
        size_of(w, node);
        return 0;
    case AR_STATEMENT_EXPR:
        return statement_expression(w, node);
    case AR_VA_ARG:
        if (ar_is_kind(node->type, AR_TYPE_POINTER))
            return ar_pinned_memory(w, node, AR_PIN_VARARGS,
                                    "comes out of a variable argument list");
        return ar_pinned_object(w, node, AR_PIN_VARARGS,
                                "comes out of a variable argument list");
    case AR_UNKNOWN_EXPR:
        return unmodelled(w, node);
    case AR_DESIGNATED:
    case AR_INIT_LIST:
        return comma(w, node);
    default:
        return 0;
    }
}
