/* Initialisers: which memory each value of a list goes to, also where inner
 * braces are left out or designators lead into an object. */
#include "core/flows.h"

/* The values of one list, taken one after the other. */
typedef struct cursor {
    ar_node *list;
    uint32_t at;
} cursor;

typedef struct object {
    uint32_t cell;
    const ar_type *type;
    ar_decl *decl;
} object;

static ar_node *next_value(const cursor *c) {
    return c->at < c->list->kid_count ? c->list->kids[c->at] : NULL;
}

static bool is_record(const ar_type *type) {
    return ar_is_kind(type, AR_TYPE_RECORD) && type->record;
}

static bool is_aggregate(const ar_type *type) {
    return ar_is_kind(type, AR_TYPE_ARRAY) || is_record(type);
}

/* UINT64_MAX: as many as there are values. */
static uint64_t part_count(const ar_type *type) {
    if (!is_record(type))
        return type->count ? type->count : UINT64_MAX;
    return type->record->is_union ? 1 : type->record->member_count;
}

/* An array is one cell with its elements. */
static object part_of(ar_walk *w, const object *of, uint64_t index) {
    if (!is_record(of->type))
        return (object){of->cell, of->type->element, of->decl};
    ar_decl *field = of->type->record->members[index];
    return (object){ar_cell_field(w->g, of->cell, field), field->type, field};
}

/* One value for all of the object: braces of its own, text, a struct. */
static bool takes_whole(const object *to, const ar_node *value) {
    return !is_aggregate(to->type) || value->kind == AR_INIT_LIST ||
           value->kind == AR_STRING_LIT || is_record(value->type);
}

/* The numbers of these arrays stand in a list that is not theirs alone. */
static void note_elided(ar_walk *w, const object *to, ar_node *list) {
    if (ar_is_kind(to->type, AR_TYPE_ARRAY) &&
        ar_is_float(ar_array_bottom(to->type)))
        ar_walk_site(w, AR_SITE_INITIALISER, list, to->cell);
}

static void fill(ar_walk *w, const object *of, uint64_t from, cursor *c,
                 bool is_whole);

static void take(ar_walk *w, const object *to, cursor *c, ar_node *value) {
    if (takes_whole(to, value)) {
        ar_initialise(w, to->cell, to->type, value, to->decl);
        c->at++;
        return;
    }
    note_elided(w, to, c->list);
    if (value == next_value(c)) {
        fill(w, to, 0, c, false);
        return;
    }
    /* .v = 1, 2, 3: the first value is behind the designator */
    object first = part_of(w, to, 0);
    take(w, &first, c, value);
    fill(w, to, 1, c, false);
}

/* What the designator names, and in a chain what goes on behind it. Gives the
 * position of the next value without one. */
static uint64_t take_designated(ar_walk *w, const object *of, cursor *c,
                                ar_node *designated) {
    uint64_t index = designated->decl ? designated->decl->index
                                      : (uint64_t)designated->int_value;
    bool fits = is_record(of->type)
                    ? designated->decl && index < of->type->record->member_count
                    : ar_is_kind(of->type, AR_TYPE_ARRAY);
    ar_node *value = designated->kid_count ? designated->kids[0] : NULL;
    if (!fits || !value) {
        if (value)
            ar_eval(w, value);
        c->at++;
        return index + 1;
    }
    object part = part_of(w, of, index);
    if (value->kind == AR_DESIGNATED) {
        note_elided(w, &part, c->list);
        uint64_t next = take_designated(w, &part, c, value);
        fill(w, &part, next, c, false);
    } else {
        take(w, &part, c, value);
    }
    return index + 1;
}

/* The parts from this one on. Without braces of its own an object ends where it
 * is full or a designator names something else. */
static void fill(ar_walk *w, const object *of, uint64_t from, cursor *c,
                 bool is_whole) {
    uint64_t count = part_count(of->type);
    for (uint64_t index = from;;) {
        ar_node *value = next_value(c);
        if (!value ||
            (!is_whole && (value->kind == AR_DESIGNATED || index >= count)))
            return;
        if (value->kind == AR_DESIGNATED) {
            index = take_designated(w, of, c, value);
        } else if (index >= count) { /* too many */
            ar_eval(w, value);
            c->at++;
        } else {
            object part = part_of(w, of, index++);
            take(w, &part, c, value);
        }
    }
}

static void initialise_list(ar_walk *w, const object *to, ar_node *list) {
    if (ar_is_kind(to->type, AR_TYPE_ARRAY) && ar_is_float(to->type->element))
        ar_walk_site(w, AR_SITE_INITIALISER, list, to->cell);
    cursor c = {list, 0};
    if (is_aggregate(to->type)) {
        fill(w, to, 0, &c, true);
        return;
    }
    for (; c.at < list->kid_count; c.at++) /* { 1 } of a number, vectors */
        ar_initialise(w, to->cell, to->type, list->kids[c.at], to->decl);
}

/* What the pointers in the table are set to are parts of one allocation: they
 * are not the allocation, nor each other. */
static void initialise_table(ar_walk *w, ar_storage_arena *arena,
                             uint32_t table) {
    for (uint32_t i = 0; i < arena->part_count; i++) {
        uint32_t pointer = ar_lvalue(w, arena->parts[i].pointer);
        arena->parts[i].class_id = ar_cell_pointee(w->g, pointer);
    }
    arena->whole = ar_cell_pointee(w->g, ar_cell_pointee(w->g, table));
}

void ar_initialise(ar_walk *w, uint32_t cell, const ar_type *type,
                   ar_node *value, ar_decl *to) {
    if (!value || !type)
        return;
    if (ar_is_reference(type)) {
        ar_store_pointer(w, cell, ar_lvalue(w, value), value, to, value);
        return;
    }
    ar_storage_arena *arena = to ? ar_arena_of_table(w->g, to) : NULL;
    if (arena) {
        initialise_table(w, arena, cell);
        return;
    }
    if (value->kind == AR_INIT_LIST) {
        object whole = {cell, type, to};
        initialise_list(w, &whole, value);
        return;
    }
    uint32_t mark = w->loads.count;
    uint32_t target = ar_eval(w, value);
    if (type->kind == AR_TYPE_POINTER)
        ar_store_pointer(w, cell, target, value, to, value);
    else if (type->kind == AR_TYPE_INT)
        ar_size_flow(w, value, cell);
    else if (type->kind == AR_TYPE_FLOAT)
        ar_flow_values(w, mark, cell, to, value);
    else if (ar_is_apart_value(w, type))
        ar_copy_object(w, target, cell);
    w->loads.count = mark;
}
