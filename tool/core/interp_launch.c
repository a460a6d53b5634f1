/* Kernels: a launch runs the kernel once for each thread. The threads are taken
 * one after the other, as two nested loops; what they do in parallel they do
 * on elements of their own, which is what loops over indices show. */
#include "core/interp.h"

static uint64_t innermost(const ar_interp *in) {
    uint32_t depth = in->active.count - 1;
    return depth < 64 ? (uint64_t)1 << depth : 0;
}

/* ---- barriers ------------------------------------------------------------ */

/* Groups that are within one block. */
static bool is_small_group(const ar_type *type) {
    const char *name = type && type->record ? type->record->name : "";
    return strstr(name, "thread_block") || strcmp(name, "coalesced_group") == 0;
}

typedef enum barrier { BARRIER_NONE, BARRIER_BLOCK, BARRIER_DEVICE } barrier;

/* What is not known to stay in a block may let blocks see each other. */
static barrier barrier_of(const ar_node *call, const char *name) {
    if (strncmp(name, "__sync", 6) == 0 ||
        strcmp(name, "__threadfence_block") == 0 ||
        strncmp(name, "__shfl", 6) == 0)
        return BARRIER_BLOCK;
    static const char *const words[] = {"sync", "fence", "barrier", "wait"};
    bool waits = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        waits |= strstr(name, words[i]) != NULL;
    if (!waits)
        return BARRIER_NONE;
    ar_node *group = call->kids[0]->kind == AR_MEMBER ? call->kids[0]->kids[0]
                     : call->kid_count > 1            ? call->kids[1]
                                                      : NULL;
    group = ar_skip_casts(group);
    return strcmp(name, "sync") == 0 && group && is_small_group(group->type)
               ? BARRIER_BLOCK
               : BARRIER_DEVICE;
}

static void pass_barrier(ar_interp *in, const ar_node *call, const char *name) {
    barrier b = barrier_of(call, name);
    if (b == BARRIER_NONE)
        return;
    in->barriers.passed++;
    in->barriers.is_fenced |= b == BARRIER_DEVICE;
    in->barriers.in_loop |= innermost(in) != in->thread_bit;
}

bool ar_threads_share(const ar_interp *in, uint64_t loop_bit,
                      const ar_access *access) {
    const ar_barriers *b = &in->barriers;
    if (access->is_atomic || b->is_fenced)
        return true;
    if (loop_bit == in->block_bit)
        return false;
    return b->in_loop ||
           (access->is_read && access->first_write < access->last_read);
}

/* ---- thread indices ------------------------------------------------------ */

bool ar_thread_value(const ar_interp *in, const ar_node *node,
                     ar_value *value) {
    const char *name = node->decl && node->text ? node->decl->name : "";
    if (strcmp(name, "threadIdx") == 0)
        *value = (ar_value){.offset_tags = in->thread_bit};
    else if (strcmp(name, "blockIdx") == 0)
        *value = (ar_value){.offset_tags = in->block_bit};
    else if (strcmp(name, "blockDim") == 0 || strcmp(name, "gridDim") == 0 ||
             strcmp(name, "warpSize") == 0)
        *value = ar_unknown();
    else
        return false;
    /* y and z differ as well, but not in the same way */
    size_t length = strlen(node->text);
    value->shift = length ? node->text[length - 1] - 'x' : 0;
    return true;
}

bool ar_thread_call(ar_interp *in, const ar_node *call, ar_value *value) {
    const ar_node *callee = call->kids[0];
    const ar_decl *decl = callee->decl;
    if (!decl || !(in->block_bit | in->thread_bit))
        return false;
    if (!decl->is_system)
        return false;
    pass_barrier(in, call, decl->name);
    bool is_rank = strcmp(decl->name, "thread_rank") == 0;
    if (is_rank || strcmp(decl->name, "meta_group_rank") == 0) {
        *value = (ar_value){.offset_tags = in->thread_bit, .shift = is_rank};
        return true;
    }
    if (strcmp(decl->name, "reduce") != 0 || call->kid_count < 3 ||
        !ar_is_floating(call->kids[2]->type))
        return false;
    ar_value term = ar_interp_eval(in, call->kids[2]);
    *value = ar_from_node(ar_float_of(in, &term));
    return true;
}

static uint64_t thread_tags(const ar_interp *in, const ar_value *v) {
    return v->offset_tags & (in->block_bit | in->thread_bit);
}

static bool is_whole_number(const ar_value *v) {
    return !v->node && !v->targets;
}

/* i / 32 and i % 32 follow the threads, each in its own way; i < n says
 * something of the thread only. */
ar_value ar_thread_arith(const ar_interp *in, ar_op op, const ar_value *a,
                         const ar_value *b) {
    uint64_t tags = thread_tags(in, a) | thread_tags(in, b);
    if (!tags || !is_whole_number(a) || !is_whole_number(b))
        return ar_unknown();
    bool both = op == AR_OP_LOGICAL_AND || op == AR_OP_LOGICAL_OR;
    if (both && (!thread_tags(in, a) || !thread_tags(in, b)))
        return ar_unknown();
    ar_value v = {.offset_tags = a->offset_tags | b->offset_tags};
    uint64_t mixed = (uint64_t)a->shift * 31u + (uint64_t)b->shift;
    mixed = (mixed * 31u + (uint64_t)op) * 31u;
    v.shift = (int64_t)(mixed + (uint64_t)(a->number + b->number));
    return v;
}

/* ---- guards -------------------------------------------------------------- */

static bool leaves(const ar_node *node) {
    while (node && node->kind == AR_COMPOUND)
        node = node->kid_count ? node->kids[node->kid_count - 1] : NULL;
    return node && (node->kind == AR_RETURN || node->kind == AR_CONTINUE ||
                    node->kind == AR_BREAK);
}

int ar_thread_guard(const ar_interp *in, const ar_node *node,
                    const ar_value *condition) {
    if (!thread_tags(in, condition) || !is_whole_number(condition) ||
        (node->kid_count > 2 && node->kids[2]))
        return -1;
    return leaves(node->kids[1]) ? 0 : 1;
}

/* ---- launches ------------------------------------------------------------ */

typedef struct launch {
    ar_node *node;
    ar_decl *kernel;
    const ar_value *args;
    const ar_type *const *types;
    uint32_t count;
} launch;

static void run_thread(ar_interp *in, ar_node *node, void *context,
                       ar_state *exits) {
    (void)node;
    const launch *l = context;
    in->thread_bit = innermost(in);
    ar_run_function(in, l->node, l->kernel, l->args, l->types, l->count);
    *exits = in->state.dead ? (ar_state){NULL, true} : ar_state_copy(in->state);
}

/* Shared memory comes with a block and goes with it. */
static void forget_shared(ar_interp *in) {
    for (uint32_t i = 0; i < in->shared.count; i++)
        ar_reset_object(in, in->m->objects.data[in->shared.data[i]], false);
}

static void run_block(ar_interp *in, ar_node *node, void *context,
                      ar_state *exits) {
    in->block_bit = innermost(in);
    forget_shared(in);
    ar_iterate(in, node->kids[0], run_thread, context);
    if (!in->state.dead)
        forget_shared(in);
    *exits = in->state.dead ? (ar_state){NULL, true} : ar_state_copy(in->state);
}

static void refuse_unseen(ar_interp *in, const ar_node *node, const launch *l) {
    for (uint32_t i = 0; i < l->count; i++) {
        if (ar_is_floating(l->types[i]))
            ar_graph_sink(in, AR_SINK_CALL, node->kids[i + 3],
                          ar_float_of(in, &l->args[i]), 0);
        else if (l->types[i] && l->types[i]->kind == AR_TYPE_POINTER &&
                 ar_is_floating(l->types[i]->element))
            ar_graph_sink(in, AR_SINK_CALL, node->kids[i + 3],
                          ar_load_block(in, node->kids[i + 3], &l->args[i]), 0);
    }
}

void ar_interp_launch(ar_interp *in, ar_node *node) {
    for (uint32_t i = 1; i < 3 && i < node->kid_count; i++)
        if (node->kids[i])
            ar_interp_eval(in, node->kids[i]);
    uint32_t count = node->kid_count > 3 ? node->kid_count - 3 : 0;
    ar_value *args = AR_NEW_ARRAY(in->arena, ar_value, count + 1);
    const ar_type **types = AR_NEW_ARRAY(in->arena, const ar_type *, count + 1);
    ar_decl *callee = ar_direct_callee(node->kids[0]);
    ar_decl *kernel = callee ? ar_definition_of(in->program, callee) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const ar_decl *param =
            kernel && i < kernel->member_count ? kernel->members[i] : NULL;
        args[i] = ar_interp_argument(in, node->kids[i + 3], param, &types[i]);
        if (kernel && ar_is_floating(types[i]))
            args[i] = ar_as_term(in, node->kids[i + 3], args[i]);
    }
    if (in->state.dead)
        return;
    launch l = {node, kernel, args, types, count};
    if (!kernel) {
        refuse_unseen(in, node, &l);
        return;
    }
    uint64_t block_bit = in->block_bit, thread_bit = in->thread_bit;
    ar_barriers barriers = in->barriers;
    in->barriers = (ar_barriers){0};
    ar_iterate(in, node, run_block, &l);
    in->block_bit = block_bit;
    in->thread_bit = thread_bit;
    in->barriers = barriers;
}
