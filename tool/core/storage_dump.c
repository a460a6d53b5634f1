/* --dump-after=solve: the decisions, one line per class. */
#include "core/solve_storage.h"

static const char *roles_text(ar_arena *arena, const ar_storage_decision *d) {
    ar_str out = {.arena = arena};
    for (uint32_t role = 1; role < 32; role++)
        if (d->roles & 1u << role)
            ar_str_addf(&out, "%s%s", out.length ? "+" : "",
                        ar_role_name((ar_role)role));
    return out.length ? ar_str_text(&out) : "no role";
}

void ar_storage_plan_dump(FILE *out, ar_program *program,
                          const ar_storage_plan *plan) {
    ar_arena *arena = ar_arena_new();
    for (uint32_t i = 0; i < plan->facts->classes.count; i++) {
        const ar_storage_decision *d = &plan->classes[i];
        const ar_storage_class *c = &plan->facts->classes.data[i];
        fprintf(out, "storage %s %s", d->half ? "half" : "fp32", c->name);
        if (c->generic_of)
            fprintf(out, " in %s", c->generic_of->name);
        fprintf(out, " (%s): %s", roles_text(arena, d), d->reason);
        if (d->reason_at.file != AR_NO_FILE)
            fprintf(out, " [%s]",
                    ar_place(arena, &program->files, d->reason_at));
        if (d->unlock)
            fprintf(out, " to unlock: %s", d->unlock);
        fputc('\n', out);
    }
    for (uint32_t i = 0; plan->versions && i < plan->versions->functions.count;
         i++) {
        const ar_function_versions *f = plan->versions->functions.data[i];
        for (uint32_t k = 1; k < f->list.count; k++)
            fprintf(out, "version %s of %s: %s\n", f->list.data[k].name,
                    f->function->decl->name, f->list.data[k].about);
    }
    fprintf(out, "storage %u of %u classes half\n", plan->half_count,
            plan->facts->classes.count);
    ar_arena_free(arena);
}
