/* The size of an allocation that cannot be renamed, said where the program
 * stores its address: the call lies in a header that stays as it is, behind a
 * macro, or names a function without a counterpart in libamp. */
#include "core/plan.h"
#include "core/plan_storage.h"

/* One allocation and the calls that lead to it. Frame i is the function that
 * makes call i of the context; the last one makes the allocating call. */
typedef struct sizes {
    ar_plan *plan;
    const ar_object *object;
    ar_str text;
} sizes;

static ar_node *call_of(const ar_object *object, uint32_t frame) {
    return frame == object->context_depth ? object->site
                                          : object->context[frame];
}

static ar_unit *unit_of(const ar_object *object, uint32_t frame) {
    return frame == object->context_depth ? object->unit
                                          : object->context_units[frame];
}

static bool changes(const ar_node *node, const ar_decl *param) {
    if (!node)
        return false;
    bool writes = node->kind == AR_ASSIGN || node->kind == AR_COMPOUND_ASSIGN ||
                  node->kind == AR_ADDRESS ||
                  (node->kind == AR_UNARY && node->op >= AR_OP_PRE_INC);
    if (writes && node->kids[0]->kind == AR_REF && node->kids[0]->decl == param)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (changes(node->kids[i], param))
            return true;
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (changes(node->decls[i]->init, param))
            return true;
    return false;
}

typedef struct refs {
    ar_arena *arena;
    AR_VEC(const ar_node *) list; /* in source order */
    bool closed;                  /* nothing but operators, sizes and refs */
} refs;

static void find_refs(refs *found, const ar_node *node) {
    switch ((int)node->kind) {
    case AR_REF:
        if (node->range.in_macro_body)
            found->closed = false;
        AR_PUSH(found->arena, &found->list, node);
        return;
    case AR_INT_LIT:
    case AR_BINARY:
    case AR_CAST:
    case AR_IMPLICIT:
        break;
    case AR_SIZEOF:
        if (node->kid_count)
            found->closed = false;
        return;
    default:
        found->closed = false;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        find_refs(found, node->kids[i]);
}

/* Adds the value of an expression of frame `frame` as text for `goal`, a frame
 * further out: parameters become what was passed for them. */
static bool add_value(sizes *s, const ar_node *node, uint32_t frame,
                      uint32_t goal) {
    ar_plan *plan = s->plan;
    if (node->range.in_macro_body || node->range.file == AR_NO_FILE ||
        (plan->storage && ar_counts_half(plan->storage, node)))
        return false;
    const char *text = ar_text(plan->arena, &plan->program->files, node->range);
    if (frame == goal) {
        if (!ar_plan_is_pure(node))
            return false;
        ar_str_add(&s->text, text);
        return true;
    }
    refs found = {.arena = plan->arena, .closed = true};
    find_refs(&found, node);
    if (!found.closed)
        return false;
    uint32_t at = 0, begin = node->range.begin;
    for (uint32_t i = 0; i < found.list.count; i++) {
        const ar_node *ref = found.list.data[i];
        const ar_node *call = call_of(s->object, frame - 1);
        const ar_decl *function = ref->decl ? ref->decl->parent : NULL;
        if (ref->decl && ref->decl->kind == AR_DECL_ENUMERATOR)
            continue;
        if (!function || ref->decl->kind != AR_DECL_PARAM ||
            ref->decl->index + 1 >= call->kid_count ||
            changes(function->body, ref->decl))
            return false;
        ar_str_addn(&s->text, text + at, ref->range.begin - begin - at);
        ar_str_add(&s->text, ref == node ? "" : "(");
        if (!add_value(s, call->kids[ref->decl->index + 1], frame - 1, goal))
            return false;
        ar_str_add(&s->text, ref == node ? "" : ")");
        at = ref->range.end - begin;
    }
    ar_str_add(&s->text, text + at);
    return true;
}

enum { BRIEF_DEPTH = 4 };

/* Tells of a failure, or leaves: no loop, and no call of one. */
static bool is_brief(const ar_plan *plan, const ar_node *node, int depth) {
    if (!node)
        return true;
    switch ((int)node->kind) {
    case AR_FOR:
    case AR_WHILE:
    case AR_DO:
    case AR_LAUNCH:
    case AR_UNKNOWN_STMT:
        return false;
    case AR_CALL: {
        ar_decl *callee = ar_direct_callee(node->kids[0]);
        const ar_decl *body =
            callee ? ar_definition_of(plan->program, callee) : NULL;
        if (!callee || depth == 0 ||
            (body && !is_brief(plan, body->body, depth - 1)))
            return false;
        break;
    }
    default:
        break;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (!is_brief(plan, node->kids[i], depth))
            return false;
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (!is_brief(plan, node->decls[i]->init, depth))
            return false;
    return true;
}

bool ar_plan_may_follow(const ar_plan *plan, const ar_node *statement) {
    switch ((int)statement->kind) {
    case AR_IF:
        return is_brief(plan, statement->kids[1], BRIEF_DEPTH) &&
               is_brief(plan, statement->kids[2], BRIEF_DEPTH);
    case AR_WHILE:
    case AR_FOR:
    case AR_DO:
    case AR_SWITCH:
        return false;
    default:
        return true;
    }
}

const ar_node *ar_stored_through(const ar_node *call) {
    for (uint32_t i = 1; i < call->kid_count; i++) {
        const ar_node *arg = call->kids[i];
        while ((arg->kind == AR_IMPLICIT || arg->kind == AR_CAST) &&
               arg->kid_count)
            arg = arg->kids[0];
        if (arg->kind == AR_ADDRESS)
            return arg->kids[0];
    }
    return NULL;
}

static bool is_length(ar_slot_use use) {
    return use == AR_USE_BYTES || use == AR_USE_COUNT || use == AR_USE_SIZE;
}

/* The byte count: the product of the rule's length parameters. */
const char *ar_plan_size_at(ar_plan *plan, const ar_function_rule *rule,
                            const ar_object *object, uint32_t frame) {
    sizes s = {.plan = plan, .object = object, .text = {.arena = plan->arena}};
    const ar_node *site = object->site;
    uint32_t lengths = 0, done = 0;
    for (uint32_t i = 0; rule->uses && i < rule->param_count; i++) {
        if (rule->uses[i] == AR_USE_POINTER &&
            rule->params[i].direction != AR_DIR_OUT)
            return NULL;
        lengths += is_length(rule->uses[i]);
    }
    for (uint32_t i = 0; lengths && i < rule->param_count; i++) {
        if (!is_length(rule->uses[i]))
            continue;
        if (i + 1 >= site->kid_count)
            return NULL;
        ar_str_add(&s.text, done++ ? " * " : "");
        ar_str_add(&s.text, lengths > 1 ? "(" : "");
        if (!add_value(&s, site->kids[i + 1], object->context_depth, frame))
            return NULL;
        ar_str_add(&s.text, lengths > 1 ? ")" : "");
    }
    return lengths ? ar_str_text(&s.text) : NULL;
}

/* The statement of this frame that stores the address of the object. */
const ar_pointer_store *ar_plan_store_at(ar_plan *plan, const ar_scale *scale,
                                         const ar_object *object,
                                         uint32_t frame) {
    ar_unit *unit = unit_of(object, frame);
    const ar_node *statement =
        ar_statement_of(&plan->placer, unit, call_of(object, frame));
    for (uint32_t i = 0; statement && i < scale->stores.count; i++) {
        const ar_pointer_store *store = &scale->stores.data[i];
        if (store->target == object && store->at_start && store->unit == unit &&
            ar_statement_of(&plan->placer, unit, store->node) == statement)
            return store;
    }
    return NULL;
}
