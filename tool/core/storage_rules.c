/* What the user says of float memory: keep rules and pragmas. The most specific
 * wins for each declaration: a pragma, then a rule about the field or variable,
 * then one about its struct. In a class of several, FP32 wins. */
#include "core/storage_solver.h"

typedef struct said {
    bool half;
    const char *by; /* NULL: nothing */
    ar_range at;
} said;

/* ---- rules --------------------------------------------------------------- */

static said by_rule(const ar_storage_solver *s, ar_subject_kind kind,
                    const char *name) {
    const ar_subject_rule *rule = ar_rules_find_precision(s->rules, kind, name);
    if (!rule || !rule->sets_precision)
        return (said){0};
    return (said){rule->half,
                  ar_sprintf(s->arena, "rule keep %s %s %s (%s)",
                             rule->half ? "half" : "fp32",
                             ar_subject_kind_name(kind), rule->pattern,
                             rule->origin),
                  rule->range};
}

static said by_field(const ar_storage_solver *s, const ar_decl *field) {
    const ar_decl *record = field->parent;
    const char *names[2] = {ar_record_name(record), record->name};
    for (int i = 0; i < 2; i++) {
        said found =
            by_rule(s, AR_SUBJECT_FIELD,
                    ar_sprintf(s->arena, "%s.%s", names[i], field->name));
        if (found.by)
            return found;
    }
    for (int i = 0; i < 2; i++) {
        said found = by_rule(s, AR_SUBJECT_STRUCT, names[i]);
        if (found.by)
            return found;
    }
    return (said){0};
}

/* ---- pragmas ------------------------------------------------------------- */

static bool declares(const ar_pragma *pragma, ar_program *program,
                     const ar_entity *entity) {
    const ar_decl *next = pragma->next_decl;
    if (next) {
        if (ar_entity_of(program, next) == entity)
            return true;
        /* float *a, *b; */
        return entity->decl->kind == next->kind &&
               next->float_token.file != AR_NO_FILE &&
               entity->decl->float_token.file == next->float_token.file &&
               entity->decl->float_token.begin == next->float_token.begin;
    }
    const ar_node *statement = pragma->next_stmt;
    if (!statement || statement->kind != AR_DECL_STMT)
        return false;
    for (uint32_t i = 0; i < statement->decl_count; i++)
        if (ar_entity_of(program, statement->decls[i]) == entity)
            return true;
    return false;
}

static bool says_half(const ar_pragma *pragma) {
    return strcmp(pragma->text, "half") == 0;
}

static void collect_pragmas(ar_storage_solver *s) {
    for (uint32_t u = 0; u < s->program->unit_count; u++) {
        const ar_unit *unit = s->program->units[u];
        for (uint32_t i = 0; i < unit->pragmas.count; i++) {
            const ar_pragma *pragma = &unit->pragmas.data[i];
            if (pragma->kind == AR_PRAGMA_AMP &&
                (says_half(pragma) || strcmp(pragma->text, "fp32") == 0 ||
                 strcmp(pragma->text, "keep") == 0))
                AR_PUSH(s->arena, &s->pragmas, pragma);
        }
    }
}

static said by_pragma(const ar_storage_solver *s, const ar_entity *entity) {
    for (uint32_t i = 0; i < s->pragmas.count; i++) {
        const ar_pragma *pragma = s->pragmas.data[i];
        if (declares(pragma, s->program, entity))
            return (said){says_half(pragma),
                          ar_sprintf(s->arena, "#pragma amp %s", pragma->text),
                          pragma->range};
    }
    return (said){0};
}

/* ---- together ------------------------------------------------------------ */

static said about(const ar_storage_solver *s, const ar_entity *entity) {
    const ar_decl *decl = entity->decl;
    said found = by_pragma(s, entity);
    if (found.by)
        return found;
    if (decl->kind == AR_DECL_FIELD && decl->parent) {
        found = by_field(s, decl);
        if (!found.by)
            found = by_pragma(s, ar_entity_of(s->program, decl->parent));
        return found;
    }
    if (decl->kind == AR_DECL_VAR || decl->kind == AR_DECL_PARAM)
        return by_rule(s, AR_SUBJECT_VARIABLE, decl->name);
    return found;
}

static void note(ar_class_info *info, said what) {
    if (what.by && what.half && !info->half_by) {
        info->half_by = what.by;
        info->half_at = what.at;
    }
    if (what.by && !what.half && !info->fp32_by) {
        info->fp32_by = what.by;
        info->fp32_at = what.at;
    }
}

const char *ar_storage_rule_path(ar_arena *arena, const char *name) {
    char *path = ar_strdup(arena, name), *to = path;
    for (const char *c = name; *c; c++) {
        bool arrow = c[0] == '-' && c[1] == '>';
        *to++ = arrow ? '.' : *c;
        c += arrow;
    }
    *to = 0;
    return path;
}

static void note_cell(ar_storage_solver *s, uint32_t id, const ar_cell *cell) {
    const char *path = cell ? ar_storage_rule_path(s->arena, cell->name) : NULL;
    if (path && strchr(path, '.'))
        note(&s->info[id], by_rule(s, AR_SUBJECT_FIELD, path));
}

/* `keep fp32 function f`: what f stores stays FP32. */
static void note_function(ar_storage_solver *s, const ar_site *site) {
    if (!site->where.function ||
        (site->kind != AR_SITE_STORE && site->kind != AR_SITE_COMPOUND_STORE))
        return;
    said what = by_rule(s, AR_SUBJECT_FUNCTION, site->where.function->name);
    for (uint32_t i = 0; what.by && !what.half && i < site->class_count; i++)
        note(&s->info[site->classes[i]], what);
}

bool ar_storage_function_is_half(const ar_storage_solver *s,
                                 const ar_decl *function) {
    if (!function)
        return false;
    said what = by_rule(s, AR_SUBJECT_FUNCTION, function->name);
    return what.by && what.half;
}

const char *ar_storage_function_is_fp32(const ar_storage_solver *s,
                                        const ar_decl *function) {
    said what = by_rule(s, AR_SUBJECT_FUNCTION, function->name);
    return what.by && !what.half ? what.by : NULL;
}

/* Half for all that the memory stands for is half for it. */
static void note_stands_for(ar_storage_solver *s, const ar_storage_class *c) {
    ar_class_info *info = &s->info[c->id];
    if (!c->generic_of || info->half_by || !c->concrete_count)
        return;
    for (uint32_t i = 0; i < c->concrete_count; i++)
        if (!s->info[c->concrete[i]].half_by || s->info[c->concrete[i]].fp32_by)
            return;
    info->half_by = s->info[c->concrete[0]].half_by;
    info->half_at = s->info[c->concrete[0]].half_at;
}

void ar_storage_find_rules(ar_storage_solver *s) {
    const ar_storage_facts *facts = s->facts;
    collect_pragmas(s);
    for (uint32_t i = 0; i < facts->slots.count; i++) {
        const ar_slot *slot = &facts->slots.data[i];
        if (slot->is_float)
            note(&s->info[slot->class_id], about(s, slot->entity));
    }
    for (uint32_t i = 0; i < facts->classes.count; i++) {
        for (uint32_t role = 0; role < AR_ROLE_COUNT; role++)
            note_cell(s, i, s->info[i].cells[role]);
        note_cell(s, i, s->info[i].aside);
    }
    for (uint32_t i = 0; i < facts->sites.count; i++)
        note_function(s, &facts->sites.data[i]);
    for (uint32_t i = 0; i < facts->classes.count; i++)
        note_stands_for(s, &facts->classes.data[i]);
}
