/* match: program + rules -> ops with categories. */
#include "core/ops.h"
#include "core/layout.h"
#include "core/rule_at.h"

#include <stdlib.h>

typedef struct matcher {
    ar_arena *arena;
    ar_program *program;
    const ar_rules *rules;
    ar_diags *rule_diags;
    ar_ops *ops;
    AR_VEC(const ar_function_rule *) bad; /* arity reported once per rule */
} matcher;

/* ---- loops -------------------------------------------------------------- */

static void add_loop(matcher *m, ar_unit *unit, ar_decl *function,
                     ar_node *loop) {
    ar_loop_shape shape = ar_loop_shape_of(m->arena, loop);
    if (shape == AR_LOOP_NONE)
        return;
    ar_op_site site = {.form = AR_OP_LOOP,
                       .unit = unit,
                       .function = function,
                       .node = loop,
                       .shape = shape,
                       .category = shape == AR_LOOP_REDUCTION ? AR_CAT_DENY
                                   : shape == AR_LOOP_CONTRACTION
                                       ? AR_CAT_ALLOW
                                       : AR_CAT_INFER,
                       .name = ar_loop_shape_name(shape)};
    AR_PUSH(m->arena, &m->ops->list, site);
}

static bool holds_call_of_float(const ar_node *node) {
    if (!node)
        return false;
    if (node->kind == AR_CALL)
        for (uint32_t i = 1; i < node->kid_count; i++)
            if (node->kids[i] && node->kids[i]->type &&
                node->kids[i]->type->kind == AR_TYPE_POINTER &&
                ar_float_depth(node->kids[i]->type) > 0)
                return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (holds_call_of_float(node->kids[i]))
            return true;
    return false;
}

/* The outermost loop without calls on float memory is one nest; a loop around
 * such calls (the training loop) is only their frame. */
static void find_loops(matcher *m, ar_unit *unit, ar_decl *function,
                       ar_node *node) {
    if (!node)
        return;
    bool is_loop =
        node->kind == AR_FOR || node->kind == AR_WHILE || node->kind == AR_DO;
    if (is_loop && !holds_call_of_float(node)) {
        add_loop(m, unit, function, node);
        return;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        find_loops(m, unit, function, node->kids[i]);
}

/* ---- calls -------------------------------------------------------------- */

static bool arity_fits(matcher *m, const ar_function_rule *rule,
                       const ar_decl *callee) {
    /* K&R: `float f();` says nothing about parameters */
    if (!callee->member_count && !callee->body)
        return true;
    for (uint32_t i = 0; i < m->bad.count; i++)
        if (m->bad.data[i] == rule)
            return false;
    if (ar_rule_check_arity(rule, callee->name, callee->member_count,
                            callee->type && callee->type->is_variadic,
                            m->rule_diags))
        return true;
    AR_PUSH(m->arena, &m->bad, rule);
    return false;
}

static void visit(void *context, ar_unit *unit, ar_decl *function,
                  ar_node *node) {
    matcher *m = context;
    if (node->kind != AR_CALL && node->kind != AR_LAUNCH)
        return;
    const ar_decl *callee = ar_direct_callee(node->kids[0]);
    if (!callee)
        return;
    const ar_function_rule *rule =
        ar_rule_at(m->rules, m->program, callee, node->range);
    if (!rule || rule->kind != AR_RULE_OP || !arity_fits(m, rule, callee))
        return;
    ar_op_site site = {
        .form = node->kind == AR_CALL ? AR_OP_CALL : AR_OP_LAUNCH,
        .unit = unit,
        .function = function,
        .node = node,
        .callee = ar_entity_of(m->program, callee),
        .rule = rule,
        .category = rule->has_category ? rule->category : AR_CAT_INFER,
        .name = rule->op ? rule->op : rule->function};
    AR_PUSH(m->arena, &m->ops->list, site);
}

static int compare_sites(const void *a, const void *b) {
    const ar_range *x = &((const ar_op_site *)a)->node->range;
    const ar_range *y = &((const ar_op_site *)b)->node->range;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* What rules about memory can name. */
static void note_names(const ar_program *program, ar_strmap *names) {
    for (uint32_t i = 0; i < program->entities.count; i++) {
        const ar_decl *decl = program->entities.data[i].decl;
        if (decl->kind != AR_DECL_FUNCTION && decl->kind != AR_DECL_ENUMERATOR)
            ar_strmap_put(names, decl->name, names);
        if (decl->kind == AR_DECL_RECORD)
            ar_strmap_put(names, ar_record_name(decl), names);
    }
}

/* Each word of the path is a name: net.layer[0].w */
static bool is_known_path(matcher *m, const ar_strmap *names,
                          const char *path) {
    while (*path) {
        size_t length = 0;
        while (ar_is_word(path[length]))
            length++;
        bool is_name = length && !(path[0] >= '0' && path[0] <= '9');
        if (is_name &&
            !ar_strmap_get(names, ar_strndup(m->arena, path, length)))
            return false;
        path += length ? length : 1;
    }
    return true;
}

static void report_unused_subjects(matcher *m) {
    const ar_rules *rules = m->rules;
    ar_strmap names = {.arena = m->arena};
    if (rules->subjects.count > rules->builtin_subjects)
        note_names(m->program, &names);
    for (uint32_t i = rules->builtin_subjects; i < rules->subjects.count; i++) {
        const ar_subject_rule *rule = &rules->subjects.data[i];
        if (rule->kind == AR_SUBJECT_ROLE || rule->is_pattern)
            continue;
        bool is_used = rule->kind == AR_SUBJECT_FUNCTION
                           ? ar_find_function(m->program, rule->pattern) != NULL
                           : is_known_path(m, &names, rule->pattern);
        if (!is_used)
            ar_report(m->rule_diags, AR_DIAG_RULE_UNUSED, rule->range,
                      rule->pattern);
    }
}

/* Rules about the library functions that a program might call may be there for
 * other programs. */
static bool is_for_this_program(const ar_function_rule *rule) {
    return rule->kind == AR_RULE_OP || rule->kind == AR_RULE_OPTIMIZER ||
           rule->kind == AR_RULE_SEED || rule->kind == AR_RULE_CLIP ||
           rule->kind == AR_RULE_ALLREDUCE;
}

/* A rule of the user's that names nothing is most likely misspelled. */
static void report_unused(matcher *m) {
    for (uint32_t i = m->rules->builtin_count; i < m->rules->functions.count;
         i++) {
        const ar_function_rule *rule = &m->rules->functions.data[i];
        bool used = !is_for_this_program(rule) || rule->is_pattern ||
                    ar_find_function(m->program, rule->function);
        if (!used)
            ar_report(m->rule_diags, AR_DIAG_RULE_UNUSED, rule->range,
                      rule->function);
    }
}

ar_ops *ar_match(ar_arena *arena, ar_program *program, const ar_rules *rules,
                 ar_diags *rule_diags) {
    matcher m = {.arena = arena,
                 .program = program,
                 .rules = rules,
                 .rule_diags = rule_diags,
                 .ops = AR_NEW(arena, ar_ops)};
    ar_program_visit(program, visit, &m);
    for (uint32_t i = 0; i < program->entities.count; i++) {
        ar_entity *entity = &program->entities.data[i];
        if (entity->decl->kind == AR_DECL_FUNCTION && entity->decl->body)
            find_loops(&m, entity->unit, entity->decl, entity->decl->body);
    }
    if (m.ops->list.count)
        qsort(m.ops->list.data, m.ops->list.count, sizeof(ar_op_site),
              compare_sites);
    report_unused(&m);
    report_unused_subjects(&m);
    return m.ops;
}

const ar_decl *ar_named_declaration(const ar_entity *function) {
    for (uint32_t i = 0; i < function->all_count; i++) {
        const ar_decl *decl = function->all[i];
        bool named = decl->member_count == function->decl->member_count &&
                     !decl->range.in_macro_body;
        for (uint32_t k = 0; named && k < decl->member_count; k++)
            named = *decl->members[k]->name &&
                    !decl->members[k]->range.in_macro_body;
        if (named)
            return decl;
    }
    return NULL;
}

void ar_ops_dump(FILE *out, ar_program *program, const ar_ops *ops) {
    ar_arena *scratch = ar_arena_new();
    for (uint32_t i = 0; i < ops->list.count; i++) {
        const ar_op_site *site = &ops->list.data[i];
        fprintf(out, "%s: %s",
                ar_place(scratch, &program->files, site->node->range),
                site->name);
        if (site->callee)
            fprintf(out, " %s", site->callee->decl->name);
        fprintf(out, " %s", ar_category_name(site->category));
        if (site->reason)
            fprintf(out, " %s: %s", site->half ? "half" : "fp32", site->reason);
        fputc('\n', out);
    }
    ar_arena_free(scratch);
}
