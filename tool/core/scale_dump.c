/* --dump-after=scale: one fact a line, in an order that depends on the program
 * only. */
#include "core/scale.h"

static const char *place(ar_program *program, const ar_node *node) {
    return node ? ar_place(program->arena, &program->files, node->range)
                : "nowhere";
}

static const char *text_of(ar_program *program, const ar_node *node) {
    char *text = (char *)ar_text(program->arena, &program->files, node->range);
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = ' ';
    return text;
}

static const char *outcome_name(ar_scale_outcome outcome) {
    switch (outcome) {
    case AR_SCALE_NO_LOOP:
        return "no training loop";
    case AR_SCALE_FOUND:
        return "found";
    case AR_SCALE_NO_SEED:
        return "no exact placement";
    case AR_SCALE_GAVE_UP:
        return "gave up";
    }
    AR_BUG("outcome %d", (int)outcome);
}

static void dump_seed(FILE *out, ar_program *program, const ar_seed *seed) {
    const char *at = place(program, seed->node);
    const char *function = seed->function->name;
    switch (seed->form) {
    case AR_SEED_EXPRESSION:
        fprintf(out, "  seed expression %s in %s: %s\n", at, function,
                text_of(program, seed->node));
        return;
    case AR_SEED_AFTER:
        fprintf(out, "  seed after %s in %s: %s\n", at, function,
                text_of(program, seed->node));
        return;
    case AR_SEED_BUFFER:
        fprintf(out, "  seed buffer %s before %s in %s\n",
                text_of(program, seed->buffer), at, function);
        return;
    }
    AR_BUG("seed form %d", (int)seed->form);
}

static void dump_group(FILE *out, ar_program *program, const ar_group *g) {
    fprintf(out, "group %d, %u scaled writes\n", g->index, g->degree1_writes);
    for (uint32_t i = 0; i < g->param_count; i++)
        if (g->params[i])
            fprintf(out, "  param %s\n", g->params[i]->name);
    for (uint32_t i = 0; i < g->grad_count; i++)
        fprintf(out, "  grad %s%s\n", g->grads[i]->name,
                g->grads[i]->also_state ? " with momentum" : "");
    for (uint32_t i = 0; i < g->seed_count; i++)
        dump_seed(out, program, &g->seeds[i]);
    if (g->carry_before)
        fprintf(out, "  carry before %s\n", place(program, g->carry_before));
    for (uint32_t i = 0; i < g->fused_count; i++)
        fprintf(out, "  fused term %s: %s\n", place(program, g->fused[i].term),
                text_of(program, g->fused[i].term));
    if (g->fused_count) {
        fprintf(out, "  iteration ends after %s\n",
                place(program, g->fused_end_after));
        return;
    }
    fprintf(
        out, "  unscale before %s%s\n",
        place(program, g->unscale_before ? g->unscale_before : g->step.first),
        g->unscale_before ? "" : " (the step)");
    fprintf(out, "  step %s to %s in %s\n", place(program, g->step.first),
            place(program, g->step.last), g->step.function->name);
}

void ar_scale_dump(FILE *out, ar_program *program, const ar_scale *scale) {
    fprintf(out, "loss scale: %s\n", outcome_name(scale->outcome));
    if (scale->loop)
        fprintf(out, "training loop %s in %s\n", place(program, scale->loop),
                scale->loop_function->name);
    for (uint32_t i = 0; i < scale->assumptions.count; i++)
        fprintf(out, "assumes: %s\n", scale->assumptions.data[i]);
    for (uint32_t i = 0; i < scale->group_count; i++)
        dump_group(out, program, &scale->groups[i]);
    for (uint32_t i = 0; i < scale->param_write_count; i++)
        fprintf(out, "parameters written outside a step %s\n",
                place(program, scale->param_writes[i]));
    for (uint32_t i = 0; i < scale->cells.count; i++) {
        const ar_cell *c = scale->cells.data[i];
        fprintf(out, "cell %s: %s%s, degree %d: %s (%s)\n", c->name,
                ar_role_name(c->role), c->also_state ? " with momentum" : "",
                c->degree, c->reason,
                ar_place(program->arena, &program->files, c->reason_at));
    }
}
