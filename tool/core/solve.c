/* solve, ops: a precision and one reason for each. */
#include "core/constant.h"
#include "core/ops.h"
#include "core/rule_at.h"

typedef struct solver {
    ar_arena *arena;
    ar_program *program;
    const ar_rules *rules;
    ar_ops *ops;
    ar_diags *diags;
    ar_level level;
} solver;

static const char *rule_text(solver *s, const ar_function_rule *rule) {
    return ar_sprintf(s->arena, "rule %s %s (%s)", rule->op ? rule->op : "op",
                      rule->function, rule->origin);
}

static void keep(ar_op_site *site, const char *reason, ar_range at,
                 const char *unlock) {
    site->half = false;
    site->reason = reason;
    site->reason_at = at;
    site->unlock = unlock;
}

/* #pragma amp fp32|half before the statement or function that holds the op;
 * the innermost wins. 0: none, 16, 32. */
static int pragma_precision(const ar_op_site *site, ar_range *at) {
    int found = 0;
    uint32_t width = UINT32_MAX;
    const ar_range *place = &site->node->range;
    for (uint32_t i = 0; i < site->unit->pragmas.count; i++) {
        const ar_pragma *pragma = &site->unit->pragmas.data[i];
        if (pragma->kind != AR_PRAGMA_AMP)
            continue;
        int says = strcmp(pragma->text, "fp32") == 0   ? 32
                   : strcmp(pragma->text, "keep") == 0 ? 32
                   : strcmp(pragma->text, "half") == 0 ? 16
                                                       : 0;
        const ar_range *reach = pragma->next_stmt   ? &pragma->next_stmt->range
                                : pragma->next_decl ? &pragma->next_decl->range
                                                    : NULL;
        if (!says || !reach || reach->file != place->file ||
            reach->begin > place->begin || reach->end < place->end ||
            reach->end - reach->begin >= width)
            continue;
        width = reach->end - reach->begin;
        found = says;
        *at = pragma->range;
    }
    return found;
}

static bool compare(double a, int comparison, double b) {
    switch (comparison) {
    case '<':
        return a < b;
    case '>':
        return a > b;
    case 'l':
        return a <= b;
    case 'g':
        return a >= b;
    case '=':
        return !(a < b) && !(a > b);
    case '!':
        return a < b || a > b;
    }
    AR_BUG("comparison '%c'", comparison);
}

/* `fp32 when slope < 1e-4`: a condition on a value that is not a constant
 * cannot be decided here, and FP32 is the safe answer. */
static bool condition_keeps(solver *s, ar_op_site *site) {
    const ar_function_rule *rule = site->rule;
    uint32_t first = site->form == AR_OP_LAUNCH ? 3 : 1;
    for (uint32_t i = 0; i < rule->condition_count; i++) {
        const ar_condition *c = &rule->conditions[i];
        double value;
        if (first + c->param >= site->node->kid_count)
            continue;
        const ar_node *argument = site->node->kids[first + c->param];
        const char *name = rule->params[c->param].name;
        if (!ar_constant(argument, &value)) {
            keep(site,
                 ar_sprintf(s->arena,
                            "%s depends on '%s', which is not a constant here",
                            rule_text(s, rule), name),
                 argument->range, "pass a constant");
            return true;
        }
        if (compare(value, c->comparison, c->value) &&
            c->category != AR_CAT_ALLOW) {
            keep(site,
                 ar_sprintf(s->arena, "%s: '%s' is %g", rule_text(s, rule),
                            name, value),
                 AR_NO_RANGE, NULL);
            return true;
        }
    }
    return false;
}

static const ar_subject_rule *function_rule(solver *s, const char *name) {
    const ar_subject_rule *rule =
        ar_rules_find_precision(s->rules, AR_SUBJECT_FUNCTION, name);
    return rule && rule->sets_precision ? rule : NULL;
}

/* Inside a function that is itself redirected, its own body is the FP32
 * original and must stay so. */
static bool inside_redirected(solver *s, const ar_op_site *site) {
    if (!site->function)
        return false;
    const ar_function_rule *rule =
        ar_rule_at(s->rules, s->program, site->function, site->function->range);
    return rule && rule->kind == AR_RULE_OP && rule->target;
}

static const char *category_reason(const solver *s, ar_category category) {
    bool converts = s->level >= AR_LEVEL_O2; /* where operands are stored */
    switch (category) {
    case AR_CAT_ALLOW:
        return "half pays and is safe";
    case AR_CAT_DENY:
        return "needs FP32 range or accuracy";
    case AR_CAT_INFER:
        return converts ? "computes in FP32, whatever its inputs are stored in"
                        : "as its inputs, which are FP32 at -O1";
    case AR_CAT_CLEAR:
        return converts ? "moves data, whatever it is stored in"
                        : "moves data, which is FP32 at -O1";
    case AR_CAT_PROMOTE:
        return converts ? "computes in FP32, whatever its inputs are stored in"
                        : "widest input, which is FP32 at -O1";
    case AR_CAT_OPAQUE:
        return "left alone by rule";
    }
    AR_BUG("category %d", (int)category);
}

static bool is_input(const ar_function_rule *rule, uint32_t factor) {
    return factor < rule->param_count &&
           rule->params[factor].direction == AR_DIR_IN;
}

/* The last two inputs of each product, each buffer once: what stands before
 * them is a factor such as alpha, and what is only added stays as it is. */
uint32_t ar_half_operands(const ar_function_rule *rule) {
    uint64_t rounded = 0;
    for (uint32_t e = 0; e < rule->equation_count; e++) {
        for (uint32_t k = 0; k < rule->algebra[e].term_count; k++) {
            const ar_term *term = &rule->algebra[e].terms[k];
            uint64_t last = 0;
            uint32_t taken = 0;
            for (uint32_t i = term->factor_count; taken < 2 && i-- > 0;) {
                if (!is_input(rule, term->factors[i]))
                    continue;
                taken++;
                last |= UINT64_C(1) << (term->factors[i] % 64);
            }
            if (taken == 2)
                rounded |= last;
        }
    }
    uint32_t count = 0;
    for (; rounded; rounded &= rounded - 1)
        count++;
    return count;
}

static void solve_loop(solver *s, ar_op_site *site) {
    const char *unlock = NULL;
    if (site->shape == AR_LOOP_CONTRACTION && site->function &&
        !inside_redirected(s, site))
        unlock =
            ar_sprintf(s->arena,
                       "if '%s' is one GEMM or linear layer, name it in "
                       "a rule: op gemm %s(...) allow ... -> amp_gemm(...)",
                       site->function->name, site->function->name);
    keep(site,
         s->level >= AR_LEVEL_O2
             ? "loops compute in FP32, whatever their buffers are stored in"
             : "-O1 leaves loops alone",
         site->node->range, unlock);
}

/* What a wrapper <function>_amp needs: a prototype to repeat, no value. */
static const char *cannot_wrap(const ar_op_site *site) {
    const ar_type *type = site->callee->decl->type;
    if (!type || !type->element || type->element->kind != AR_TYPE_VOID)
        return "returns a value, which a wrapper cannot replace";
    if (type->is_variadic)
        return "is variadic";
    if (!ar_named_declaration(site->callee))
        return "has no declaration that names its parameters";
    return NULL;
}

/* A pragma or a keep rule says FP32. */
static bool user_keeps(solver *s, ar_op_site *site) {
    ar_range at = AR_NO_RANGE;
    int pragma = pragma_precision(site, &at);
    if (pragma == 32) {
        keep(site, "#pragma amp fp32", at, "remove the pragma");
        return true;
    }
    const ar_subject_rule *subject = function_rule(s, site->callee->decl->name);
    if (!subject && site->function)
        subject = function_rule(s, site->function->name);
    if (!subject || subject->half || pragma == 16)
        return false;
    keep(site,
         ar_sprintf(s->arena, "rule keep fp32 function %s (%s)",
                    subject->pattern, subject->origin),
         AR_NO_RANGE, "remove the rule");
    return true;
}

/* The rule of the call says FP32, or nothing that could run in half. */
static bool rule_keeps(solver *s, ar_op_site *site) {
    const ar_function_rule *rule = site->rule;
    if (site->category != AR_CAT_ALLOW) {
        keep(site,
             ar_sprintf(s->arena, "%s: %s", category_reason(s, site->category),
                        rule_text(s, rule)),
             AR_NO_RANGE, NULL);
        return true;
    }
    if (!rule->target) {
        keep(
            site,
            ar_sprintf(s->arena, "%s names no replacement", rule_text(s, rule)),
            AR_NO_RANGE, "add `-> amp_gemm(...)` to the rule");
        return true;
    }
    return condition_keeps(s, site);
}

static void solve_call(solver *s, ar_op_site *site) {
    if (user_keeps(s, site) || rule_keeps(s, site))
        return;
    const char *problem = site->rule->arguments ? cannot_wrap(site) : NULL;
    if (problem) {
        keep(site,
             ar_sprintf(s->arena, "'%s' %s", site->callee->decl->name, problem),
             site->callee->decl->name_range, NULL);
        return;
    }
    if (inside_redirected(s, site)) {
        keep(site,
             ar_sprintf(s->arena, "part of '%s', which is redirected itself",
                        site->function->name),
             site->function->name_range, NULL);
        return;
    }
    if (site->node->range.in_macro_body || site->node->op_range.in_macro_body) {
        keep(site, "called from a macro body", site->node->range,
             "write the call outside the macro");
        ar_report(s->diags, AR_DIAG_OP_IN_MACRO, site->node->range,
                  site->callee->decl->name);
        return;
    }
    if (site->node->op_range.file == AR_NO_FILE) {
        keep(site, "not called by its plain name", site->node->range,
             "call it by its name");
        ar_report(s->diags, AR_DIAG_OP_NOT_PLAIN, site->node->range,
                  site->callee->decl->name);
        return;
    }
    if (!s->program->editable[site->node->range.file]) {
        keep(site, "the file is outside the rewrite set", site->node->range,
             "pass the file, or --root");
        if (!s->ops->outside_count++)
            s->ops->first_outside = site->node->range;
        return;
    }
    site->half = true;
    site->reason =
        ar_sprintf(s->arena, "%s: %s", category_reason(s, site->category),
                   rule_text(s, site->rule));
    site->reason_at = AR_NO_RANGE;
    s->ops->half_count++;
}

/* The words that mean something after #pragma amp. */
static void check_pragmas(solver *s) {
    static const char *const known[] = {"fp32", "half", "keep", "seed", "step"};
    for (uint32_t u = 0; u < s->program->unit_count; u++) {
        const ar_unit *unit = s->program->units[u];
        for (uint32_t i = 0; i < unit->pragmas.count; i++) {
            const ar_pragma *pragma = &unit->pragmas.data[i];
            bool ok = pragma->kind != AR_PRAGMA_AMP;
            size_t word = strcspn(pragma->text, " ");
            for (size_t k = 0; k < sizeof known / sizeof *known; k++)
                ok = ok || (strlen(known[k]) == word &&
                            strncmp(pragma->text, known[k], word) == 0);
            if (!ok)
                ar_report(s->diags, AR_DIAG_UNKNOWN_PRAGMA, pragma->range,
                          pragma->text);
        }
    }
}

void ar_solve_ops(ar_arena *arena, ar_program *program, const ar_rules *rules,
                  ar_level level, ar_ops *ops, ar_diags *diags) {
    solver s = {arena, program, rules, ops, diags, level};
    ops->half_count = ops->outside_count = 0;
    check_pragmas(&s);
    for (uint32_t i = 0; i < ops->list.count; i++) {
        ar_op_site *site = &ops->list.data[i];
        if (level == AR_LEVEL_O0)
            keep(site, "-O0 changes nothing", site->node->range, "use -O1");
        else if (site->form == AR_OP_LOOP)
            solve_loop(&s, site);
        else
            solve_call(&s, site);
        if (level != AR_LEVEL_O0 && site->form != AR_OP_LOOP && !site->half)
            ar_report(diags, AR_DIAG_OP_LEFT_FP32, site->node->range,
                      site->callee->decl->name, site->reason);
    }
}
