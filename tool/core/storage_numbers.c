/* Numbers that half cannot hold: constants out of its range, integers. The
 * narrower of each is what counts, since one source serves fp16 and bf16. */
#include "core/constant.h"
#include "core/storage_solver.h"

#include <math.h>

static const double fp16_max = 65504.0, fp16_least = 5.9604644775390625e-8;

/* What a store may store: either side of a conditional. */
static const char *constant_problem(ar_storage_solver *s, const ar_node *node) {
    node = ar_skip_casts(node);
    if (node->kind == AR_CONDITIONAL && node->kid_count == 3) {
        const char *first = constant_problem(s, node->kids[1]);
        return first ? first : constant_problem(s, node->kids[2]);
    }
    double value;
    if (!ar_constant(node, &value) || !isfinite(value))
        return NULL;
    double size = fabs(value);
    if (size > fp16_max)
        return ar_sprintf(s->arena, "holds %g, which fp16 cannot", value);
    if (size > 0 && size < fp16_least / 2)
        return ar_sprintf(s->arena, "holds %g, which is 0 in fp16", value);
    return NULL;
}

static bool is_wide_integer(const ar_type *type) {
    return type && type->kind == AR_TYPE_INT && type->bytes > 1;
}

/* A count, an id, a random number: no comparison, no small constant. */
static bool is_integer(const ar_node *node) {
    node = ar_skip_casts(node);
    if (!is_wide_integer(node->type))
        return false;
    switch (node->kind) {
    case AR_REF:
        return node->decl && node->decl->kind != AR_DECL_ENUMERATOR;
    case AR_INDEX:
    case AR_DEREF:
    case AR_MEMBER:
    case AR_CALL:
        return true;
    default:
        return false;
    }
}

static void note_value(ar_storage_solver *s, const ar_site *site,
                       const ar_node *value) {
    const char *problem =
        is_integer(value)
            ? "holds integers, which half has up to 2048 (bf16: 256) only"
            : constant_problem(s, value);
    if (problem)
        ar_storage_deny(s, site->classes[0], problem, site->node->range,
                        site->where.function);
}

static void note_store(ar_storage_solver *s, const ar_site *site) {
    const ar_node *node = site->node;
    if (site->kind == AR_SITE_STORE && node->kind == AR_ASSIGN)
        note_value(s, site, node->kids[1]);
    if (site->kind != AR_SITE_INITIALISER)
        return;
    for (uint32_t i = 0; i < node->kid_count; i++) {
        const ar_node *value = node->kids[i];
        while (value->kind == AR_DESIGNATED && value->kid_count)
            value = value->kids[0];
        if (value->kind != AR_INIT_LIST && ar_is_floating(value->type))
            note_value(s, site, value);
    }
}

/* (int)x[i]: the number itself is wanted. */
static void note_use(void *context, ar_unit *unit, ar_decl *function,
                     ar_node *node) {
    (void)unit;
    ar_storage_solver *s = context;
    bool converts = (node->kind == AR_CAST || node->kind == AR_IMPLICIT) &&
                    is_wide_integer(node->type) && node->kid_count &&
                    ar_is_floating(node->kids[0]->type);
    if (!converts)
        return;
    uint32_t site = ar_solver_find(&s->sites, ar_skip_casts(node->kids[0]));
    if (!site || !s->facts->sites.data[site - 1].class_count)
        return;
    ar_storage_deny(s, s->facts->sites.data[site - 1].classes[0],
                    "used as an integer", node->range, function);
}

void ar_storage_find_numbers(ar_storage_solver *s) {
    for (uint32_t i = 0; i < s->facts->sites.count; i++)
        if (s->facts->sites.data[i].class_count)
            note_store(s, &s->facts->sites.data[i]);
    ar_program_visit(s->program, note_use, s);
}
