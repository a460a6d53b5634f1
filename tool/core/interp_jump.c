/* Jumps: those that lead forward are followed; of those that lead back, what
 * they could change is looked at. */
#include "core/interp.h"

static ar_jump *jump_to(ar_interp *in, const ar_node *node) {
    ar_frame *frame = in->frame;
    const char *name = node->text   ? node->text
                       : node->decl ? node->decl->name
                                    : "";
    for (uint32_t i = 0; i < frame->jumps.count; i++)
        if (strcmp(frame->jumps.data[i].name, name) == 0)
            return &frame->jumps.data[i];
    ar_jump jump = {name, {NULL, true}, {NULL, true}, NULL};
    AR_PUSH(in->arena, &frame->jumps, jump);
    return &frame->jumps.data[frame->jumps.count - 1];
}

typedef struct jump_back {
    ar_interp *in;
    ar_node *at;
    bool changes_floats, leads_elsewhere;
} jump_back;

/* May what the pointer in the cell leads to be floats? */
static bool may_lead_to_floats(const ar_mem_cell *c) {
    const ar_type *type = ar_array_bottom(c->scalar ? c->scalar : c->type);
    if (!ar_is_kind(type, AR_TYPE_POINTER))
        return false;
    const ar_type *bottom = ar_address_bottom(type);
    return !bottom || ar_is_floating(bottom) || ar_is_record(bottom) ||
           bottom->kind == AR_TYPE_VOID || bottom->kind == AR_TYPE_FUNCTION;
}

/* Is it a number that the next round would see as another one? */
static bool is_other_number(const ar_value *x, const ar_value *y) {
    return x && !x->node && !x->targets && x->is_number &&
           (!y || !y->is_number || y->number != x->number);
}

/* Another round may start from this value, or from that one: none of them may
 * carry the scale. What has no value at the label is set anew in each round. */
static void note_change(void *context, uint32_t cell, uint32_t a, uint32_t b) {
    jump_back *j = context;
    const ar_memory *m = j->in->m;
    const ar_mem_cell *c = &m->cells.data[cell];
    const ar_value *x = ar_memory_value(m, a), *y = ar_memory_value(m, b);
    if (is_other_number(a ? x : NULL, b ? y : NULL) ||
        (may_lead_to_floats(c) &&
         (a ? x->targets : 0) != (b ? y->targets : 0))) {
        j->leads_elsewhere = true;
        return;
    }
    j->changes_floats |= (a && x->node) || (b && y->node);
    if (!a)
        return;
    if (x->node)
        ar_graph_sink(j->in, AR_SINK_JUMP, j->at, x->node, 0);
    if (b && y->node)
        ar_graph_sink(j->in, AR_SINK_JUMP, j->at, y->node, 0);
}

/* ---- labels that are jumped back to -------------------------------------- */

/* The last goto in the code that leads to the label. */
static const ar_node *last_goto(const ar_node *node, const char *label) {
    const ar_node *found = NULL;
    if (node->kind == AR_GOTO && node->text && strcmp(node->text, label) == 0)
        found = node;
    for (uint32_t i = 0; i < node->kid_count; i++) {
        const ar_node *in_kid =
            node->kids[i] ? last_goto(node->kids[i], label) : NULL;
        found = in_kid ? in_kid : found;
    }
    return found;
}

/* Whole numbers in local variables that are set between the two are others in
 * the next round. */
static void forget_numbers(ar_interp *in, const ar_node *node, uint32_t from,
                           uint32_t to) {
    bool sets = node->kind == AR_ASSIGN || node->kind == AR_COMPOUND_ASSIGN ||
                node->kind == AR_ADDRESS ||
                (node->kind == AR_UNARY && node->op >= AR_OP_PRE_INC);
    const ar_node *left = sets ? ar_skip_casts(node->kids[0]) : NULL;
    if (left && left->kind == AR_REF && node->id > from && node->id < to &&
        ar_is_kind(left->type, AR_TYPE_INT) &&
        (left->decl->kind == AR_DECL_VAR ||
         left->decl->kind == AR_DECL_PARAM)) {
        uint32_t cell = ar_variable_cell(in, left->decl);
        if (ar_state_get(&in->state, cell)) {
            ar_value v = ar_unknown();
            ar_state_set(in->m, &in->state, cell, ar_memory_intern(in->m, &v));
        }
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (node->kids[i])
            forget_numbers(in, node->kids[i], from, to);
}

void ar_pass_label(ar_interp *in, ar_node *node) {
    ar_jump *jump = jump_to(in, node);
    ar_state waiting = ar_state_take(&jump->state);
    in->state = ar_join_states(in, node, &in->state, &waiting);
    const ar_node *body = in->frame->context->function->body;
    const ar_node *last = node->text ? last_goto(body, node->text) : NULL;
    if (last && last->id > node->id && !in->state.dead)
        forget_numbers(in, body, node->id, last->id);
    ar_state_drop(in->m, &jump->passed);
    jump->passed = ar_state_copy(in->state);
    jump->label = node;
}

/* A jump back is not followed: what it changes of float memory must not carry
 * the scale, no pointer to such memory may change, and nothing of a placement
 * may be where it would be done again. A jump to a computed label may lead
 * anywhere. */
static void check_jump(ar_interp *in, ar_node *node, const ar_jump *jump) {
    jump_back back = {in, node, false, !node->text};
    if (jump->label && jump->label->range.begin <= node->range.begin)
        ar_state_diff(&jump->passed, &in->state, note_change, &back);
    if (back.changes_floats)
        AR_PUSH(in->arena, &in->back_jumps,
                ((ar_back_jump){in->frame->context->id, node}));
    if (!back.leads_elsewhere)
        return;
    ar_interp_note(in, AR_DIAG_SCALE_NOTE, node->range,
                   node->text ? "the loss-scale analysis was stopped here: a "
                                "jump back, with other pointers to float memory"
                              : "the loss-scale analysis was stopped here: a "
                                "jump to a computed label");
    in->gave_up = true;
}

ar_state *ar_jump_from(ar_interp *in, ar_node *node) {
    check_jump(in, node, jump_to(in, node));
    return &jump_to(in, node)->state;
}
