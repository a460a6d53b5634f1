#include "core/kernels.h"

#include "base/map.h"

bool ar_is_device_code(const ar_decl *function) {
    return function->is_cuda_global || function->is_cuda_device;
}

typedef struct finder {
    ar_arena *arena;
    ar_kernels *kernels;
    ar_map launched; /* REF nodes that name the kernel of a launch */
} finder;

static ar_node *kernel_of(ar_node *launch) {
    ar_node *node = launch->kids[0];
    while (node && node->kind == AR_IMPLICIT)
        node = node->kids[0];
    return node && node->kind == AR_REF ? node : NULL;
}

static void visit(void *context, ar_unit *unit, ar_decl *function,
                  ar_node *node) {
    (void)function;
    finder *f = context;
    if (node->kind == AR_LAUNCH) {
        ar_node *kernel = kernel_of(node);
        if (!kernel || !kernel->decl)
            return;
        ar_map_put(&f->launched, ar_key(kernel), kernel);
        const ar_entity *entity =
            ar_entity_of(f->kernels->program, kernel->decl);
        AR_PUSH(f->arena, &f->kernels->launches,
                (ar_launch){unit, node, entity});
    } else if (node->kind == AR_REF && node->decl &&
               node->decl->kind == AR_DECL_FUNCTION &&
               !ar_map_get(&f->launched, ar_key(node))) {
        f->kernels->is_fixed[node->decl->id] = true;
    }
}

ar_kernels *ar_kernels_find(ar_arena *arena, ar_program *program) {
    finder f = {.arena = arena,
                .kernels = AR_NEW(arena, ar_kernels),
                .launched = {.arena = arena}};
    f.kernels->program = program;
    f.kernels->is_fixed =
        AR_NEW_ARRAY(arena, bool, program->entities.count + 1u);
    ar_program_visit(program, visit, &f);
    return f.kernels;
}

static bool can_edit(const ar_program *program, const ar_range *range) {
    return range->file != AR_NO_FILE && !range->in_macro_body &&
           program->editable[range->file];
}

bool ar_kernel_can_grow(const ar_kernels *kernels, const ar_decl *kernel) {
    const ar_program *program = kernels->program;
    const ar_entity *entity = &program->entities.data[kernel->id];
    if (!kernel->is_cuda_global || kernels->is_fixed[entity->id])
        return false;
    for (uint32_t i = 0; i < entity->all_count; i++) {
        const ar_decl *decl = entity->all[i];
        if (!decl->member_count ||
            !can_edit(program, &decl->members[decl->member_count - 1]->range))
            return false;
    }
    for (uint32_t i = 0; i < kernels->launches.count; i++) {
        const ar_launch *launch = &kernels->launches.data[i];
        if (launch->kernel == entity &&
            !can_edit(program, &launch->node->range))
            return false;
    }
    return true;
}
