/* Storage edits: vector instructions that read or write floats. */
#include "core/plan_storage_parts.h"

/* What amp_simd.h has instead; a half buffer need not be aligned. */
static const struct vector_form {
    const char *intrinsic, *form;
} forms[] = {
    {"_mm_loadu_ps", "amp_mm_loadu_ps"},
    {"_mm_load_ps", "amp_mm_loadu_ps"},
    {"_mm_storeu_ps", "amp_mm_storeu_ps"},
    {"_mm_store_ps", "amp_mm_storeu_ps"},
    {"_mm_load1_ps", "amp_mm_load1_ps"},
    {"_mm_load_ps1", "amp_mm_load1_ps"},
    {"_mm_load_ss", "amp_mm_load_ss"},
    {"_mm_store_ss", "amp_mm_store_ss"},
    {"_mm256_loadu_ps", "amp_mm256_loadu_ps"},
    {"_mm256_load_ps", "amp_mm256_loadu_ps"},
    {"_mm256_storeu_ps", "amp_mm256_storeu_ps"},
    {"_mm256_store_ps", "amp_mm256_storeu_ps"},
    {"_mm256_broadcast_ss", "amp_mm256_broadcast_ss"},
    {"_mm512_loadu_ps", "amp_mm512_loadu_ps"},
    {"_mm512_load_ps", "amp_mm512_loadu_ps"},
    {"_mm512_storeu_ps", "amp_mm512_storeu_ps"},
    {"_mm512_store_ps", "amp_mm512_storeu_ps"},
};

const char *ar_vector_form(const ar_decl *callee) {
    for (size_t i = 0; callee && i < sizeof forms / sizeof *forms; i++)
        if (callee->is_system && strcmp(callee->name, forms[i].intrinsic) == 0)
            return forms[i].form;
    return NULL;
}

const char *ar_rewrite_vector(ar_rewriter *r, const ar_site *site) {
    const ar_node *call = site->node;
    const char *form = call->kind == AR_CALL
                           ? ar_vector_form(ar_direct_callee(call->kids[0]))
                           : NULL;
    if (!form || ar_float_depth(call->kids[1]->type) != 1)
        return "it is read or written by a vector instruction";
    const char *problem = ar_access_problem(r, site, call);
    if (!problem)
        problem = ar_text_problem(r, call->op_range);
    if (problem)
        return problem;
    ar_put_text(r, call->op_range, form);
    if (r->plan)
        ar_plan_need_header(r->plan, call->range.file, "amp/amp_simd.h");
    return NULL;
}
