/* Loads and stores: which cells an address means, and whether a store
 * replaces what was there. */
#include "core/interp.h"

typedef AR_VEC(uint32_t) cell_list;

static ar_mem_cell *cell_at(ar_interp *in, uint32_t cell) {
    return &in->m->cells.data[cell];
}

static bool holds_elements(const ar_type *type) {
    return type && (type->kind == AR_TYPE_POINTER || ar_is_record(type));
}

/* The cell of one element. An allocation is itself the first record in it. */
uint32_t ar_element_cell(ar_interp *in, uint32_t cell, int64_t index,
                         const ar_type *type) {
    const ar_type *own = cell_at(in, cell)->type;
    const ar_type *wanted = ar_array_bottom(type);
    if (!holds_elements(wanted))
        return cell;
    if (!own) {
        if (cell_at(in, cell)->step == AR_STEP_REGION)
            return cell;
        if (index == 0 && ar_is_record(wanted))
            return cell;
        return ar_memory_child(in->m, cell, AR_STEP_INDEX, NULL, index, wanted);
    }
    if (own->kind == AR_TYPE_ARRAY)
        return ar_memory_child(in->m, cell, AR_STEP_INDEX, NULL, index,
                               ar_array_bottom(own));
    return cell;
}

bool ar_may_be_element(const ar_interp *in, uint32_t kid, int64_t index) {
    const ar_mem_cell *c = &in->m->cells.data[kid];
    return c->step == AR_STEP_INDEX &&
           (index == AR_ANY_INDEX ||
            (ar_is_kind_index(c->index) && !ar_is_kind_index(index)));
}

/* An unknown index means every element that has a cell of its own. */
static void add_element(ar_interp *in, cell_list *list, ar_target target,
                        const ar_type *type) {
    uint32_t cell = ar_element_cell(in, target.cell, target.index, type);
    AR_PUSH(in->arena, list, cell);
    bool any = target.index == AR_ANY_INDEX;
    if (any && cell == target.cell)
        return;
    bool record = ar_is_record(ar_array_bottom(type));
    if (any && record && !cell_at(in, target.cell)->type) {
        uint32_t kid = cell_at(in, target.cell)->first_child;
        while (kid && cell_at(in, kid)->step != AR_STEP_FIELD)
            kid = cell_at(in, kid)->next_sibling;
        if (kid)
            AR_PUSH(in->arena, list, target.cell);
    }
    for (uint32_t kid = cell_at(in, target.cell)->first_child; kid;
         kid = cell_at(in, kid)->next_sibling)
        if (kid != cell && ar_may_be_element(in, kid, target.index))
            AR_PUSH(in->arena, list, kid);
}

/* The base pointer of an allocation means its regions as well. */
static void add_regions(ar_interp *in, cell_list *list, uint32_t cell) {
    if (ar_object_of(in->m, cell)->disjoint)
        return;
    for (uint32_t kid = cell_at(in, cell)->first_child; kid;
         kid = cell_at(in, kid)->next_sibling)
        if (cell_at(in, kid)->step == AR_STEP_REGION) {
            AR_PUSH(in->arena, list, kid);
            add_regions(in, list, kid);
        }
}

static void cells_of(ar_interp *in, const ar_value *address,
                     const ar_type *type, cell_list *list) {
    ar_targets targets = *ar_memory_targets(in->m, address->targets);
    for (uint32_t i = 0; i < targets.count; i++) {
        if (ar_object_of(in->m, targets.data[i].cell)->is_function)
            continue;
        uint32_t from = list->count;
        add_element(in, list, targets.data[i], type);
        if (!holds_elements(ar_array_bottom(type)))
            for (uint32_t k = from, end = list->count; k < end; k++)
                add_regions(in, list, list->data[k]);
    }
}

/* ---- what an absent cell holds ------------------------------------------- */

uint32_t ar_same_path(ar_interp *in, uint32_t cell, uint32_t from,
                      uint32_t to) {
    if (cell == from)
        return to;
    ar_mem_cell c = *cell_at(in, cell);
    uint32_t parent = ar_same_path(in, c.parent, from, to);
    return parent
               ? ar_memory_find_child(in->m, parent, c.step, c.field, c.index)
               : 0;
}

static uint32_t known_id(ar_interp *in, uint32_t cell) {
    uint32_t id = ar_state_get(&in->state, cell);
    if (id)
        return id;
    bool is_part = true;
    for (uint32_t up = cell; up; up = cell_at(in, up)->parent) {
        ar_mem_cell c = *cell_at(in, up);
        uint32_t other = 0;
        is_part = is_part && c.step == AR_STEP_REGION;
        if (is_part) {
            id = ar_state_get(&in->state, c.parent);
            if (id)
                return id;
        }
        if (c.step == AR_STEP_INDEX && c.index != AR_ANY_INDEX)
            other = ar_memory_find_child(in->m, c.parent, AR_STEP_INDEX, NULL,
                                         AR_ANY_INDEX);
        else if (c.step == AR_STEP_ROOT && !c.type)
            other = ar_memory_find_child(in->m, up, AR_STEP_INDEX, NULL,
                                         AR_ANY_INDEX);
        if (other && other != up) {
            uint32_t twin = ar_same_path(in, cell, up, other);
            id = twin && twin != cell ? ar_state_get(&in->state, twin) : 0;
            if (id)
                return id;
        }
        /* A record that was cleared as a whole. */
        if (up != cell) {
            id = ar_state_get(&in->state, up);
            const ar_value *v = id ? ar_memory_value(in->m, id) : NULL;
            if (v && v->is_number && !v->number && !v->targets)
                return id;
        }
    }
    return 0;
}

static ar_value current(ar_interp *in, uint32_t cell) {
    uint32_t id = known_id(in, cell);
    if (id)
        return *ar_memory_value(in->m, id);
    if (ar_object_of(in->m, cell)->zero_default)
        return (ar_value){
            .node = AR_NODE_ZERO, .is_number = true, .may_be_null = true};
    return (ar_value){.is_undefined = true};
}

/* ---- loops: which iteration's value an access sees ----------------------- */

static uint64_t active_mask(const ar_interp *in) {
    return in->active.count >= 64 ? UINT64_MAX
                                  : ((uint64_t)1 << in->active.count) - 1;
}

static ar_access *access_of(ar_interp *in, ar_frame_loop *frame,
                            uint32_t cell) {
    uint32_t at = ar_access_at(frame, cell);
    if (!at) {
        ar_access fresh = {.write_tags = UINT64_MAX, .read_tags = UINT64_MAX};
        ar_access_add(in, frame, cell, fresh);
        at = frame->accesses.count;
    }
    return &frame->accesses.data[at - 1];
}

static void widen(ar_span *span, int64_t shift) {
    span->low = span->any && span->low < shift ? span->low : shift;
    span->high = span->any && span->high > shift ? span->high : shift;
    span->any = true;
}

static void record_access(ar_interp *in, uint32_t cell, const ar_value *address,
                          bool is_write) {
    if (!in->active.count)
        return;
    uint64_t tags =
        (address->offset_tags | address->pointer_tags) & active_mask(in);
    ar_frame_loop *frame = &in->active.data[in->active.count - 1];
    ar_access *a = access_of(in, frame, cell);
    uint32_t row = address->row && !address->pointer_tags
                       ? ar_row_start(in, address->row)
                       : 0;
    bool is_first = !a->is_written && !a->is_read;
    if (is_first || a->row != row)
        a->row = is_first ? row : 0;
    uint32_t now = in->barriers.passed;
    if (is_write) {
        a->write_tags &= tags;
        if (!a->is_written || now < a->first_write)
            a->first_write = now;
        a->is_written = true;
    } else {
        a->read_tags &= tags;
        if (now > a->last_read)
            a->last_read = now;
        a->is_read = true;
    }
    a->is_atomic |= in->barriers.in_atomic;
    if (!tags)
        return;
    int64_t shift = address->is_partial ? AR_NO_SHIFT : address->shift;
    int64_t pointer_shift = address->pointer_shift;
    a->mixed |= a->has_shift && a->shift != shift;
    a->pointer_mixed |= pointer_shift == AR_NO_SHIFT ||
                        (a->has_shift && a->pointer_shift != pointer_shift);
    a->shift = shift;
    a->pointer_shift = pointer_shift;
    a->offset_tags |= address->offset_tags & active_mask(in);
    a->pointer_tags |= address->pointer_tags & active_mask(in);
    a->has_shift = true;
    uint32_t depth = in->active.count - 1;
    if (!address->is_partial && depth < 64 && tags == (uint64_t)1 << depth)
        widen(is_write ? &a->writes : &a->reads, shift);
}

/* The loops whose tags count for this cell. */
static uint64_t valid_tags(ar_interp *in, uint32_t cell, uint64_t tags) {
    tags &= active_mask(in);
    for (uint32_t d = 0; d < in->active.count && d < 64; d++)
        if (tags >> d & 1 &&
            ar_idtable_get(&in->active.data[d].loop->mixed, cell, 0))
            tags &= ~((uint64_t)1 << d);
    return tags;
}

/* A cell that this iteration overwrote only at its own index still has its old
 * value at the others; a read that does not follow the index sees both. */
static ar_value with_heads(ar_interp *in, ar_node *at, uint32_t cell,
                           const ar_value *address, ar_value v) {
    uint64_t tags = address->offset_tags | address->pointer_tags;
    for (uint32_t d = in->active.count; d-- > 0;) {
        ar_frame_loop *frame = &in->active.data[d];
        uint32_t found = ar_access_at(frame, cell);
        if (!found || !frame->accesses.data[found - 1].is_written)
            continue;
        uint64_t missing = frame->accesses.data[found - 1].write_tags & ~tags &
                           (d >= 63 ? UINT64_MAX : ((uint64_t)2 << d) - 1);
        for (uint32_t k = 0; missing && k < 64; k++) {
            if (!(missing >> k & 1))
                continue;
            uint32_t id = ar_state_get(&in->active.data[k].head, cell);
            if (id) {
                ar_value old = *ar_memory_value(in->m, id);
                v = ar_join_values(in, at, 0x80000000u | cell, &v, &old);
            }
        }
    }
    return v;
}

/* ---- loads --------------------------------------------------------------- */

static ar_value loaded_pointer(const ar_value *address, ar_value v) {
    uint64_t tags = address->offset_tags | address->pointer_tags;
    if (v.targets && tags) {
        v.pointer_tags |= tags;
        int64_t shift = ar_shift_sum(address->pointer_shift, address->shift);
        v.pointer_shift = address->is_partial
                              ? AR_NO_SHIFT
                              : ar_shift_sum(v.pointer_shift, shift);
        v.is_partial = v.is_partial || address->is_partial;
        v.row = 0;
    } else if (!v.targets && !v.node && !v.is_number) {
        /* Two elements of a table of integers may be equal. */
        v.offset_tags = 0;
        v.symbol = 0;
        v.extent = v.row = 0;
        v.is_partial = true;
    }
    return v;
}

static ar_value load_cell(ar_interp *in, ar_node *at, const ar_value *address,
                          uint32_t cell, const ar_type *type) {
    ar_mem_cell *c = cell_at(in, cell);
    bool tagged = (address->offset_tags | address->pointer_tags) != 0;
    bool many = c->is_many || c->any_path || tagged;
    if (!c->scalar && type)
        c->scalar = ar_array_bottom(type);
    ar_value v = current(in, cell);
    const ar_focus *focus = ar_focus_at(in, v.node, address);
    uint32_t rest = focus ? 0 : ar_rest_of_slots(in, cell, v.node, address);
    if (focus || rest)
        v = ar_from_node(focus ? focus->fresh : rest);
    if (many) {
        v = with_heads(in, at, cell, address, v);
        record_access(in, cell, address, false);
        v = loaded_pointer(address, v);
    } else if (ar_object_of(in->m, cell)->is_summary) {
        record_access(in, cell, address, false);
        v = loaded_pointer(address, v);
    }
    ar_scalar_access(in, at, cell, false);
    return v;
}

/* Equal for two accesses that mean the same cells in each iteration. */
static uint64_t address_key(const ar_value *address) {
    return ((uint64_t)address->targets << 32) ^
           (uint64_t)address->shift * 0x9e3779b97f4a7c15u ^
           (uint64_t)address->pointer_shift * 0x94d049bb133111ebu ^
           (address->pointer_tags << 1) * 0xbf58476d1ce4e5b9u ^ 1;
}

ar_value ar_interp_load(ar_interp *in, ar_node *at, const ar_value *address,
                        const ar_type *type) {
    cell_list list = {0};
    cells_of(in, address, type, &list);
    in->work += list.count;
    bool floating = ar_is_floating(type);
    /* Nothing is read through a null pointer. */
    if (!list.count && address->is_number && !address->number)
        return floating ? ar_from_node(AR_NODE_UNDEFINED)
                        : (ar_value){.is_undefined = true};
    if (!list.count)
        return floating
                   ? ar_from_node(ar_graph_node(in, AR_V_INPUT, at, 0, NULL, 0))
                   : ar_unknown();
    if (!floating) {
        ar_value v = load_cell(in, at, address, list.data[0], type);
        for (uint32_t i = 1; i < list.count; i++) {
            ar_value next = load_cell(in, at, address, list.data[i], type);
            v = ar_join_values(in, at, 0x80000000u | i, &v, &next);
        }
        v.node = 0;
        ar_name_pointer(in, address, address->targets, &v);
        return v;
    }
    uint32_t *nodes = AR_NEW_ARRAY(in->arena, uint32_t, list.count);
    uint32_t count = 0;
    ar_value only = {0};
    for (uint32_t i = 0; i < list.count; i++) {
        ar_value v = load_cell(in, at, address, list.data[i], type);
        only = v;
        uint32_t node = ar_float_of(in, &v);
        if (node == AR_NODE_UNDEFINED && list.count > 1)
            continue;
        bool known = false;
        for (uint32_t k = 0; k < count; k++)
            known |= nodes[k] == node;
        if (!known)
            nodes[count++] = node;
    }
    if (!count)
        return ar_from_node(AR_NODE_UNDEFINED);
    /* One object that stands for many: the address says which. */
    bool summary = ar_object_of(in->m, list.data[0])->is_summary;
    if (count == 1 && !(summary && list.count == 1)) {
        ar_value v = ar_from_node(nodes[0]);
        v.is_number = list.count == 1 && only.is_number;
        v.number = v.is_number ? only.number : 0;
        return v;
    }
    uint32_t phi = ar_graph_node(in, AR_V_PHI, at, 0x80000000u, nodes, count);
    AR_VN(in, phi)->address = address_key(address);
    return ar_from_node(phi);
}

uint32_t ar_load_block(ar_interp *in, ar_node *at, const ar_value *address) {
    static const ar_type float_type = {
        .kind = AR_TYPE_FLOAT, .bytes = 4, .spelling = "float"};
    ar_value v = ar_interp_load(in, at, address, &float_type);
    return ar_float_of(in, &v);
}

/* ---- stores -------------------------------------------------------------- */

static bool is_scalar_many(const ar_mem_cell *c) {
    return c->is_many && !(c->type && holds_elements(c->type));
}

/* Of the element that the address means: all of it? */
static bool covers(ar_interp *in, uint32_t cell, const ar_value *address,
                   bool whole) {
    const ar_mem_cell *c = cell_at(in, cell);
    bool scalar_many = is_scalar_many(c);
    if (!scalar_many ||
        (c->type && c->type->kind != AR_TYPE_ARRAY && c->step == AR_STEP_FIELD))
        return !address->is_partial || !scalar_many;
    if (address->is_partial)
        return false;
    uint64_t offset = valid_tags(in, cell, address->offset_tags);
    if (whole) {
        const ar_targets *set = ar_memory_targets(in->m, address->targets);
        bool from_start = true;
        for (uint32_t i = 0; i < set->count; i++)
            from_start &= set->data[i].index == 0;
        return from_start || offset;
    }
    in->assumes_index_covers |= offset != 0;
    return offset != 0;
}

static bool replaces(ar_interp *in, uint32_t cell, const ar_value *address,
                     uint32_t cells, bool whole) {
    const ar_mem_cell *c = cell_at(in, cell);
    const ar_mem_object *object = ar_object_of(in->m, cell);
    uint64_t offset = valid_tags(in, cell, address->offset_tags);
    uint64_t pointer = valid_tags(in, cell, address->pointer_tags);
    uint32_t targets = ar_memory_targets(in->m, address->targets)->count;
    if (targets > 1 && !pointer)
        return false;
    if (object->is_summary && !pointer)
        return false;
    if (cells > targets && !(offset | pointer) && cell_at(in, cell)->any_path)
        return false;
    if (!c->any_path && !is_scalar_many(c))
        return true;
    if (c->any_path && !(offset | pointer))
        return false;
    return covers(in, cell, address, whole);
}

static void put(ar_interp *in, uint32_t cell, const ar_value *v) {
    ar_state_set(in->m, &in->state, cell, ar_memory_intern(in->m, v));
}

typedef struct float_store {
    ar_node *at;
    const ar_value *address;
    uint32_t cell, node;
    bool strong, covers, is_clear;
} float_store;

static uint32_t store_node(ar_interp *in, const float_store *s, uint32_t kept) {
    uint32_t inputs[2] = {s->node, kept};
    uint32_t id =
        ar_graph_node(in, AR_V_STORE, s->at, s->cell, inputs, kept ? 2 : 1);
    ar_vnode *v = AR_VN(in, id);
    v->is_array_clear = s->is_clear;
    v->address = address_key(s->address);
    v->tags = s->address->offset_tags | s->address->pointer_tags;
    v->pointer_tags = s->address->pointer_tags;
    v->covers = s->covers;
    return id;
}

static uint32_t store_among_others(ar_interp *in, const float_store *s) {
    ar_value old = current(in, s->cell);
    uint32_t rest = ar_float_of(in, &old);
    if (ar_can_focus(in, s->at, s->address)) {
        const ar_focus *f = ar_focus_at(in, rest, s->address);
        if (f || s->covers) {
            uint32_t kept = f && !s->covers ? f->fresh : 0;
            rest = f ? f->rest : rest;
            return ar_focus_on(in, s->at, s->cell, s->address,
                               store_node(in, s, kept), rest);
        }
    }
    return store_node(in, s, rest == AR_NODE_UNDEFINED ? 0 : rest);
}

static void store_float(ar_interp *in, const float_store *s,
                        const ar_value *value) {
    ar_value v = ar_from_node(s->strong ? store_node(in, s, 0)
                                        : store_among_others(in, s));
    if (value && s->strong && !cell_at(in, s->cell)->is_many &&
        value->is_number) {
        v.is_number = true;
        v.number = value->number;
    }
    put(in, s->cell, &v);
}

/* Is another place kept in the slot at each turn of a loop? */
static bool is_moved(const ar_interp *in, const ar_node *at,
                     const ar_value *address) {
    if (at->kind == AR_COMPOUND_ASSIGN || at->kind == AR_UNARY)
        return true;
    uint64_t tags = address->offset_tags | address->pointer_tags;
    for (uint32_t d = in->frame ? in->frame->context->loop_depth : 0;
         d < in->active.count && d < 64; d++)
        if (!(tags >> d & 1))
            return true;
    return false;
}

/* A pointer into the middle of an allocation, kept in a slot: the slot's part
 * of the allocation becomes a region of its own. */
static ar_value with_regions(ar_interp *in, uint32_t slot,
                             const ar_value *value) {
    const ar_mem_cell *s = cell_at(in, slot);
    const ar_object *o = &ar_object_of(in->m, slot)->as;
    /* a local that names a part for good, set outside all loops, is a slot */
    bool is_local = s->step == AR_STEP_ROOT && o->kind == AR_OBJECT_LOCAL;
    bool moves = is_local &&
                 (in->active.count || !o->decl || !ar_is_set_once(in, o->decl));
    if (moves || !value->targets || !s->scalar ||
        s->scalar->kind != AR_TYPE_POINTER ||
        !ar_is_floating(s->scalar->element))
        return *value;
    ar_targets set = *ar_memory_targets(in->m, value->targets);
    ar_target *targets = AR_NEW_ARRAY(in->arena, ar_target, set.count);
    bool changed = false;
    for (uint32_t i = 0; i < set.count; i++) {
        targets[i] = set.data[i];
        if (targets[i].index == 0 ||
            (cell_at(in, targets[i].cell)->step == AR_STEP_REGION &&
             !is_local) ||
            (cell_at(in, targets[i].cell)->type &&
             cell_at(in, targets[i].cell)->type->kind != AR_TYPE_ARRAY))
            continue;
        uint32_t region = ar_memory_child(in->m, targets[i].cell,
                                          AR_STEP_REGION, NULL, slot, NULL);
        if (!cell_at(in, region)->scalar)
            cell_at(in, region)->scalar = s->scalar->element;
        targets[i] = (ar_target){region, 0};
        changed = true;
    }
    if (!changed)
        return *value;
    ar_value v = *value;
    v.targets = ar_memory_set(in->m, targets, set.count);
    v.offset_tags = 0;
    v.shift = 0;
    v.symbol = 0;
    v.row = 0;
    v.is_partial = false;
    return v;
}

/* An object that is allocated in a loop and kept in a table, a list or another
 * such object stands for many. */
static void note_kept(ar_interp *in, uint32_t slot, const ar_value *address,
                      const ar_value *value) {
    ar_targets set = *ar_memory_targets(in->m, value->targets);
    ar_mem_object *holder = ar_object_of(in->m, slot);
    uint64_t tags = address->offset_tags | address->pointer_tags;
    for (uint32_t i = 0; i < set.count; i++) {
        ar_mem_object *object = ar_object_of(in->m, set.data[i].cell);
        if (object->as.kind != AR_OBJECT_HEAP || object->is_summary)
            continue;
        uint32_t depth = object->loop_depth;
        uint64_t around = ((uint64_t)1 << (depth < 63 ? depth : 63)) - 1;
        if (tags & around || object == holder || (holder->is_summary && depth))
            object->is_summary = true;
    }
}

static const ar_decl *innermost_field(ar_interp *in, uint32_t cell) {
    while (cell && !cell_at(in, cell)->field)
        cell = cell_at(in, cell)->parent;
    return cell ? cell_at(in, cell)->field : NULL;
}

static void log_pointer_store(ar_interp *in, ar_node *at, uint32_t slot,
                              const ar_value *value) {
    ar_targets set = *ar_memory_targets(in->m, value->targets);
    for (uint32_t i = 0; i < set.count; i++) {
        ar_mem_object *target = ar_object_of(in->m, set.data[i].cell);
        if (target->is_function)
            continue;
        uint64_t what = (uint64_t)slot << 32 | set.data[i].cell;
        if (ar_idtable_get(&in->store_ids, ar_key(at), what))
            continue;
        ar_idtable_put(&in->store_ids, ar_key(at), what, 1);
        const ar_context *context = in->frame->context;
        ar_mem_object *holder = ar_object_of(in->m, slot);
        bool declares = at->kind == AR_DECL_STMT;
        AR_PUSH(in->arena, &in->stores,
                (ar_pointer_store){
                    .unit = context->unit,
                    .function = context->function,
                    .node = at,
                    .variable = declares ? holder->as.decl : NULL,
                    .holder = &holder->as,
                    .holder_path = ar_memory_path(in->m, slot),
                    .field = innermost_field(in, slot),
                    .target = &target->as,
                    .target_path = ar_memory_path(in->m, set.data[i].cell),
                    .at_start =
                        set.data[i].index == 0 &&
                        cell_at(in, set.data[i].cell)->step == AR_STEP_ROOT});
    }
}

static void store_cell(ar_interp *in, ar_node *at, const ar_value *address,
                       uint32_t cell, uint32_t cells, const ar_type *type,
                       const ar_value *value) {
    ar_mem_cell *c = cell_at(in, cell);
    if (!c->scalar && type)
        c->scalar = ar_array_bottom(type);
    bool strong = replaces(in, cell, address, cells, false);
    bool tagged = (address->offset_tags | address->pointer_tags) != 0;
    if (c->is_many || c->any_path || tagged ||
        ar_object_of(in->m, cell)->is_summary)
        record_access(in, cell, address, true);
    ar_scalar_access(in, at, cell, true);
    if (ar_is_floating(type)) {
        float_store s = {at,     address,
                         cell,   ar_float_of(in, value),
                         strong, strong || covers(in, cell, address, false),
                         false};
        store_float(in, &s, value);
        return;
    }
    ar_value v = *value;
    v.node = 0;
    if (v.targets) {
        ar_table_changed(in, cell);
        if (!is_moved(in, at, address))
            v = with_regions(in, cell, &v);
        note_kept(in, cell, address, &v);
        if (at->kind == AR_ASSIGN || at->kind == AR_DECL_STMT ||
            at->kind == AR_CALL)
            log_pointer_store(in, at, cell, &v);
    }
    c = cell_at(in, cell);
    bool is_one =
        !c->is_many && !c->any_path && !ar_object_of(in->m, cell)->is_summary;
    if (c->is_many && !v.targets && !v.is_number) {
        v.offset_tags = 0;
        v.symbol = 0;
        v.is_partial = true;
    }
    if (!is_one)
        v.extent = v.row = 0;
    else if (ar_is_size(&v) && !v.extent && type && type->kind == AR_TYPE_INT)
        v.extent = ar_new_extent(in, at, cell);
    if (!strong) {
        ar_value old = current(in, cell);
        old.node = 0;
        v = ar_join_values(in, at, 0x80000000u | cell, &old, &v);
    }
    put(in, cell, &v);
}

/* Memory that is not known may be read by anybody. */
static void store_nowhere(ar_interp *in, ar_node *at, const ar_value *address,
                          uint32_t cells, uint32_t node) {
    bool is_null = address->is_number && !address->number;
    if (!cells && !is_null && !address->is_undefined)
        ar_graph_sink(in, AR_SINK_UNKNOWN, at, node, 0);
}

void ar_interp_store(ar_interp *in, ar_node *at, const ar_value *address,
                     const ar_type *type, const ar_value *value) {
    cell_list list = {0};
    cells_of(in, address, type, &list);
    in->work += list.count;
    store_nowhere(in, at, address, list.count,
                  ar_is_floating(type) ? ar_float_of(in, value)
                                       : AR_NODE_UNDEFINED);
    for (uint32_t i = 0; i < list.count; i++)
        store_cell(in, at, address, list.data[i], list.count, type, value);
}

void ar_store_block(ar_interp *in, ar_node *at, const ar_value *address,
                    uint32_t node, bool is_clear) {
    static const ar_type float_type = {
        .kind = AR_TYPE_FLOAT, .bytes = 4, .spelling = "float"};
    cell_list list = {0};
    cells_of(in, address, &float_type, &list);
    store_nowhere(in, at, address, list.count, node);
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t cell = list.data[i];
        if (!cell_at(in, cell)->scalar)
            cell_at(in, cell)->scalar = &float_type;
        bool strong = replaces(in, cell, address, list.count, true);
        record_access(in, cell, address, true);
        float_store s = {at,      address,
                         cell,    node,
                         strong,  strong || covers(in, cell, address, true),
                         is_clear};
        store_float(in, &s, NULL);
    }
}
