#include "core/program.h"

static const char *kind_name(ar_decl_kind kind) {
    switch (kind) {
    case AR_DECL_VAR:
        return "var";
    case AR_DECL_PARAM:
        return "param";
    case AR_DECL_FIELD:
        return "field";
    case AR_DECL_FUNCTION:
        return "function";
    case AR_DECL_RECORD:
        return "record";
    case AR_DECL_TYPEDEF:
        return "typedef";
    case AR_DECL_ENUMERATOR:
        return "enumerator";
    }
    AR_BUG("decl kind %d", (int)kind);
}

void ar_program_dump(FILE *out, ar_program *program) {
    ar_arena *scratch = ar_arena_new();
    for (uint32_t i = 0; i < program->unit_count; i++)
        fprintf(out, "unit %s\n", program->units[i]->main_name);
    for (uint32_t i = 0; i < program->files.list.count; i++)
        if (program->editable[i])
            fprintf(out, "editable %s\n", program->files.list.data[i].name);
    for (uint32_t i = 0; i < program->entities.count; i++) {
        const ar_entity *entity = &program->entities.data[i];
        if (entity->decl->is_system || !*entity->decl->name)
            continue;
        fprintf(out, "%s %s %s declarations %u%s\n",
                kind_name(entity->decl->kind), entity->decl->name,
                ar_place(scratch, &program->files, entity->decl->name_range),
                entity->all_count, entity->in_rewrite_set ? "" : " outside");
    }
    ar_arena_free(scratch);
}
