#include "core/slots.h"

static ar_cell *at(ar_graph *g, uint32_t cell) {
    return &g->cells.data[cell];
}

uint32_t ar_cell_new(ar_graph *g) {
    if (!g->cells.count)
        AR_PUSH(g->arena, &g->cells, (ar_cell){0});
    uint32_t id = g->cells.count;
    ar_cell cell = {.parent = id, .owner = g->owner, .class_id = AR_NO_ID};
    AR_PUSH(g->arena, &g->cells, cell);
    return id;
}

uint32_t ar_cell_find(ar_graph *g, uint32_t cell) {
    ar_cell *cells = g->cells.data;
    while (cells[cell].parent != cell) {
        cells[cell].parent = cells[cells[cell].parent].parent;
        cell = cells[cell].parent;
    }
    return cell;
}

uint32_t *ar_marks(ar_graph *g) {
    if (g->mark_count < g->cells.count) {
        g->mark_count = g->cells.count * 2;
        g->marks = AR_NEW_ARRAY(g->arena, uint32_t, g->mark_count);
    }
    return g->marks;
}

static uint32_t fresh_below(ar_graph *g, uint32_t parent) {
    uint32_t fresh = ar_cell_new(g);
    at(g, fresh)->is_global = at(g, parent)->is_global;
    return fresh;
}

uint32_t ar_cell_pointee(ar_graph *g, uint32_t cell) {
    cell = ar_cell_find(g, cell);
    if (!at(g, cell)->pointee) {
        uint32_t fresh = fresh_below(g, cell);
        at(g, cell)->pointee = fresh;
    }
    return at(g, cell)->pointee;
}

static void grow_params(ar_graph *g, uint32_t cell, uint32_t count) {
    ar_cell *c = at(g, cell);
    if (c->param_count >= count)
        return;
    uint32_t *params = AR_NEW_ARRAY(g->arena, uint32_t, count);
    if (c->param_count)
        memcpy(params, c->params, c->param_count * sizeof *params);
    c->params = params;
    c->param_count = count;
}

uint32_t ar_cell_param(ar_graph *g, uint32_t function, uint32_t index) {
    function = ar_cell_find(g, function);
    grow_params(g, function, index + 1);
    if (!at(g, function)->params[index]) {
        uint32_t fresh = fresh_below(g, function);
        at(g, function)->params[index] = fresh;
    }
    return at(g, function)->params[index];
}

uint32_t ar_cell_result(ar_graph *g, uint32_t function) {
    function = ar_cell_find(g, function);
    if (!at(g, function)->result) {
        uint32_t fresh = fresh_below(g, function);
        at(g, function)->result = fresh;
    }
    return at(g, function)->result;
}

void ar_cell_make_global(ar_graph *g, uint32_t cell) {
    cell = ar_cell_find(g, cell);
    while (cell && !at(g, cell)->is_global) {
        at(g, cell)->is_global = true;
        for (uint32_t i = 0; i < at(g, cell)->param_count; i++)
            if (at(g, cell)->params[i])
                ar_cell_make_global(g, at(g, cell)->params[i]);
        if (at(g, cell)->result)
            ar_cell_make_global(g, at(g, cell)->result);
        for (uint32_t i = 0; i < at(g, cell)->field_count; i++)
            if (at(g, cell)->fields[i])
                ar_cell_make_global(g, at(g, cell)->fields[i]);
        uint32_t next = at(g, cell)->pointee;
        cell = next ? ar_cell_find(g, next) : 0;
    }
}

/* ---- facts --------------------------------------------------------------- */

bool ar_where_before(const ar_where *a, const ar_where *b) {
    if (a->range.file != b->range.file)
        return a->range.file < b->range.file;
    if (a->range.begin != b->range.begin)
        return a->range.begin < b->range.begin;
    return a->range.end < b->range.end;
}

static const ar_fact *cons(ar_graph *g, const ar_fact *fact,
                           const ar_fact *next) {
    ar_fact *copy = AR_NEW(g->arena, ar_fact);
    *copy = *fact;
    copy->next = next;
    return copy;
}

static const ar_fact *merge(ar_graph *g, const ar_fact *a, const ar_fact *b) {
    if (!a || a == b)
        return b;
    if (!b)
        return a;
    if (a->kind < b->kind) {
        const ar_fact *rest = merge(g, a->next, b);
        return rest == a->next ? a : cons(g, a, rest);
    }
    if (a->kind > b->kind) {
        const ar_fact *rest = merge(g, a, b->next);
        return rest == b->next ? b : cons(g, b, rest);
    }
    const ar_fact *rest = merge(g, a->next, b->next);
    const ar_fact *first = ar_where_before(&b->where, &a->where) ? b : a;
    return first->next == rest ? first : cons(g, first, rest);
}

void ar_cell_fact(ar_graph *g, uint32_t cell, uint32_t kind, ar_where where,
                  const char *text, uint32_t index) {
    cell = ar_cell_find(g, cell);
    ar_fact fact = {NULL, kind, where, text, index};
    const ar_fact *old = ar_cell_has(g, cell, kind);
    if (old && !ar_where_before(&where, &old->where))
        return;
    at(g, cell)->facts = merge(g, at(g, cell)->facts, cons(g, &fact, NULL));
}

void ar_cell_pin(ar_graph *g, uint32_t cell, ar_pin_kind kind, ar_where where,
                 const char *reason) {
    ar_cell_fact(g, cell, AR_FACT_PIN + (uint32_t)kind, where, reason, 0);
}

const ar_fact *ar_cell_has(ar_graph *g, uint32_t cell, uint32_t kind) {
    const ar_fact *fact = at(g, ar_cell_find(g, cell))->facts;
    while (fact && fact->kind < kind)
        fact = fact->next;
    return fact && fact->kind == kind ? fact : NULL;
}

/* ---- unification --------------------------------------------------------- */

static void later(ar_graph *g, uint32_t a, uint32_t b) {
    if (a && b && a != b)
        AR_PUSH(g->arena, &g->pending, (ar_edge){a, b});
}

static uint32_t either(uint32_t a, uint32_t b) {
    return a ? a : b;
}

static void join_functions(ar_graph *g, uint32_t root, uint32_t other) {
    uint32_t count = at(g, other)->param_count;
    if (count > at(g, root)->param_count)
        grow_params(g, root, count);
    ar_cell *r = at(g, root), *o = at(g, other);
    for (uint32_t i = 0; i < count; i++) {
        later(g, r->params[i], o->params[i]);
        r->params[i] = either(r->params[i], o->params[i]);
    }
    later(g, r->result, o->result);
    r->result = either(r->result, o->result);
}

static void join_fields(ar_graph *g, uint32_t root, uint32_t other) {
    ar_cell *r = at(g, root), *o = at(g, other);
    if (!r->fields) {
        r->fields = o->fields;
        r->field_count = o->field_count;
        return;
    }
    for (uint32_t i = 0; i < r->field_count && i < o->field_count; i++) {
        later(g, r->fields[i], o->fields[i]);
        r->fields[i] = either(r->fields[i], o->fields[i]);
    }
}

static void join(ar_graph *g, uint32_t a, uint32_t b) {
    a = ar_cell_find(g, a);
    b = ar_cell_find(g, b);
    if (a == b)
        return;
    if (at(g, a)->is_global != at(g, b)->is_global)
        ar_cell_make_global(g, at(g, a)->is_global ? b : a);
    uint32_t root = a, other = b;
    if (at(g, a)->rank < at(g, b)->rank) {
        root = b;
        other = a;
    }
    ar_cell *r = at(g, root), *o = at(g, other);
    r->rank += r->rank == o->rank;
    o->parent = root;
    later(g, r->pointee, o->pointee);
    r->pointee = either(r->pointee, o->pointee);
    r->has_body |= o->has_body;
    r->facts = merge(g, r->facts, o->facts);
    ar_join_records(g, root, other);
    join_fields(g, root, other);
    join_functions(g, root, other);
}

void ar_cell_unify(ar_graph *g, uint32_t a, uint32_t b) {
    later(g, a, b);
    while (g->pending.count) {
        ar_edge next = g->pending.data[--g->pending.count];
        join(g, next.from, next.to);
    }
}

/* ---- types and entities -------------------------------------------------- */

/* -1: says nothing about the memory. */
static int scalar_kind(const ar_type *type) {
    switch (type->kind) {
    case AR_TYPE_BOOL:
    case AR_TYPE_ENUM:
        return AR_SCALAR_INT;
    case AR_TYPE_INT:
        return type->bytes == 1 ? AR_SCALAR_BYTE : AR_SCALAR_INT;
    case AR_TYPE_FLOAT:
        return AR_SCALAR_FLOAT;
    case AR_TYPE_DOUBLE:
        return AR_SCALAR_DOUBLE;
    case AR_TYPE_HALF:
        return AR_SCALAR_HALF;
    case AR_TYPE_POINTER:
        return AR_SCALAR_POINTER;
    case AR_TYPE_RECORD:
        return ar_is_float_vector(type) ? AR_SCALAR_VECTOR : AR_SCALAR_RECORD;
    case AR_TYPE_VECTOR:
        return ar_is_float(type->element) ? AR_SCALAR_VECTOR : AR_SCALAR_INT;
    case AR_TYPE_VOID:
    case AR_TYPE_ARRAY:
    case AR_TYPE_FUNCTION:
    case AR_TYPE_OTHER:
        return -1;
    }
    return -1;
}

void ar_cell_typed(ar_graph *g, uint32_t cell, const ar_type *type,
                   ar_where where) {
    type = ar_array_bottom(type);
    if (!type || !cell)
        return;
    int kind = scalar_kind(type);
    if (kind < 0)
        return;
    ar_cell_fact(g, cell, AR_FACT_SCALAR + (uint32_t)kind, where,
                 type->spelling, 0);
    if (kind == AR_SCALAR_RECORD)
        ar_cell_is_record(g, cell, type->record);
}

void ar_target_typed(ar_graph *g, uint32_t target, const ar_type *pointer,
                     ar_where where) {
    while (target && ar_is_address(pointer)) {
        const ar_type *element = pointer->element;
        element = ar_array_bottom(element);
        /* A char or void pointer that is never accessed so is only a way to
         * count bytes. */
        if (!element || element->kind == AR_TYPE_VOID ||
            element->kind == AR_TYPE_FUNCTION ||
            (element->kind == AR_TYPE_INT && element->bytes == 1))
            return;
        ar_cell_typed(g, target, element, where);
        if (element->kind != AR_TYPE_POINTER)
            return;
        pointer = element;
        target = ar_cell_pointee(g, target);
    }
}

static bool is_shared(const ar_decl *decl) {
    switch (decl->kind) {
    case AR_DECL_VAR:
        return decl->storage != AR_STORAGE_AUTO;
    case AR_DECL_FIELD:
        return true;
    case AR_DECL_PARAM:
    case AR_DECL_FUNCTION:
    case AR_DECL_RECORD:
    case AR_DECL_TYPEDEF:
    case AR_DECL_ENUMERATOR:
        return false;
    }
    return false;
}

static ar_where where_of(const ar_entity *entity) {
    const ar_decl *decl = entity->decl;
    ar_decl *parent = decl->kind == AR_DECL_PARAM || decl->kind == AR_DECL_VAR
                          ? decl->parent
                          : NULL;
    ar_range range =
        decl->name_range.file == AR_NO_FILE ? decl->range : decl->name_range;
    return (ar_where){entity->unit, parent, range};
}

void ar_cell_declare(ar_graph *g, uint32_t cell, const ar_entity *entity) {
    const ar_decl *decl = entity->decl;
    ar_where where = where_of(entity);
    const ar_type *type = decl->type;
    if (!type || decl->kind == AR_DECL_FUNCTION)
        return;
    const ar_type *whole = type;
    while (type->kind == AR_TYPE_ARRAY && type->element)
        type = type->element;
    /* An array of bytes may hold anything until a byte of it is used. */
    bool is_bytes =
        type != whole && type->kind == AR_TYPE_INT && type->bytes == 1;
    if (!is_bytes)
        ar_cell_typed(g, cell, type, where);
    if (type->kind == AR_TYPE_POINTER && type->element &&
        type->element->kind != AR_TYPE_VOID &&
        type->element->kind != AR_TYPE_FUNCTION)
        ar_target_typed(g, ar_cell_pointee(g, cell), type, where);
}

uint32_t ar_cell_of(ar_graph *g, const ar_decl *decl) {
    ar_entity *entity = ar_entity_of(g->program, decl);
    if (g->entity_cell[entity->id])
        return g->entity_cell[entity->id];
    uint32_t owner = g->owner;
    if (is_shared(decl) || decl->kind == AR_DECL_FUNCTION)
        g->owner = 0;
    uint32_t cell = ar_cell_new(g);
    g->entity_cell[entity->id] = cell;
    if (is_shared(entity->decl))
        ar_cell_make_global(g, cell);
    ar_cell_declare(g, cell, entity);
    /* a union's members are one cell */
    if (decl->kind == AR_DECL_FIELD && decl->parent && decl->parent->is_union &&
        decl->index > 0 && decl->parent->member_count > decl->index)
        ar_cell_unify(g, cell, ar_cell_of(g, decl->parent->members[0]));
    g->owner = owner;
    return cell;
}
