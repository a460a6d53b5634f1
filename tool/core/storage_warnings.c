/* Warnings about numbers: what is stored in half and may break for it, because
 * the level or a rule wants it. */
#include "core/storage_solver.h"

static bool is_half(const ar_storage_solver *s, uint32_t id) {
    return s->at[id].half && !s->facts->classes.data[id].generic_of &&
           !ar_storage_is_scalar(s->facts, id);
}

/* Is the class one to warn about, and at which place? */
typedef bool is_about(const ar_storage_solver *s, uint32_t id, ar_range *at);
typedef const char *words(const ar_storage_solver *s, uint32_t id);

/* One message for all that one place in the text is about. */
static void warn_by_place(ar_storage_solver *s, ar_diag_id code,
                          is_about *about, words *what) {
    uint32_t classes = s->facts->classes.count;
    uint32_t *more = AR_NEW_ARRAY(s->arena, uint32_t, classes + 1);
    bool *is_first = AR_NEW_ARRAY(s->arena, bool, classes + 1);
    ar_table places = {.arena = s->arena};
    ar_range at;
    for (uint32_t i = 0; i < classes; i++) {
        if (!about(s, i, &at))
            continue;
        uint64_t place = ar_key2(at.file, at.begin);
        uint64_t first = ar_table_get(&places, place, at.end);
        is_first[i] = !first;
        if (first)
            more[first - 1]++;
        else
            ar_table_put(&places, place, at.end, i + UINT64_C(1));
    }
    for (uint32_t i = 0; i < classes; i++) {
        if (!is_first[i] || !about(s, i, &at))
            continue;
        const char *others =
            more[i] ? ar_sprintf(s->arena, " (and %u more)", more[i]) : "";
        ar_report(s->diags, code, at, s->facts->classes.data[i].name, others,
                  what(s, i));
    }
}

/* ---- parameters ---------------------------------------------------------- */

static bool is_updated(const ar_storage_solver *s, uint32_t id, ar_range *at) {
    const ar_cell *cell = s->info[id].cells[AR_ROLE_PARAM];
    if (!cell || !is_half(s, id))
        return false;
    *at = cell->reason_at;
    return true;
}

static const char *who_says(const ar_storage_solver *s, uint32_t id) {
    (void)id;
    return ar_level_name(s->policy.level);
}

/* ---- state --------------------------------------------------------------- */

static bool is_spoiled(const ar_storage_solver *s, uint32_t id, ar_range *at) {
    *at = s->info[id].spoiled_at;
    return s->info[id].spoiled && is_half(s, id);
}

static bool is_saved(const ar_storage_solver *s, uint32_t id, ar_range *at) {
    const ar_class_info *info = &s->info[id];
    *at = info->spoiled_at;
    return info->spoiled && s->at[id].reason == info->spoiled &&
           !s->facts->classes.data[id].generic_of;
}

static const char *spoiled(const ar_storage_solver *s, uint32_t id) {
    return s->info[id].spoiled;
}

/* ---- what a rule forces -------------------------------------------------- */

/* Of what a function is called with, the rule may name all. */
static bool is_denied(const ar_storage_solver *s, uint32_t id, ar_range *at) {
    const ar_class_info *info = &s->info[id];
    *at = info->denied_at;
    return info->denied && s->at[id].half &&
           (info->half_by || !s->facts->classes.data[id].generic_of) &&
           !ar_storage_is_scalar(s->facts, id);
}

static const char *denied(const ar_storage_solver *s, uint32_t id) {
    return s->info[id].denied;
}

void ar_storage_warn(ar_storage_solver *s) {
    warn_by_place(s, AR_DIAG_HALF_PARAMS, is_updated, who_says);
    warn_by_place(s, AR_DIAG_HALF_STATE, is_spoiled, spoiled);
    warn_by_place(s, AR_DIAG_STATE_KEPT, is_saved, spoiled);
    warn_by_place(s, AR_DIAG_HALF_VALUE, is_denied, denied);
}
