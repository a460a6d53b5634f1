/* Storage edits: scanf into memory that is stored in half.
 *
 * `scanf("%f", &x[i])` gets the address of a float that the runtime keeps until
 * the call is over: `amp_scanned(scanf("%f", amp_scan(&x[i])))`. */
#include "core/plan_storage_parts.h"
#include "core/rule_at.h"

enum { MAX_SCANS = 16 }; /* AMP_SCANS of amp_storage.h */

bool ar_is_scan(const ar_function_rule *rule) {
    return rule && rule->kind == AR_RULE_LOAD && rule->is_variadic;
}

static bool holds_call(const ar_node *node) {
    if (!node)
        return false;
    if (node->kind == AR_CALL || node->kind == AR_STATEMENT_EXPR)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (holds_call(node->kids[i]))
            return true;
    return false;
}

static const ar_node *argument_at(const ar_node *call, ar_range range) {
    for (uint32_t i = 1; i < call->kid_count; i++)
        if (call->kids[i]->range.begin == range.begin &&
            call->kids[i]->range.end == range.end)
            return call->kids[i];
    return NULL;
}

static const char *scan_problem(const ar_rewriter *r, const ar_site *site,
                                const ar_node *address) {
    const ar_node *call = site->node;
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    const ar_function_rule *rule =
        ar_rule_at(r->rules, r->program, callee, call->range);
    if (!callee || !callee->is_system || !ar_is_scan(rule))
        return "its address is passed to a function that takes any arguments";
    if (!address || ar_float_depth(address->type) != 1)
        return ar_sprintf(r->arena, "'%s' gets it as no float pointer",
                          callee->name);
    for (uint32_t i = 1; i < call->kid_count; i++)
        if (call->kid_count > MAX_SCANS || holds_call(call->kids[i]))
            return ar_sprintf(r->arena,
                              "it is passed to '%s' beside what is not plain",
                              callee->name);
    const char *problem = ar_access_problem(r, site, call);
    return problem ? problem : ar_access_problem(r, site, address);
}

const char *ar_rewrite_scan(ar_rewriter *r, const ar_site *site) {
    const ar_node *address = argument_at(site->node, site->where.range);
    const char *problem = scan_problem(r, site, address);
    if (problem)
        return problem;
    ar_put_around(r, site->node->range, AR_LAYER_VALUE, "amp_scanned(", ")");
    ar_put_around(r, address->range, AR_LAYER_CALL, "amp_scan(", ")");
    return NULL;
}
