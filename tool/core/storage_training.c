/* Which functions the training loop may run, and which of them a loop inside it
 * runs again and again. */
#include "core/storage_solver.h"

typedef struct reach {
    ar_storage_solver *s;
    AR_VEC(const ar_entity *) work; /* definitions to be looked into */
    const ar_entity *in;            /* the one that is; NULL: the loop */
} reach;

static void reach_function(reach *r, const ar_entity *function, bool repeats) {
    ar_storage_solver *s = r->s;
    repeats |= function == r->in;
    if (s->in_training[function->id] &&
        (s->is_repeated[function->id] || !repeats))
        return;
    s->in_training[function->id] = true;
    s->is_repeated[function->id] |= repeats;
    if (function->decl->body)
        AR_PUSH(s->arena, &r->work, function);
}

static void reach_node(reach *r, const ar_node *node, bool repeats) {
    if (!node)
        return;
    if (node->kind == AR_REF && node->decl &&
        node->decl->kind == AR_DECL_FUNCTION)
        reach_function(r, ar_entity_of(r->s->program, node->decl), repeats);
    repeats |=
        node != r->s->scale->loop &&
        (node->kind == AR_FOR || node->kind == AR_WHILE || node->kind == AR_DO);
    for (uint32_t i = 0; i < node->decl_count; i++)
        reach_node(r, node->decls[i]->init, repeats);
    for (uint32_t i = 0; i < node->kid_count; i++)
        reach_node(r, node->kids[i], repeats);
}

/* What is kept in a pointer may be called from anywhere. */
void ar_storage_find_training(ar_storage_solver *s) {
    const ar_program *program = s->program;
    uint32_t count = program->entities.count + 1u;
    s->in_training = AR_NEW_ARRAY(s->arena, bool, count);
    s->is_repeated = AR_NEW_ARRAY(s->arena, bool, count);
    if (!s->scale || !s->scale->loop)
        return;
    reach r = {.s = s};
    reach_node(&r, s->scale->loop, false);
    for (uint32_t i = 0; i < program->entities.count; i++)
        if (ar_storage_is_function_value(s->plan->index,
                                         &program->entities.data[i]))
            reach_function(&r, &program->entities.data[i], true);
    while (r.work.count) {
        r.in = r.work.data[--r.work.count];
        reach_node(&r, r.in->decl->body, s->is_repeated[r.in->id]);
    }
}
