#include "core/flows.h"
#include "core/rule_at.h"

/* Scratch fields. A pointer field whose memory every function that uses it
 * writes first and reads then carries nothing from one function to another, so
 * the functions that use it need not agree on an element type. "Before" is the
 * order of the text, and the write is not proven to cover what is read: it is
 * an assumption that the class states (is_scratch). */

typedef enum first_use {
    USE_NONE,
    USE_WRITE,
    USE_READ,
    USE_ESCAPE, /* kept, returned: others see the memory */
    USE_PENDING /* being found out: recursion */
} first_use;

typedef struct scratch {
    ar_graph *g;
    ar_map memo; /* function, parameter -> first_use + 1 */
} scratch;

/* Where the memory of one field or parameter goes in one function. */
typedef struct trace {
    scratch *s;
    ar_unit *unit;
    uint32_t subject; /* entity: field or parameter */
    ar_map aliases;   /* locals that may hold it */
    first_use first;
    bool is_read, escapes;
} trace;

static uint32_t entity_of(const trace *t, const ar_decl *decl) {
    return ar_entity_of(t->s->g->program, decl)->id;
}

static void note(trace *t, first_use use) {
    t->is_read |= use == USE_READ;
    if (use == USE_ESCAPE)
        t->escapes = true;
    else if (t->first == USE_NONE)
        t->first = use;
}

static bool is_pointer(const ar_node *node) {
    return node && node->type &&
           (node->type->kind == AR_TYPE_POINTER ||
            node->type->kind == AR_TYPE_ARRAY);
}

/* Does the value point into the subject's memory? */
static bool is_about(const trace *t, ar_node *node) {
    node = ar_skip_casts(node);
    if (!node)
        return false;
    switch (node->kind) {
    case AR_REF:
    case AR_MEMBER:
        return node->decl &&
               (entity_of(t, node->decl) == t->subject ||
                ar_map_get(&t->aliases, entity_of(t, node->decl) + 1));
    case AR_ADDRESS: {
        ar_node *kid = ar_skip_casts(node->kids[0]);
        return kid && (kid->kind == AR_INDEX || kid->kind == AR_DEREF) &&
               is_about(t, kid->kids[0]);
    }
    case AR_BINARY:
        return is_pointer(node) &&
               (is_about(t, node->kids[0]) || is_about(t, node->kids[1]));
    case AR_UNARY:
        return is_pointer(node) && is_about(t, node->kids[0]);
    case AR_CONDITIONAL:
        return is_about(t, node->kids[node->kid_count - 1]) ||
               is_about(t, node->kids[node->kid_count - 2]);
    default:
        return false;
    }
}

static void walk(trace *t, ar_node *node);

static bool is_element_of(const trace *t, ar_node *node) {
    node = ar_skip_casts(node);
    return node && (node->kind == AR_INDEX || node->kind == AR_DEREF) &&
           is_about(t, node->kids[0]);
}

static void walk_index(trace *t, ar_node *element) {
    element = ar_skip_casts(element);
    for (uint32_t i = 1; i < element->kid_count; i++)
        walk(t, element->kids[i]);
}

static void stored(trace *t, ar_node *value, const ar_decl *to) {
    if (!is_about(t, value))
        return;
    uint32_t entity = to ? entity_of(t, to) : AR_NO_ID;
    if (to && to->storage == AR_STORAGE_AUTO)
        ar_map_put(&t->aliases, entity + 1, t);
    else if (entity != t->subject)
        note(t, USE_ESCAPE);
}

static void walk_assign(trace *t, ar_node *node) {
    ar_node *left = ar_skip_casts(node->kids[0]), *right = node->kids[1];
    walk(t, right);
    if (is_element_of(t, left)) {
        walk_index(t, left);
        note(t, USE_WRITE);
        return;
    }
    bool is_name =
        left->kind == AR_REF || (left->kind == AR_MEMBER && left->kid_count);
    if (is_pointer(left))
        stored(t, right, is_name ? left->decl : NULL);
    if (left->kind != AR_REF && left->kind != AR_MEMBER)
        walk(t, left);
}

static first_use param_use(scratch *s, uint32_t function, uint32_t param);

static bool adds_to(const ar_function_rule *rule, uint32_t param,
                    ar_node *call) {
    for (uint32_t e = 0; e < rule->equation_count; e++) {
        if (rule->algebra[e].target != param)
            continue;
        for (uint32_t i = 0; i < rule->algebra[e].term_count; i++) {
            const ar_term *term = &rule->algebra[e].terms[i];
            bool has_target = false, is_zero = false;
            for (uint32_t f = 0; f < term->factor_count; f++) {
                uint32_t factor = term->factors[f];
                has_target |= factor == param;
                is_zero |= factor + 1 < call->kid_count && factor != param &&
                           ar_is_zero(call->kids[factor + 1]);
            }
            if (has_target && !is_zero)
                return true;
        }
    }
    return false;
}

static first_use ruled_use(const ar_function_rule *rule, uint32_t param,
                           ar_node *call) {
    if (rule->kind == AR_RULE_FREE || rule->kind == AR_RULE_REALLOC)
        return USE_NONE;
    if (param >= rule->param_count)
        return USE_READ;
    switch (rule->params[param].direction) {
    case AR_DIR_OUT:
        return USE_WRITE;
    case AR_DIR_INOUT:
        return rule->equation_count && !adds_to(rule, param, call) ? USE_WRITE
                                                                   : USE_READ;
    case AR_DIR_IN:
    case AR_DIR_VALUE:
        return USE_READ;
    }
    return USE_READ;
}

static first_use argument_use(trace *t, ar_node *call, uint32_t i) {
    ar_graph *g = t->s->g;
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    if (!callee)
        return USE_ESCAPE;
    const ar_function_rule *rule =
        ar_rule_at(g->rules, g->program, callee, call->range);
    if (rule)
        return ruled_use(rule, i, call);
    uint32_t function = g->function_of[entity_of(t, callee)];
    return function ? param_use(t->s, function - 1, i) : USE_ESCAPE;
}

static void walk_call(trace *t, ar_node *call) {
    for (uint32_t i = 1; i < call->kid_count; i++)
        if (!is_about(t, call->kids[i]))
            walk(t, call->kids[i]);
    first_use writes = USE_NONE;
    for (uint32_t i = 1; i < call->kid_count; i++) {
        if (!is_about(t, call->kids[i]))
            continue;
        first_use use = argument_use(t, call, i - 1);
        if (use == USE_WRITE)
            writes = use;
        else
            note(t, use == USE_PENDING ? USE_READ : use);
    }
    note(t, writes);
}

static void walk_decls(trace *t, ar_node *node) {
    for (uint32_t i = 0; i < node->decl_count; i++) {
        ar_decl *decl = node->decls[i];
        if (decl->kind != AR_DECL_VAR || !decl->init)
            continue;
        walk(t, decl->init);
        if (decl->type && decl->type->kind == AR_TYPE_POINTER)
            stored(t, decl->init, decl);
        else if (decl->init->kind == AR_INIT_LIST)
            for (uint32_t k = 0; k < decl->init->kid_count; k++)
                stored(t, decl->init->kids[k], NULL);
    }
}

static void walk(trace *t, ar_node *node) {
    if (!node)
        return;
    switch (node->kind) {
    case AR_SIZEOF:
        return;
    case AR_ASSIGN:
        walk_assign(t, node);
        return;
    case AR_COMPOUND_ASSIGN:
        walk(t, node->kids[1]);
        walk(t, node->kids[0]);
        return;
    case AR_INDEX:
    case AR_DEREF:
        if (!is_element_of(t, node))
            break;
        walk_index(t, node);
        note(t, USE_READ);
        return;
    case AR_ADDRESS:
        if (is_about(t, node)) {
            walk_index(t, node->kids[0]);
            return;
        }
        /* The address of the pointer itself: anyone may change it. */
        if (is_about(t, node->kids[0]))
            note(t, USE_ESCAPE);
        break;
    case AR_CALL:
    case AR_LAUNCH:
        walk_call(t, node);
        return;
    case AR_RETURN:
        if (node->kid_count && is_about(t, node->kids[0]))
            note(t, USE_ESCAPE);
        break;
    case AR_DECL_STMT:
        walk_decls(t, node);
        return;
    default:
        break;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        walk(t, node->kids[i]);
}

typedef enum trace_for { FOR_FIELD, FOR_PARAMETER } trace_for;

static first_use trace_in(scratch *s, const ar_function *f, uint32_t subject,
                          trace_for kind) {
    trace t = {.s = s,
               .unit = f->unit,
               .subject = subject,
               .aliases = {.arena = s->g->arena}};
    walk(&t, f->decl->body);
    /* Written and not read here: it is meant for somebody else. */
    if (kind == FOR_FIELD && t.first == USE_WRITE && !t.is_read)
        return USE_ESCAPE;
    return t.escapes ? USE_ESCAPE : t.first;
}

static first_use param_use(scratch *s, uint32_t function, uint32_t param) {
    uint64_t key = ar_key2(function + 1, param);
    void *known = ar_map_get(&s->memo, key);
    if (known)
        return (first_use)((uintptr_t)known - 1);
    const ar_function *f = &s->g->functions.data[function];
    if (param >= f->decl->member_count)
        return USE_ESCAPE;
    ar_map_put(&s->memo, key, (void *)(uintptr_t)(USE_PENDING + 1));
    const ar_decl *decl = f->decl->members[param];
    first_use use =
        trace_in(s, f, ar_entity_of(s->g->program, decl)->id, FOR_PARAMETER);
    ar_map_put(&s->memo, key, (void *)(uintptr_t)(use + 1));
    return use;
}

/* ---- which fields -------------------------------------------------------- */

typedef struct field_use {
    uint32_t field, function;
} field_use;

typedef struct finder {
    ar_graph *g;
    ar_map seen;
    AR_VEC(field_use) uses;
} finder;

static void note_field(void *context, ar_unit *unit, ar_decl *function,
                       ar_node *node) {
    (void)unit;
    finder *f = context;
    if (!function || node->kind != AR_MEMBER || !node->decl ||
        node->decl->kind != AR_DECL_FIELD ||
        ar_float_depth(node->decl->type) != 1 ||
        node->decl->type->kind != AR_TYPE_POINTER)
        return;
    uint32_t field = ar_entity_of(f->g->program, node->decl)->id;
    uint32_t index =
        f->g->function_of[ar_entity_of(f->g->program, function)->id];
    if (!index || ar_map_get(&f->seen, ar_key2(field, index)))
        return;
    ar_map_put(&f->seen, ar_key2(field, index), f);
    field_use use = {field, index - 1};
    AR_PUSH(f->seen.arena, &f->uses, use);
}

void ar_scratch_find(ar_graph *g) {
    finder f = {.g = g, .seen = {.arena = ar_arena_new()}};
    ar_program_visit(g->program, note_field, &f);
    scratch s = {.g = g, .memo = {.arena = g->arena}};
    bool *is_refused =
        AR_NEW_ARRAY(f.seen.arena, bool, g->program->entities.count + 1);
    uint32_t *users =
        AR_NEW_ARRAY(f.seen.arena, uint32_t, g->program->entities.count + 1);
    for (uint32_t i = 0; i < f.uses.count; i++) {
        uint32_t field = f.uses.data[i].field;
        if (is_refused[field])
            continue;
        first_use use = trace_in(
            &s, &g->functions.data[f.uses.data[i].function], field, FOR_FIELD);
        if (use == USE_WRITE) {
            const ar_function *function =
                &g->functions.data[f.uses.data[i].function];
            ar_map_put(&g->scratch_uses, ar_key2(field, function->entity->id),
                       g);
        }
        is_refused[field] = use == USE_READ || use == USE_ESCAPE;
        users[field] += use == USE_WRITE;
    }
    /* One function agrees with itself: only more make it worth a class each. */
    for (uint32_t i = 0; i < g->program->entities.count; i++)
        g->is_scratch[i] =
            users[i] > 1 && !is_refused[i] &&
            !ar_field_is_apart(g, g->program->entities.data[i].decl);
    ar_arena_free(f.seen.arena);
}
