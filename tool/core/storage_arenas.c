/* Arenas: may the parts have elements of different sizes? Only if nothing sees
 * more of the memory than one part, but for what makes and frees it. */
#include "core/plan_storage.h"
#include "core/rule_at.h"
#include "core/storage_arena_counts.h"
#include "core/storage_solver.h"

typedef struct checker {
    ar_storage_solver *s;
    const ar_storage_arena *arena;
    bool *is_whole, *is_part; /* by class */
    bool is_cleared;
    const char *problem;
    ar_range at;
} checker;

static void found(checker *c, const char *problem, ar_range at) {
    if (c->problem)
        return;
    c->problem = problem;
    c->at = at;
}

/* ---- which classes ------------------------------------------------------- */

static void mark(const ar_storage_solver *s, bool *marks, uint32_t id) {
    if (id == AR_NO_ID)
        return;
    const ar_storage_class *c = &s->facts->classes.data[id];
    marks[id] = true;
    for (uint32_t i = 0; i < c->concrete_count; i++)
        marks[c->concrete[i]] = true;
}

static bool points_to(const checker *c, const ar_node *node,
                      const bool *marks) {
    return ar_arena_points_to(c->s->program, c->s->facts, node, marks);
}

/* ---- the whole is not looked at ------------------------------------------ */

static bool frees(const checker *c, const ar_node *call) {
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    const ar_function_rule *rule =
        callee && !ar_definition_of(c->s->program, callee)
            ? ar_rule_at(c->s->rules, c->s->program, callee, call->range)
            : NULL;
    return rule && rule->kind == AR_RULE_FREE;
}

/* Does the text use the parameter for more than to free it? */
static bool is_used(const checker *c, const ar_node *node,
                    const ar_decl *param) {
    if (!node || (node->kind == AR_CALL && frees(c, node)))
        return false;
    if (node->kind == AR_REF)
        return node->decl == param;
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (is_used(c, node->decls[i]->init, param))
            return true;
    bool tests = node->kind == AR_IF;
    for (uint32_t i = 0; i < node->kid_count; i++) {
        const ar_node *kid =
            i == 0 && tests ? ar_skip_casts(node->kids[0]) : node->kids[i];
        bool is_test = i == 0 && tests && kid && kid->kind == AR_REF;
        if (!is_test && is_used(c, kid, param))
            return true;
    }
    return false;
}

static const char *call_problem(const checker *c, const ar_site *site) {
    const ar_decl *callee = site->decl;
    if (!callee)
        return "all of it is passed through a pointer to a function";
    bool ok = ar_definition_of(c->s->program, callee) || frees(c, site->node);
    return ok ? NULL /* what has a body has classes of its own */
              : ar_sprintf(c->s->arena, "'%s' is given all of it",
                           callee->name);
}

/* The parts that are to be cleared are known by the arena's address. */
static const char *clear_problem(checker *c, const ar_storage_class *class,
                                 const ar_site *site) {
    c->is_cleared = true;
    if (site->where.function == c->arena->where.function)
        return "it is cleared where it is handed out";
    for (uint32_t i = 0; i < class->concrete_count; i++)
        if (!c->is_whole[class->concrete[i]])
            return "other memory is cleared by the same text";
    return ar_arena_clear_refusal(c->s->arena, c->s->program, c->s->rules,
                                  c->s->plan, site);
}

static const char *site_problem(checker *c, const ar_storage_class *class,
                                const ar_site *site) {
    const ar_function_rule *rule;
    switch (site->kind) {
    case AR_SITE_DECLARATION:
    case AR_SITE_RECORD:
    case AR_SITE_CAST:
    case AR_SITE_SIZEOF:
        return NULL;
    case AR_SITE_ALLOCATION:
        rule = ar_rule_at(c->s->rules, c->s->program, site->decl,
                          site->where.range);
        return rule && rule->kind == AR_RULE_REALLOC ? "it is reallocated"
                                                     : NULL;
    case AR_SITE_CALL:
        return call_problem(c, site);
    case AR_SITE_CLEAR:
        return clear_problem(c, class, site);
    case AR_SITE_COPY:
        return "all of it is copied at once";
    case AR_SITE_FILE:
        return "all of it goes to or from a file at once";
    case AR_SITE_LOAD:
    case AR_SITE_STORE:
    case AR_SITE_COMPOUND_STORE:
    case AR_SITE_ADDRESS_OF:
    case AR_SITE_LITERAL:
    case AR_SITE_INITIALISER:
    case AR_SITE_VECTOR:
    case AR_SITE_LAUNCH:
    case AR_SITE_VARARGS_VALUE:
    case AR_SITE_VARARGS_ADDRESS:
        return "its elements are used by the pointer to all of it";
    case AR_SITE_KINDS:
        break;
    }
    AR_BUG("site kind %d", (int)site->kind);
}

static void check_class(checker *c, const ar_storage_class *class) {
    const ar_storage_facts *facts = c->s->facts;
    if (class->pin_count)
        found(c, class->pins[0].reason, class->pins[0].where.range);
    if (c->is_part[class->id])
        found(c, "a part of it is pointed to as all of it",
              c->arena->where.range);
    if (ar_storage_is_untyped(c->s->facts, class->id))
        return;
    for (uint32_t i = 0; i < class->site_count; i++) {
        const ar_site *site = &facts->sites.data[class->sites[i]];
        const char *problem = site_problem(c, class, site);
        if (problem)
            found(c, problem, site->where.range);
    }
}

/* What is registered with the runtime is so as FP32. */
static void check_roles(checker *c, uint32_t id) {
    uint32_t roles = c->s->info[id].roles;
    if (roles &
        (1u << AR_ROLE_PARAM | 1u << AR_ROLE_GRAD | 1u << AR_ROLE_STATE))
        found(c, "it holds what the update works on", c->arena->where.range);
}

static void check_classes(checker *c) {
    for (uint32_t i = 0; i < c->s->facts->classes.count; i++) {
        if (c->is_whole[i])
            check_class(c, &c->s->facts->classes.data[i]);
        if (c->is_whole[i] || c->is_part[i])
            check_roles(c, i);
    }
}

static void check_origin(checker *c, const ar_where *where,
                         const ar_node *call) {
    if (call != c->arena->allocation)
        found(c, "it may also be memory of another allocation, and is cleared",
              where->range);
}

/* malloc's void *, or a wrapper's, becomes it. */
static bool is_made_typed(const checker *c, const struct ar_instance *one) {
    return c->is_whole[one->actual] && c->is_whole[one->generic] &&
           ar_storage_is_untyped(c->s->facts, one->generic) &&
           !ar_storage_is_untyped(c->s->facts, one->actual);
}

/* What is cleared by address must come from here, or nothing is known of it. */
static void check_allocations(checker *c) {
    const ar_storage_facts *facts = c->s->facts;
    if (!c->is_cleared)
        return;
    for (uint32_t i = 0; i < facts->sites.count; i++) {
        const ar_site *site = &facts->sites.data[i];
        const ar_storage_class *class = &facts->classes.data[site->classes[0]];
        if (site->kind == AR_SITE_ALLOCATION && c->is_whole[class->id] &&
            !ar_storage_is_untyped(c->s->facts, class->id))
            check_origin(c, &site->where, site->node);
    }
    for (uint32_t i = 0; i < facts->calls.count; i++) {
        const ar_storage_call *call = &facts->calls.data[i];
        for (uint32_t k = 0; k < call->instance_count; k++)
            if (is_made_typed(c, &call->instances[k]))
                check_origin(c, &call->where, call->node);
    }
}

/* The runtime scales what it knows to be one buffer. */
static void check_seeds(checker *c) {
    const ar_scale *scale = c->s->scale;
    for (uint32_t g = 0; scale && g < scale->group_count; g++)
        for (uint32_t i = 0; i < scale->groups[g].seed_count; i++) {
            const ar_seed *seed = &scale->groups[g].seeds[i];
            uint32_t id = seed->form == AR_SEED_BUFFER
                              ? ar_storage_class_of_cell(c->s->plan, seed->cell)
                              : AR_NO_ID;
            if (id != AR_NO_ID && (c->is_whole[id] || c->is_part[id]))
                found(c, "the loss scale goes into it as a buffer",
                      seed->node->range);
        }
}

/* ---- distances in it ----------------------------------------------------- */

static bool is_in(const ar_node *node, const ar_node *outer) {
    return node->range.file == outer->range.file &&
           node->range.begin >= outer->range.begin &&
           node->range.end <= outer->range.end;
}

static bool is_pointer_step(const ar_node *node) {
    if (node->kind == AR_BINARY)
        return node->op != AR_OP_EQ && node->op != AR_OP_NE &&
               node->op != AR_OP_LOGICAL_AND && node->op != AR_OP_LOGICAL_OR;
    return node->kind == AR_COMPOUND_ASSIGN ||
           (node->kind == AR_UNARY && node->op >= AR_OP_PRE_INC);
}

static void check_steps(checker *c, const ar_node *node) {
    if (!is_pointer_step(node) || is_in(node, c->arena->store) ||
        is_in(node, c->arena->step))
        return;
    for (uint32_t i = 0; i < node->kid_count; i++) {
        const ar_node *kid = ar_skip_casts(node->kids[i]);
        if (kid && ar_is_address(node->kids[i]->type) &&
            points_to(c, kid, c->is_whole))
            found(c, "addresses in it are computed from that of all of it",
                  node->range);
    }
}

/* What a function takes as void * has no class in it. */
static void check_untyped(checker *c, const ar_node *call) {
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    const ar_decl *body =
        callee ? ar_definition_of(c->s->program, callee) : NULL;
    for (uint32_t i = 1; i < call->kid_count; i++) {
        const ar_decl *param =
            body && i <= body->member_count ? body->members[i - 1] : NULL;
        const ar_type *type = call->kids[i]->type;
        if (callee && !body)
            continue; /* a site, or a pin */
        if (!ar_is_address(type) || ar_float_depth(type) > 0 ||
            !points_to(c, ar_skip_casts(call->kids[i]), c->is_whole))
            continue;
        if (!param || is_used(c, body->body, param))
            found(c, "it is given away as untyped memory", call->range);
    }
}

static void check_node(void *context, ar_unit *unit, ar_decl *function,
                       ar_node *node) {
    (void)unit, (void)function;
    checker *c = context;
    check_steps(c, node);
    if (node->kind == AR_CALL)
        check_untyped(c, node);
}

/* ---- one arena ----------------------------------------------------------- */

static void check(checker *c) {
    ar_storage_solver *s = c->s;
    const ar_storage_arena *arena = c->arena;
    uint32_t classes = s->facts->classes.count + 1;
    c->is_whole = AR_NEW_ARRAY(s->arena, bool, classes);
    c->is_part = AR_NEW_ARRAY(s->arena, bool, classes);
    ar_storage_mark_memory(s->facts, arena->whole, c->is_whole);
    for (uint32_t i = 0; i < arena->part_count; i++)
        ar_storage_mark_memory(s->facts, arena->parts[i].class_id, c->is_part);
    check_classes(c);
    check_allocations(c);
    check_seeds(c);
    ar_program_visit(s->program, check_node, c);
    ar_range at = AR_NO_RANGE;
    const char *problem = ar_arena_count_problem(s->arena, s->program, s->facts,
                                                 arena, c->is_part, &at);
    if (problem)
        found(c, problem, at);
}

static const char *problem_of(ar_storage_solver *s,
                              const ar_storage_arena *arena) {
    checker c = {.s = s, .arena = arena};
    if (arena->problem)
        found(&c, arena->problem, arena->problem_at);
    if (arena->where.unit->language != AR_LANG_C)
        found(&c, "-O2 stores half in C only", arena->where.range);
    for (uint32_t i = 0; i < arena->part_count && !c.problem; i++)
        if (arena->whole == AR_NO_ID || arena->parts[i].class_id == AR_NO_ID)
            found(&c, "nothing is known of its memory", arena->where.range);
    if (!c.problem)
        check(&c);
    if (!c.problem)
        c.problem = ar_storage_arena_refusal(s->arena, s->program, s->plan,
                                             arena, &c.at);
    if (!c.problem)
        return NULL;
    return ar_sprintf(s->arena, "%s (%s)", c.problem,
                      ar_place(s->arena, &s->program->files, c.at));
}

/* ---- all of them --------------------------------------------------------- */

static bool is_accessed(const ar_storage_class *c) {
    return c->site_counts[AR_SITE_LOAD] || c->site_counts[AR_SITE_STORE] ||
           c->site_counts[AR_SITE_COMPOUND_STORE];
}

void ar_storage_find_wholes(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    bool is_first = !s->arena_problem;
    s->is_whole = AR_NEW_ARRAY(s->arena, bool, facts->classes.count + 1);
    if (is_first)
        s->arena_problem =
            AR_NEW_ARRAY(s->arena, const char *, facts->arenas.count + 1);
    for (uint32_t i = 0; i < facts->arenas.count; i++) {
        const ar_storage_arena *arena = &facts->arenas.data[i];
        mark(s, s->is_whole, arena->whole);
        if (is_first)
            s->arena_problem[i] = problem_of(s, arena);
    }
    for (uint32_t i = 0; i < facts->classes.count; i++)
        s->is_whole[i] =
            s->is_whole[i] && !is_accessed(&facts->classes.data[i]);
}

static bool some_part_may_be_half(const ar_storage_solver *s,
                                  const ar_storage_arena *arena) {
    for (uint32_t k = 0; k < arena->part_count; k++) {
        uint32_t id = arena->parts[k].class_id;
        const ar_storage_link *because = s->because[id];
        if (!s->at[id].half && because && because->arena == arena)
            return true;
    }
    return false;
}

bool ar_storage_split_arenas(ar_storage_solver *s) {
    bool any = false;
    for (uint32_t i = 0; i < s->facts->arenas.count; i++) {
        if (s->plan->is_split[i] || s->arena_problem[i] ||
            !some_part_may_be_half(s, &s->facts->arenas.data[i]))
            continue;
        s->plan->is_split[i] = any = true;
    }
    return any;
}

void ar_storage_keep_wholes(ar_storage_solver *s) {
    for (uint32_t i = 0; i < s->facts->arenas.count; i++) {
        const ar_storage_arena *arena = &s->facts->arenas.data[i];
        if (s->plan->is_split[i])
            ar_storage_keep(
                s, arena->whole,
                "laid out part by part, each with its own precision; every "
                "part is taken to be used within its length",
                arena->where.range, NULL);
    }
}

/* ---- parts as the loss-scale analysis sees them -------------------------- */

static bool is_same_place(const ar_node *a, const ar_node *b) {
    return a->range.file == b->range.file && a->range.begin == b->range.begin &&
           a->range.end == b->range.end;
}

bool ar_storage_find_part(const ar_storage_arena *arena,
                          const ar_pointer_store *store, uint32_t *part) {
    const ar_decl *holder = store->field ? store->field : store->holder->decl;
    for (*part = 0; *part < arena->part_count; ++*part) {
        const ar_decl *pointer = arena->parts[*part].pointer->decl;
        if (holder && pointer && holder->id == pointer->id)
            return true;
    }
    return false;
}

/* The arena that hands out by this store, or NULL. */
static const ar_storage_arena *handed_by(const ar_storage_plan *plan,
                                         const ar_pointer_store *store) {
    for (uint32_t i = 0; i < plan->facts->arenas.count; i++) {
        const ar_storage_arena *arena = &plan->facts->arenas.data[i];
        if (plan->is_split[i] && is_same_place(store->node, arena->store))
            return arena;
    }
    return NULL;
}

const ar_storage_arena *ar_storage_part_of(const ar_storage_plan *plan,
                                           const ar_scale *scale,
                                           const ar_cell *cell,
                                           uint32_t *part) {
    for (uint32_t i = 0; i < scale->stores.count && plan->index; i++) {
        const ar_pointer_store *store = &scale->stores.data[i];
        if (store->target != cell->object ||
            strcmp(store->target_path, cell->path) != 0)
            continue;
        const ar_storage_arena *arena = handed_by(plan, store);
        if (arena && ar_storage_find_part(arena, store, part))
            return arena;
    }
    return NULL;
}

bool ar_storage_is_handed_out(const ar_storage_plan *plan,
                              const ar_scale *scale, const ar_object *object) {
    for (uint32_t i = 0; i < scale->stores.count && plan->index; i++)
        if (scale->stores.data[i].target == object &&
            handed_by(plan, &scale->stores.data[i]))
            return true;
    return false;
}
