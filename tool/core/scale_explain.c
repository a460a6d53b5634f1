/* Why there is no exact placement: what stands against it, where, and what
 * could be done. */
#include "core/naming.h"
#include "core/scale_analysis.h"

static const char *sink_text(ar_sink_kind kind) {
    switch (kind) {
    case AR_SINK_PRINT:
        return "it is printed or formatted here";
    case AR_SINK_SAVE:
        return "it is written out here";
    case AR_SINK_INT:
        return "it is converted to an integer here";
    case AR_SINK_COMPARE:
        return "it is compared with a constant here";
    case AR_SINK_COMPARE_TWO:
        return "it is compared with an unscaled value here";
    case AR_SINK_DIVISOR:
        return "it is a divisor here";
    case AR_SINK_CALL:
        return "it is passed to code that is not seen here";
    case AR_SINK_UNKNOWN:
        return "it is stored to memory that is not known here";
    case AR_SINK_JUMP:
        return "it may change by the jump back here, which is not followed";
    case AR_SINK_PARAM:
        return "it goes into parameters here";
    case AR_SINK_RETURN:
        return "it is the result of the program here";
    }
    AR_BUG("sink kind %d", (int)kind);
}

static ar_range place_of(const ar_analysis *a, uint32_t id) {
    const ar_vnode *v = AR_VN(a->in, id);
    return id > AR_NODE_CONST && v->at ? v->at->range : a->loop->at->range;
}

/* What a helper does for many callers is the matter of the one that called. */
static ar_range caller_place(const ar_analysis *a, uint32_t id) {
    const ar_vnode *v = AR_VN(a->in, id);
    if (id <= AR_NODE_CONST || !v->at || !v->context)
        return place_of(a, id);
    ar_range at = v->at->range;
    uint32_t context = v->context;
    while (context && context != a->loop->context) {
        const ar_context *c = a->in->contexts.data[context];
        uint32_t same = 0;
        for (uint32_t i = 1; i < a->in->contexts.count; i++)
            same += a->in->contexts.data[i]->function == c->function &&
                    a->context_in_loop[i] > 0;
        if (same < 2 || !c->parent)
            break;
        at = c->call->range;
        context = c->parent;
    }
    return at;
}

typedef struct explainer {
    ar_analysis *a;
    const ar_object_name *names;
} explainer;

static ar_root_rank root_rank(void *context, const ar_object *variable) {
    const ar_analysis *a = context;
    bool good = variable->kind == AR_OBJECT_GLOBAL ||
                variable->decl->parent == a->out->loop_function;
    return good ? AR_ROOT_GOOD : AR_ROOT_POOR;
}

/* As the program reaches it: 'net->err[*]->data'. */
static const char *name_of(const explainer *e, uint32_t id) {
    ar_analysis *a = e->a;
    const ar_vnode *v = AR_VN(a->in, id);
    if (!v->cell)
        return "this value";
    const ar_object *object = &ar_object_of(a->in->m, v->cell)->as;
    const char *base = e->names[object->id].text;
    const char *path = ar_memory_path(a->in->m, v->cell);
    if (object->kind != AR_OBJECT_HEAP || !base || *path == '+')
        return ar_sprintf(a->arena, "'%s'", ar_cell_name(a, v->cell));
    return *path == '.' ? ar_sprintf(a->arena, "'%s->%s'", base, path + 1)
                        : ar_sprintf(a->arena, "'%s%s'", base, path);
}

static void note(ar_analysis *a, ar_range at, const char *text) {
    ar_report(a->diags, AR_DIAG_SCALE_NOTE, at, text);
}

static void note_at(ar_analysis *a, uint32_t id, const char *text) {
    if (id > AR_NODE_CONST)
        note(a, place_of(a, id), text);
}

/* What keeps a value from carrying the scale, where no use of it does. */
static const char *origin_text(const ar_analysis *a, uint32_t root) {
    switch (AR_VN(a->in, root)->kind) {
    case AR_V_NONLINEAR:
        return "it is the result of a function that is not linear";
    case AR_V_INPUT:
        return "it comes from outside the program";
    case AR_V_CONST:
        return "it is a constant";
    case AR_V_ZERO:
    case AR_V_UNDEFINED:
    case AR_V_SUM:
    case AR_V_MUL:
    case AR_V_DIV:
    case AR_V_STORE:
    case AR_V_PHI:
    case AR_V_LOOP:
    case AR_V_BOUNDARY:
    case AR_V_TERM:
        return NULL;
    }
    AR_BUG("node kind");
}

static const char *way_out_of_use(ar_sink_kind kind) {
    switch (kind) {
    case AR_SINK_PRINT:
    case AR_SINK_SAVE:
    case AR_SINK_RETURN:
        return "let what is shown have a buffer of its own";
    case AR_SINK_INT:
    case AR_SINK_COMPARE:
    case AR_SINK_COMPARE_TWO:
        return "let the test look at a copy that is made before the backward "
               "pass";
    case AR_SINK_CALL:
    case AR_SINK_UNKNOWN:
        return "describe the function by a rule";
    case AR_SINK_JUMP:
        return "write the loop as one";
    case AR_SINK_DIVISOR:
    case AR_SINK_PARAM:
        return NULL;
    }
    AR_BUG("sink kind %d", (int)kind);
}

/* One conflict; what could be done about it, or NULL. */
static const char *explain(const explainer *e, const ar_conflict *c) {
    ar_analysis *a = e->a;
    uint32_t root = c->root ? c->root : c->node;
    const char *text = c->text, *way_out = c->way_out;
    if (!text)
        text = ar_sprintf(a->arena,
                          "%s would have to carry the loss scale, and must not",
                          name_of(e, root));
    ar_range at = caller_place(a, root), own = place_of(a, root);
    ar_report(a->diags, AR_DIAG_DEGREE_CONFLICT, at, text);
    if (at.file != own.file || at.begin != own.begin)
        note(a, own, "it happens here");
    for (int i = 0; i < 2; i++)
        if (c->stores[i])
            note(a, caller_place(a, c->stores[i]),
                 ar_sprintf(a->arena, "%s got its value here",
                            name_of(e, c->stores[i])));
    note_at(a, c->scaled_use, "a gradient is made from it here");
    if (c->stale_write != root)
        note_at(a, c->stale_write, "that was written here");
    if (c->out_of_reach) {
        note_at(a, c->out_of_reach,
                "the scale could enter here, but this text is not rewritten");
        way_out = "rewrite that file as well (-p, --root)";
    }
    if (c->sink >= 0) {
        ar_sink_kind kind = a->in->sinks.data[c->sink].kind;
        note(a, a->in->sinks.data[c->sink].at->range, sink_text(kind));
        way_out = way_out ? way_out : way_out_of_use(kind);
    } else if (!c->text && origin_text(a, root)) {
        note_at(a, root, origin_text(a, root));
    }
    return way_out;
}

enum { MAX_SHOWN = 3 };

void ar_explain_conflict(ar_analysis *a, const ar_solution *solution) {
    const ar_placement *p = &solution->closest;
    const ar_step_region *r = &a->regions.data[solution->closest_region];
    ar_range step = r->first->range;
    const ar_decl *function =
        r->context ? a->in->contexts.data[r->context]->function : NULL;
    if (r->is_fused && function && ar_is_device_code(function)) {
        ar_report(a->diags, AR_DIAG_NO_SEED, step,
                  "parameters are updated by a kernel that does other work as "
                  "well, so there is no place for the unscale; use "
                  "--half=bf16, or give the update a kernel of its own");
        return;
    }
    if (!p->conflicts.count) {
        ar_report(a->diags, AR_DIAG_NO_SEED, step,
                  r->grads.count || r->terms.count
                      ? "no stored value of the backward pass can be scaled; "
                        "use --half=bf16 or --loss-scale=1"
                      : "no gradient feeds this update; name it with a role "
                        "rule, or use --half=bf16 or --loss-scale=1");
        return;
    }
    explainer e = {a, ar_name_objects(a->arena, a->out, root_rank, a)};
    const char *way_out = NULL;
    for (uint32_t i = 0; i < p->conflicts.count && i < MAX_SHOWN; i++) {
        const char *one = explain(&e, &p->conflicts.data[i]);
        way_out = way_out ? way_out : one;
    }
    ar_report(a->diags, AR_DIAG_NO_SEED, step,
              ar_sprintf(a->arena,
                         "the updates here have no exact placement; %s, or use "
                         "--half=bf16 or --loss-scale=1",
                         way_out ? way_out : "change what is reported above"));
}
