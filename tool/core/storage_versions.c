/* Which versions the calls ask for, and the decisions as a version sees them.
 *
 * From every function that has nothing generic, whose calls are decided by the
 * classes they pass, down to what is called: a version of a function asks for
 * versions of its callees. */
#include "core/chains.h"
#include "core/storage_solver.h"

/* ---- what a call asks for ------------------------------------------------ */

typedef enum wish {
    WISH_NONE, /* a null pointer: any version will do */
    WISH_FP32,
    WISH_HALF
} wish;

static wish wish_of(const ar_storage_plan *view, const ar_storage_call *call,
                    uint32_t generic) {
    uint32_t actual = ar_storage_actual(call, generic);
    if (actual == AR_NO_ID)
        return WISH_NONE;
    return view->classes[actual].half ? WISH_HALF : WISH_FP32;
}

static bool suits(const ar_storage_plan *view, const ar_storage_call *call,
                  const ar_function_versions *callee,
                  const ar_function_version *v) {
    for (uint32_t i = 0; i < callee->generic_count; i++) {
        wish w = wish_of(view, call, callee->generics[i]);
        if (w != WISH_NONE && (w == WISH_HALF) != v->half[i])
            return false;
    }
    return true;
}

static const ar_function_versions *versions_of(const ar_storage_plan *plan,
                                               const ar_entity *function) {
    return plan->versions ? plan->versions->of[function->id] : NULL;
}

const ar_function_version *
ar_storage_version_called(const ar_storage_plan *view,
                          const ar_storage_call *call) {
    const ar_function_versions *callee = versions_of(view, call->callee);
    if (!callee || !callee->list.count)
        return NULL;
    if (callee->one_text)
        return &callee->list.data[0];
    for (uint32_t i = 0; i < callee->list.count; i++)
        if (suits(view, call, callee, &callee->list.data[i]))
            return &callee->list.data[i];
    return NULL;
}

/* ---- views --------------------------------------------------------------- */

static void look_at(ar_storage_plan *view, const ar_function_versions *f,
                    uint32_t version) {
    for (uint32_t i = 0; i < f->generic_count; i++)
        view->classes[f->generics[i]].half = f->list.data[version].half[i];
}

ar_storage_plan *ar_storage_view(ar_arena *arena, const ar_storage_plan *plan,
                                 uint32_t round) {
    uint32_t count = plan->facts->classes.count;
    ar_storage_plan *view = AR_NEW(arena, ar_storage_plan);
    *view = *plan;
    view->classes = AR_NEW_ARRAY(arena, ar_storage_decision, count + 1);
    memcpy(view->classes, plan->classes, count * sizeof *view->classes);
    for (uint32_t i = 0; i < plan->versions->functions.count; i++) {
        const ar_function_versions *f = plan->versions->functions.data[i];
        look_at(view, f, round < f->list.count ? round : 0);
    }
    return view;
}

const ar_decl *ar_storage_function_of(const ar_site *site) {
    const ar_decl *decl = site->decl;
    if (site->node || !decl)
        return site->where.function;
    if (decl->kind == AR_DECL_FUNCTION)
        return decl;
    bool is_local = decl->kind == AR_DECL_VAR || decl->kind == AR_DECL_PARAM;
    return is_local && decl->parent && decl->parent->kind == AR_DECL_FUNCTION
               ? decl->parent
               : NULL;
}

bool ar_storage_has_version(const ar_storage_plan *plan, ar_program *program,
                            const ar_decl *function, uint32_t number) {
    const ar_function_versions *f =
        function ? versions_of(plan, ar_entity_of(program, function)) : NULL;
    return number == 0 || (f && number < f->list.count);
}

/* ---- enumeration --------------------------------------------------------- */

typedef struct context {
    const ar_function_versions *function; /* NULL: nothing generic */
    uint32_t version, caller; /* caller: 1 + entity, 0: outside functions */
} context;

typedef struct deferred {
    context from;
    const ar_storage_call *call;
} deferred;

typedef struct enumeration {
    ar_storage_solver *s;
    ar_storage_plan view; /* with decisions of its own */
    ar_chains calls;      /* by 1 + entity of the caller */
    AR_VEC(context) queue;
    AR_VEC(deferred) later; /* calls that leave something open */
} enumeration;

static void enqueue(enumeration *e, const ar_function_versions *f,
                    uint32_t version, uint32_t caller) {
    context one = {f, version, caller};
    AR_PUSH(e->s->arena, &e->queue, one);
}

/* As if the caller were in this version: it has a function's generics only. */
static void enter(enumeration *e, const context *c) {
    if (c->function)
        look_at(&e->view, c->function, c->version);
}

static void add_version(enumeration *e, ar_function_versions *callee,
                        const ar_storage_call *call) {
    ar_function_version v = {
        .half = AR_NEW_ARRAY(e->s->arena, bool, callee->generic_count + 1),
        .name = callee->function->decl->name};
    for (uint32_t i = 0; i < callee->generic_count; i++) {
        uint32_t generic = callee->generics[i];
        wish w = wish_of(&e->view, call, generic);
        v.half[i] =
            w == WISH_HALF || (w == WISH_NONE && e->s->at[generic].half &&
                               e->s->one_value[generic]);
    }
    AR_PUSH(e->s->arena, &callee->list, v);
    enqueue(e, callee, callee->list.count - 1, 1 + callee->function->id);
}

static bool leaves_open(const enumeration *e, const ar_storage_call *call,
                        const ar_function_versions *callee) {
    for (uint32_t i = 0; i < callee->generic_count; i++)
        if (wish_of(&e->view, call, callee->generics[i]) == WISH_NONE)
            return true;
    return false;
}

static void visit_calls(enumeration *e, context c) {
    const ar_storage_facts *facts = e->s->facts;
    enter(e, &c);
    for (uint32_t i = ar_chain(&e->calls, c.caller); i; i = e->calls.next[i]) {
        const ar_storage_call *call = &facts->calls.data[i - 1];
        ar_function_versions *callee =
            e->s->plan->versions->of[call->callee->id];
        if (!callee || callee->one_text ||
            ar_storage_redirected(e->s, call->node) ||
            ar_storage_version_called(&e->view, call))
            continue;
        if (leaves_open(e, call, callee)) {
            deferred one = {c, call};
            AR_PUSH(e->s->arena, &e->later, one);
        } else {
            add_version(e, callee, call);
        }
    }
}

static void visit_deferred(enumeration *e) {
    for (uint32_t i = 0; i < e->later.count; i++) {
        deferred one = e->later.data[i];
        enter(e, &one.from);
        if (!ar_storage_version_called(&e->view, one.call))
            add_version(e, e->s->plan->versions->of[one.call->callee->id],
                        one.call);
    }
    e->later.count = 0;
}

/* Where there is one text, or no call, the decisions are those of the plan. */
static void add_as_decided(const ar_storage_solver *s,
                           ar_function_versions *f) {
    ar_function_version v = {
        .half = AR_NEW_ARRAY(s->arena, bool, f->generic_count + 1),
        .name = f->function->decl->name};
    for (uint32_t i = 0; i < f->generic_count; i++)
        v.half[i] = s->at[f->generics[i]].half;
    AR_PUSH(s->arena, &f->list, v);
}

static bool is_fp32(const ar_function_versions *f,
                    const ar_function_version *v) {
    for (uint32_t i = 0; i < f->generic_count; i++)
        if (v->half[i])
            return false;
    return true;
}

/* The text that stays as it was is the best one to stay in its place. */
static void put_original_first(ar_function_versions *f) {
    for (uint32_t i = 1; i < f->list.count; i++)
        if (is_fp32(f, &f->list.data[i])) {
            ar_function_version v = f->list.data[0];
            f->list.data[0] = f->list.data[i];
            f->list.data[i] = v;
        }
}

static enumeration start(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    uint32_t count = facts->classes.count;
    enumeration e = {.s = s, .view = *s->plan};
    e.view.classes = AR_NEW_ARRAY(s->arena, ar_storage_decision, count + 1);
    memcpy(e.view.classes, s->at, count * sizeof *e.view.classes);
    e.calls = ar_chains_new(s->arena, facts->calls.count);
    for (uint32_t i = facts->calls.count; i-- > 0;) {
        const ar_decl *f = facts->calls.data[i].where.function;
        ar_chain_add(&e.calls, f ? 1 + ar_entity_of(s->program, f)->id : 0, i);
    }
    return e;
}

/* Where libamp declines, the wrapper of a redirected call runs the original. */
static bool is_called_by_wrapper(const ar_storage_solver *s,
                                 const ar_entity *function) {
    const ar_storage_index *index = s->plan->index;
    for (uint32_t i = ar_storage_call_of(index, function); i;
         i = ar_storage_call_after(index, i))
        if (ar_storage_redirected(s, s->facts->calls.data[i - 1].node))
            return true;
    return false;
}

static void enqueue_roots(enumeration *e) {
    const ar_storage_versions *versions = e->s->plan->versions;
    enqueue(e, NULL, 0, 0);
    for (uint32_t i = 0; i < e->s->program->entities.count; i++) {
        ar_function_versions *f = versions->of[i];
        bool is_function =
            e->s->program->entities.data[i].decl->kind == AR_DECL_FUNCTION;
        if (f && !f->one_text && is_called_by_wrapper(e->s, f->function))
            add_as_decided(e->s, f);
        if (f && f->list.count)
            enqueue(e, f, 0, 1 + i);
        else if (!f && is_function)
            enqueue(e, NULL, 0, 1 + i);
    }
}

void ar_storage_find_versions(ar_storage_solver *s) {
    ar_storage_versions *versions = s->plan->versions;
    for (uint32_t i = 0; i < versions->functions.count; i++) {
        ar_function_versions *f = versions->functions.data[i];
        f->list.count = 0;
        if (f->one_text)
            add_as_decided(s, f);
    }
    enumeration e = start(s);
    enqueue_roots(&e);
    for (uint32_t i = 0; i < e.queue.count || e.later.count; i++) {
        if (i == e.queue.count)
            visit_deferred(&e);
        if (i < e.queue.count)
            visit_calls(&e, e.queue.data[i]);
        else
            break;
    }
    versions->rounds = 1;
    for (uint32_t i = 0; i < versions->functions.count; i++) {
        ar_function_versions *f = versions->functions.data[i];
        if (!f->list.count)
            add_as_decided(s, f);
        put_original_first(f);
        if (f->list.count > versions->rounds)
            versions->rounds = f->list.count;
    }
}

/* ---- the end ------------------------------------------------------------- */

/* By its own type, or through a struct that is told apart by object. */
static bool reaches(const ar_storage_solver *s, const ar_decl *param,
                    uint32_t class_id) {
    const ar_storage_facts *facts = s->facts;
    const ar_storage_class *c = &facts->classes.data[class_id];
    const char *holder =
        ar_sprintf(s->arena, "%s:%s", param->parent ? param->parent->name : "",
                   param->name);
    for (uint32_t i = 0; i < c->slot_count; i++) {
        const ar_slot *slot = &facts->slots.data[c->slots[i]];
        if (ar_entity_of(s->program, param) == slot->entity ||
            (slot->holder && strcmp(slot->holder, holder) == 0))
            return true;
    }
    return false;
}

static bool is_half_behind(const ar_storage_solver *s,
                           const ar_function_versions *f,
                           const ar_function_version *v, const ar_decl *decl) {
    for (uint32_t i = 0; i < f->generic_count; i++)
        if (v->half[i] && reaches(s, decl, f->generics[i]))
            return true;
    return false;
}

typedef struct words {
    ar_str name, list;
    uint32_t count;
} words;

/* The parameters in half, for a name and for a sentence. */
static words parameters(const ar_storage_solver *s,
                        const ar_function_versions *f,
                        const ar_function_version *v) {
    const ar_decl *decl = f->function->decl;
    words w = {.name = {.arena = s->arena}, .list = {.arena = s->arena}};
    for (uint32_t i = 0; i < decl->member_count; i++) {
        if (!is_half_behind(s, f, v, decl->members[i]))
            continue;
        ar_str_addf(&w.name, "_%s", decl->members[i]->name);
        ar_str_addf(&w.list, "%s%s", w.count++ ? ", " : "",
                    decl->members[i]->name);
    }
    return w;
}

static bool is_all_half(const ar_function_versions *f,
                        const ar_function_version *v) {
    for (uint32_t i = 0; i < f->generic_count; i++)
        if (!v->half[i])
            return false;
    return true;
}

/* f_half, or f_half_x_y where several mixtures are called for. */
static const char *base_name(const ar_storage_solver *s,
                             const ar_function_versions *f,
                             const ar_function_version *v) {
    const char *name = f->function->decl->name;
    if (is_fp32(f, v))
        return ar_sprintf(s->arena, "%s_fp32", name);
    if (is_all_half(f, v) ||
        (f->list.count == 2 && is_fp32(f, &f->list.data[0])))
        return ar_sprintf(s->arena, "%s_half", name);
    words w = parameters(s, f, v);
    return ar_sprintf(s->arena, "%s_half%s", name, ar_str_text(&w.name));
}

static const char *about(const ar_storage_solver *s,
                         const ar_function_versions *f,
                         const ar_function_version *v) {
    if (is_fp32(f, v))
        return "all in FP32";
    words w = parameters(s, f, v);
    return is_all_half(f, v) || !w.count
               ? "in half"
               : ar_sprintf(s->arena, "%s in half", ar_str_text(&w.list));
}

static const char *free_name(const ar_storage_solver *s, const char *base,
                             ar_strmap *taken) {
    const char *name = base;
    for (int i = 2; ar_strmap_get(taken, name); i++)
        name = ar_sprintf(s->arena, "%s_%d", base, i);
    ar_strmap_put(taken, name, taken);
    return name;
}

static const char *in_versions(const ar_storage_solver *s,
                               const ar_function_versions *f, uint32_t i) {
    ar_str out = {.arena = s->arena};
    for (uint32_t k = 0; k < f->list.count; k++)
        ar_str_addf(&out, "%s%s in '%s'", k ? ", " : "",
                    f->list.data[k].half[i] ? "half" : "FP32",
                    f->list.data[k].name);
    return ar_str_text(&out);
}

void ar_storage_settle_versions(ar_storage_solver *s) {
    const ar_storage_versions *versions = s->plan->versions;
    ar_strmap taken = {.arena = s->arena};
    if (versions->rounds > 1)
        ar_add_names(s->program, &taken);
    for (uint32_t n = 0; n < versions->functions.count; n++) {
        ar_function_versions *f = versions->functions.data[n];
        for (uint32_t k = 1; k < f->list.count; k++)
            f->list.data[k].name =
                free_name(s, base_name(s, f, &f->list.data[k]), &taken);
        for (uint32_t k = 0; k < f->list.count; k++)
            f->list.data[k].about = about(s, f, &f->list.data[k]);
        for (uint32_t i = 0; i < f->generic_count; i++) {
            ar_storage_decision *d = &s->at[f->generics[i]];
            bool differs = false;
            for (uint32_t k = 1; k < f->list.count; k++)
                differs |= f->list.data[k].half[i] != f->list.data[0].half[i];
            if (d->half && !f->list.data[0].half[i] && !differs)
                d->reason = "all that it is called with is FP32";
            d->half = f->list.data[0].half[i];
            if (differs) {
                d->reason = in_versions(s, f, i);
                d->reason_at = f->function->decl->name_range;
                d->unlock = NULL;
            }
        }
    }
}
