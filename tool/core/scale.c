/* Roles and the loss scale: the steps in order. */
#include "core/scale_analysis.h"

#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Is there anything that could be taken as disjoint? */
static bool could_overlap(const ar_interp *in) {
    if (in->meets_slots)
        return true;
    for (uint32_t i = 1; i < in->m->cells.count; i++)
        if (in->m->cells.data[i].step == AR_STEP_REGION)
            return true;
    return false;
}

static ar_analysis *begin(ar_arena *arena, ar_program *program,
                          const ar_rules *rules, ar_diags *diags,
                          bool disjoint) {
    ar_analysis *a = AR_NEW(arena, ar_analysis);
    a->arena = arena;
    a->program = program;
    a->rules = rules;
    a->diags = diags;
    a->kernels = ar_kernels_find(arena, program);
    a->in = ar_interp_new(arena, program, rules);
    a->in->disjoint = disjoint;
    ar_read_user_marks(a);
    /* The first run teaches what loops carry; the graph of the second is the
     * fixpoint's. */
    ar_interp_run(a->in);
    if (!a->in->gave_up)
        ar_interp_run(a->in);
    ar_index_graph(a);
    return a;
}

/* Roles and steps; false when nothing trains here. */
static bool look(ar_analysis *a) {
    if (a->in->gave_up || !ar_find_training_loop(a))
        return false;
    ar_mark_dependence(a);
    return ar_find_steps(a);
}

static void report_notes(const ar_analysis *a) {
    for (uint32_t i = 0; i < a->in->notes.count; i++) {
        const ar_note *n = &a->in->notes.data[i];
        ar_report(a->diags, n->id, n->range, n->text);
    }
}

static void report_assumptions(ar_analysis *a) {
    ar_interp *in = a->in;
    for (uint32_t i = 1; i < in->m->cells.count; i++) {
        const ar_mem_cell *c = &in->m->cells.data[i];
        if (c->step != AR_STEP_REGION)
            continue;
        const ar_mem_object *o = ar_object_of(in->m, i);
        ar_range at = o->as.site ? o->as.site->range : AR_NO_RANGE;
        ar_report(a->diags, AR_DIAG_DISJOINT_ASSUMED, at, ar_cell_name(a, i),
                  ar_cell_name(a, o->root));
    }
    for (uint32_t i = 0; i < in->apart.count; i++) {
        const ar_mem_object *o = ar_object_of(in->m, in->apart.data[i]);
        ar_range at = o->as.site ? o->as.site->range : AR_NO_RANGE;
        ar_report(a->diags, AR_DIAG_SLOTS_ASSUMED, at,
                  ar_cell_name(a, in->apart.data[i]));
    }
}

static void fill_assumptions(ar_analysis *a) {
    const ar_interp *in = a->in;
    if (!a->loop)
        return;
    if (in->assumes_loops_run)
        AR_PUSH(a->arena, &a->out->assumptions, "loops run at least once");
    if (in->assumes_index_covers)
        AR_PUSH(a->arena, &a->out->assumptions,
                "an index that follows a loop covers its array");
    if (in->assumes_rows_apart)
        AR_PUSH(a->arena, &a->out->assumptions,
                "what a loop takes of an array per iteration does not overlap");
    if (in->assumes_buffers_exist)
        AR_PUSH(a->arena, &a->out->assumptions, "a buffer that may exist does");
    if (in->disjoint)
        AR_PUSH(a->arena, &a->out->assumptions,
                "the parts of one allocation do not overlap");
    if (in->apart.count)
        AR_PUSH(a->arena, &a->out->assumptions,
                "two elements of a table are not one buffer");
}

static ar_scale *finish(ar_analysis *a, ar_scale_outcome outcome,
                        const ar_solution *solution, double start) {
    ar_scale *out = a->out;
    out->outcome = outcome;
    if (a->loop) {
        ar_assign_roles(a);
        ar_check_user_roles(a);
        ar_fill_cells(a, solution);
        ar_fill_groups(a, solution);
    }
    ar_fill_rest(a);
    fill_assumptions(a);
    out->seconds = now() - start;
    return out;
}

/* A jump back in a function that the placement changes, or in one that calls
 * it: what was put there would be done again. */
static const ar_back_jump *repeating_jump(const ar_analysis *a,
                                          const ar_solution *solution) {
    for (uint32_t k = 0; k < a->in->back_jumps.count; k++) {
        const ar_back_jump *jump = &a->in->back_jumps.data[k];
        for (uint32_t i = 0; i < a->regions.count; i++) {
            const ar_placement *p = &solution->placements[i];
            if (ar_is_called_from(a, a->regions.data[i].context, jump->context))
                return jump;
            for (uint32_t s = 0; s < p->seeds.count; s++)
                if (ar_is_called_from(a,
                                      AR_VN(a->in, p->seeds.data[s])->context,
                                      jump->context))
                    return jump;
        }
    }
    return NULL;
}

static ar_scale *give_up(ar_analysis *a, double start) {
    ar_report(a->diags, AR_DIAG_NO_SEED, AR_NO_RANGE,
              "the program cannot be followed to its end (the note says why); "
              "analyse one trainer alone, or describe functions by rules");
    report_notes(a);
    return finish(a, AR_SCALE_GAVE_UP, NULL, start);
}

static ar_scale *finish_exact(ar_analysis *a, ar_solution *solution,
                              double start) {
    const ar_back_jump *jump = repeating_jump(a, solution);
    if (jump) {
        ar_interp_note(a->in, AR_DIAG_SCALE_NOTE, jump->at->range,
                       "the loss-scale analysis was stopped here: a jump back, "
                       "over changes to float memory");
        a->loop = NULL;
        return give_up(a, start);
    }
    report_notes(a);
    if (a->in->disjoint)
        report_assumptions(a);
    solution->failed = NULL;
    return finish(a, AR_SCALE_FOUND, solution, start);
}

ar_scale *ar_scale_analyse(ar_arena *arena, ar_program *program,
                           const ar_rules *rules,
                           const ar_scale_options *options, ar_diags *diags) {
    double start = now();
    ar_scale *out = AR_NEW(arena, ar_scale);
    ar_analysis *a = begin(arena, program, rules, diags, false);
    a->out = out;
    bool found = look(a);
    if (!found && !a->in->gave_up && could_overlap(a->in)) {
        /* What all parts share is neither parameter nor gradient. */
        ar_analysis *b = begin(arena, program, rules, diags, true);
        b->out = out;
        found = look(b);
        if (found)
            a = b;
    }
    if (!found) {
        a->loop = NULL;
        if (a->in->gave_up)
            return give_up(a, start);
        ar_report(diags, AR_DIAG_NO_TRAINING_LOOP, AR_NO_RANGE);
        report_notes(a);
        return finish(a, AR_SCALE_NO_LOOP, NULL, start);
    }
    if (!options->want_scale) {
        report_notes(a);
        return finish(a, AR_SCALE_FOUND, NULL, start);
    }
    ar_solution solution = {0};
    if (ar_place_scale(a, &solution) == AR_ATTEMPT_EXACT)
        return finish_exact(a, &solution, start);
    if (could_overlap(a->in) && !a->in->disjoint) {
        /* Perhaps the base pointer does not mean the regions. */
        ar_analysis *b = begin(arena, program, rules, diags, true);
        b->out = out;
        ar_solution other = {0};
        if (look(b) && ar_place_scale(b, &other) == AR_ATTEMPT_EXACT)
            return finish_exact(b, &other, start);
    }
    report_notes(a);
    finish(a, AR_SCALE_NO_SEED, &solution, start);
    ar_explain_conflict(a, &solution);
    return out;
}
