/* Seeds, unscale, step: the loss scale in the program's text. */
#include "core/plan.h"
#include "core/plan_storage.h"

static const char *with_group(ar_plan *plan, const char *format, int group) {
    ar_str out = {.arena = plan->arena};
    for (; *format; format++) {
        if (*format == '@')
            ar_str_addf(&out, "%d", group);
        else
            ar_str_addn(&out, format, 1);
    }
    return ar_str_text(&out);
}

static bool refuse(ar_plan *plan, const ar_node *node, const char *what,
                   const char *problem) {
    ar_file_id file = node->range.file;
    if (!plan->program->editable[file])
        ar_report(plan->diags, AR_DIAG_OUTSIDE_ROOT, node->range,
                  plan->program->files.list.data[file].name);
    ar_report(
        plan->diags, AR_DIAG_NO_SEED, node->range,
        ar_sprintf(plan->arena, "%s cannot be placed here: %s", what, problem));
    return false;
}

static const char *const macro_problem =
    "the text comes from a macro body or a file outside the rewrite set";

static ar_memory_precision precision_of(ar_plan *plan, const ar_node *node) {
    return plan->storage
               ? ar_precision_behind(plan->storage, plan->program, node)
               : AR_MEMORY_FP32;
}

static const char *const unknown_problem =
    "what it scales may be stored in half or in FP32";

static bool plan_factor(ar_plan *plan, const ar_seed *seed, int group) {
    const char *factor = seed->function->is_cuda_global
                             ? ar_plan_kernel_scale(plan, seed->function, group)
                             : with_group(plan, "amp_loss_scale(@)", group);
    if (!factor)
        return refuse(plan, seed->node, "the seed",
                      "the kernel cannot get the scale as an argument");
    if (seed->form == AR_SEED_EXPRESSION)
        return ar_place_factor(&plan->placer, seed->unit, seed->node, factor,
                               "loss-scale seed") ||
               refuse(plan, seed->node, "the seed", macro_problem);
    const char *element =
        ar_text(plan->arena, &plan->program->files, seed->node->kids[0]->range);
    ar_node *statement = ar_statement_of(&plan->placer, seed->unit, seed->node);
    ar_memory_precision kind = precision_of(plan, seed->node->kids[0]);
    if (kind == AR_MEMORY_UNKNOWN)
        return refuse(plan, seed->node, "the seed", unknown_problem);
    const char *format =
        kind == AR_MEMORY_HALF ? "amp_half_mul(&%s, %s);" : "%s *= %s;";
    return ar_place_after(&plan->placer, seed->unit, statement,
                          ar_sprintf(plan->arena, format, element, factor),
                          "loss-scale seed") ||
           refuse(plan, seed->node, "the seed", macro_problem);
}

static bool plan_seed(ar_plan *plan, const ar_seed *seed, int group) {
    ar_plan_need_header(plan, seed->node->range.file, NULL);
    if (seed->form != AR_SEED_BUFFER)
        return plan_factor(plan, seed, group);
    const char *buffer =
        ar_text(plan->arena, &plan->program->files, seed->buffer->range);
    ar_memory_precision kind = precision_of(plan, seed->buffer);
    if (kind == AR_MEMORY_UNKNOWN)
        return refuse(plan, seed->node, "the seed", unknown_problem);
    const char *text =
        ar_sprintf(plan->arena, "amp_scale_buffer%s(%d, %s);",
                   kind == AR_MEMORY_HALF ? "_half" : "", group, buffer);
    return ar_place_before(&plan->placer, seed->unit, seed->node, text,
                           "loss-scale seed") ||
           refuse(plan, seed->node, "the seed", macro_problem);
}

static bool plan_statement(ar_plan *plan, ar_unit *unit, ar_node *at,
                           bool after, const char *text, const char *what) {
    ar_plan_need_header(plan, at->range.file, NULL);
    bool ok = after ? ar_place_after(&plan->placer, unit, at, text, what)
                    : ar_place_before(&plan->placer, unit, at, text, what);
    return ok || refuse(plan, at, what, macro_problem);
}

static bool plan_step(ar_plan *plan, const ar_group *group) {
    const ar_region_of_code *step = &group->step;
    const char *problem;
    ar_plan_need_header(plan, step->first->range.file, NULL);
    if (ar_place_block(&plan->placer, step->unit, step->first, step->last,
                       with_group(plan, "if (amp_step_begin(@))", group->index),
                       with_group(plan, "amp_step_end(@);", group->index),
                       "optimizer step", &problem))
        return true;
    return refuse(plan, step->first, "the guard of the step", problem);
}

static bool plan_fused(ar_plan *plan, const ar_group *group) {
    bool ok = true;
    const char *head = with_group(plan, "amp_unscale_value(@, ", group->index);
    ar_report(plan->diags, AR_DIAG_FUSED_UPDATE, group->fused[0].term->range);
    for (uint32_t i = 0; i < group->fused_count; i++) {
        ar_node *term = group->fused[i].term;
        ar_plan_need_header(plan, term->range.file, NULL);
        ok = (ar_place_around(&plan->placer, term, head, ")",
                              "unscale in a fused update") ||
              refuse(plan, term, "the unscale", macro_problem)) &&
             ok;
    }
    ar_node *end = group->fused_end_after;
    if (!end)
        AR_BUG("fused group without an end of the iteration");
    ar_unit *unit = group->step.unit ? group->step.unit : group->fused[0].unit;
    return plan_statement(plan, unit, end, true,
                          with_group(plan, "amp_step_end(@);", group->index),
                          "the end of the step") &&
           ok;
}

static bool plan_group(ar_plan *plan, const ar_group *group) {
    bool ok = true;
    for (uint32_t i = 0; i < group->seed_count; i++)
        ok = plan_seed(plan, &group->seeds[i], group->index) && ok;
    if (group->carry_before)
        ok = plan_statement(plan, group->carry_unit, group->carry_before, false,
                            with_group(plan, "amp_carry_in(@);", group->index),
                            "the scale of carried momentum") &&
             ok;
    if (group->fused_count)
        return plan_fused(plan, group) && ok;
    if (group->unscale_before)
        ok =
            plan_statement(plan, group->step.unit, group->unscale_before, false,
                           with_group(plan, "amp_unscale(@);", group->index),
                           "the unscale") &&
            ok;
    return plan_step(plan, group) && ok;
}

bool ar_plan_scale(ar_plan *plan, const ar_scale *scale) {
    bool ok = true;
    for (uint32_t i = 0; i < scale->group_count; i++)
        ok = plan_group(plan, &scale->groups[i]) && ok;
    for (uint32_t i = 0; i < scale->param_write_count; i++) {
        ar_node *statement = ar_statement_of(
            &plan->placer, scale->param_write_units[i], scale->param_writes[i]);
        if (statement)
            ok = plan_statement(plan, scale->param_write_units[i], statement,
                                true, "amp_params_changed();",
                                "parameters written outside the step") &&
                 ok;
    }
    return ok;
}
