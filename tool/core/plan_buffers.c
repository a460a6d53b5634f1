/* Parameters and gradients made known to the runtime: at the allocation where
 * it makes nothing else, else by a mark where the pointer is stored, else (for
 * arrays) by a registration before the training loop. */
#include "core/plan_buffers.h"
#include "core/rule_at.h"

static const char *role_name(ar_buffer_kind kind) {
    switch (kind) {
    case AR_BUFFER_PARAM:
        return "AMP_PARAM";
    case AR_BUFFER_GRAD:
        return "AMP_GRAD";
    case AR_BUFFER_CARRY:
        return "AMP_GRAD_CARRY";
    case AR_BUFFER_TRACKED:
    case AR_BUFFER_OTHER:
        return "AMP_TRACKED";
    }
    AR_BUG("buffer kind %d", (int)kind);
}

/* ---- text --------------------------------------------------------------- */

static const char *quoted(ar_plan *plan, const char *name) {
    ar_str out = {.arena = plan->arena};
    ar_str_add(&out, "\"");
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            ar_str_add(&out, "\\");
        ar_str_addn(&out, name, 1);
    }
    ar_str_add(&out, "\"");
    return ar_str_text(&out);
}

static const ar_function_rule *rule_of_call(ar_plan *plan,
                                            const ar_node *call) {
    return ar_rule_at(plan->rules, plan->program,
                      ar_direct_callee(call->kids[0]), call->range);
}

/* malloc(n) -> amp_malloc(n, AMP_GRAD, 0, "w->grad") */
static bool rename_allocation(ar_buffers *b, ar_node *call, ar_buffer_kind kind,
                              int group, const char *name) {
    ar_plan *plan = b->plan;
    if (ar_table_get(&b->tracked, ar_key(call), 0))
        return true;
    const ar_function_rule *rule = rule_of_call(plan, call);
    if (!rule || !rule->target ||
        (rule->kind != AR_RULE_ALLOC && rule->kind != AR_RULE_REALLOC) ||
        call->range.in_macro_body ||
        !ar_place_rename(&plan->placer, call, rule->target,
                         "buffer registration"))
        return false;
    size_t before = call->op_range.end - call->op_range.begin;
    size_t after = strlen(rule->target);
    const char *extra = ar_sprintf(plan->arena, "%s, %d, %s", role_name(kind),
                                   group, quoted(plan, name));
    if (!ar_place_argument(&plan->placer, call, extra,
                           after > before ? after - before : 0,
                           "buffer registration"))
        AR_BUG("a call that was renamed cannot be edited");
    ar_plan_need_header(plan, call->range.file, rule->header);
    ar_table_add(&b->tracked, ar_key(call), 0);
    return true;
}

bool ar_plan_is_pure(const ar_node *node) {
    if (!node)
        return true;
    switch ((int)node->kind) {
    case AR_ASSIGN:
    case AR_COMPOUND_ASSIGN:
    case AR_CALL:
    case AR_LAUNCH:
    case AR_STATEMENT_EXPR:
    case AR_VA_ARG:
    case AR_UNKNOWN_EXPR:
        return false;
    case AR_UNARY:
        if (node->op >= AR_OP_PRE_INC)
            return false;
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (!ar_plan_is_pure(node->kids[i]))
            return false;
    return !node->range.in_macro_body;
}

/* ---- marks through stored pointers --------------------------------------- */

/* What the store assigns to, as an expression for the address; of a struct
 * that holds it, the field. */
static const char *store_target(ar_plan *plan, const ar_pointer_store *store) {
    const ar_type *type;
    const char *text;
    if (store->variable) {
        type = store->variable->type;
        text = store->variable->name;
    } else if (store->node->kind == AR_CALL) {
        const ar_node *holder = ar_stored_through(store->node);
        if (!holder || !ar_plan_is_pure(holder))
            return NULL;
        type = holder->type;
        text = ar_text(plan->arena, &plan->program->files, holder->range);
    } else if (store->node->kind == AR_ASSIGN &&
               ar_plan_is_pure(store->node->kids[0])) {
        type = store->node->kids[0]->type;
        text = ar_text(plan->arena, &plan->program->files,
                       store->node->kids[0]->range);
    } else {
        return NULL;
    }
    if (type->kind == AR_TYPE_POINTER)
        return text;
    const char *field =
        type->kind == AR_TYPE_RECORD
            ? ar_path_in_record(store->holder_path, type->record)
            : NULL;
    return field ? ar_sprintf(plan->arena, "%s%s", text, field) : NULL;
}

static bool after_store(ar_buffers *b, const ar_pointer_store *store,
                        const char *text) {
    ar_plan *plan = b->plan;
    ar_node *statement =
        ar_statement_of(&plan->placer, store->unit, store->node);
    if (!statement || !ar_plan_may_follow(plan, statement) ||
        !ar_place_after(&plan->placer, store->unit, statement, text,
                        "buffer registration"))
        return false;
    ar_plan_need_header(plan, statement->range.file, NULL);
    return true;
}

static bool mark_after(ar_buffers *b, const ar_pointer_store *store,
                       const char *expression, const ar_buffer *one) {
    ar_plan *plan = b->plan;
    return after_store(b, store,
                       ar_sprintf(plan->arena, "amp_mark(%s,\v%s, %d, %s);",
                                  expression, role_name(one->kind), one->group,
                                  quoted(plan, expression)));
}

static bool mark_direct(ar_buffers *b, const ar_buffer *one) {
    for (uint32_t i = ar_chain(&b->stores_of, ar_key(one->object)); i;
         i = b->stores_of.next[i]) {
        const ar_pointer_store *store = &b->scale->stores.data[i - 1];
        if (!ar_leads_to_buffer(b, store, one) ||
            !ar_store_is_uniform(b, store, one, false, ""))
            continue;
        const char *target = store_target(b->plan, store);
        if (target && mark_after(b, store, target, one))
            return true;
    }
    return false;
}

static bool is_field_path(const char *path) {
    return path[0] == '.' && !strpbrk(path, "[+*");
}

/* net->W = matrix_new(r, c), where matrix_new stores the buffer in ->data */
static bool mark_through_holder(ar_buffers *b, const ar_buffer *one) {
    for (uint32_t i = ar_chain(&b->stores_of, ar_key(one->object)); i;
         i = b->stores_of.next[i]) {
        const ar_pointer_store *inner = &b->scale->stores.data[i - 1];
        if (!inner->at_start || !is_field_path(inner->holder_path))
            continue;
        for (uint32_t k = ar_chain(&b->stores_of, ar_key(inner->holder)); k;
             k = b->stores_of.next[k]) {
            const ar_pointer_store *outer = &b->scale->stores.data[k - 1];
            if (!outer->at_start ||
                !ar_store_is_uniform(b, outer, one, true, inner->holder_path))
                continue;
            const char *target = store_target(b->plan, outer);
            if (!target)
                continue;
            const char *expression = ar_sprintf(b->plan->arena, "%s->%s",
                                                target, inner->holder_path + 1);
            if (mark_after(b, outer, expression, one))
                return true;
        }
    }
    return false;
}

/* ---- arrays ------------------------------------------------------------- */

/* A declaration of the variable that the loop's unit can see, complete. */
static bool visible_at_loop(const ar_buffers *b, const ar_object *object) {
    if (object->kind == AR_OBJECT_LOCAL)
        return object->decl->parent == b->scale->loop_function;
    const ar_entity *entity = ar_entity_of(b->plan->program, object->decl);
    return ar_table_get(&b->visible, ar_key(entity), 0) != 0;
}

/* A local declared inside the loop is not in scope before it. */
static bool declared_in_loop(const ar_buffers *b, const ar_object *object) {
    const ar_range *loop = &b->scale->loop->range;
    const ar_range *decl = &object->decl->range;
    return object->kind == AR_OBJECT_LOCAL && decl->file == loop->file &&
           decl->begin >= loop->begin;
}

static bool before_loop(ar_buffers *b, const char *text) {
    if (!ar_place_before(&b->plan->placer, b->scale->loop_unit, b->scale->loop,
                         text, "buffer registration"))
        return false;
    ar_plan_need_header(b->plan, b->scale->loop->range.file, NULL);
    return true;
}

/* A part of an array, through a pointer to it that the loop's function sees. */
static bool mark_part(ar_buffers *b, const ar_buffer *one) {
    for (uint32_t i = 0; i < b->scale->stores.count; i++) {
        const ar_pointer_store *store = &b->scale->stores.data[i];
        if (!ar_leads_to_buffer(b, store, one) || *store->holder_path ||
            !store->holder->decl ||
            store->holder->decl->type->kind != AR_TYPE_POINTER ||
            !visible_at_loop(b, store->holder) ||
            declared_in_loop(b, store->holder))
            continue;
        const char *name = store->holder->decl->name;
        return before_loop(b, ar_sprintf(b->plan->arena,
                                         "amp_mark(%s,\v%s, %d, %s);", name,
                                         role_name(one->kind), one->group,
                                         quoted(b->plan, name)));
    }
    return false;
}

/* The array as a whole, as what lies at its start, before parts are marked. */
static bool track_array(ar_buffers *b, const ar_buffer *one) {
    if (!ar_table_add(&b->arrays, ar_key(one->object), 0))
        return true;
    ar_buffer start = {.kind = AR_BUFFER_TRACKED};
    for (uint32_t i = 0; i < b->list.count; i++)
        if (b->list.data[i].object == one->object &&
            !*b->list.data[i].cell->path)
            start = b->list.data[i];
    const char *name = one->object->decl->name;
    return before_loop(b,
                       ar_sprintf(b->plan->arena,
                                  "amp_register(%s, sizeof %s,\v%s, %d, %s);",
                                  name, name, role_name(start.kind),
                                  start.group, quoted(b->plan, name)));
}

static bool register_array(ar_buffers *b, const ar_buffer *one,
                           const char **problem) {
    ar_plan *plan = b->plan;
    const ar_object *object = one->object;
    if (!visible_at_loop(b, object) || declared_in_loop(b, object)) {
        *problem = "it is not visible where the training loop starts";
        return false;
    }
    const char *path = ar_buffer_is_whole(b, one) ? "" : one->cell->path;
    bool is_split = object->decl->type->kind == AR_TYPE_ARRAY &&
                    ar_has_grads(b, object) && !ar_buffer_is_whole(b, one);
    if (is_split && (!*path || one->cell->is_region)) {
        *problem = "no pointer to it is visible where the training loop starts";
        return track_array(b, one) && (!*path || mark_part(b, one));
    }
    if (*path && !is_field_path(path)) {
        *problem = ar_sprintf(plan->arena, "part '%s' of it has no simple name",
                              one->cell->path);
        return false;
    }
    const char *name =
        ar_sprintf(plan->arena, "%s%s", object->decl->name, path);
    bool is_array = object->decl->type->kind == AR_TYPE_ARRAY || *path;
    const char *text =
        ar_sprintf(plan->arena, "amp_register(%s%s, sizeof %s,\v%s, %d, %s);",
                   is_array ? "" : "&", name, name, role_name(one->kind),
                   one->group, quoted(plan, name));
    *problem = "the training loop comes from a macro body";
    return before_loop(b, text);
}

/* A variable that can be named right before the training loop. */
static ar_root_rank names_at_loop(void *context, const ar_object *variable) {
    const ar_buffers *b = context;
    return visible_at_loop(b, variable) && !declared_in_loop(b, variable)
               ? AR_ROOT_GOOD
               : AR_ROOT_NONE;
}

/* The name means this object only, as far as registrations go. */
static bool is_only_target(const ar_buffers *b, const ar_buffer *one) {
    for (uint32_t i = ar_chain(&b->stores_of, ar_key(one->object)); i;
         i = b->stores_of.next[i]) {
        const ar_pointer_store *to = &b->scale->stores.data[i - 1];
        for (uint32_t k = ar_chain(&b->stores_in, ar_key(to->holder)); k;
             k = b->stores_in.next[k]) {
            const ar_pointer_store *other = &b->scale->stores.data[k - 1];
            if (strcmp(other->holder_path, to->holder_path) != 0)
                continue;
            const ar_buffer *theirs = ar_registration_of(b, other->target);
            if (!theirs || !ar_same_registration(theirs, one))
                return false;
        }
    }
    return true;
}

/* One constructor makes the buffers of several networks: name each through
 * the variables that the loop's function sees. */
static bool mark_at_loop(ar_buffers *b, const ar_buffer *one) {
    ar_plan *plan = b->plan;
    if (!b->names)
        b->names = ar_name_objects(plan->arena, b->scale, names_at_loop, b);
    const ar_object_name *name = &b->names[one->object->id];
    if (!name->text || !name->is_exact || one->cell->is_region ||
        !is_only_target(b, one))
        return false;
    return before_loop(b, ar_sprintf(plan->arena, "amp_mark(%s,\v%s, %d, %s);",
                                     name->text, role_name(one->kind),
                                     one->group, quoted(plan, name->text)));
}

/* ---- releases ----------------------------------------------------------- */

/* free(p) of a registered buffer forgets it: free -> amp_free. */
static bool plan_frees(ar_buffers *b) {
    ar_plan *plan = b->plan;
    ar_table done = {.arena = plan->arena};
    bool ok = true;
    for (uint32_t i = 0; i < b->scale->free_count; i++) {
        ar_node *call = b->scale->frees[i].call;
        if (!ar_table_get(&b->plan->registered,
                          ar_key(b->scale->frees[i].object), 0) ||
            ar_table_get(&b->tracked, ar_key(call), 0) ||
            !ar_table_add(&done, ar_key(call), 0))
            continue;
        const ar_function_rule *rule = rule_of_call(plan, call);
        if (rule && rule->kind == AR_RULE_REALLOC) {
            ok = rename_allocation(b, call, AR_BUFFER_TRACKED, 0, "realloc") &&
                 ok;
            continue;
        }
        if (rule && rule->target &&
            ar_place_rename(&plan->placer, call, rule->target,
                            "buffer registration")) {
            ar_plan_need_header(plan, call->range.file, rule->header);
            continue;
        }
        ar_report(plan->diags, AR_DIAG_CANNOT_REGISTER, call->range,
                  "a registered buffer",
                  "it is released by a call that "
                  "cannot be redirected");
        ok = false;
    }
    return ok;
}

/* ---- all ---------------------------------------------------------------- */

/* The function that allocates, as a name for what it allocates. */
static const char *owner_of(const ar_buffers *b, const ar_node *site) {
    for (uint32_t i = ar_chain(&b->sites, ar_key(site)); i;
         i = b->sites.next[i]) {
        const ar_object *object = b->scale->objects.data[i - 1];
        if (!object->context_depth)
            continue;
        const ar_decl *callee = ar_direct_callee(
            object->context[object->context_depth - 1]->kids[0]);
        if (callee)
            return callee->name;
    }
    return "heap";
}

/* p = their_malloc(n); -> p = their_malloc(n); amp_register(p, n, ...);
 * for all makers of the address whose size can be said: as what it is where
 * that is always the same, else only to have the size known. */
static bool track_by_size(ar_buffers *b, const ar_buffer *one, bool *complete) {
    ar_plan *plan = b->plan;
    const ar_object *object = one->object;
    const ar_function_rule *rule = rule_of_call(plan, object->site);
    *complete = false;
    if (!rule || rule->kind != AR_RULE_ALLOC)
        return false;
    for (uint32_t frame = object->context_depth + 1; frame-- > 0;) {
        const ar_pointer_store *store =
            ar_plan_store_at(plan, b->scale, object, frame);
        const char *target = store ? store_target(plan, store) : NULL;
        const char *size =
            target ? ar_plan_size_at(plan, rule, object, frame) : NULL;
        if (!size)
            continue;
        *complete = ar_buffer_is_whole(b, one) &&
                    ar_store_is_uniform(b, store, one, false, "");
        if (ar_table_get(&b->sized, ar_key(store->node), 0))
            return true;
        const char *text = ar_sprintf(
            plan->arena, "amp_register(%s, %s,\v%s, %d, %s);", target, size,
            role_name(*complete ? one->kind : AR_BUFFER_TRACKED),
            *complete ? one->group : 0, quoted(plan, target));
        if (!after_store(b, store, text))
            continue;
        ar_table_add(&b->sized, ar_key(store->node), 0);
        return true;
    }
    return false;
}

/* What the program calls the buffer where it allocates it: one call may make
 * the buffers of many layers. */
static const char *name_at_site(const ar_buffers *b, const ar_object *object,
                                const char *otherwise) {
    const ar_pointer_store *store =
        ar_plan_store_at(b->plan, b->scale, object, object->context_depth);
    const char *text = store ? store_target(b->plan, store) : NULL;
    return text ? text : otherwise;
}

static bool register_heap(ar_buffers *b, const ar_buffer *one,
                          const char **problem) {
    ar_node *site = one->object->site;
    if (ar_site_is_uniform(b, one))
        if (rename_allocation(b, site, one->kind, one->group,
                              name_at_site(b, one->object, one->cell->name)))
            return true;
    *problem = "its allocation cannot be redirected (macro, a function "
               "that no alloc rule describes)";
    bool complete = false;
    if (!rename_allocation(b, site, AR_BUFFER_TRACKED, 0,
                           name_at_site(b, one->object, owner_of(b, site))) &&
        !track_by_size(b, one, &complete))
        return false;
    if (complete || one->kind == AR_BUFFER_TRACKED)
        return true;
    *problem = "no statement stores its address alone";
    return mark_direct(b, one) || mark_through_holder(b, one) ||
           mark_at_loop(b, one);
}

/* An earlier buffer of the same object took all of it. */
static bool is_registered_whole(const ar_buffers *b, const ar_buffer *one) {
    return ar_registration_of(b, one->object) != one &&
           ar_buffer_is_whole(b, one);
}

static bool is_half_gradient(const ar_buffers *b, const ar_buffer *one) {
    return (one->kind == AR_BUFFER_GRAD || one->kind == AR_BUFFER_CARRY) &&
           ar_cell_is_half(b, one->cell);
}

static bool plan_buffer(ar_buffers *b, const ar_buffer *one,
                        const char **problem) {
    if (is_half_gradient(b, one)) {
        *problem = "it is stored in half, and gradients are unscaled in FP32";
        return false;
    }
    return one->object->kind == AR_OBJECT_HEAP
               ? register_heap(b, one, problem)
               : register_array(b, one, problem);
}

bool ar_plan_buffers(ar_plan *plan, const ar_scale *scale) {
    ar_buffers b = ar_buffers_new(plan, scale);
    bool ok = true;
    for (uint32_t i = 0; i < b.list.count; i++) {
        ar_buffer *one = &b.list.data[i];
        const char *problem = NULL;
        if (is_registered_whole(&b, one))
            continue;
        one->done = plan_buffer(&b, one, &problem);
        if (one->done) {
            ar_table_add(&plan->registered, ar_key(one->object), 0);
        } else if (ar_buffer_is_vital(&b, one)) {
            const ar_node *site = one->object->site;
            ar_report(plan->diags, AR_DIAG_CANNOT_REGISTER,
                      site ? site->range : one->object->decl->name_range,
                      one->cell->name, problem);
            ok = false;
        }
    }
    return plan_frees(&b) && ok;
}
