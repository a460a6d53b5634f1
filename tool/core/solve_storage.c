/* solve, storage: a precision and one reason for every class of memory. */
#include "core/solve_storage.h"

ar_storage_plan *ar_solve_storage(ar_arena *arena, ar_program *program,
                                  const ar_rules *rules, ar_level level,
                                  const ar_storage_facts *facts,
                                  const ar_ops *ops, const ar_scale *scale,
                                  ar_diags *diags) {
    (void)program, (void)rules, (void)ops, (void)scale, (void)diags;
    ar_storage_plan *plan = AR_NEW(arena, ar_storage_plan);
    plan->facts = facts;
    plan->level = level;
    plan->classes =
        AR_NEW_ARRAY(arena, ar_storage_decision, facts->classes.count + 1u);
    for (uint32_t i = 0; i < facts->classes.count; i++)
        plan->classes[i] = (ar_storage_decision){
            .reason = ar_sprintf(arena, "%s keeps all storage FP32",
                                 ar_level_name(level)),
            .reason_at = AR_NO_RANGE};
    return plan;
}

void ar_storage_plan_dump(FILE *out, ar_program *program,
                          const ar_storage_plan *plan) {
    for (uint32_t i = 0; i < plan->facts->classes.count; i++) {
        const ar_storage_decision *d = &plan->classes[i];
        fprintf(out, "storage %s %s: %s", d->half ? "half" : "fp32",
                plan->facts->classes.data[i].name, d->reason);
        if (d->reason_at.file != AR_NO_FILE)
            fprintf(out, " [%s]",
                    ar_place(program->arena, &program->files, d->reason_at));
        fputc('\n', out);
    }
}
