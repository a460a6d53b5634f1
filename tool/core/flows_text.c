#include "core/flows.h"

/* ---- versions of pointer locals ------------------------------------------ */

static void *boxed(uint32_t value) {
    return (void *)(uintptr_t)value;
}

static uint32_t local_index(const ar_walk *w, const ar_decl *decl) {
    if (!w->locals.count ||
        (decl->kind != AR_DECL_VAR && decl->kind != AR_DECL_PARAM))
        return 0;
    uint32_t entity = ar_entity_of(w->g->program, decl)->id;
    return (uint32_t)(uintptr_t)ar_map_get(&w->local_index, entity + 1);
}

static uint32_t new_version(ar_walk *w, uint32_t cell, ar_where where) {
    if (!w->versions.count)
        AR_PUSH(w->g->arena, &w->versions, (ar_version){0});
    ar_version version = {.cell = cell, .where = where};
    AR_PUSH(w->g->arena, &w->versions, version);
    return w->versions.count - 1;
}

/* Reading a join makes what meets there one. */
static uint32_t realise(ar_walk *w, uint32_t id) {
    ar_version *version = &w->versions.data[id];
    version->is_used = true;
    if (version->cell)
        return version->cell;
    uint32_t count = version->joined_count;
    uint32_t *joined = version->joined;
    uint32_t cell = realise(w, joined[0]);
    w->versions.data[id].cell = cell; /* before the rest: loops come back */
    for (uint32_t i = 1; i < count; i++)
        ar_cell_unify(w->g, cell, realise(w, joined[i]));
    return cell;
}

uint32_t ar_local_read(ar_walk *w, const ar_decl *decl) {
    uint32_t index = local_index(w, decl);
    if (!index)
        return 0;
    if (!w->env) /* not reached: any version will do */
        return ar_cell_of(w->g, decl);
    if (w->is_quiet) { /* of the type, which all versions share */
        w->versions.data[index].is_measured = true;
        return w->versions.data[index].cell;
    }
    return realise(w, w->env[index - 1]);
}

uint32_t ar_local_write(ar_walk *w, const ar_decl *decl, ar_where where) {
    uint32_t index = decl ? local_index(w, decl) : 0;
    if (!index || !w->env)
        return 0;
    ar_graph *g = w->g;
    uint32_t cell = ar_cell_new(g);
    ar_cell_typed(g, cell, decl->type, where);
    ar_target_typed(g, ar_cell_pointee(g, cell), decl->type, where);
    w->env[index - 1] = new_version(w, cell, where);
    ar_web web = {ar_entity_of(g->program, decl), cell, where,
                  w->env[index - 1], false};
    AR_PUSH(g->arena, &g->webs, web);
    return cell;
}

/* ---- environments -------------------------------------------------------- */

static ar_env clone(ar_walk *w, ar_env env) {
    if (!env)
        return NULL;
    ar_env copy = AR_NEW_ARRAY(w->g->arena, uint32_t, w->locals.count + 1);
    memcpy(copy, env, w->locals.count * sizeof *copy);
    return copy;
}

static uint32_t join_versions(ar_walk *w, uint32_t a, uint32_t b) {
    if (a == b)
        return a;
    uint32_t id = new_version(w, 0, w->versions.data[a].where);
    uint32_t *joined = AR_NEW_ARRAY(w->g->arena, uint32_t, 2);
    joined[0] = a;
    joined[1] = b;
    w->versions.data[id].joined = joined;
    w->versions.data[id].joined_count = 2;
    return id;
}

static ar_env join(ar_walk *w, ar_env a, ar_env b) {
    if (!a || a == b)
        return b;
    if (!b)
        return a;
    ar_env joined = clone(w, a);
    for (uint32_t i = 0; i < w->locals.count; i++)
        joined[i] = join_versions(w, a[i], b[i]);
    return joined;
}

/* A loop head is a join of the entry with the end of the body; the end is not
 * known yet, and matters only if the head is read before it is written. */
static ar_env open_loop(ar_walk *w) {
    if (!w->env)
        return NULL;
    ar_env head = clone(w, w->env);
    for (uint32_t i = 0; i < w->locals.count; i++) {
        uint32_t *entry = AR_NEW_ARRAY(w->g->arena, uint32_t, 1);
        entry[0] = w->env[i];
        head[i] = new_version(w, 0, w->versions.data[entry[0]].where);
        w->versions.data[head[i]].joined = entry;
        w->versions.data[head[i]].joined_count = 1;
    }
    w->env = clone(w, head);
    return head;
}

static void close_loop(ar_walk *w, ar_env head, ar_env end) {
    if (!head || !end)
        return;
    for (uint32_t i = 0; i < w->locals.count; i++) {
        if (head[i] == end[i])
            continue;
        if (w->versions.data[head[i]].is_used)
            ar_cell_unify(w->g, realise(w, head[i]), realise(w, end[i]));
    }
}

/* ---- statements ---------------------------------------------------------- */

static void evaluate(ar_walk *w, ar_node *node) {
    w->loads.count = 0;
    ar_eval(w, node);
    w->loads.count = 0;
}

static void declaration(ar_walk *w, ar_node *node) {
    for (uint32_t i = 0; i < node->decl_count; i++) {
        ar_decl *decl = node->decls[i];
        if (decl->kind != AR_DECL_VAR)
            continue;
        w->loads.count = 0;
        uint32_t cell = 0;
        ar_where where = {w->unit, w->function, decl->name_range};
        bool is_plain = decl->init && decl->init->kind != AR_INIT_LIST;
        if (is_plain && decl->type && decl->type->kind == AR_TYPE_POINTER &&
            local_index(w, decl)) {
            /* The initialiser sees the versions before this one. */
            uint32_t target = ar_is_reference(decl->type)
                                  ? ar_lvalue(w, decl->init)
                                  : ar_eval(w, decl->init);
            cell = ar_local_write(w, decl, where);
            if (!cell)
                cell = ar_cell_of(w->g, decl);
            ar_store_pointer(w, cell, target, decl->init, decl, decl->init);
            continue;
        }
        cell = ar_cell_of(w->g, decl);
        ar_initialise(w, cell, decl->type, decl->init, decl);
    }
    w->loads.count = 0;
}

static void if_statement(ar_walk *w, ar_node *node) {
    evaluate(w, node->kids[0]);
    ar_env before = clone(w, w->env);
    ar_statement(w, node->kids[1]);
    ar_env after_then = w->env;
    w->env = before;
    if (node->kid_count > 2 && node->kids[2])
        ar_statement(w, node->kids[2]);
    w->env = join(w, after_then, w->env);
}

static void enter_target(ar_walk *w, ar_target *target, bool is_loop) {
    *target = (ar_target){.outer = w->target, .is_loop = is_loop};
    w->target = target;
}

static void join_continues(ar_walk *w, ar_target *target) {
    for (uint32_t i = 0; i < target->continues.count; i++)
        w->env = join(w, w->env, target->continues.data[i]);
}

static void leave_target(ar_walk *w, ar_target *target) {
    for (uint32_t i = 0; i < target->breaks.count; i++)
        w->env = join(w, w->env, target->breaks.data[i]);
    w->target = target->outer;
}

static void loop(ar_walk *w, ar_node *cond, ar_node *step, ar_node *body) {
    ar_target target;
    ar_env head = open_loop(w);
    enter_target(w, &target, true);
    evaluate(w, cond);
    ar_env at_exit = clone(w, w->env);
    ar_statement(w, body);
    join_continues(w, &target);
    evaluate(w, step);
    close_loop(w, head, w->env);
    w->env = join(w, at_exit, w->env);
    leave_target(w, &target);
}

static void do_loop(ar_walk *w, ar_node *body, ar_node *cond) {
    ar_target target;
    ar_env head = open_loop(w);
    enter_target(w, &target, true);
    ar_statement(w, body);
    join_continues(w, &target);
    evaluate(w, cond);
    close_loop(w, head, w->env);
    leave_target(w, &target);
}

static void for_loop(ar_walk *w, ar_node *node) {
    if (node->kids[0] && (node->kids[0]->kind == AR_DECL_STMT ||
                          node->kids[0]->kind == AR_EXPR_STMT))
        ar_statement(w, node->kids[0]);
    else
        evaluate(w, node->kids[0]);
    loop(w, node->kids[1], node->kids[2], node->kids[3]);
}

static void switch_statement(ar_walk *w, ar_node *node) {
    ar_target target;
    evaluate(w, node->kids[0]);
    enter_target(w, &target, false);
    target.entry = w->env;
    w->env = NULL;
    ar_statement(w, node->kids[1]);
    if (!target.has_default)
        w->env = join(w, w->env, target.entry);
    leave_target(w, &target);
}

static void case_label(ar_walk *w, ar_node *node) {
    ar_target *target = w->target;
    while (target && target->is_loop)
        target = target->outer;
    if (target) {
        target->has_default |= node->kind == AR_DEFAULT;
        w->env = join(w, w->env, clone(w, target->entry));
    }
    if (node->kid_count)
        ar_statement(w, node->kids[node->kid_count - 1]);
}

static void jump(ar_walk *w, ar_node_kind kind) {
    ar_target *target = w->target;
    while (target && kind == AR_CONTINUE && !target->is_loop)
        target = target->outer;
    if (target && w->env) {
        if (kind == AR_BREAK)
            AR_PUSH(w->g->arena, &target->breaks, w->env);
        else
            AR_PUSH(w->g->arena, &target->continues, w->env);
    }
    w->env = NULL;
}

static void return_statement(ar_walk *w, ar_node *node) {
    w->loads.count = 0;
    ar_node *value = node->kid_count ? node->kids[0] : NULL;
    if (value && w->function) {
        ar_graph *g = w->g;
        const ar_type *type = value->type;
        const ar_type *own = w->function->type;
        uint32_t result = ar_cell_result(g, w->cell);
        if (own && ar_is_reference(own->element)) {
            ar_store_pointer(w, result, ar_lvalue(w, value), value, w->function,
                             node);
            w->loads.count = 0;
            w->env = NULL;
            return;
        }
        uint32_t target = ar_eval(w, value);
        if (ar_is_apart_value(w, type))
            ar_copy_object(w, target, result);
        else if (target && ar_is_address(type))
            ar_store_pointer(w, result, target, value, w->function, node);
        else if (type && type->kind == AR_TYPE_INT)
            ar_size_flow(w, value, result);
        else if (ar_is_float(type))
            ar_flow_values(w, 0, result, w->function, node);
    }
    w->loads.count = 0;
    w->env = NULL;
}

static bool is_place(const ar_node *node) {
    return node->kind == AR_MEMBER || node->kind == AR_INDEX ||
           node->kind == AR_DEREF ||
           (node->kind == AR_REF && node->decl &&
            (node->decl->kind == AR_DECL_VAR ||
             node->decl->kind == AR_DECL_PARAM));
}

/* Nobody knows what it reads or writes: what an operand names or points to has
 * to be what its type says. */
static void asm_operand(ar_walk *w, ar_node *node, ar_where where) {
    ar_graph *g = w->g;
    const char *reason = "an asm statement uses it";
    uint32_t cell = ar_eval(w, node);
    if (is_place(node) && !ar_is_address(node->type))
        cell = ar_lvalue(w, node);
    for (int level = 0; cell && level < 4; level++) {
        ar_cell_pin(g, cell, AR_PIN_UNMODELLED, where, reason);
        cell = g->cells.data[ar_cell_find(g, cell)].pointee;
    }
    const ar_type *type = node->type;
    while (ar_is_address(type))
        type = type->element;
    if (ar_is_kind(type, AR_TYPE_RECORD) && type->record)
        ar_pin_fields(g, type->record, where, reason);
}

static void asm_statement(ar_walk *w, ar_node *node) {
    w->loads.count = 0;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (node->kids[i])
            asm_operand(w, node->kids[i], ar_here(w, node));
    w->loads.count = 0;
}

void ar_statement(ar_walk *w, ar_node *node) {
    if (!node)
        return;
    switch (node->kind) {
    case AR_COMPOUND:
    case AR_UNKNOWN_STMT:
    case AR_LABEL:
        for (uint32_t i = 0; i < node->kid_count; i++)
            ar_statement(w, node->kids[i]);
        return;
    case AR_DECL_STMT:
        declaration(w, node);
        return;
    case AR_EXPR_STMT:
        evaluate(w, node->kid_count ? node->kids[0] : NULL);
        return;
    case AR_IF:
        if_statement(w, node);
        return;
    case AR_FOR:
        for_loop(w, node);
        return;
    case AR_WHILE:
        loop(w, node->kids[0], NULL, node->kids[1]);
        return;
    case AR_DO:
        do_loop(w, node->kids[0], node->kids[1]);
        return;
    case AR_SWITCH:
        switch_statement(w, node);
        return;
    case AR_CASE:
    case AR_DEFAULT:
        case_label(w, node);
        return;
    case AR_BREAK:
    case AR_CONTINUE:
        jump(w, node->kind);
        return;
    case AR_RETURN:
        return_statement(w, node);
        return;
    case AR_ASM:
        asm_statement(w, node);
        return;
    case AR_GOTO:
    case AR_NULL_STMT:
        return;
    default:
        evaluate(w, node);
        return;
    }
}

/* ---- which locals have versions ------------------------------------------ */

typedef struct survey {
    ar_walk *w;
    AR_VEC(ar_entity *) pointers;
    ar_map refused; /* entity + 1 */
    bool has_labels;
} survey;

static void refuse(survey *s, ar_node *lvalue) {
    lvalue = ar_skip_casts(lvalue);
    if (lvalue && lvalue->kind == AR_REF && lvalue->decl &&
        (lvalue->decl->kind == AR_DECL_VAR ||
         lvalue->decl->kind == AR_DECL_PARAM))
        ar_map_put(&s->refused,
                   ar_entity_of(s->w->g->program, lvalue->decl)->id + 1, s);
}

static void add_pointer(survey *s, ar_decl *decl) {
    if (decl->storage == AR_STORAGE_AUTO && !decl->has_cleanup && decl->type &&
        decl->type->kind == AR_TYPE_POINTER)
        AR_PUSH(s->w->g->arena, &s->pointers,
                ar_entity_of(s->w->g->program, decl));
}

static bool branches(const ar_node *node) {
    return node->kind == AR_CONDITIONAL || node->kind == AR_STATEMENT_EXPR ||
           (node->kind == AR_BINARY &&
            (node->op == AR_OP_LOGICAL_AND || node->op == AR_OP_LOGICAL_OR));
}

/* Assignments under && or ?: happen or not; such locals keep one version. */
static void look(survey *s, ar_node *node, bool is_conditional) {
    if (!node)
        return;
    if (node->kind == AR_LABEL)
        s->has_labels = true;
    if (node->kind == AR_ADDRESS)
        refuse(s, node->kids[0]);
    for (uint32_t i = 0; node->kind == AR_ASM && i < node->kid_count; i++)
        if (node->kids[i])
            refuse(s, node->kids[i]); /* it may be written */
    if (node->kind == AR_ASSIGN && is_conditional)
        refuse(s, node->kids[0]);
    is_conditional |= branches(node);
    for (uint32_t i = 0; i < node->decl_count; i++) {
        ar_decl *decl = node->decls[i];
        if (decl->kind != AR_DECL_VAR)
            continue;
        add_pointer(s, decl);
        look(s, decl->init, is_conditional);
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        look(s, node->kids[i], is_conditional);
}

static void choose_locals(ar_walk *w, ar_decl *function) {
    survey s = {.w = w, .refused = {.arena = w->g->arena}};
    for (uint32_t i = 0; i < function->member_count; i++)
        add_pointer(&s, function->members[i]);
    look(&s, function->body, false);
    for (uint32_t i = 0; i < s.pointers.count && !s.has_labels; i++) {
        ar_entity *entity = s.pointers.data[i];
        if (ar_map_get(&s.refused, entity->id + 1))
            continue;
        AR_PUSH(w->g->arena, &w->locals, entity);
        ar_map_put(&w->local_index, entity->id + 1, boxed(w->locals.count));
    }
}

static void open_env(ar_walk *w) {
    ar_graph *g = w->g;
    w->env = AR_NEW_ARRAY(g->arena, uint32_t, w->locals.count + 1);
    for (uint32_t i = 0; i < w->locals.count; i++) {
        ar_entity *entity = w->locals.data[i];
        ar_where where = {w->unit, w->function, entity->decl->name_range};
        w->env[i] = new_version(w, ar_cell_of(g, entity->decl), where);
    }
}

/* p = malloc(n * sizeof *p): the sizeof belongs to what p is set to. */
static void join_web(ar_walk *w, uint32_t first_web, const ar_entity *entity,
                     uint32_t cell) {
    ar_graph *g = w->g;
    for (uint32_t i = first_web; i < g->webs.count; i++)
        if (g->webs.data[i].entity == entity && g->webs.data[i].is_used) {
            ar_cell_unify(g, cell, g->webs.data[i].cell);
            return;
        }
}

/* A version that is neither read nor given memory, such as the null before the
 * first assignment, is no web. */
static void finish_webs(ar_walk *w, uint32_t first_web) {
    ar_graph *g = w->g;
    for (uint32_t i = first_web; i < g->webs.count; i++) {
        ar_web *web = &g->webs.data[i];
        if (web->is_used)
            continue;
        uint32_t memory = ar_cell_find(g, ar_cell_pointee(g, web->cell));
        web->is_used = w->versions.data[web->version].is_used ||
                       g->cells.data[memory].rank > 0;
    }
    for (uint32_t i = 0; i < w->locals.count; i++) {
        const ar_version *first = &w->versions.data[i + 1];
        if (first->is_measured && !first->is_used)
            join_web(w, first_web, w->locals.data[i], first->cell);
        ar_web web = {w->locals.data[i], first->cell, first->where, i + 1,
                      first->is_used ||
                          w->locals.data[i]->decl->kind == AR_DECL_PARAM};
        AR_PUSH(g->arena, &g->webs, web);
    }
}

/* ---- entry points -------------------------------------------------------- */

static ar_walk new_walk(ar_graph *g, ar_unit *unit, ar_decl *function) {
    return (ar_walk){.g = g,
                     .unit = unit,
                     .function = function,
                     .size_sites = {.arena = g->arena},
                     .cells = {.arena = g->arena},
                     .scratch = {.arena = g->arena},
                     .sized = {.arena = g->arena},
                     .local_index = {.arena = g->arena}};
}

void ar_flows_of_function(ar_graph *g, ar_function *f) {
    ar_walk w = new_walk(g, f->unit, f->decl);
    uint32_t first_web = g->webs.count;
    w.cell = f->cell;
    for (uint32_t i = 0; i < f->decl->member_count; i++) {
        ar_decl *param = f->decl->members[i];
        ar_cell_unify(g, ar_cell_param(g, f->cell, i), ar_cell_of(g, param));
    }
    const ar_type *type = f->decl->type;
    if (type && type->element && type->element->kind != AR_TYPE_VOID) {
        ar_where where = {f->unit, f->decl, f->decl->name_range};
        uint32_t result = ar_cell_result(g, f->cell);
        ar_cell_typed(g, result, type->element, where);
        if (type->element->kind == AR_TYPE_POINTER)
            ar_target_typed(g, ar_cell_pointee(g, result), type->element,
                            where);
    }
    w.accumulation = ar_accumulation_of(g, f->unit, f->decl);
    choose_locals(&w, f->decl);
    open_env(&w);
    ar_statement(&w, f->decl->body);
    finish_webs(&w, first_web);
}

void ar_flows_of_variable(ar_graph *g, ar_unit *unit, ar_decl *variable) {
    ar_walk w = new_walk(g, unit, NULL);
    ar_initialise(&w, ar_cell_of(g, variable), variable->type, variable->init,
                  variable);
}
