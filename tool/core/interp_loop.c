/* Loops: which cells one iteration hands to the next.
 *
 * Loops are taken to run at least once. Variables that a loop only steps are
 * known to differ in every iteration (tags). A cell written only at indices
 * that follow the loop shows each iteration what was there before the loop. */
#include "core/interp.h"

/* ---- variables that a loop only increments ------------------------------- */

typedef struct prescan {
    ar_interp *in;
    AR_VEC(ar_decl *) stepped;
    AR_VEC(int) directions; /* of stepped: 1 up, -1 down, 0 not known */
    AR_VEC(ar_decl *) assigned;
} prescan;

static ar_decl *variable_of(ar_node *node) {
    node = ar_skip_casts(node);
    if (!node || node->kind != AR_REF || !node->decl ||
        (node->decl->kind != AR_DECL_VAR && node->decl->kind != AR_DECL_PARAM))
        return NULL;
    return node->decl;
}

static bool mentions(ar_node *node, const ar_decl *decl) {
    if (!node)
        return false;
    if (node->kind == AR_REF && node->decl == decl)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (mentions(node->kids[i], decl))
            return true;
    return false;
}

/* x = x + n; p = p->next counts too: a list has no cycle. */
static bool is_step(ar_node *node, const ar_decl *decl) {
    ar_node *right = ar_skip_casts(node->kids[1]);
    if (right->kind == AR_BINARY &&
        (right->op == AR_OP_ADD || right->op == AR_OP_SUB))
        return mentions(right->kids[0], decl) || mentions(right->kids[1], decl);
    return right->kind == AR_MEMBER && right->is_arrow &&
           mentions(right->kids[0], decl);
}

static int direction_of(const ar_node *step) {
    switch ((int)step->op) {
    case AR_OP_PRE_INC:
    case AR_OP_POST_INC:
        return 1;
    case AR_OP_PRE_DEC:
    case AR_OP_POST_DEC:
        return -1;
    default:
        break;
    }
    const ar_node *by =
        step->kid_count == 2 ? ar_skip_casts(step->kids[1]) : NULL;
    if (step->kind != AR_COMPOUND_ASSIGN || !by || by->kind != AR_INT_LIT)
        return 0;
    return step->op == AR_OP_ADD ? 1 : -1;
}

static void scan(prescan *p, ar_node *node) {
    if (!node)
        return;
    ar_decl *decl = NULL;
    bool steps = false;
    switch ((int)node->kind) {
    case AR_ASSIGN:
        decl = variable_of(node->kids[0]);
        steps = decl && is_step(node, decl);
        break;
    case AR_COMPOUND_ASSIGN:
        decl = variable_of(node->kids[0]);
        steps = node->op == AR_OP_ADD || node->op == AR_OP_SUB;
        break;
    case AR_UNARY:
        if (node->op >= AR_OP_PRE_INC) {
            decl = variable_of(node->kids[0]);
            steps = true;
        }
        break;
    case AR_ADDRESS:
        decl = variable_of(node->kids[0]);
        break;
    case AR_DECL_STMT:
        for (uint32_t i = 0; i < node->decl_count; i++) {
            AR_PUSH(p->in->arena, &p->assigned, node->decls[i]);
            scan(p, node->decls[i]->init);
        }
        break;
    default:
        break;
    }
    if (decl && steps) {
        AR_PUSH(p->in->arena, &p->stepped, decl);
        AR_PUSH(p->in->arena, &p->directions, direction_of(node));
    } else if (decl)
        AR_PUSH(p->in->arena, &p->assigned, decl);
    for (uint32_t i = 0; i < node->kid_count; i++)
        scan(p, node->kids[i]);
}

static ar_induction inductions_of(ar_interp *in, ar_node *loop) {
    uint32_t known = ar_idtable_get(&in->prescans, ar_key(loop), 0);
    if (known)
        return in->inductions.data[known - 1];
    prescan p = {.in = in};
    /* What a for statement sets up is not assigned in the loop. */
    for (uint32_t i = loop->kind == AR_FOR ? 1 : 0; i < loop->kid_count; i++)
        scan(&p, loop->kids[i]);
    ar_induction found = {
        AR_NEW_ARRAY(in->arena, ar_decl *, p.stepped.count + 1), 0, 0};
    for (uint32_t i = 0; i < p.stepped.count; i++) {
        ar_decl *decl = p.stepped.data[i];
        bool plain = decl->type->kind == AR_TYPE_INT ||
                     decl->type->kind == AR_TYPE_POINTER;
        for (uint32_t k = 0; k < p.assigned.count; k++)
            plain &= p.assigned.data[k] != decl;
        for (uint32_t k = 0; k < found.count; k++)
            plain &= found.data[k] != decl;
        if (found.count && found.data[0] == decl &&
            found.direction != p.directions.data[i])
            found.direction = 0;
        if (!plain)
            continue;
        if (!found.count)
            found.direction = p.directions.data[i];
        found.data[found.count++] = decl;
    }
    AR_PUSH(in->arena, &in->inductions, found);
    ar_idtable_put(&in->prescans, ar_key(loop), 0, in->inductions.count);
    return found;
}

enum { COUNTER_SHIFT = 40 };

/* Counters that a loop steps side by side are as far from each other as
 * nobody knows: further than any constant that is added to one of them. */
static int64_t counter_shift(uint32_t number) {
    return (int64_t)number << COUNTER_SHIFT;
}

static void tag_inductions(ar_interp *in, ar_node *node, const ar_loop *loop,
                           uint64_t bit) {
    ar_induction list = inductions_of(in, node);
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t cell = ar_variable_cell(in, list.data[i]);
        uint32_t id = ar_state_get(&in->state, cell);
        ar_value v = id ? *ar_memory_value(in->m, id) : ar_unknown();
        if (list.data[i]->type->kind == AR_TYPE_INT) {
            v = (ar_value){.offset_tags = v.offset_tags | bit,
                           .shift = counter_shift(i),
                           .symbol =
                               ar_symbol_of_variable(in, loop, list.data[i])};
            v.row = i == 0 ? ar_loop_row(in, in->active.count - 1) : 0;
        } else {
            ar_targets set = *ar_memory_targets(in->m, v.targets);
            ar_target *t = AR_NEW_ARRAY(in->arena, ar_target, set.count + 1);
            for (uint32_t k = 0; k < set.count; k++)
                t[k] = (ar_target){set.data[k].cell, AR_ANY_INDEX};
            if (set.count)
                v.targets = ar_memory_set(in->m, t, set.count);
            v.offset_tags |= bit;
            v.shift = counter_shift(i);
            v.symbol = 0;
            v.row = 0;
        }
        ar_state_set(in->m, &in->state, cell, ar_memory_intern(in->m, &v));
    }
}

/* ---- the back edge ------------------------------------------------------- */

static ar_loop *loop_of(ar_interp *in, ar_node *node) {
    uint32_t context = in->frame->context->id;
    uint64_t where = (uint64_t)in->path << 32 | context;
    uint32_t id = ar_idtable_get(&in->loop_ids, ar_key(node), where);
    if (id)
        return in->loops.data[id];
    ar_loop *loop = AR_NEW(in->arena, ar_loop);
    loop->id = in->loops.count;
    loop->context = context;
    loop->at = node;
    loop->carried_value.arena = loop->mixed.arena = in->arena;
    ar_idtable_put(&in->loop_ids, ar_key(node), where, in->loops.count);
    AR_PUSH(in->arena, &in->loops, loop);
    return loop;
}

typedef struct back_edge {
    ar_interp *in;
    ar_loop *loop;
    uint64_t bit;
    const ar_state *before;
    bool changed;
} back_edge;

static ar_value value_of(ar_interp *in, uint32_t cell, uint32_t id) {
    if (id)
        return *ar_memory_value(in->m, id);
    if (ar_object_of(in->m, cell)->zero_default)
        return (ar_value){
            .node = AR_NODE_ZERO, .is_number = true, .may_be_null = true};
    return (ar_value){.is_undefined = true};
}

/* Every access follows the loop's index in the same way. */
static bool is_elementwise(back_edge *e, uint32_t cell) {
    ar_interp *in = e->in;
    ar_frame_loop *frame = &in->active.data[in->active.count - 1];
    uint32_t at = ar_access_at(frame, cell);
    if (!at)
        return false;
    const ar_access *a = &frame->accesses.data[at - 1];
    if (!a->is_written)
        return false;
    if (e->bit & (in->block_bit | in->thread_bit) &&
        !ar_threads_share(in, e->bit, a))
        return true;
    bool follows =
        a->write_tags & e->bit && (!a->is_read || a->read_tags & e->bit);
    if (follows && a->row && !a->pointer_mixed &&
        ar_row_at(in, a->row).loop == e->loop->depth) {
        in->assumes_rows_apart |= a->mixed;
        return true;
    }
    if (ar_is_mixed(a, e->bit)) {
        if (!ar_idtable_get(&e->loop->mixed, cell, 0)) {
            ar_idtable_put(&e->loop->mixed, cell, 0, 1);
            e->changed = true;
        }
        return false;
    }
    return follows && !ar_idtable_get(&e->loop->mixed, cell, 0);
}

static ar_value strip(ar_interp *in, const ar_loop *loop, ar_value v) {
    uint64_t bit = loop->depth < 64 ? (uint64_t)1 << loop->depth : 0;
    ar_forget_sizes(in, loop->depth, &v);
    if (v.offset_tags & bit) {
        v.is_partial = true;
        v.symbol = 0;
    }
    if (v.pointer_tags & bit)
        v.pointer_symbol = 0;
    v.offset_tags &= ~bit;
    v.pointer_tags &= ~bit;
    if (!v.pointer_tags)
        v.pointer_shift = 0;
    return v;
}

static bool same_but_node(const ar_value *a, const ar_value *b) {
    return a->targets == b->targets && a->offset_tags == b->offset_tags &&
           a->pointer_tags == b->pointer_tags && a->shift == b->shift &&
           a->pointer_shift == b->pointer_shift && a->number == b->number &&
           a->extent == b->extent && a->row == b->row &&
           a->is_number == b->is_number && a->excludes == b->excludes &&
           a->may_be_null == b->may_be_null && a->is_partial == b->is_partial &&
           a->is_undefined == b->is_undefined && a->symbol == b->symbol &&
           a->pointer_symbol == b->pointer_symbol;
}

/* Memory that was never written is a zero of any type. */
static bool is_float_value(const ar_value *v) {
    bool is_zero = v->is_number && !v->number && !v->targets;
    return v->node && !(is_zero && v->node == AR_NODE_ZERO);
}

static bool is_focused_value(const ar_interp *in, uint32_t id) {
    const ar_value *v = ar_memory_value(in->m, id);
    return v->node && ar_is_focused(in, v->node);
}

static void meet_cell(void *context, uint32_t cell, uint32_t back_id,
                      uint32_t head_id) {
    back_edge *e = context;
    ar_interp *in = e->in;
    uint32_t known = ar_idtable_get(&e->loop->carried_value, cell, 0);
    if (is_elementwise(e, cell) && !known)
        return;
    /* A local of a call that has returned. */
    if (!back_id && !ar_state_get(e->before, cell))
        return;
    ar_value back = strip(in, e->loop, value_of(in, cell, back_id));
    ar_value before = value_of(in, cell, ar_state_get(e->before, cell));
    (void)head_id;
    ar_value v;
    bool was_focused = known && is_focused_value(in, known);
    if (is_float_value(&back) || is_float_value(&before)) {
        v = ar_from_node(ar_loop_node(in, e->loop, cell,
                                      ar_float_of(in, &before),
                                      ar_float_of(in, &back)));
        v.targets = ar_memory_union(in->m, before.targets, back.targets);
    } else {
        v = ar_join_values(in, e->loop->at, 0x80000000u | cell, &before, &back);
        if (known) {
            ar_value old = *ar_memory_value(in->m, known);
            v = ar_join_values(in, e->loop->at, 0x80000000u | cell, &old, &v);
        }
    }
    uint32_t id = ar_memory_intern(in->m, &v);
    if (!known)
        AR_PUSH(in->arena, &e->loop->carried, cell);
    if (!known ||
        (known != id && !same_but_node(ar_memory_value(in->m, known), &v)) ||
        was_focused != is_focused_value(in, id))
        e->changed = true;
    ar_idtable_put(&e->loop->carried_value, cell, 0, id);
}

/* Cells known to be carried whose value came back as it was. */
static void refresh_carried(back_edge *e, const ar_state *back) {
    ar_interp *in = e->in;
    for (uint32_t i = 0; i < e->loop->carried.count; i++) {
        uint32_t cell = e->loop->carried.data[i];
        uint32_t id = ar_idtable_get(&e->loop->carried_value, cell, 0);
        const ar_value *v = ar_memory_value(in->m, id);
        if (v->node && ar_is_head(in, e->loop, v->node) &&
            ar_state_get(back, cell) == id)
            meet_cell(e, cell, id, id);
    }
}

/* ---- running one loop ---------------------------------------------------- */

typedef struct parts {
    ar_node *condition, *step, *body;
    bool tests_first;
} parts;

static parts parts_of(ar_node *node) {
    if (node->kind == AR_FOR)
        return (parts){node->kids[1], node->kids[2], node->kids[3], true};
    if (node->kind == AR_WHILE)
        return (parts){node->kids[0], NULL, node->kids[1], true};
    return (parts){node->kids[1], NULL, node->kids[0], false};
}

static ar_frame_loop *top(ar_interp *in) {
    return &in->active.data[in->active.count - 1];
}

static void push_loop(ar_interp *in, ar_loop *loop) {
    uint32_t n = in->active.count;
    ar_frame_loop frame = {0};
    if (n < in->active.capacity) /* the lists of an earlier loop */
        frame = in->active.data[n];
    frame.loop = loop;
    frame.head = frame.breaks = frame.continues = (ar_state){NULL, true};
    AR_PUSH(in->arena, &in->active, frame);
    loop->depth = n;
}

void ar_access_add(ar_interp *in, ar_frame_loop *loop, uint32_t cell,
                   ar_access access) {
    if (cell >= loop->place_count) {
        uint32_t count = 2 * cell + 16;
        uint32_t *places = AR_NEW_ARRAY(in->arena, uint32_t, count);
        if (loop->place_count)
            memcpy(places, loop->places, loop->place_count * sizeof *places);
        loop->places = places;
        loop->place_count = count;
    }
    loop->places[cell] = loop->cells.count;
    AR_PUSH(in->arena, &loop->cells, cell);
    AR_PUSH(in->arena, &loop->accesses, access);
}

static void forget_accesses(ar_frame_loop *frame) {
    frame->accesses.count = 0;
    frame->cells.count = 0;
}

/* Does the loop read elements of the cell that it writes only later? */
static bool reads_ahead(const ar_access *a, int direction) {
    if (!a->writes.any || !a->reads.any)
        return false;
    int64_t far = (int64_t)1 << (COUNTER_SHIFT - 2);
    return (direction >= 0 && a->reads.high > a->writes.low) ||
           (direction <= 0 && a->reads.low < a->writes.high) ||
           a->reads.high / 2 - a->writes.low / 2 > far ||
           a->writes.high / 2 - a->reads.low / 2 > far;
}

static void note_reads_ahead(ar_interp *in, ar_node *node, ar_loop *loop) {
    int direction = ar_is_loop(node) ? inductions_of(in, node).direction : 0;
    const ar_frame_loop *frame = top(in);
    loop->ahead.count = 0;
    for (uint32_t i = 0; i < frame->cells.count; i++)
        if (reads_ahead(&frame->accesses.data[i], direction))
            AR_PUSH(in->arena, &loop->ahead, frame->cells.data[i]);
}

static void note_reads(ar_interp *in, ar_loop *loop) {
    const ar_frame_loop *frame = top(in);
    loop->read.count = 0;
    for (uint32_t i = 0; i < frame->cells.count; i++)
        if (frame->accesses.data[i].is_read)
            AR_PUSH(in->arena, &loop->read, frame->cells.data[i]);
}

/* What the loop did is part of what the loop around it does. */
static void hand_up_accesses(ar_interp *in) {
    uint32_t n = in->active.count;
    if (n < 2)
        return;
    ar_frame_loop *inner = &in->active.data[n - 1];
    ar_frame_loop *outer = &in->active.data[n - 2];
    uint64_t outside = ((uint64_t)1 << (n - 1 < 63 ? n - 1 : 63)) - 1;
    for (uint32_t i = 0; i < inner->cells.count; i++) {
        const ar_access *a = &inner->accesses.data[i];
        uint32_t cell = inner->cells.data[i];
        uint32_t at = ar_access_at(outer, cell);
        if (!at) {
            ar_access fresh = *a;
            fresh.writes.any = fresh.reads.any = false;
            if (a->is_written)
                fresh.write_tags &= outside;
            if (a->is_read)
                fresh.read_tags &= outside;
            ar_access_add(in, outer, cell, fresh);
            continue;
        }
        ar_access *o = &outer->accesses.data[at - 1];
        if (a->is_written) {
            o->write_tags &= a->write_tags & outside;
            if (!o->is_written || a->first_write < o->first_write)
                o->first_write = a->first_write;
        }
        if (a->is_read) {
            o->read_tags &= a->read_tags & outside;
            if (a->last_read > o->last_read)
                o->last_read = a->last_read;
        }
        o->is_atomic |= a->is_atomic;
        if (o->row != a->row)
            o->row = 0;
        bool both = a->has_shift && o->has_shift;
        o->mixed |= a->mixed || (both && a->shift != o->shift);
        o->pointer_mixed |=
            a->pointer_mixed || (both && a->pointer_shift != o->pointer_shift);
        if (a->has_shift) {
            o->shift = a->shift;
            o->pointer_shift = a->pointer_shift;
        }
        o->offset_tags |= a->offset_tags;
        o->pointer_tags |= a->pointer_tags;
        o->has_shift |= a->has_shift;
        o->is_written |= a->is_written;
        o->is_read |= a->is_read;
    }
}

typedef struct stripper {
    ar_interp *in;
    ar_state *state;
    const ar_loop *loop;
} stripper;

static void strip_cell(void *context, uint32_t cell, uint32_t now,
                       uint32_t before) {
    stripper *s = context;
    (void)before;
    if (!now)
        return;
    const ar_value *v = ar_memory_value(s->in->m, now);
    if (!(v->offset_tags | v->pointer_tags | v->extent | v->row))
        return;
    ar_value clean = strip(s->in, s->loop, *v);
    ar_state_set(s->in->m, s->state, cell, ar_memory_intern(s->in->m, &clean));
}

static void strip_state(ar_interp *in, ar_state *state, const ar_state *before,
                        const ar_loop *loop) {
    if (state->dead)
        return;
    ar_state old = ar_state_copy(*state);
    stripper s = {in, state, loop};
    ar_state_diff(&old, before, strip_cell, &s);
    ar_state_drop(in->m, &old);
}

/* One pass from the head to the back edge; the exits are left in `exits`. */
static void run_pass(ar_interp *in, ar_node *node, void *context,
                     ar_state *exits) {
    const parts *p = context;
    ar_value v;
    /* A test that was decided by what is known of pointers still ends loops. */
    const ar_node *literal = ar_skip_casts(p->condition);
    bool endless = !literal || literal->kind == AR_INT_LIT;
    in->assumes_loops_run |= p->tests_first && !endless;
    ar_frame_loop *frame = top(in);
    frame->breaks = frame->continues = (ar_state){NULL, true};
    if (p->condition && p->tests_first)
        endless = ar_truth(in, p->condition, &v) == 1 && endless;
    /* The scope keeps its own states: in->active may move. */
    ar_state breaks = {NULL, true}, continues = {NULL, true};
    ar_break_scope scope = {&breaks, &continues, in->breaks};
    in->breaks = &scope;
    if (p->body)
        ar_interp_exec(in, p->body);
    in->breaks = scope.up;
    in->state =
        ar_join_states(in, p->body ? p->body : node, &in->state, &continues);
    if (p->step && !in->state.dead)
        ar_interp_eval(in, p->step);
    if (p->condition && !p->tests_first && !in->state.dead)
        endless = ar_truth(in, p->condition, &v) == 1 && endless;
    *exits = breaks;
    if (!endless && !in->state.dead) {
        ar_state out = ar_state_copy(in->state);
        *exits = ar_join_states(in, node, &out, exits);
    }
}

enum { MAX_PASSES = 24 };

bool ar_is_loop(const ar_node *node) {
    return node->kind == AR_FOR || node->kind == AR_WHILE ||
           node->kind == AR_DO;
}

void ar_iterate(ar_interp *in, ar_node *node, ar_loop_pass *run,
                void *context) {
    ar_loop *loop = loop_of(in, node);
    ar_state before = ar_state_take(&in->state);
    before.dead = false;
    push_loop(in, loop);
    uint64_t bit = loop->depth < 64 ? (uint64_t)1 << loop->depth : 0;
    back_edge edge = {in, loop, bit, &before, false};
    ar_state exits = {NULL, true};
    for (int pass = 0;; pass++) {
        loop->stamp = ++in->clock;
        in->state = ar_state_copy(before);
        for (uint32_t i = 0; i < loop->carried.count; i++) {
            uint32_t cell = loop->carried.data[i];
            uint32_t id = ar_idtable_get(&loop->carried_value, cell, 0);
            ar_enter_focus(in, ar_memory_value(in->m, id)->node);
            ar_state_set(in->m, &in->state, cell, id);
        }
        if (ar_is_loop(node))
            tag_inductions(in, node, loop, bit);
        forget_accesses(top(in));
        top(in)->head = ar_state_copy(in->state);
        ar_state_drop(in->m, &exits);
        run(in, node, context, &exits);
        edge.changed = false;
        ar_state head = top(in)->head;
        if (!in->state.dead) {
            ar_state back = ar_state_copy(in->state);
            ar_state_diff(&back, &head, meet_cell, &edge);
            refresh_carried(&edge, &back);
            ar_state_drop(in->m, &back);
        }
        ar_state_drop(in->m, &head);
        top(in)->head = (ar_state){NULL, true};
        if (!edge.changed || in->gave_up)
            break;
        if (pass == MAX_PASSES) {
            ar_interp_note(in, AR_DIAG_SCALE_NOTE, node->range,
                           "this loop did not settle; the loss-scale analysis "
                           "gave up");
            in->gave_up = true;
            break;
        }
        ar_state_drop(in->m, &in->state);
    }
    ar_state_drop(in->m, &in->state);
    loop->ended = ++in->clock;
    note_reads_ahead(in, node, loop);
    note_reads(in, loop);
    hand_up_accesses(in);
    in->active.count--;
    strip_state(in, &exits, &before, loop);
    ar_state_drop(in->m, &before);
    in->state = ar_state_take(&exits);
}

void ar_exec_loop(ar_interp *in, ar_node *node) {
    if (node->kind == AR_FOR && node->kids[0])
        ar_interp_exec(in, node->kids[0]);
    if (in->state.dead)
        return;
    parts p = parts_of(node);
    ar_iterate(in, node, run_pass, &p);
}
