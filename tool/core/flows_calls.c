/* Calls of the program's own functions, and of what a pointer holds. */
#include "core/flows_calls.h"
#include "core/rule_at.h"

/* ---- calls of own functions ---------------------------------------------- */

/* The object that a parameter or result of this type leads to; what is passed
 * as an array is a pointer there. */
static uint32_t object_given(ar_graph *g, uint32_t cell, const ar_type *type) {
    if (!ar_is_kind(type, AR_TYPE_ARRAY))
        return ar_object_below(g, cell, type);
    return ar_object_below(g, ar_cell_pointee(g, cell), type->element);
}

/* The text of a pointer to functions names the struct, and stays. */
static void pin_object(ar_walk *w, uint32_t cell, const ar_type *type,
                       ar_node *at, const char *reason) {
    if (cell && !w->is_quiet && ar_apart_record(w->g, type))
        ar_cell_pin(w->g, object_given(w->g, cell, type), AR_PIN_FOREIGN_CALL,
                    ar_here(w, at), reason);
}

static void pin_pointer_call(ar_walk *w, const ar_flow_call *c,
                             uint32_t function) {
    const char *reason = "goes through a pointer to functions";
    if (!w->g->is_apart)
        return;
    for (uint32_t i = 0; i < c->count; i++)
        pin_object(w, ar_cell_param(w->g, function, i), c->args[i].node->type,
                   c->args[i].node, reason);
    pin_object(w, ar_cell_result(w->g, function), c->node->type, c->node,
               reason);
}

static void pin_function_value(ar_walk *w, uint32_t function, ar_node *node) {
    const ar_type *type = node->decl->type;
    if (!w->g->is_apart || !type)
        return;
    const char *reason = ar_sprintf(
        w->g->arena, "'%s' is called through a pointer", node->decl->name);
    for (uint32_t i = 0; i < type->param_count; i++)
        pin_object(w, ar_cell_param(w->g, function, i), type->params[i], node,
                   reason);
    if (ar_apart_record(w->g, type->element))
        pin_object(w, ar_cell_result(w->g, function), type->element, node,
                   reason);
}

/* The memory behind a field of the object that the parameter is given; 0: the
 * field is none of the object's own. */
static uint32_t behind_field(ar_graph *g, uint32_t param, const ar_type *type,
                             uint32_t field) {
    const ar_decl *record = ar_apart_record(g, type);
    return ar_field_is_apart(g, record->members[field])
               ? ar_object_below(g,
                                 ar_cell_field(g, object_given(g, param, type),
                                               record->members[field]),
                                 record->members[field]->type)
               : 0;
}

/* The factor that only the call knows: what it passes for the parameter. */
static bool updates_with(ar_walk *w, const ar_flow_call *c, uint32_t memory,
                         const ar_decl *param) {
    const ar_decl *of = c->callee ? param->parent : NULL;
    if (of && ar_entity_of(w->g->program, of) !=
                  ar_entity_of(w->g->program, c->callee))
        return false; /* settled at a call further in */
    bool is_known = of && param->index < c->count;
    return ar_note_updated(w, memory, c->node,
                           is_known ? &c->args[param->index].node : NULL,
                           is_known);
}

/* Does the callee add to its memory as it is called here? */
static bool updates(ar_walk *w, const ar_flow_call *c, uint32_t memory) {
    bool found = false;
    const ar_fact *fact = w->g->cells.data[ar_cell_find(w->g, memory)].facts;
    for (; fact; fact = fact->next) {
        found |= fact->kind == AR_FACT_UPDATED;
        if (fact->kind >= AR_FACT_SCALED)
            found |= updates_with(
                w, c, memory,
                w->g->program->entities.data[fact->kind - AR_FACT_SCALED].decl);
    }
    return found;
}

/* What the callee adds to behind the fields of an object, by index. */
static uint64_t updated_fields(ar_walk *w, const ar_flow_call *c,
                               uint32_t param, const ar_type *type) {
    const ar_decl *record = ar_apart_record(w->g, type);
    uint64_t set = 0;
    for (uint32_t i = 0; record && i < record->member_count; i++) {
        uint32_t memory = behind_field(w->g, param, type, i);
        if (memory && updates(w, c, memory))
            set |= UINT64_C(1) << i;
    }
    return set;
}

static void note_updated_fields(ar_walk *w, const ar_flow_call *c,
                                const ar_flow_argument *arg, uint32_t param,
                                uint64_t set) {
    for (uint32_t i = 0; i < 64 && set >> i; i++)
        if (set >> i & 1)
            ar_flow_repeated(w, c, arg,
                             behind_field(w->g, param, arg->node->type, i));
}

static void pass(ar_walk *w, const ar_flow_call *c, uint32_t function,
                 uint32_t i, ar_decl *param) {
    ar_graph *g = w->g;
    const ar_flow_argument *arg = &c->args[i];
    uint32_t cell = ar_cell_param(g, function, i);
    uint64_t fields = updated_fields(w, c, cell, arg->node->type);
    if (ar_is_apart_value(w, arg->node->type)) {
        ar_copy_object(w, arg->target, cell);
        note_updated_fields(w, c, arg, cell, fields);
        return;
    }
    if (arg->target) {
        /* asked before the two are one, and what others do to it counts */
        uint32_t memory = g->cells.data[ar_cell_find(g, cell)].pointee;
        bool is_updated = memory && updates(w, c, memory);
        ar_store_pointer(w, cell, arg->target, arg->node, param, arg->node);
        if (is_updated)
            ar_flow_repeated(w, c, arg, arg->target);
        note_updated_fields(w, c, arg, cell, fields);
        return;
    }
    const ar_type *type = arg->node->type;
    if (type && type->kind == AR_TYPE_INT)
        ar_size_flow(w, arg->node, cell);
    for (uint32_t l = 0; l < arg->load_count; l++) {
        ar_load load = w->loads.data[arg->first_load + l];
        ar_raw_flow flow = {AR_FLOW_VALUE, load.cell, cell,
                            load.decl,     param,     ar_here(w, arg->node)};
        AR_PUSH(g->arena, &g->flows, flow);
    }
}

static uint32_t enter(ar_walk *w, const ar_flow_call *c, uint32_t function,
                      const ar_decl *definition) {
    ar_graph *g = w->g;
    if (w->is_quiet && ar_is_apart_value(w, c->node->type))
        return ar_cell_result(g, function);
    if (w->is_quiet)
        return ar_is_address(c->node->type)
                   ? ar_cell_pointee(g, ar_cell_result(g, function))
                   : 0;
    for (uint32_t i = 0; i < c->count; i++) {
        bool is_named = !definition || i < definition->member_count;
        ar_decl *param = definition && is_named ? definition->members[i] : NULL;
        if (is_named)
            pass(w, c, function, i, param);
        else if (c->args[i].target)
            ar_cell_pin(g, c->args[i].target, AR_PIN_VARARGS,
                        ar_here(w, c->args[i].node),
                        ar_sprintf(g->arena, "goes through the '...' of '%s'",
                                   ar_flow_callee(c)));
    }
    uint32_t result = ar_cell_result(g, function);
    const ar_type *type = c->node->type;
    if (ar_is_address(type) || ar_returns_reference(c->node))
        return ar_cell_pointee(g, result);
    if (ar_is_apart_value(w, type))
        return result;
    if (type && type->kind == AR_TYPE_INT)
        ar_map_put(&w->cells, ar_key(c->node), (void *)(uintptr_t)result);
    if (ar_is_float(type))
        AR_PUSH(g->arena, &w->loads, (ar_load){result, (ar_decl *)definition});
    return 0;
}

static uint32_t external_function(ar_walk *w, ar_node *node) {
    ar_graph *g = w->g;
    uint32_t cell = ar_cell_of(g, node->decl);
    const ar_type *type = node->decl->type;
    if (g->cells.data[ar_cell_find(g, cell)].is_global)
        return cell;
    ar_cell_make_global(g, cell);
    g->cells.data[ar_cell_find(g, cell)].has_body = true; /* pinned here */
    for (uint32_t i = 0; type && i < type->param_count; i++)
        if (ar_float_depth(type->params[i]) > 0)
            ar_cell_pin(g, ar_cell_pointee(g, ar_cell_param(g, cell, i)),
                        AR_PIN_FOREIGN_CALL, ar_here(w, node),
                        ar_sprintf(g->arena, "its address is passed to '%s'",
                                   node->decl->name));
    return cell;
}

uint32_t ar_mention(ar_walk *w, ar_node *node) {
    ar_graph *g = w->g;
    uint32_t index = g->function_of[ar_entity_of(g->program, node->decl)->id];
    if (!index)
        return external_function(w, node);
    ar_function *f = &g->functions.data[index - 1];
    if (w->is_quiet)
        return f->cell;
    uint32_t cell = ar_function_instance(g, f, node, ar_here(w, node));
    pin_function_value(w, cell, node);
    return cell;
}

/* ---- the call itself ----------------------------------------------------- */

static void varargs_sites(ar_walk *w, const ar_flow_call *c) {
    const ar_type *type = c->callee ? c->callee->type : NULL;
    if (!type || !type->is_variadic)
        return;
    for (uint32_t i = type->param_count; i < c->count; i++) {
        const ar_flow_argument *arg = &c->args[i];
        ar_node *node = ar_skip_casts(arg->node);
        /* whatever it is cast to on the way */
        if (arg->target && ar_is_address(arg->node->type))
            ar_flow_site(w, c, AR_SITE_VARARGS_ADDRESS, arg->node, arg->target);
        else if (arg->load_count && node && ar_is_float(node->type) &&
                 (node->kind == AR_INDEX || node->kind == AR_DEREF))
            ar_flow_site(w, c, AR_SITE_VARARGS_VALUE, node,
                         w->loads.data[arg->first_load].cell);
    }
}

static const ar_type *param_type(const ar_flow_call *c, uint32_t i) {
    const ar_type *type = c->callee ? c->callee->type : NULL;
    return type && i < type->param_count ? type->params[i] : NULL;
}

static void evaluate_arguments(ar_walk *w, ar_flow_call *c, uint32_t first) {
    for (uint32_t i = 0; i < c->count; i++) {
        ar_node *node = c->node->kids[first + i];
        uint32_t mark = w->loads.count;
        c->args[i].node = node;
        c->args[i].first_load = mark;
        c->args[i].target = ar_is_reference(param_type(c, i))
                                ? ar_lvalue(w, node)
                                : ar_eval(w, node);
        c->args[i].load_count = w->loads.count - mark;
        if (c->args[i].target && ar_float_depth(node->type) > 0)
            ar_flow_site(w, c,
                         c->node->kind == AR_LAUNCH ? AR_SITE_LAUNCH
                                                    : AR_SITE_CALL,
                         node, c->args[i].target);
    }
}

static uint32_t perform(ar_walk *w, ar_flow_call *c) {
    ar_graph *g = w->g;
    if (!c->callee) {
        uint32_t function = ar_eval(w, c->node->kids[0]);
        function = function ? function : ar_cell_new(g);
        if (!w->is_quiet)
            ar_cell_fact(g, function, AR_FACT_CALLED, ar_here(w, c->node), NULL,
                         0);
        uint32_t target = enter(w, c, function, NULL);
        pin_pointer_call(w, c, function);
        return target;
    }
    uint32_t index = g->function_of[ar_entity_of(g->program, c->callee)->id];
    if (index) {
        ar_function *f = &g->functions.data[index - 1];
        uint32_t cell = w->is_quiet ? f->cell
                                    : ar_function_instance(g, f, c->node,
                                                           ar_here(w, c->node));
        return enter(w, c, cell, f->decl);
    }
    varargs_sites(w, c);
    c->rule = ar_rule_at(g->rules, g->program, c->callee, c->node->range);
    return ar_flow_by_rule(w, c);
}

uint32_t ar_eval_call(ar_walk *w, ar_node *node) {
    uint32_t first = node->kind == AR_LAUNCH ? 3 : 1;
    for (uint32_t i = 1; i < first; i++)
        ar_eval(w, node->kids[i]);
    uint32_t count = node->kid_count > first ? node->kid_count - first : 0;
    ar_flow_call c = {
        .node = node,
        .callee = ar_direct_callee(node->kids[0]),
        .args = AR_NEW_ARRAY(w->g->arena, ar_flow_argument, count + 1),
        .count = count};
    uint32_t mark = w->loads.count;
    evaluate_arguments(w, &c, first);
    if (!c.callee)
        return perform(w, &c);
    /* A float function's value depends on what it was given; for any other the
     * loads end here. */
    bool is_own = w->g->function_of[ar_entity_of(w->g->program, c.callee)->id];
    uint32_t end = w->loads.count;
    uint32_t target = perform(w, &c);
    if (is_own || !ar_is_float(node->type)) {
        uint32_t added = w->loads.count - end;
        if (added)
            memmove(&w->loads.data[mark], &w->loads.data[end],
                    added * sizeof *w->loads.data);
        w->loads.count = mark + added;
    }
    return target;
}
