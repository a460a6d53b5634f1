#include "core/plan.h"
#include "core/plan_storage.h"

void ar_plan_need_header(ar_plan *plan, ar_file_id file, const char *header) {
    plan->needs_amp[file] = true;
    if (!header || strcmp(header, "amp/amp.h") == 0)
        return;
    for (uint32_t i = 0; i < plan->headers[file].count; i++)
        if (strcmp(plan->headers[file].data[i], header) == 0)
            return;
    AR_PUSH(plan->arena, &plan->headers[file], header);
}

/* Options that differ from the runtime's defaults are set where the program
 * starts. */
static void plan_configure(ar_plan *plan) {
    if (!plan->options.configure)
        return;
    ar_entity *main_entity = ar_find_function(plan->program, "main");
    ar_decl *function =
        main_entity ? ar_definition_of(plan->program, main_entity->decl) : NULL;
    if (!function || !function->body || !function->body->kid_count) {
        ar_report(plan->diags, AR_DIAG_SCALE_SKIPPED, AR_NO_RANGE,
                  "the scaler options need a main function to be set in");
        return;
    }
    ar_node *first = function->body->kids[0];
    if (ar_place_before(&plan->placer, main_entity->unit, first,
                        plan->options.configure, "scaler options"))
        ar_plan_need_header(plan, first->range.file, NULL);
}

/* All that depends on what is stored how, for one version of each function. */
static bool plan_round(ar_plan *plan, const ar_ops *ops, const ar_scale *scale,
                       uint32_t round) {
    bool ok = ar_plan_ops(plan, ops);
    if (plan->storage)
        ok = ar_plan_storage(plan, ops, plan->storage, round) &&
             ar_plan_calls(plan, round) && ok;
    if (scale && scale->outcome == AR_SCALE_FOUND) {
        ok = ar_plan_buffers(plan, scale) && ok;
        ok = ar_plan_scale(plan, scale) && ok;
        plan->scaled = ok;
    }
    return ok;
}

/* The edits of a further round stay apart: those in a function that has a
 * version of this number make its text. */
static bool plan_version(ar_plan *plan, const ar_ops *ops,
                         const ar_scale *scale, uint32_t round) {
    ar_edits edits = {.arena = plan->arena};
    ar_plan other = *plan;
    other.placer = ar_placer_new(plan->arena, plan->program, &edits);
    other.storage = ar_storage_view(plan->arena, plan->storage, round);
    return plan_round(&other, ops, scale, round) &&
           ar_plan_version_texts(plan, &edits, round);
}

bool ar_plan_make(ar_arena *arena, ar_program *program, const ar_rules *rules,
                  const ar_ops *ops, const ar_scale *scale,
                  const ar_storage_plan *storage, ar_plan_options options,
                  ar_edits *edits, ar_plan *out, ar_diags *diags) {
    uint32_t files = program->files.list.count;
    *out = (ar_plan){.placer = ar_placer_new(arena, program, edits),
                     .edits = edits,
                     .arena = arena,
                     .program = program,
                     .rules = rules,
                     .diags = diags,
                     .options = options,
                     .needs_amp = AR_NEW_ARRAY(arena, bool, files),
                     .first_use = AR_NEW_ARRAY(arena, uint32_t, files),
                     .storage = storage,
                     .registered = {.arena = arena}};
    out->record_copies = AR_NEW(arena, ar_record_copies);
    out->headers = ar_alloc_array(arena, files, sizeof *out->headers);
    for (uint32_t i = 0; i < files; i++)
        out->first_use[i] = UINT32_MAX;
    bool ok = plan_round(out, ops, scale, 0);
    uint32_t rounds = storage ? storage->versions->rounds : 1;
    for (uint32_t round = 1; round < rounds && ok; round++)
        ok = plan_version(out, ops, scale, round);
    ok = ar_plan_record_copies(out) && ok;
    if (out->scaled)
        plan_configure(out);
    ok = ar_plan_includes(out) && ok;
    return ar_plan_names(out) && ok;
}
