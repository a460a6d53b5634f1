/* Storage edits: sums that a loop makes in an FP32 scratch
 * (core/storage_sums.h). One element is a local variable, a row a buffer of
 * libamp's:
 *
 *     float x_sum = n > 0 ? amp_to_float(x[i]) : 0.0f;
 *     for (int j = 0; j < n; j++)
 *         x_sum += ...;
 *     if (n > 0)
 *         x[i] = amp_to_half(x_sum);
 *
 *     float *row_sum = n > 0 ? amp_sum_open(AMP_BUFFER(row), m) : 0;
 *     for (int j = 0; j < n; j++)
 *         for (int i = 0; i < m; i++)
 *             row_sum[i] += ...;
 *     if (n > 0)
 *         amp_sum_close(row_sum, AMP_BUFFER(row), m);
 *
 * Where the loop has no iteration, the memory may not be there. */
#include "core/plan_storage_parts.h"

const ar_sum_access *ar_sum_access_of(const ar_rewriter *r,
                                      const ar_node *lvalue) {
    const ar_sum_scratch *s = ar_map_get(&r->storage->sums->at, ar_key(lvalue));
    if (!s || !ar_class_is_half(r, s->class_id))
        return NULL;
    for (uint32_t i = 0; i < s->accesses.count; i++)
        if (s->accesses.data[i].lvalue == lvalue)
            return &s->accesses.data[i];
    AR_BUG("a scratch without its access");
}

typedef struct around {
    const char *before, *after;
} around;

static around element(const ar_rewriter *r, const ar_sum_scratch *s) {
    const char *load = ar_sprintf(r->arena, "amp_to_float(%s)", s->memory);
    const char *store =
        ar_sprintf(r->arena, "%s = amp_to_half(%s);", s->memory, s->name);
    if (!s->guard)
        return (around){ar_sprintf(r->arena, "float %s = %s;", s->name, load),
                        store};
    return (around){ar_sprintf(r->arena, "float %s = %s ? %s : 0.0f;", s->name,
                               s->guard, load),
                    ar_sprintf(r->arena, "if (%s)\n    %s", s->guard, store)};
}

static around row(const ar_rewriter *r, const ar_sum_scratch *s) {
    const char *guard = s->guard;
    const char *close =
        ar_sprintf(r->arena, "amp_sum_close(%s, AMP_BUFFER(%s),%s%s);", s->name,
                   s->memory, guard ? " " : "\v", s->count);
    if (!guard)
        return (around){
            ar_sprintf(r->arena,
                       "float *%s = amp_sum_open(AMP_BUFFER(%s),\v%s);",
                       s->name, s->memory, s->count),
            close};
    return (around){
        ar_sprintf(r->arena,
                   "float *%s = %s ? amp_sum_open(AMP_BUFFER(%s), %s) : 0;",
                   s->name, guard, s->memory, s->count),
        ar_sprintf(r->arena, "if (%s)\n    %s", guard, close)};
}

static bool rewrite(ar_rewriter *r, const ar_sum_scratch *s) {
    around text = s->form == AR_SUM_ROW ? row(r, s) : element(r, s);
    ar_placer *placer = &r->plan->placer;
    if (ar_place_before(placer, s->where.unit, s->loop, text.before,
                        "half storage") &&
        ar_place_after(placer, s->where.unit, s->loop, text.after,
                       "half storage"))
        return true;
    ar_report(r->plan->diags, AR_DIAG_STORAGE_SITE, s->loop->range,
              r->storage->facts->classes.data[s->class_id].name,
              "the loop cannot get statements around it");
    return false;
}

bool ar_rewrite_sums(ar_rewriter *r, uint32_t round) {
    const ar_storage_sums *sums = r->storage->sums;
    bool ok = true;
    for (uint32_t i = 0; sums && i < sums->list.count; i++) {
        const ar_sum_scratch *s = sums->list.data[i];
        if (ar_class_is_half(r, s->class_id) &&
            ar_storage_has_version(r->storage, r->program, s->where.function,
                                   round))
            ok = rewrite(r, s) && ok;
    }
    return ok;
}
