#include "core/memory.h"

/* ---- objects and cells --------------------------------------------------- */

ar_memory *ar_memory_new(ar_arena *arena) {
    ar_memory *m = AR_NEW(arena, ar_memory);
    m->arena = arena;
    m->object_ids.arena = m->cell_ids.arena = m->set_unions.arena = arena;
    AR_PUSH(arena, &m->objects, NULL);
    AR_PUSH(arena, &m->cells, (ar_mem_cell){0});
    AR_PUSH(arena, &m->values, (ar_value){0});
    AR_PUSH(arena, &m->sets, (ar_targets){0});
    return m;
}

ar_mem_object *ar_memory_object(ar_memory *m, uint64_t a, uint64_t b,
                                bool *is_new) {
    uint32_t id = ar_idtable_get(&m->object_ids, a, b);
    *is_new = !id;
    if (id)
        return m->objects.data[id];
    ar_mem_object *object = AR_NEW(m->arena, ar_mem_object);
    object->as.id = m->objects.count;
    ar_idtable_put(&m->object_ids, a, b, m->objects.count);
    AR_PUSH(m->arena, &m->objects, object);
    return object;
}

static bool is_scalar_array(const ar_type *type) {
    if (!type || type->kind != AR_TYPE_ARRAY)
        return false;
    uint64_t count = 1;
    for (; type->kind == AR_TYPE_ARRAY; type = type->element)
        count *= type->count;
    return count != 1 && type->kind != AR_TYPE_RECORD &&
           type->kind != AR_TYPE_POINTER;
}

static uint32_t add_cell(ar_memory *m, ar_mem_cell cell) {
    AR_PUSH(m->arena, &m->cells, cell);
    return m->cells.count - 1;
}

uint32_t ar_memory_root(ar_memory *m, ar_mem_object *object,
                        const ar_type *type) {
    if (!object->root)
        object->root = add_cell(
            m, (ar_mem_cell){.object = object->as.id,
                             .step = AR_STEP_ROOT,
                             .type = type,
                             .is_many = !type || is_scalar_array(type)});
    return object->root;
}

static uint64_t child_key(ar_step_kind step, const ar_decl *field,
                          int64_t index) {
    if (step == AR_STEP_FIELD)
        return (uint64_t)field->id << 2 | (uint64_t)step;
    if (index == AR_ANY_INDEX)
        return UINT64_MAX << 2 | (uint64_t)step;
    if (ar_is_kind_index(index))
        return (UINT64_MAX - (uint64_t)(index - INT64_MIN)) << 2 |
               (uint64_t)step;
    return (uint64_t)index << 3 | (uint64_t)step;
}

uint32_t ar_memory_find_child(const ar_memory *m, uint32_t parent,
                              ar_step_kind step, const ar_decl *field,
                              int64_t index) {
    return ar_idtable_get(&m->cell_ids, parent, child_key(step, field, index));
}

uint32_t ar_memory_child(ar_memory *m, uint32_t parent, ar_step_kind step,
                         const ar_decl *field, int64_t index,
                         const ar_type *type) {
    uint64_t key = child_key(step, field, index);
    uint32_t id = ar_idtable_get(&m->cell_ids, parent, key);
    if (id)
        return id;
    const ar_mem_cell *up = &m->cells.data[parent];
    bool any =
        up->any_path || (step == AR_STEP_INDEX &&
                         (index == AR_ANY_INDEX || ar_is_kind_index(index)));
    ar_mem_cell cell = {.object = up->object,
                        .parent = parent,
                        .step = step,
                        .field = field,
                        .index = index,
                        .type = type,
                        .next_sibling = up->first_child,
                        .any_path = any,
                        .is_many = any || step == AR_STEP_REGION ||
                                   is_scalar_array(type)};
    id = add_cell(m, cell);
    m->cells.data[parent].first_child = id;
    ar_idtable_put(&m->cell_ids, parent, key, id);
    return id;
}

static void add_path(ar_memory *m, ar_str *out, uint32_t id) {
    const ar_mem_cell *cell = &m->cells.data[id];
    if (cell->parent)
        add_path(m, out, cell->parent);
    switch (cell->step) {
    case AR_STEP_ROOT:
        break;
    case AR_STEP_FIELD:
        ar_str_addf(out, ".%s", cell->field->name);
        break;
    case AR_STEP_INDEX:
        if (cell->index == AR_ANY_INDEX || ar_is_kind_index(cell->index))
            ar_str_add(out, "[*]");
        else
            ar_str_addf(out, "[%lld]", (long long)cell->index);
        break;
    case AR_STEP_REGION: {
        const ar_mem_cell *slot = &m->cells.data[cell->index];
        const ar_object *holder = &ar_object_of(m, (uint32_t)cell->index)->as;
        if (slot->step == AR_STEP_FIELD)
            ar_str_addf(out, "+%s", slot->field->name);
        else if (slot->step == AR_STEP_ROOT && holder->decl)
            ar_str_addf(out, "+%s", holder->decl->name);
        else
            ar_str_addf(out, "+r%lld", (long long)cell->index);
        break;
    }
    }
}

const char *ar_memory_path(ar_memory *m, uint32_t cell) {
    ar_str out = {.arena = m->arena};
    add_path(m, &out, cell);
    return ar_str_text(&out);
}

/* ---- values and sets ----------------------------------------------------- */

static uint64_t hash_value(const ar_value *v) {
    uint64_t flags = (uint64_t)v->is_number | (uint64_t)v->may_be_null << 1 |
                     (uint64_t)v->is_partial << 2 |
                     (uint64_t)v->is_undefined << 3 |
                     (uint64_t)v->excludes << 4;
    uint64_t h = ar_mix((uint64_t)v->node << 32 | v->targets, v->offset_tags);
    h = ar_mix(h ^ v->pointer_tags, (uint64_t)v->shift);
    h = ar_mix(h, (uint64_t)v->extent << 32 | v->row);
    h = ar_mix(h ^ (uint64_t)v->number, flags ^ (uint64_t)v->pointer_shift);
    return v->symbol | v->pointer_symbol
               ? ar_mix(h, (uint64_t)v->symbol << 32 | v->pointer_symbol)
               : h;
}

static bool same_value(const ar_value *a, const ar_value *b) {
    return a->node == b->node && a->targets == b->targets &&
           a->offset_tags == b->offset_tags &&
           a->pointer_tags == b->pointer_tags && a->shift == b->shift &&
           a->pointer_shift == b->pointer_shift && a->number == b->number &&
           a->extent == b->extent && a->row == b->row &&
           a->is_number == b->is_number && a->excludes == b->excludes &&
           a->may_be_null == b->may_be_null && a->is_partial == b->is_partial &&
           a->is_undefined == b->is_undefined && a->symbol == b->symbol &&
           a->pointer_symbol == b->pointer_symbol;
}

static uint32_t *grow_buckets(ar_memory *m, uint32_t *capacity) {
    *capacity = *capacity ? 2 * *capacity : 1024;
    return AR_NEW_ARRAY(m->arena, uint32_t, *capacity);
}

uint32_t ar_memory_intern(ar_memory *m, const ar_value *value) {
    if (2 * m->values.count >= m->value_capacity) {
        m->value_buckets = grow_buckets(m, &m->value_capacity);
        for (uint32_t i = 1; i < m->values.count; i++) {
            uint32_t k = (uint32_t)hash_value(&m->values.data[i]);
            while (m->value_buckets[k &= m->value_capacity - 1])
                k++;
            m->value_buckets[k] = i;
        }
    }
    uint32_t k = (uint32_t)hash_value(value);
    for (;; k++) {
        uint32_t id = m->value_buckets[k &= m->value_capacity - 1];
        if (!id)
            break;
        if (same_value(&m->values.data[id], value))
            return id;
    }
    m->value_buckets[k] = m->values.count;
    AR_PUSH(m->arena, &m->values, *value);
    return m->values.count - 1;
}

static uint64_t hash_set(const ar_target *targets, uint32_t count) {
    uint64_t h = count;
    for (uint32_t i = 0; i < count; i++)
        h = ar_mix(h ^ targets[i].cell, (uint64_t)targets[i].index);
    return h;
}

static bool same_set(const ar_targets *a, const ar_target *b, uint32_t count) {
    if (a->count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (a->data[i].cell != b[i].cell || a->data[i].index != b[i].index)
            return false;
    return true;
}

static int order_targets(const ar_target *a, const ar_target *b) {
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Sorted, without duplicates; a few constant indices into one cell stay apart,
 * more become one unknown index. */
static uint32_t normalise(ar_target *t, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        ar_target one = t[i];
        uint32_t k = i;
        for (; k && order_targets(&t[k - 1], &one) > 0; k--)
            t[k] = t[k - 1];
        t[k] = one;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count;) {
        uint32_t end = i;
        bool any = false;
        uint32_t different = 0;
        for (; end < count && t[end].cell == t[i].cell; end++) {
            any |= t[end].index == AR_ANY_INDEX;
            different += end == i || t[end].index != t[end - 1].index;
        }
        if (any || different > 8) {
            t[kept++] = (ar_target){t[i].cell, AR_ANY_INDEX};
        } else {
            for (uint32_t k = i; k < end; k++)
                if (k == i || t[k].index != t[k - 1].index)
                    t[kept++] = t[k];
        }
        i = end;
    }
    return kept;
}

static uint32_t intern_set(ar_memory *m, const ar_target *targets,
                           uint32_t count) {
    ar_target small[16];
    ar_target *t =
        count <= 16 ? small : AR_NEW_ARRAY(m->arena, ar_target, count);
    memcpy(t, targets, count * sizeof *t);
    count = normalise(t, count);
    if (2 * m->sets.count >= m->set_capacity) {
        m->set_buckets = grow_buckets(m, &m->set_capacity);
        for (uint32_t i = 1; i < m->sets.count; i++) {
            uint32_t k =
                (uint32_t)hash_set(m->sets.data[i].data, m->sets.data[i].count);
            while (m->set_buckets[k &= m->set_capacity - 1])
                k++;
            m->set_buckets[k] = i;
        }
    }
    uint32_t k = (uint32_t)hash_set(t, count);
    for (;; k++) {
        uint32_t id = m->set_buckets[k &= m->set_capacity - 1];
        if (!id)
            break;
        if (same_set(&m->sets.data[id], t, count))
            return id;
    }
    ar_targets set = {AR_NEW_ARRAY(m->arena, ar_target, count), count};
    memcpy(set.data, t, count * sizeof *t);
    m->set_buckets[k] = m->sets.count;
    AR_PUSH(m->arena, &m->sets, set);
    return m->sets.count - 1;
}

uint32_t ar_memory_set(ar_memory *m, const ar_target *targets, uint32_t count) {
    if (!count)
        return 0;
    if (count > 1 || targets->index)
        return intern_set(m, targets, count);
    /* every name of a variable asks for this one */
    ar_mem_cell *cell = &m->cells.data[targets->cell];
    if (!cell->set)
        cell->set = intern_set(m, targets, 1);
    return cell->set;
}

uint32_t ar_memory_union(ar_memory *m, uint32_t a, uint32_t b) {
    if (a == b || !b)
        return a;
    if (!a)
        return b;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    uint32_t known = ar_idtable_get(&m->set_unions, low, high);
    if (known)
        return known;
    ar_targets x = m->sets.data[a], y = m->sets.data[b];
    ar_target *t = AR_NEW_ARRAY(m->arena, ar_target, x.count + y.count);
    memcpy(t, x.data, x.count * sizeof *t);
    memcpy(t + x.count, y.data, y.count * sizeof *t);
    known = ar_memory_set(m, t, x.count + y.count);
    ar_idtable_put(&m->set_unions, low, high, known);
    return known;
}
