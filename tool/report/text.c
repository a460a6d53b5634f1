#include "report/audit.h"

static void print_ops(FILE *out, const ar_audit *audit) {
    fprintf(out, "\nops: %u of %u in half, %u casts\n", audit->half_ops,
            audit->ops.count, audit->casts);
    for (uint32_t i = 0; i < audit->ops.count; i++) {
        const ar_audit_op *op = &audit->ops.data[i];
        fprintf(out, "  %s  %s: %s", op->site->half ? "half" : "fp32",
                op->place, op->site->name);
        if (op->callee && strcmp(op->callee, op->site->name) != 0)
            fprintf(out, " %s", op->callee);
        if (op->function)
            fprintf(out, " in %s", op->function);
        fprintf(out, ": %s", op->site->reason);
        if (op->reason_place && strcmp(op->reason_place, op->place) != 0)
            fprintf(out, " [%s]", op->reason_place);
        fputc('\n', out);
    }
}

static void print_buffers(FILE *out, const ar_audit *audit, ar_level level) {
    bool stores = level >= AR_LEVEL_O2;
    fprintf(out, "\nbuffers: %u of %u in half", audit->half_buffers,
            audit->buffers.count);
    if (!stores)
        fprintf(out, " (%s changes no storage)", ar_level_name(level));
    fputc('\n', out);
    for (uint32_t i = 0; i < audit->buffers.count; i++) {
        const ar_audit_buffer *row = &audit->buffers.data[i];
        fprintf(out, "  %s  %s: %s %s (%s)", row->half ? "half" : "fp32",
                row->place, row->kind, row->name, row->type);
        if (row->role != AR_ROLE_NONE)
            fprintf(out, ", %s", ar_role_name(row->role));
        if (row->also_state)
            fprintf(out, " and momentum");
        if (row->degree >= 0 && row->role != AR_ROLE_NONE)
            fprintf(out, ", %s%s",
                    row->degree ? "carries the loss scale" : "unscaled",
                    row->degree_in_part ? " in part" : "");
        if (row->cast_cached)
            fprintf(out, ", half copy kept between steps");
        fprintf(out, ": %s", row->reason);
        if (row->reason_place)
            fprintf(out, " [%s]", row->reason_place);
        fputc('\n', out);
        if (row->unlock)
            fprintf(out, "        to unlock: %s\n", row->unlock);
        if (row->scratch_places)
            fprintf(out, "        sums in an FP32 scratch [%s]\n",
                    row->scratch_places);
        if (stores)
            continue; /* what stands against half is the reason */
        if (row->pin)
            fprintf(out, "        pinned to FP32 storage: %s [%s]\n", row->pin,
                    row->pin_place);
        if (row->accumulates)
            fprintf(out, "        accumulates (%s) [%s]\n", row->accumulates,
                    row->accumulates_place);
    }
}

static void print_memory(FILE *out, const ar_audit *audit) {
    if (!audit->memory.count)
        return;
    fputs("\nmemory of the program's buffers, in bytes:\n", out);
    for (uint32_t i = 0; i < audit->memory.count; i++) {
        const ar_audit_memory *row = &audit->memory.data[i];
        fprintf(out, "  %s: %s -> %s", ar_role_name(row->role), row->before,
                row->after);
        if (row->unsized)
            fprintf(out, ", and %u of unknown size", row->unsized);
        fputc('\n', out);
    }
}

static void print_versions(FILE *out, const ar_audit *audit) {
    if (audit->versions.count)
        fputs("\nfunctions with a copy for other precisions:\n", out);
    for (uint32_t i = 0; i < audit->versions.count; i++) {
        const ar_audit_version *row = &audit->versions.data[i];
        fprintf(out, "  %s: %s: %s, %s\n", row->place, row->function, row->name,
                row->about);
    }
}

static void print_scale(FILE *out, const ar_audit *audit) {
    fprintf(out, "\nloss scale: %s\n", audit->scale_text);
    for (uint32_t i = 0; i < audit->assumptions.count; i++)
        fprintf(out, "  assumes: %s\n", audit->assumptions.data[i]);
    for (uint32_t i = 0; i < audit->places.count; i++) {
        const ar_audit_place *row = &audit->places.data[i];
        if (row->group >= 0)
            fprintf(out, "  optimizer %d %s: %s: %s\n", row->group, row->what,
                    row->place, row->text);
        else
            fprintf(out, "  %s: %s: %s\n", row->what, row->place, row->text);
    }
}

void ar_audit_text(FILE *out, const ar_run *run, const ar_audit *audit) {
    const ar_program *program = run->program;
    for (uint32_t i = 0; i < program->unit_count; i++)
        fprintf(out, "%s%s", i ? " " : "",
                program->files.list.data[program->units[i]->main_file].name);
    fprintf(out, ": %u of %u ops in half, %u casts\n", audit->half_ops,
            audit->ops.count, audit->casts);
    print_ops(out, audit);
    print_buffers(out, audit, run->options->level);
    print_versions(out, audit);
    print_memory(out, audit);
    print_scale(out, audit);
    if (audit->skipped.count)
        fputs("\nnot seen (switched off by the preprocessor):\n", out);
    for (uint32_t i = 0; i < audit->skipped.count; i++)
        fprintf(out, "  %s:%u-%u\n", audit->skipped.data[i].file,
                audit->skipped.data[i].first_line,
                audit->skipped.data[i].last_line);
    if (audit->unlocks.count)
        fputs("\nwhat would bring more into half:\n", out);
    for (uint32_t i = 0; i < audit->unlocks.count; i++)
        fprintf(out, "  %s\n", audit->unlocks.data[i]);
}
