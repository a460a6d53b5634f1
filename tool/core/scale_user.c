/* What the user said: #pragma amp seed|step, and rules that name the parts of
 * training. It narrows where the analysis looks; what it finds there is
 * checked like everything else. */
#include "core/scale_analysis.h"

static bool says(const ar_pragma *pragma, const char *word) {
    size_t length = strlen(word);
    return pragma->kind == AR_PRAGMA_AMP && pragma->text &&
           strncmp(pragma->text, word, length) == 0 &&
           (!pragma->text[length] || pragma->text[length] == ' ');
}

void ar_read_user_marks(ar_analysis *a) {
    a->user_seeds.arena = a->user_steps.arena = a->arena;
    for (uint32_t u = 0; u < a->program->unit_count; u++) {
        const ar_unit *unit = a->program->units[u];
        for (uint32_t i = 0; i < unit->pragmas.count; i++) {
            const ar_pragma *p = &unit->pragmas.data[i];
            if (p->next_stmt && says(p, "seed"))
                ar_idtable_put(&a->user_seeds, ar_key(p->next_stmt), 0, 1);
            if (p->next_stmt && says(p, "step"))
                ar_idtable_put(&a->user_steps, ar_key(p->next_stmt), 0, 1);
        }
    }
    a->has_user_seeds = a->user_seeds.count != 0;
    for (uint32_t i = a->rules->builtin_count; i < a->rules->functions.count;
         i++)
        a->has_user_seeds |= a->rules->functions.data[i].kind == AR_RULE_SEED;
}

static bool has_part(const ar_analysis *a, const ar_decl *function, ar_range at,
                     ar_rule_kind kind) {
    const ar_function_rule *rule = ar_rules_find_part(
        a->rules, function->name, ar_file_name(&a->program->files, at.file));
    return rule && rule->kind == kind;
}

/* Inside something that the user called a seed, or no seed was named. */
bool ar_user_allows_seed(const ar_analysis *a, uint32_t context, ar_node *at) {
    if (!a->has_user_seeds)
        return true;
    ar_where w = {context, at};
    do {
        if (ar_idtable_get(&a->user_seeds, ar_key(w.at), 0))
            return true;
        const ar_decl *function = a->in->contexts.data[w.context]->function;
        if (w.at == function->body &&
            has_part(a, function, function->range, AR_RULE_SEED))
            return true;
    } while (ar_climb(a->in, &w));
    return false;
}

/* The statement around (context, at) that the user called the step. */
bool ar_user_step(const ar_analysis *a, ar_where *w) {
    ar_where here = *w;
    do {
        if (here.context == a->loop->context && here.at == a->loop->at)
            return false;
        const ar_decl *function = a->in->contexts.data[here.context]->function;
        bool named = here.at == function->body &&
                     has_part(a, function, function->range, AR_RULE_OPTIMIZER);
        if (named && ar_climb(a->in, &here)) {
            here.at = ar_statement_around(
                a->in, ar_context_unit(a->in, here.context), here.at);
            *w = here;
            return true;
        }
        if (ar_idtable_get(&a->user_steps, ar_key(here.at), 0)) {
            *w = here;
            return true;
        }
    } while (ar_climb(a->in, &here));
    return false;
}

/* ---- roles --------------------------------------------------------------- */

/* By a field that it is kept in: layer.w for what net->first.w points to. */
static const ar_subject_rule *rule_of_field(ar_analysis *a,
                                            const ar_object *object) {
    for (uint32_t i = 0; i < a->in->stores.count; i++) {
        const ar_pointer_store *s = &a->in->stores.data[i];
        if (s->target != object || !s->at_start || !s->field ||
            !s->field->parent)
            continue;
        const ar_subject_rule *rule = ar_rules_find_role(
            a->rules, AR_SUBJECT_FIELD,
            ar_sprintf(a->arena, "%s.%s", ar_record_name(s->field->parent),
                       s->field->name));
        if (rule)
            return rule;
    }
    return NULL;
}

static const ar_subject_rule *role_rule(ar_analysis *a, uint32_t cell) {
    if (a->rules->subjects.count == a->rules->builtin_subjects)
        return NULL;
    const ar_mem_object *object = ar_object_of(a->in->m, cell);
    if (!object->as.decl) {
        const ar_subject_rule *rule = rule_of_field(a, &object->as);
        if (rule)
            return rule;
    }
    /* as rules write it: net.dW for net->dW */
    const char *name = ar_cell_name(a, cell);
    char *path = ar_sprintf(a->arena, "%s", name), *to = path;
    for (const char *c = name; *c; c++) {
        bool arrow = c[0] == '-' && c[1] == '>';
        *to++ = arrow ? '.' : *c;
        c += arrow;
    }
    *to = 0;
    return ar_rules_find_role(
        a->rules, strchr(path, '.') ? AR_SUBJECT_FIELD : AR_SUBJECT_VARIABLE,
        path);
}

ar_role ar_user_role(ar_analysis *a, uint32_t cell) {
    const ar_subject_rule *rule = role_rule(a, cell);
    return rule ? rule->sets_role : AR_ROLE_NONE;
}

void ar_check_user_roles(ar_analysis *a) {
    for (uint32_t cell = 1; cell < a->cell_count; cell++) {
        const ar_cell_info *c = &a->cells[cell];
        const ar_subject_rule *rule =
            c->role == AR_ROLE_NONE ? NULL : role_rule(a, cell);
        /* parameters and statistics of a normalisation are `norm` to the user
         */
        if (!rule || rule->sets_role == c->role ||
            rule->sets_role == AR_ROLE_NORM)
            continue;
        const ar_vnode *v = AR_VN(a->in, c->reason_node);
        bool is_placed = c->reason_node > AR_NODE_CONST && v->at;
        ar_report(a->diags, AR_DIAG_SCALE_NOTE,
                  is_placed ? v->at->range : AR_NO_RANGE,
                  ar_sprintf(a->arena,
                             "a rule in '%s' calls '%s' %s, but the program "
                             "uses it as %s: %s",
                             rule->origin, ar_cell_name(a, cell),
                             ar_role_name(rule->sets_role),
                             ar_role_name(c->role),
                             c->reason ? c->reason : ""));
        ar_report(a->diags, AR_DIAG_RULE_HERE, rule->range, "the rule is here");
    }
}
