/* Whole objects and blocks: copies of records, memcpy, memset, allocation. */
#include "core/interp.h"

static ar_mem_cell *cell_at(ar_interp *in, uint32_t cell) {
    return &in->m->cells.data[cell];
}

void ar_scalar_access(ar_interp *in, ar_node *at, uint32_t cell, bool write) {
    const ar_mem_cell *c = cell_at(in, cell);
    if (c->is_many || in->frame == NULL || !in->active.count)
        return;
    /* Locals of functions that loops call die with the call. */
    const ar_mem_object *object = ar_object_of(in->m, cell);
    if (object->as.kind == AR_OBJECT_LOCAL &&
        object->context == in->frame->context->id &&
        in->frame->context->loop_depth)
        return;
    uint64_t a = (uint64_t)(uintptr_t)at << 1 | (uint64_t)write;
    uint64_t b = (uint64_t)in->frame->context->id << 32 | cell;
    uint32_t id = ar_idtable_get(&in->scalar_ids, a, b);
    if (!id) {
        AR_PUSH(in->arena, &in->scalar_accesses,
                (ar_scalar_access_record){in->frame->context->id, cell, at,
                                          write, 0});
        id = in->scalar_accesses.count;
        ar_idtable_put(&in->scalar_ids, a, b, id);
    }
    in->scalar_accesses.data[id - 1].stamp = ++in->clock;
}

/* ---- records ------------------------------------------------------------- */

static const ar_type *type_of_child(const ar_mem_cell *c) {
    return c->type ? c->type : c->scalar;
}

typedef struct record_copy {
    ar_interp *in;
    ar_node *at;
    const ar_value *to_address, *from_address;
    bool is_param;
    AR_VEC(uint32_t) records; /* any of which may be what is copied */
    uint32_t source;          /* the one of them that is copied now */
} record_copy;

/* Where the same field lies in each of the records. */
static uint32_t field_set(record_copy *k, uint32_t from) {
    ar_interp *in = k->in;
    ar_target *targets =
        AR_NEW_ARRAY(in->arena, ar_target, k->records.count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->records.count; i++) {
        uint32_t twin = ar_same_path(in, from, k->source, k->records.data[i]);
        if (twin)
            targets[count++] = (ar_target){twin, 0};
    }
    return ar_memory_set(in->m, targets, count);
}

static void copy_leaf(record_copy *k, uint32_t from, uint32_t to,
                      const ar_type *type) {
    ar_interp *in = k->in;
    ar_value source = *k->from_address, target = *k->to_address;
    ar_target one = {from, 0};
    source.targets = ar_memory_set(in->m, &one, 1);
    ar_value v = ar_interp_load(in, k->at, &source, type);
    if (v.targets && k->records.count > 1)
        ar_name_pointer(in, k->from_address, field_set(k, from), &v);
    if (k->is_param) {
        if (ar_is_floating(type))
            v = ar_from_node(ar_float_of(in, &v));
        if (!cell_at(in, to)->scalar)
            cell_at(in, to)->scalar = type;
        if (v.targets)
            ar_table_changed(in, to);
        ar_state_set(in->m, &in->state, to, ar_memory_intern(in->m, &v));
        return;
    }
    one.cell = to;
    target.targets = ar_memory_set(in->m, &one, 1);
    ar_interp_store(in, k->at, &target, type, &v);
}

static void copy_cells(record_copy *k, uint32_t from, uint32_t to) {
    ar_interp *in = k->in;
    for (uint32_t kid = cell_at(in, from)->first_child; kid;
         kid = cell_at(in, kid)->next_sibling) {
        ar_mem_cell c = *cell_at(in, kid);
        if (c.step == AR_STEP_REGION)
            continue;
        uint32_t twin =
            ar_memory_child(in->m, to, c.step, c.field, c.index, c.type);
        if (c.first_child)
            copy_cells(k, kid, twin);
        const ar_type *type = type_of_child(&c);
        if (!type || (ar_is_record(type)) ||
            (c.first_child && type->kind == AR_TYPE_ARRAY && !c.is_many))
            continue;
        type = ar_array_bottom(type);
        copy_leaf(k, kid, twin, type);
    }
}

/* What neither side has named yet is as it is in the source. */
static void copy_default(ar_interp *in, uint32_t target, uint32_t source) {
    const ar_mem_object *from = ar_object_of(in->m, source);
    ar_mem_object *to = ar_object_of(in->m, target);
    if (to->root == target && from->zero_default)
        to->zero_default = true;
}

static void add_record(record_copy *k, uint32_t cell) {
    for (uint32_t i = 0; i < k->records.count; i++)
        if (k->records.data[i] == cell)
            return;
    AR_PUSH(k->in->arena, &k->records, cell);
}

/* With an unknown index, elements with cells of their own count. */
static void find_records(record_copy *k, const ar_type *type) {
    ar_interp *in = k->in;
    ar_targets sources = *ar_memory_targets(in->m, k->from_address->targets);
    for (uint32_t i = 0; i < sources.count; i++)
        add_record(k, ar_element_cell(in, sources.data[i].cell,
                                      sources.data[i].index, type));
    if (!sources.count)
        return;
    for (uint32_t kid = cell_at(in, sources.data[0].cell)->first_child; kid;
         kid = cell_at(in, kid)->next_sibling)
        if (ar_may_be_element(in, kid, sources.data[0].index))
            add_record(k, kid);
}

void ar_copy_record(ar_interp *in, ar_node *at, const ar_value *to,
                    const ar_value *from, const ar_type *type, bool is_param) {
    record_copy k = {in, at, to, from, is_param, {0}, 0};
    ar_targets sources = *ar_memory_targets(in->m, from->targets);
    ar_targets sinks = *ar_memory_targets(in->m, to->targets);
    find_records(&k, type);
    for (uint32_t t = 0; t < sinks.count; t++) {
        uint32_t target =
            ar_element_cell(in, sinks.data[t].cell, sinks.data[t].index, type);
        for (uint32_t s = 0; s < k.records.count; s++) {
            uint32_t source = k.source = k.records.data[s];
            if (s == 0 && sources.count == 1 &&
                sources.data[0].index != AR_ANY_INDEX) {
                uint32_t kind = ar_kind_cell(in, sinks.data[t], source, type);
                target = kind ? kind : target;
            }
            if (source == target)
                continue;
            copy_default(in, target, source);
            if (s == 0) {
                ar_forget_cells(in, target);
                copy_cells(&k, source, target);
                continue;
            }
            /* Further sources: what any of them holds. */
            ar_state before = ar_state_copy(in->state);
            copy_cells(&k, source, target);
            ar_state after = ar_state_take(&in->state);
            in->state = ar_join_states(in, at, &before, &after);
        }
    }
}

/* ---- blocks -------------------------------------------------------------- */

static void clear_cell(ar_interp *in, ar_node *at, const ar_value *address,
                       uint32_t cell) {
    const ar_type *type = type_of_child(cell_at(in, cell));
    type = ar_array_bottom(type);
    ar_value one = *address;
    ar_target target = {cell, 0};
    one.targets = ar_memory_set(in->m, &target, 1);
    if (type && ar_is_floating(type)) {
        ar_store_block(in, at, &one, AR_NODE_ZERO, true);
    } else {
        ar_value zero = {
            .node = AR_NODE_ZERO, .is_number = true, .may_be_null = true};
        ar_state_set(in->m, &in->state, cell, ar_memory_intern(in->m, &zero));
    }
    for (uint32_t kid = cell_at(in, cell)->first_child; kid;
         kid = cell_at(in, kid)->next_sibling)
        if (cell_at(in, kid)->step != AR_STEP_REGION)
            clear_cell(in, at, address, kid);
}

void ar_clear_block(ar_interp *in, ar_node *at, const ar_value *address,
                    bool to_zero) {
    ar_targets set = *ar_memory_targets(in->m, address->targets);
    for (uint32_t i = 0; i < set.count; i++) {
        const ar_mem_cell *c = cell_at(in, set.data[i].cell);
        bool plain = !c->first_child ||
                     cell_at(in, c->first_child)->step == AR_STEP_REGION;
        ar_value one = *address;
        one.targets = ar_memory_set(in->m, &set.data[i], 1);
        const ar_type *type = type_of_child(c);
        type = ar_array_bottom(type);
        bool maybe_float = !type || ar_is_floating(type);
        if (plain && maybe_float && (c->is_many || type)) {
            /* Alone it replaces only when the address has one target. */
            ar_value block = set.count > 1 ? *address : one;
            if (i == 0 || set.count == 1)
                ar_store_block(in, at, &block,
                               to_zero ? AR_NODE_ZERO : AR_NODE_CONST, true);
        } else if (set.count == 1 && !one.is_partial) {
            clear_cell(in, at, &one, set.data[i].cell);
        }
    }
}

static bool has_fields(ar_interp *in, const ar_value *address) {
    ar_targets set = *ar_memory_targets(in->m, address->targets);
    for (uint32_t i = 0; i < set.count; i++) {
        const ar_mem_cell *c = cell_at(in, set.data[i].cell);
        uint32_t kid = c->first_child;
        while (kid && cell_at(in, kid)->step == AR_STEP_REGION)
            kid = cell_at(in, kid)->next_sibling;
        if (kid)
            return true;
    }
    return false;
}

void ar_copy_block(ar_interp *in, ar_node *at, const ar_value *to,
                   const ar_value *from) {
    if (has_fields(in, from)) {
        record_copy k = {
            .in = in, .at = at, .to_address = to, .from_address = from};
        ar_targets sources = *ar_memory_targets(in->m, from->targets);
        ar_targets sinks = *ar_memory_targets(in->m, to->targets);
        for (uint32_t s = 0; s < sources.count; s++)
            for (uint32_t t = 0; t < sinks.count; t++)
                copy_cells(&k, sources.data[s].cell, sinks.data[t].cell);
        return;
    }
    ar_targets sources = *ar_memory_targets(in->m, from->targets);
    bool floating = false;
    for (uint32_t i = 0; i < sources.count; i++) {
        const ar_type *type = type_of_child(cell_at(in, sources.data[i].cell));
        type = ar_array_bottom(type);
        floating |= !type || ar_is_floating(type);
    }
    if (floating)
        ar_store_block(in, at, to, ar_load_block(in, at, from), false);
}

/* ---- what is filled from outside ----------------------------------------- */

static void fill_cell(ar_interp *in, ar_node *at, uint32_t cell,
                      const ar_type *type) {
    ar_value to = ar_value_pointer(in, cell, 0);
    if (type->kind == AR_TYPE_ARRAY) {
        type = ar_array_bottom(type);
        if (ar_is_record(type) || type->kind == AR_TYPE_POINTER)
            cell = ar_memory_child(in->m, cell, AR_STEP_INDEX, NULL,
                                   AR_ANY_INDEX, type);
        to = ar_value_pointer(in, cell, 0);
    }
    if (ar_is_record(type)) {
        const ar_decl *record =
            type->record ? ar_entity_of(in->program, type->record)->decl : NULL;
        for (uint32_t i = 0; record && i < record->member_count; i++) {
            const ar_decl *field =
                ar_entity_of(in->program, record->members[i])->decl;
            uint32_t kid = ar_memory_child(in->m, cell, AR_STEP_FIELD, field, 0,
                                           field->type);
            fill_cell(in, at, kid, field->type);
        }
        return;
    }
    ar_value v = ar_is_floating(type)
                     ? ar_from_node(ar_graph_node(in, AR_V_INPUT, at,
                                                  0x80000000u | cell, NULL, 0))
                     : ar_unknown();
    uint32_t id = ar_state_get(&in->state, cell);
    bool keeps = type->kind == AR_TYPE_POINTER && id &&
                 ar_memory_value(in->m, id)->targets;
    if (!keeps)
        ar_interp_store(in, at, &to, type, &v);
}

void ar_fill_unknown(ar_interp *in, ar_node *at, const ar_value *address,
                     const ar_type *element) {
    ar_targets set = *ar_memory_targets(in->m, address->targets);
    for (uint32_t i = 0; i < set.count; i++) {
        const ar_mem_cell *c = cell_at(in, set.data[i].cell);
        const ar_type *type = type_of_child(c) ? type_of_child(c) : element;
        type = ar_array_bottom(type);
        if (!type || ar_object_of(in->m, set.data[i].cell)->is_function)
            continue;
        if (!ar_is_record(type)) {
            ar_value one = *address, v = ar_unknown();
            one.targets = ar_memory_set(in->m, &set.data[i], 1);
            if (type->kind == AR_TYPE_INT || type->kind == AR_TYPE_ENUM)
                ar_interp_store(in, at, &one, type, &v);
            continue;
        }
        uint32_t cell =
            ar_element_cell(in, set.data[i].cell, set.data[i].index, type);
        ar_state before = ar_state_copy(in->state);
        fill_cell(in, at, cell, type);
        if (set.count > 1) {
            ar_state after = ar_state_take(&in->state);
            in->state = ar_join_states(in, at, &before, &after);
        } else {
            ar_state_drop(in->m, &before);
        }
    }
}

/* ---- objects ------------------------------------------------------------- */

void ar_forget_cells(ar_interp *in, uint32_t cell) {
    if (ar_state_get(&in->state, cell))
        ar_state_set(in->m, &in->state, cell, 0);
    for (uint32_t kid = cell_at(in, cell)->first_child; kid;
         kid = cell_at(in, kid)->next_sibling)
        ar_forget_cells(in, kid);
}

void ar_reset_object(ar_interp *in, ar_mem_object *object, bool zero) {
    object->zero_default = zero;
    if (object->root)
        ar_forget_cells(in, object->root);
}

static void add_context(ar_interp *in, ar_mem_object *object) {
    uint32_t id = in->frame->context->id;
    object->context = id;
    const ar_context *c = in->contexts.data[id];
    uint32_t depth = c->depth;
    ar_object *as = &object->as;
    as->context_depth = depth;
    as->context = AR_NEW_ARRAY(in->arena, ar_node *, depth + 1);
    as->context_units = AR_NEW_ARRAY(in->arena, ar_unit *, depth + 1);
    for (uint32_t i = depth; i > 0; i--) {
        const ar_context *up = in->contexts.data[c->parent];
        as->context[i - 1] = c->call;
        as->context_units[i - 1] = up->unit;
        c = up;
    }
}

ar_value ar_allocate(ar_interp *in, ar_node *call, bool zero) {
    bool is_new;
    ar_mem_object *object = ar_memory_object(in->m, ar_key(call) << 2 | 1,
                                             in->frame->context->id, &is_new);
    if (is_new) {
        object->as.kind = AR_OBJECT_HEAP;
        object->as.site = call;
        object->as.unit = in->frame->context->unit;
        object->loop_depth = in->active.count;
        object->disjoint = in->disjoint;
        add_context(in, object);
        ar_memory_root(in->m, object, NULL);
    }
    if (!object->is_summary)
        ar_reset_object(in, object, zero);
    object->zero_default = zero;
    return ar_value_pointer(in, object->root, 0);
}

/* The cell of a variable in the running function. */
uint32_t ar_variable_cell(ar_interp *in, ar_decl *decl) {
    bool local = decl->kind == AR_DECL_PARAM ||
                 (!decl->is_file_scope && !decl->is_cuda_shared &&
                  decl->storage == AR_STORAGE_AUTO);
    uint64_t owner = local ? in->frame->context->id : 0;
    bool is_new;
    ar_mem_object *object =
        ar_memory_object(in->m, (uint64_t)decl->id << 2 | 2, owner, &is_new);
    if (!is_new)
        return object->root;
    ar_entity *entity = ar_entity_of(in->program, decl);
    ar_decl *best = local ? decl : entity->decl;
    object->as.kind = local ? AR_OBJECT_LOCAL : AR_OBJECT_GLOBAL;
    object->as.decl = best;
    object->as.unit = entity->unit;
    /* what is defined elsewhere may have been set there */
    object->zero_default =
        !local && entity->decl->is_definition && !decl->is_cuda_shared;
    object->disjoint = in->disjoint;
    if (decl->is_cuda_shared)
        AR_PUSH(in->arena, &in->shared, object->as.id);
    const ar_type *type = best->type;
    if (local) {
        object->as.unit = in->frame->context->unit;
        add_context(in, object);
        ar_context *c = in->frame->context;
        AR_PUSH(in->arena, &c->locals, object->as.id);
    }
    return ar_memory_root(in->m, object, type);
}

uint32_t ar_function_target(ar_interp *in, ar_decl *function) {
    bool is_new;
    ar_mem_object *object = ar_memory_object(
        in->m, (uint64_t)function->id << 2 | 3, UINT32_MAX, &is_new);
    if (is_new) {
        object->is_function = true;
        object->as.kind = AR_OBJECT_GLOBAL;
        ar_decl *definition = ar_definition_of(in->program, function);
        object->as.decl = definition ? definition : function;
        object->as.unit = ar_entity_of(in->program, function)->unit;
        ar_memory_root(in->m, object, function->type);
    }
    return object->root;
}
