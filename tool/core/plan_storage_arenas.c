/* Storage edits: an allocation that is handed out in parts with elements of
 * different sizes. Sums and steps of lengths count room in floats:
 *
 *     const size_t table_element[] = {sizeof *t->a, sizeof *t->b};
 *     for (...)
 *         total += amp_arena_floats(lengths[i], table_element[i]);
 *     float *memory = malloc(total * sizeof(float));
 *     void *table[] = {&t->a, &t->b};
 *     for (...) {
 *         amp_arena_point(table[i], it);
 *         it += amp_arena_floats(lengths[i], table_element[i]);
 *     }
 *
 * In the neutral build that is the original's layout. Where memset clears all
 * of it, amp_arena_clear(memory, bytes) does, with the bytes of the original;
 * the parts are then handed out by amp_arena_part, which remembers them. */
#include "core/plan_storage_parts.h"

#include "core/layout.h"

/* ---- what the text must be like ------------------------------------------ */

/* Between the word for float and the name: the two stars. */
static ar_range stars_of(const ar_decl *table) {
    ar_range range = table->name_range;
    range.begin = table->float_token.end;
    range.end = table->name_range.begin;
    return range;
}

static const char *table_problem(const ar_rewriter *r, const ar_unit *unit,
                                 const ar_decl *table) {
    const char *problem = ar_text_problem(r, table->float_token);
    if (!problem)
        problem = ar_text_problem(r, table->name_range);
    if (problem)
        return problem;
    const ar_token_decls *group =
        ar_storage_declared_with(r->storage->index, unit, table->float_token);
    if (!group || group->next)
        return "the table of its pointers is declared together with something "
               "else";
    ar_range between = stars_of(table);
    if (between.file != table->float_token.file || between.begin > between.end)
        return "the table of its pointers is declared in an unusual way";
    ar_range before = table->range;
    before.end = table->float_token.begin;
    const char *text = ar_source_text(r, between);
    if (strspn(text, "* \t\r\n") != strlen(text) ||
        strstr(ar_source_text(r, before), "const") ||
        strstr(ar_source_text(r, before), "volatile"))
        return "the table of its pointers has a qualified type";
    return NULL;
}

/* A name that means the same where the sum begins. */
static bool is_visible_at(const ar_node *pointer, const ar_node *statement) {
    const ar_node *root = pointer;
    while (root->kid_count)
        root = root->kids[0];
    const ar_decl *decl = root->kind == AR_REF ? root->decl : NULL;
    if (!decl || root->range.in_macro_body)
        return false;
    return decl->kind != AR_DECL_VAR || decl->storage != AR_STORAGE_AUTO ||
           decl->range.end <= statement->range.begin;
}

static const char *text_problem(const ar_rewriter *r,
                                const ar_storage_arena *arena, ar_range *at) {
    const ar_range ranges[] = {
        arena->sum_loop->range,       arena->sum->range,
        arena->sum->kids[1]->range,   arena->sum->kids[1]->kids[1]->range,
        arena->store->range,          arena->store->kids[0]->range,
        arena->store->kids[1]->range, arena->step->range,
        arena->step->kids[1]->range};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const char *problem = ar_text_problem(r, ranges[i]);
        *at = ranges[i];
        if (problem)
            return problem;
    }
    for (uint32_t i = 0; i < arena->part_count; i++) {
        const ar_node *pointer = arena->parts[i].pointer;
        const char *problem = ar_text_problem(r, pointer->range);
        *at = pointer->range;
        if (problem)
            return problem;
        if (!is_visible_at(pointer, arena->sum_loop))
            return "its name is not known where the lengths are summed up";
    }
    *at = arena->table->range;
    return table_problem(r, arena->where.unit, arena->table);
}

const char *ar_storage_arena_refusal(ar_arena *arena, ar_program *program,
                                     const ar_storage_plan *plan,
                                     const ar_storage_arena *of, ar_range *at) {
    ar_rewriter r = {.arena = arena, .program = program, .storage = plan};
    return text_problem(&r, of, at);
}

/* ---- clearing all of it -------------------------------------------------- */

static bool has_use(const ar_function_rule *rule, uint32_t i, ar_slot_use use) {
    return rule->uses && i < rule->param_count && rule->uses[i] == use;
}

static const char *clear_problem(const ar_rewriter *r, const ar_site *site) {
    const ar_node *call = site->node;
    const ar_function_rule *rule = ar_memory_rule(r, call);
    bool is_memset = rule && call->kid_count == 4 &&
                     has_use(rule, 1, AR_USE_VALUE) &&
                     has_use(rule, 2, AR_USE_BYTES);
    bool is_bzero =
        rule && call->kid_count == 3 && has_use(rule, 1, AR_USE_BYTES);
    if (!is_memset && !is_bzero)
        return "all of it is cleared in an unusual way";
    const ar_node *value = is_memset ? ar_skip_casts(call->kids[2]) : NULL;
    if (value && (value->kind != AR_INT_LIT || value->int_value != 0))
        return "all of it is set to other than zero";
    if (ar_value_is_used(r, site->where.unit, call))
        return "the value of the call that clears all of it is used";
    const char *problem = ar_text_problem(r, call->op_range);
    for (uint32_t i = 0; i < call->kid_count && !problem; i++)
        problem = ar_text_problem(r, call->kids[i]->range);
    return problem;
}

const char *ar_arena_clear_refusal(ar_arena *arena, ar_program *program,
                                   const ar_rules *rules,
                                   const ar_storage_plan *plan,
                                   const ar_site *site) {
    ar_rewriter r = {
        .arena = arena, .program = program, .rules = rules, .storage = plan};
    return clear_problem(&r, site);
}

static void put_clear(ar_rewriter *r, const ar_node *call) {
    ar_put_text(r, call->op_range, "amp_arena_clear");
    if (call->kid_count < 4)
        return;
    ar_range value = call->kids[1]->range; /* with the comma before it */
    value.begin = value.end;
    value.end = call->kids[2]->range.end;
    ar_put_text(r, value, "");
}

/* ---- edits --------------------------------------------------------------- */

static const char *free_name(const ar_rewriter *r, const char *table) {
    const char *name = ar_sprintf(r->arena, "%s_element", table);
    for (int i = 2; ar_find_name(r->program, name).file != AR_NO_FILE; i++)
        name = ar_sprintf(r->arena, "%s_element%d", table, i);
    return name;
}

static const char *element_size(const ar_rewriter *r,
                                const ar_storage_arena *arena, uint32_t i) {
    return ar_sprintf(r->arena, "sizeof *%s%s",
                      ar_source_text(r, arena->parts[i].pointer->range),
                      i + 1 == arena->part_count ? "" : ",");
}

/* The sizes of the elements: on one line, or as many on each as there is room
 * for. */
static const char *element_table(const ar_rewriter *r,
                                 const ar_storage_arena *arena,
                                 const char *name) {
    enum { WIDTH = 80, STEP = 4 };
    const ar_range range = arena->sum_loop->range;
    const ar_file *file = ar_files_load(&r->program->files, range.file);
    size_t indent = strlen(ar_indentation(r->arena, file, range.begin));
    ar_str out = {.arena = r->arena};
    ar_str_addf(&out, "const size_t %s[] = {", name);
    size_t all = indent + out.length + strlen("};");
    for (uint32_t i = 0; i < arena->part_count; i++)
        all += strlen(element_size(r, arena, i)) + (i > 0);
    size_t column = all <= WIDTH ? 0 : WIDTH;
    for (uint32_t i = 0; i < arena->part_count; i++) {
        const char *text = element_size(r, arena, i);
        bool fits = all <= WIDTH || column + 1 + strlen(text) <= WIDTH;
        if (!fits)
            column = indent + STEP - 1;
        ar_str_addf(&out, "%s%s", !fits ? "\n    " : i ? " " : "", text);
        column += 1 + strlen(text);
    }
    ar_str_add(&out, "};");
    return ar_str_text(&out);
}

static void put_room(ar_rewriter *r, const ar_node *length, const char *name) {
    const ar_node *index = ar_skip_casts(length)->kids[1];
    ar_put_around(r, length->range, AR_LAYER_CALL, "amp_arena_floats(",
                  ar_sprintf(r->arena, ", %s[%s])", name,
                             ar_source_text(r, index->range)));
}

static void put_table(ar_rewriter *r, const ar_decl *table) {
    ar_range star = stars_of(table);
    const char *text = ar_source_text(r, star);
    star.begin += (uint32_t)strcspn(text, "*");
    star.end = star.begin + 1;
    ar_put_text(r, table->float_token, "void");
    ar_put_text(r, star, "");
}

static void put_store(ar_rewriter *r, const ar_storage_arena *arena,
                      const char *name, bool is_cleared) {
    const ar_node *store = arena->store;
    const ar_node *length = ar_skip_casts(arena->step->kids[1]);
    const ar_node *element = ar_skip_casts(store->kids[0]->kids[0]);
    const char *more =
        is_cleared ? ar_sprintf(r->arena, ", %s, %s[%s]",
                                ar_source_text(r, length->range), name,
                                ar_source_text(r, length->kids[1]->range))
                   : "";
    ar_put_text(r, store->range,
                ar_sprintf(r->arena, "amp_arena_%s(%s, %s%s)",
                           is_cleared ? "part" : "point",
                           ar_source_text(r, element->range),
                           ar_source_text(r, store->kids[1]->range), more));
}

/* In the text of this round. */
static bool is_in_round(const ar_rewriter *r, const ar_decl *function,
                        uint32_t round) {
    return round
               ? ar_storage_has_version(r->storage, r->program, function, round)
               : true;
}

/* Clears all of an allocation; several arenas may meet in one pointer. */
static bool put_clears(ar_rewriter *r, const ar_storage_arena *arena,
                       bool *done, uint32_t round) {
    const ar_storage_facts *facts = r->storage->facts;
    bool *is_whole = AR_NEW_ARRAY(r->arena, bool, facts->classes.count + 1u);
    bool any = false;
    ar_storage_mark_memory(facts, arena->whole, is_whole);
    for (uint32_t i = 0; i < facts->sites.count; i++) {
        const ar_site *site = &facts->sites.data[i];
        if (site->kind != AR_SITE_CLEAR || !is_whole[site->classes[0]] ||
            ar_storage_is_untyped(facts, site->classes[0]))
            continue;
        any = true;
        if (!done[i] && is_in_round(r, site->where.function, round))
            put_clear(r, site->node);
        done[i] = true;
    }
    return any;
}

static bool rewrite(ar_rewriter *r, const ar_storage_arena *arena,
                    bool is_cleared) {
    ar_range at = AR_NO_RANGE;
    const char *problem = text_problem(r, arena, &at);
    const char *name = free_name(r, arena->table->name);
    if (!problem &&
        !ar_place_before(&r->plan->placer, arena->where.unit, arena->sum_loop,
                         element_table(r, arena, name), "half storage")) {
        problem = "the statement cannot get another in front of it";
        at = arena->sum_loop->range;
    }
    if (problem) {
        ar_report(r->plan->diags, AR_DIAG_STORAGE_SITE, at,
                  r->storage->facts->classes.data[arena->whole].name, problem);
        return false;
    }
    put_room(r, arena->sum->kids[1], name);
    put_table(r, arena->table);
    put_store(r, arena, name, is_cleared);
    put_room(r, arena->step->kids[1], name);
    return true;
}

static bool is_half_somewhere(const ar_rewriter *r, uint32_t id) {
    const ar_storage_class *c = &r->storage->facts->classes.data[id];
    const ar_function_versions *f =
        c->generic_of ? r->storage->versions
                            ->of[ar_entity_of(r->program, c->generic_of)->id]
                      : NULL;
    if (!f)
        return ar_class_is_half(r, id);
    for (uint32_t i = 0; i < f->generic_count; i++)
        for (uint32_t k = 0; k < f->list.count && f->generics[i] == id; k++)
            if (f->list.data[k].half[i])
                return true;
    return false;
}

/* A version whose parts are all FP32 is laid out as the others are: what clears
 * its memory need not know which one it is. */
bool ar_rewrite_arenas(ar_rewriter *r, uint32_t round) {
    const ar_storage_facts *facts = r->storage->facts;
    bool ok = true;
    bool *done = AR_NEW_ARRAY(r->arena, bool, facts->sites.count + 1u);
    for (uint32_t i = 0; i < facts->arenas.count; i++) {
        const ar_storage_arena *arena = &facts->arenas.data[i];
        bool any = false;
        for (uint32_t k = 0; k < arena->part_count; k++)
            any |= is_half_somewhere(r, arena->parts[k].class_id);
        if (!r->storage->is_split[i] || !any)
            continue;
        if (round == 0)
            ar_report(r->plan->diags, AR_DIAG_PARTS_ASSUMED,
                      arena->where.range);
        bool is_cleared = put_clears(r, arena, done, round);
        if (is_in_round(r, arena->where.function, round))
            ok = rewrite(r, arena, is_cleared) && ok;
    }
    return ok;
}
