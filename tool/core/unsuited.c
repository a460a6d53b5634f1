#include "core/unsuited.h"

/* The first buffer of each kind in the program's own text. */
typedef struct buffers {
    const ar_decl *of_floats, *of_doubles, *of_halves;
} buffers;

static bool is_before(const ar_decl *a, const ar_decl *b) {
    ar_range x = a->name_range, y = b->name_range;
    return x.file != y.file ? x.file < y.file : x.begin < y.begin;
}

static void note(const ar_decl **first, const ar_decl *decl) {
    if (!*first || is_before(decl, *first))
        *first = decl;
}

static void look_at(buffers *b, const ar_decl *decl) {
    bool is_object = decl->kind == AR_DECL_VAR || decl->kind == AR_DECL_PARAM ||
                     decl->kind == AR_DECL_FIELD;
    if (!is_object || decl->is_system || !ar_is_address(decl->type) ||
        decl->name_range.begin == decl->name_range.end)
        return;
    const ar_type *bottom = ar_address_bottom(decl->type);
    if (ar_is_kind(bottom, AR_TYPE_FLOAT))
        note(&b->of_floats, decl);
    else if (ar_is_kind(bottom, AR_TYPE_DOUBLE))
        note(&b->of_doubles, decl);
    else if (ar_is_kind(bottom, AR_TYPE_HALF))
        note(&b->of_halves, decl);
}

bool ar_report_unsuited(ar_program *program, const char *level,
                        ar_diags *diags) {
    buffers b = {0};
    for (uint32_t u = 0; u < program->unit_count; u++)
        for (uint32_t i = 0; i < program->units[u]->decls.count; i++)
            look_at(&b, program->units[u]->decls.data[i]);
    if (b.of_halves)
        ar_report(diags, AR_DIAG_ALREADY_MIXED, b.of_halves->name_range,
                  b.of_halves->name, b.of_halves->type->spelling, level);
    else if (b.of_doubles && !b.of_floats)
        ar_report(diags, AR_DIAG_IN_DOUBLE, b.of_doubles->name_range,
                  b.of_doubles->name, b.of_doubles->type->spelling, level);
    else
        return false;
    return true;
}
