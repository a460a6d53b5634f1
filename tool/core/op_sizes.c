/* Remarks about products in half whose sizes are constants: what tensor units
 * would have to pad, and what is too small to pay for its casts. */
#include "core/constant.h"
#include "core/ops.h"

#include <math.h>

/* What libamp's thresholds leave in FP32 whatever the operands are
 * (runtime/thresholds.h). */
static const double least_work = 131072; /* 2^17 */

enum { MAX_SIZES = 3 };

typedef struct sizes {
    const char *names[MAX_SIZES]; /* as the rule calls them */
    double values[MAX_SIZES];
    uint32_t count;
    bool complete; /* all are constants */
} sizes;

static void add_size(sizes *of, const char *name, const ar_node *argument) {
    double value;
    for (uint32_t i = 0; i < of->count; i++)
        if (strcmp(of->names[i], name) == 0)
            return;
    if (!argument || !ar_constant(argument, &value) || !(value > 0)) {
        of->complete = false;
        return;
    }
    if (of->count == MAX_SIZES)
        return;
    of->names[of->count] = name;
    of->values[of->count++] = value;
}

static const ar_node *argument_of(const ar_op_site *op, uint32_t param) {
    return param + 1 < op->node->kid_count ? op->node->kids[param + 1] : NULL;
}

static uint32_t find_param(const ar_function_rule *rule, const char *name) {
    for (uint32_t i = 0; i < rule->param_count; i++)
        if (strcmp(rule->params[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

static void add_named(sizes *of, const ar_op_site *op, const char *name) {
    uint32_t param = find_param(op->rule, name);
    add_size(of, name, param == UINT32_MAX ? NULL : argument_of(op, param));
}

/* Which arguments of libamp's entries are sizes of the product. */
static const struct entry {
    const char *name;
    uint32_t first, count;
} entries[] = {{"amp_gemm", 2, 3},
               {"amp_gemm_strided", 2, 3},
               {"amp_gemv", 1, 2},
               {"amp_linear_forward", 4, 3},
               {"amp_linear_backward", 6, 3}};

static bool add_by_target(sizes *of, const ar_op_site *op) {
    const ar_function_rule *rule = op->rule;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const struct entry *entry = &entries[i];
        if (!rule->arguments || strcmp(rule->target, entry->name) != 0 ||
            entry->first + entry->count > rule->argument_count)
            continue;
        for (uint32_t k = 0; k < entry->count; k++)
            add_named(of, op, rule->arguments[entry->first + k]);
        return true;
    }
    return false;
}

/* The last two extents of a matrix; in front of them a batch is counted. */
static void add_by_shape(sizes *of, const ar_op_site *op) {
    const ar_function_rule *rule = op->rule;
    for (uint32_t i = 0; i < rule->param_count; i++) {
        const ar_rule_param *param = &rule->params[i];
        uint32_t rank = param->shape_rank;
        for (uint32_t k = rank > 2 ? rank - 2 : 0; rank > 1 && k < rank; k++)
            add_named(of, op, param->shape[k]);
    }
}

static sizes sizes_of(const ar_op_site *op) {
    sizes of = {.complete = true};
    if (!add_by_target(&of, op))
        add_by_shape(&of, op);
    of.complete &= of.count > 1;
    return of;
}

static const char *in_words(ar_arena *arena, const sizes *of, bool odd_only) {
    ar_str out = {.arena = arena};
    for (uint32_t i = 0; i < of->count; i++)
        if (!odd_only || fmod(of->values[i], 8) > 0)
            ar_str_addf(&out, "%s%s = %.0f", out.length ? ", " : "",
                        of->names[i], of->values[i]);
    return ar_str_text(&out);
}

static void remark(ar_arena *arena, const ar_op_site *op, ar_diags *diags) {
    sizes of = sizes_of(op);
    double work = 1;
    for (uint32_t i = 0; i < of.count; i++)
        work *= of.values[i];
    if (of.complete && work < least_work) {
        ar_report(diags, AR_DIAG_SMALL_PRODUCT, op->node->range,
                  op->callee->decl->name, in_words(arena, &of, false));
        return;
    }
    const char *odd = in_words(arena, &of, true);
    if (*odd)
        ar_report(diags, AR_DIAG_ODD_SIZES, op->node->range,
                  op->callee->decl->name, odd);
}

void ar_remark_sizes(ar_arena *arena, const ar_ops *ops, ar_diags *diags) {
    for (uint32_t i = 0; i < ops->list.count; i++) {
        const ar_op_site *op = &ops->list.data[i];
        if (op->half && op->form == AR_OP_CALL)
            remark(arena, op, diags);
    }
}
