/* Paths that are followed apart.
 *
 * Where two branches of an if meet, states are joined, and what belonged
 * together is lost: that `b` is the scratch buffer exactly where it was filled,
 * that a record with this `forward` has those buffers. Two things are therefore
 * kept apart inside loops, to the end of the block they arise in: branches that
 * leave a local pointer to floats at different memory, or a record with other
 * function pointers; and the kinds of record that a table holds (one per set of
 * function pointers) when an element is copied out of it at a loop's own index.
 * What runs on a path has nodes and contexts of its own. */
#include "core/interp.h"

enum {
    MAX_POINTER_FORKS = 2, /* one after the other, or in calls */
    MAX_RECORD_FORKS = 4,
    MAX_KINDS = 64
};

/* ---- names --------------------------------------------------------------- */

uint32_t ar_path_of(ar_interp *in, const ar_node *at, uint32_t branch) {
    uint64_t b = (uint64_t)in->path << 32 | branch;
    uint32_t id = ar_idtable_get(&in->path_ids, ar_key(at), b);
    if (!id) {
        id = ++in->path_count;
        ar_idtable_put(&in->path_ids, ar_key(at), b, id);
    }
    return id;
}

/* ---- where branches meet ------------------------------------------------- */

typedef struct comparison {
    ar_interp *in;
    bool records, pointers;
} comparison;

static bool points_to_function(const ar_type *type) {
    return type && type->kind == AR_TYPE_POINTER && type->element &&
           type->element->kind == AR_TYPE_FUNCTION;
}

static void compare_cell(void *context, uint32_t cell, uint32_t a, uint32_t b) {
    comparison *k = context;
    const ar_memory *m = k->in->m;
    const ar_mem_cell *c = &m->cells.data[cell];
    const ar_type *type = c->type;
    if (!type || type->kind != AR_TYPE_POINTER || c->any_path)
        return;
    const ar_mem_object *o = ar_object_of(m, cell);
    if (o->as.kind != AR_OBJECT_LOCAL ||
        o->context != k->in->frame->context->id)
        return;
    uint32_t x = ar_memory_value(m, a)->targets;
    uint32_t y = ar_memory_value(m, b)->targets;
    if (points_to_function(type))
        k->records |= c->step == AR_STEP_FIELD && x != y;
    else if (c->step == AR_STEP_ROOT && ar_is_floating(type->element))
        k->pointers |= x && y && x != y;
}

bool ar_fork_branches(ar_interp *in, ar_node *at, ar_state *taken) {
    if (!in->active.count || !in->frame || taken->dead || in->state.dead)
        return false;
    comparison k = {.in = in};
    ar_state_diff(taken, &in->state, compare_cell, &k);
    if (in->fork_depth >= (k.records    ? MAX_RECORD_FORKS
                           : k.pointers ? MAX_POINTER_FORKS
                                        : 0))
        return false;
    AR_PUSH(in->arena, &in->splits,
            ((ar_split){.state = ar_state_take(taken),
                        .path = ar_path_of(in, at, 1),
                        .fork_depth = in->fork_depth + 1}));
    return true;
}

/* ---- kinds of record ----------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* The kind of the record in this cell: 0 where it holds no functions. */
static uint32_t kind_of(ar_interp *in, uint32_t cell) {
    const ar_memory *m = in->m;
    uint64_t signature = 0;
    for (uint32_t kid = m->cells.data[cell].first_child; kid;
         kid = m->cells.data[kid].next_sibling) {
        const ar_mem_cell *c = &m->cells.data[kid];
        if (c->step != AR_STEP_FIELD || !points_to_function(c->type))
            continue;
        uint32_t id = ar_state_get(&in->state, kid);
        uint32_t targets = id ? ar_memory_value(m, id)->targets : 0;
        if (targets)
            signature += mix(c->field->id + 1ull, targets);
    }
    if (!signature)
        return 0;
    uint32_t kind = ar_idtable_get(&in->kind_ids, signature, 0);
    if (!kind && in->kind_count < MAX_KINDS) {
        kind = ++in->kind_count;
        ar_idtable_put(&in->kind_ids, signature, 0, kind);
    }
    return kind;
}

uint32_t ar_kind_cell(ar_interp *in, ar_target to, uint32_t source,
                      const ar_type *type) {
    const ar_mem_cell *array = &in->m->cells.data[to.cell];
    bool is_table = to.index == AR_ANY_INDEX &&
                    (!array->type || array->type->kind == AR_TYPE_ARRAY) &&
                    array->step != AR_STEP_REGION;
    uint32_t kind = is_table ? kind_of(in, source) : 0;
    return kind ? ar_memory_child(in->m, to.cell, AR_STEP_INDEX, NULL,
                                  AR_KIND_INDEX(kind), type)
                : 0;
}

/* The copy is a statement of its own. */
static bool is_statement_copy(const ar_interp *in, const ar_node *at) {
    const ar_node *s = in->statement;
    if (!s)
        return false;
    return s->kind == AR_DECL_STMT
               ? s == at && s->decl_count == 1
               : s->kind == AR_EXPR_STMT && s->kids[0] == at;
}

static bool is_followed(const ar_interp *in, uint32_t table) {
    for (uint32_t i = 0; i < in->forked_tables.count; i++)
        if (in->forked_tables.data[i] == table)
            return true;
    return false;
}

bool ar_fork_kinds(ar_interp *in, ar_node *at, const ar_value *to,
                   const ar_value *from, const ar_type *type) {
    ar_targets set = *ar_memory_targets(in->m, from->targets);
    if (!in->active.count || in->active.count > 64 || set.count != 1 ||
        set.data[0].index != AR_ANY_INDEX || !is_statement_copy(in, at) ||
        is_followed(in, set.data[0].cell))
        return false;
    uint64_t bit = (uint64_t)1 << (in->active.count - 1);
    if (!(from->offset_tags & bit))
        return false;
    uint32_t table = set.data[0].cell, kinds = 0;
    AR_VEC(uint32_t) elements = {0};
    for (uint32_t kid = in->m->cells.data[table].first_child; kid;
         kid = in->m->cells.data[kid].next_sibling) {
        const ar_mem_cell *c = &in->m->cells.data[kid];
        if (c->step != AR_STEP_INDEX || !c->first_child)
            continue;
        AR_PUSH(in->arena, &elements, kid);
        kinds += ar_is_kind_index(c->index);
    }
    if (kinds < 2)
        return false;
    AR_PUSH(in->arena, &in->forks,
            ((ar_fork){ar_state_copy(in->state), bit, table}));
    uint32_t fork = in->forks.count;
    for (uint32_t i = 0; i < elements.count; i++) {
        ar_target element = {elements.data[i], 0};
        ar_value one = *from;
        one.targets = ar_memory_set(in->m, &element, 1);
        uint32_t path = in->path;
        ar_state_drop(in->m, &in->state);
        in->state = ar_state_copy(in->forks.data[fork - 1].base);
        in->path = ar_path_of(in, at, element.cell);
        ar_copy_record(in, at, to, &one, type, false);
        AR_PUSH(in->arena, &in->splits,
                ((ar_split){.state = ar_state_take(&in->state),
                            .path = in->path,
                            .fork_depth = in->fork_depth,
                            .fork = fork,
                            .kind = element.cell}));
        in->path = path;
    }
    return true;
}

/* ---- what a kind of record reaches --------------------------------------- */

typedef AR_VEC(uint32_t) id_list;

static void add_cells(ar_interp *in, const ar_state *state, uint32_t cell,
                      ar_idtable *seen, id_list *objects) {
    uint32_t id = ar_state_get(state, cell);
    ar_targets set =
        *ar_memory_targets(in->m, id ? ar_memory_value(in->m, id)->targets : 0);
    for (uint32_t i = 0; i < set.count; i++) {
        const ar_mem_object *o = ar_object_of(in->m, set.data[i].cell);
        if (o->is_function || ar_idtable_get(seen, o->as.id, 0))
            continue;
        ar_idtable_put(seen, o->as.id, 0, 1);
        AR_PUSH(in->arena, objects, o->as.id);
    }
    for (uint32_t kid = in->m->cells.data[cell].first_child; kid;
         kid = in->m->cells.data[kid].next_sibling)
        add_cells(in, state, kid, seen, objects);
}

static ar_idtable reach_of(ar_interp *in, const ar_state *state,
                           uint32_t cell) {
    ar_idtable seen = {.arena = in->arena};
    id_list objects = {0};
    add_cells(in, state, cell, &seen, &objects);
    for (uint32_t i = 0; i < objects.count; i++)
        add_cells(in, state, in->m->objects.data[objects.data[i]]->root, &seen,
                  &objects);
    return seen;
}

/* ---- to the end of the block --------------------------------------------- */

typedef struct change {
    uint32_t path, value, next;
} change;

typedef struct changes {
    ar_interp *in;
    uint32_t path;    /* number of the alternative */
    ar_idtable first; /* cell -> 1 + its first entry in list */
    AR_VEC(change) list;
    AR_VEC(uint32_t) cells;
} changes;

static void add_change(void *context, uint32_t cell, uint32_t now,
                       uint32_t before) {
    changes *k = context;
    (void)before;
    uint32_t first = ar_idtable_get(&k->first, cell, 0);
    if (!first)
        AR_PUSH(k->in->arena, &k->cells, cell);
    AR_PUSH(k->in->arena, &k->list, ((change){k->path, now, first}));
    ar_idtable_put(&k->first, cell, 0, k->list.count);
}

/* Each write of it in the running iteration was of an object that the loop's
 * own element points to. */
static bool is_own_element(ar_interp *in, uint64_t bit, uint32_t cell) {
    ar_frame_loop *frame = &in->active.data[in->active.count - 1];
    uint32_t at = ar_access_at(frame, cell);
    if (!at || ar_idtable_get(&frame->loop->mixed, cell, 0))
        return false;
    const ar_access *a = &frame->accesses.data[at - 1];
    return a->is_written && a->write_tags & bit && !(a->offset_tags & bit) &&
           !ar_is_mixed(a, bit);
}

/* The elements of a kind are what its path makes of them: what the paths of
 * other kinds leave as it was counts only for memory that these reach. */
static void join_kinds(ar_interp *in, ar_node *at, ar_split *ends,
                       uint32_t count) {
    ar_fork *fork = &in->forks.data[ends[0].fork - 1];
    changes k = {.in = in, .first = {.arena = in->arena}};
    uint32_t alive = 0;
    ar_idtable *reach = AR_NEW_ARRAY(in->arena, ar_idtable, count);
    for (uint32_t i = 0; i < count; i++) {
        if (ends[i].state.dead)
            continue;
        k.path = i;
        ar_state_diff(&ends[i].state, &fork->base, add_change, &k);
        reach[i] = reach_of(in, &fork->base, ends[i].kind);
        alive++;
    }
    if (!alive) {
        in->state = (ar_state){NULL, true};
        return;
    }
    ar_state result = ar_state_copy(fork->base);
    for (uint32_t c = 0; c < k.cells.count; c++) {
        uint32_t cell = k.cells.data[c];
        const ar_mem_object *object = ar_object_of(in->m, cell);
        bool own = is_own_element(in, fork->bit, cell);
        uint32_t *values = AR_NEW_ARRAY(in->arena, uint32_t, count);
        bool *changed = AR_NEW_ARRAY(in->arena, bool, count);
        for (uint32_t i = ar_idtable_get(&k.first, cell, 0); i;
             i = k.list.data[i - 1].next) {
            values[k.list.data[i - 1].path] = k.list.data[i - 1].value;
            changed[k.list.data[i - 1].path] = true;
        }
        for (uint32_t i = 0; i < count; i++)
            own = own &&
                  (!changed[i] || ar_idtable_get(&reach[i], object->as.id, 0));
        uint32_t base = ar_state_get(&fork->base, cell), joined = 0;
        bool any = false;
        for (uint32_t i = 0; i < count; i++) {
            if (ends[i].state.dead)
                continue;
            bool concerned = changed[i] || !own ||
                             ar_idtable_get(&reach[i], object->as.id, 0);
            if (!concerned)
                continue;
            uint32_t value = changed[i] ? values[i] : base;
            joined = any ? ar_join_ids(in, at, cell, joined, value) : value;
            any = true;
        }
        ar_state_set(in->m, &result, cell, joined);
    }
    in->state = result;
}

/* Variables of the block die with it. */
static void forget_block(ar_interp *in, const ar_node *block) {
    for (uint32_t i = 0; i < block->kid_count; i++) {
        const ar_node *kid = block->kids[i];
        if (!kid || kid->kind != AR_DECL_STMT)
            continue;
        for (uint32_t k = 0; k < kid->decl_count; k++)
            if (kid->decls[k]->kind == AR_DECL_VAR &&
                kid->decls[k]->storage == AR_STORAGE_AUTO)
                ar_forget_cells(in, ar_variable_cell(in, kid->decls[k]));
    }
}

static void finish_path(ar_interp *in, ar_node *block, uint32_t next,
                        ar_split *end) {
    ar_exec_block(in, block, next);
    if (!in->state.dead)
        forget_block(in, block);
    end->state = ar_state_take(&in->state);
}

void ar_run_splits(ar_interp *in, ar_node *block, uint32_t next,
                   uint32_t first) {
    uint32_t count = in->splits.count - first;
    ar_split *ends = AR_NEW_ARRAY(in->arena, ar_split, count + 1);
    memcpy(ends, &in->splits.data[first], count * sizeof *ends);
    in->splits.count = first;
    uint32_t path = in->path, fork_depth = in->fork_depth;
    uint32_t fork = ends[0].fork;
    uint32_t tables = in->forked_tables.count;
    if (fork)
        AR_PUSH(in->arena, &in->forked_tables, in->forks.data[fork - 1].table);
    ar_split rest = {0};
    finish_path(in, block, next, &rest);
    for (uint32_t i = 0; i < count; i++) {
        in->path = ends[i].path;
        in->fork_depth = ends[i].fork_depth;
        in->state = ar_state_take(&ends[i].state);
        finish_path(in, block, next, &ends[i]);
    }
    in->path = path;
    in->fork_depth = fork_depth;
    in->forked_tables.count = tables;
    if (fork && rest.state.dead) {
        join_kinds(in, block, ends, count);
        for (uint32_t i = 0; i < count; i++)
            ar_state_drop(in->m, &ends[i].state);
        ar_state_drop(in->m, &in->forks.data[fork - 1].base);
        if (in->forks.count == fork)
            in->forks.count--;
        return;
    }
    in->state = rest.state;
    for (uint32_t i = 0; i < count; i++)
        in->state = ar_join_states(in, block, &in->state, &ends[i].state);
}

void ar_join_splits(ar_interp *in, ar_node *at, uint32_t first) {
    for (uint32_t i = first; i < in->splits.count; i++)
        in->state =
            ar_join_states(in, at, &in->state, &in->splits.data[i].state);
    in->splits.count = first;
}

/* ---- what a condition says of numbers ------------------------------------ */

static bool is_plain_lvalue(const ar_node *node) {
    while (node->kind == AR_MEMBER)
        node = ar_skip_casts(node->kids[0]);
    return node->kind == AR_REF && node->decl &&
           (node->decl->kind == AR_DECL_VAR ||
            node->decl->kind == AR_DECL_PARAM);
}

static bool literal_of(const ar_node *node, int64_t *number) {
    if (node->kind == AR_INT_LIT)
        *number = node->int_value;
    else if (node->kind == AR_REF && node->decl &&
             node->decl->kind == AR_DECL_ENUMERATOR)
        *number = node->decl->value;
    else
        return false;
    return true;
}

static bool is_integer(const ar_type *type) {
    return type && (type->kind == AR_TYPE_INT || type->kind == AR_TYPE_ENUM);
}

static void refine(ar_interp *in, ar_node *variable, int64_t number,
                   bool equal) {
    if (!is_plain_lvalue(variable) || !is_integer(variable->type))
        return;
    ar_value address = ar_interp_address(in, variable);
    ar_targets set = *ar_memory_targets(in->m, address.targets);
    if (set.count != 1 || set.data[0].index != 0)
        return;
    uint32_t cell = set.data[0].cell;
    const ar_mem_cell *c = &in->m->cells.data[cell];
    uint32_t id = ar_state_get(&in->state, cell);
    const ar_mem_object *object = ar_object_of(in->m, cell);
    /* what is not local may change unseen */
    if (c->is_many || c->any_path || object->is_summary ||
        object->as.kind != AR_OBJECT_LOCAL || !id)
        return;
    ar_value v = *ar_memory_value(in->m, id);
    if (v.node || v.targets || v.offset_tags || v.is_number || v.is_undefined)
        return;
    if (equal) {
        v = ar_number(number);
    } else {
        v.excludes = true;
        v.number = number;
    }
    ar_state_set(in->m, &in->state, cell, ar_memory_intern(in->m, &v));
}

void ar_assume(ar_interp *in, ar_node *condition, bool holds) {
    ar_node *e = ar_skip_casts(condition);
    if (!e || in->state.dead)
        return;
    if (e->kind == AR_UNARY && e->op == AR_OP_NOT) {
        ar_assume(in, e->kids[0], !holds);
        return;
    }
    if (e->kind != AR_BINARY) {
        refine(in, e, 0, !holds);
        return;
    }
    if ((e->op == AR_OP_LOGICAL_AND && holds) ||
        (e->op == AR_OP_LOGICAL_OR && !holds)) {
        ar_assume(in, e->kids[0], holds);
        ar_assume(in, e->kids[1], holds);
        return;
    }
    if (e->op != AR_OP_EQ && e->op != AR_OP_NE)
        return;
    ar_node *x = ar_skip_casts(e->kids[0]), *y = ar_skip_casts(e->kids[1]);
    int64_t number;
    if (literal_of(y, &number))
        refine(in, x, number, (e->op == AR_OP_EQ) == holds);
    else if (literal_of(x, &number))
        refine(in, y, number, (e->op == AR_OP_EQ) == holds);
}
