/* The loss scale in device code: a further argument of the kernel, since the
 * scale is a number of the host. */
#include "core/kernels.h"
#include "core/plan.h"

static void insert(ar_plan *plan, ar_file_id file, uint32_t at,
                   const char *text) {
    /* the same for every seed of the kernel: equal edits are one */
    ar_edit_add(plan->placer.edits, (ar_edit){.range = {file, at, at, false},
                                              .text = text,
                                              .why = "loss-scale seed"});
}

static bool mentions(ar_plan *plan, const ar_decl *function, const char *name) {
    const char *text =
        ar_text(plan->arena, &plan->program->files, function->range);
    return strstr(text, name) != NULL;
}

const char *ar_plan_kernel_scale(ar_plan *plan, const ar_decl *kernel,
                                 int group) {
    const ar_kernels *kernels = ar_kernels_find(plan->arena, plan->program);
    if (!ar_kernel_can_grow(kernels, kernel))
        return NULL;
    const ar_entity *entity = ar_entity_of(plan->program, kernel);
    const char *name = group
                           ? ar_sprintf(plan->arena, "amp_seed_scale%d", group)
                           : "amp_seed_scale";
    if (mentions(plan, entity->decl, name))
        return NULL;
    for (uint32_t i = 0; i < entity->all_count; i++) {
        const ar_decl *decl = entity->all[i];
        const ar_range *last = &decl->members[decl->member_count - 1]->range;
        insert(plan, last->file, last->end,
               ar_sprintf(plan->arena, ", float %s", name));
    }
    for (uint32_t i = 0; i < kernels->launches.count; i++) {
        const ar_launch *launch = &kernels->launches.data[i];
        if (launch->kernel != entity)
            continue;
        const ar_range *range = &launch->node->range;
        insert(plan, range->file, range->end - 1, /* before the parenthesis */
               ar_sprintf(plan->arena, ", amp_loss_scale(%d)", group));
        ar_plan_need_header(plan, range->file, NULL);
    }
    return name;
}
