/* Storage edits: all sites. */
#include "core/plan_storage_parts.h"

static const char *rewrite(ar_rewriter *r, const ar_site *site) {
    switch (site->kind) {
    case AR_SITE_DECLARATION:
        return ar_rewrite_declaration(r, site);
    case AR_SITE_CAST:
        return ar_rewrite_cast(r, site);
    case AR_SITE_SIZEOF:
        return ar_rewrite_sizeof(r, site);
    case AR_SITE_LOAD:
        return ar_rewrite_load(r, site);
    case AR_SITE_STORE:
        return ar_rewrite_store(r, site);
    case AR_SITE_COMPOUND_STORE:
        return ar_rewrite_compound(r, site);
    case AR_SITE_INITIALISER:
        return ar_rewrite_initialiser(r, site);
    case AR_SITE_ALLOCATION:
    case AR_SITE_COPY:
    case AR_SITE_CLEAR:
    case AR_SITE_FILE:
    case AR_SITE_CALL:
        return ar_rewrite_call(r, site);
    case AR_SITE_RECORD:
        return ar_rewrite_record(r, site);
    case AR_SITE_ADDRESS_OF:    /* its type follows */
    case AR_SITE_LITERAL:       /* part of a store */
    case AR_SITE_VARARGS_VALUE: /* a load */
        return NULL;
    case AR_SITE_VECTOR:
        return ar_rewrite_vector(r, site);
    case AR_SITE_LAUNCH:
        return "it is passed to a kernel";
    case AR_SITE_VARARGS_ADDRESS:
        return ar_rewrite_scan(r, site);
    case AR_SITE_KINDS:
        break;
    }
    AR_BUG("site kind %d", (int)site->kind);
}

const char *ar_storage_site_refusal(ar_arena *arena, ar_program *program,
                                    const ar_rules *rules, const ar_ops *ops,
                                    const ar_storage_plan *plan,
                                    const ar_site *site) {
    ar_rewriter r = {.arena = arena,
                     .program = program,
                     .rules = rules,
                     .ops = ops,
                     .storage = plan};
    return rewrite(&r, site);
}

bool ar_plan_storage(ar_plan *plan, const ar_ops *ops,
                     const ar_storage_plan *storage, uint32_t round) {
    ar_rewriter r = {.arena = plan->arena,
                     .program = plan->program,
                     .rules = plan->rules,
                     .ops = ops,
                     .storage = storage,
                     .plan = plan};
    bool ok = true;
    for (uint32_t i = 0; i < storage->facts->sites.count; i++) {
        const ar_site *site = &storage->facts->sites.data[i];
        if (!ar_site_some_half(&r, site) ||
            !ar_storage_has_version(storage, plan->program,
                                    ar_storage_function_of(site), round))
            continue;
        const char *problem = rewrite(&r, site);
        if (!problem)
            continue;
        ar_report(plan->diags, AR_DIAG_STORAGE_SITE, site->where.range,
                  storage->facts->classes.data[site->classes[0]].name, problem);
        ok = false;
    }
    ok = ar_rewrite_sums(&r, round) && ok;
    return ar_rewrite_arenas(&r, round) && ok;
}
