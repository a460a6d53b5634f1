/* Which functions the training loop may run. */
#include "core/storage_solver.h"

typedef struct reach {
    ar_storage_solver *s;
    AR_VEC(const ar_decl *) work; /* definitions to be looked into */
} reach;

static void reach_function(reach *r, const ar_entity *function) {
    if (r->s->in_training[function->id])
        return;
    r->s->in_training[function->id] = true;
    if (function->decl->body)
        AR_PUSH(r->s->arena, &r->work, function->decl);
}

static void reach_node(reach *r, const ar_node *node) {
    if (!node)
        return;
    if (node->kind == AR_REF && node->decl &&
        node->decl->kind == AR_DECL_FUNCTION)
        reach_function(r, ar_entity_of(r->s->program, node->decl));
    for (uint32_t i = 0; i < node->decl_count; i++)
        reach_node(r, node->decls[i]->init);
    for (uint32_t i = 0; i < node->kid_count; i++)
        reach_node(r, node->kids[i]);
}

/* What is kept in a pointer may be called from anywhere. */
void ar_storage_find_training(ar_storage_solver *s) {
    const ar_program *program = s->program;
    s->in_training = AR_NEW_ARRAY(s->arena, bool, program->entities.count + 1u);
    if (!s->scale || !s->scale->loop)
        return;
    reach r = {.s = s};
    reach_node(&r, s->scale->loop);
    for (uint32_t i = 0; i < program->entities.count; i++)
        if (ar_storage_is_function_value(s->plan->index,
                                         &program->entities.data[i]))
            reach_function(&r, &program->entities.data[i]);
    while (r.work.count)
        reach_node(&r, r.work.data[--r.work.count]->body);
}
