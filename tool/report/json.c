#include "report/audit.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

/* Length of the UTF-8 character at p; 0 if there is none. */
static size_t utf8_length(const char *p) {
    unsigned char c = (unsigned char)*p;
    size_t length = c < 0x80   ? 1
                    : c < 0xc2 ? 0
                    : c < 0xe0 ? 2
                    : c < 0xf0 ? 3
                    : c < 0xf5 ? 4
                               : 0;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)p[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* File names and source lines may hold any bytes, JSON only UTF-8. */
static const char *clean_text(const ar_run *run, const char *text) {
    ar_str out = {.arena = run->arena};
    while (*text) {
        size_t length = utf8_length(text);
        if (length)
            ar_str_addn(&out, text, length);
        else
            ar_str_add(&out, "\xef\xbf\xbd"); /* U+FFFD */
        text += length ? length : 1;
    }
    return ar_str_text(&out);
}

/* cJSON copies every string; NULL becomes null. */
static void add_text(const ar_run *run, cJSON *object, const char *key,
                     const char *text) {
    if (text)
        cJSON_AddStringToObject(object, key, clean_text(run, text));
    else
        cJSON_AddNullToObject(object, key);
}

static cJSON *op_row(const ar_run *run, const ar_audit_op *op) {
    cJSON *row = cJSON_CreateObject();
    add_text(run, row, "op", op->site->name);
    add_text(run, row, "callee", op->callee);
    add_text(run, row, "function", op->function);
    add_text(run, row, "place", op->place);
    add_text(run, row, "category", ar_category_name(op->site->category));
    add_text(run, row, "precision", op->site->half ? "half" : "fp32");
    add_text(run, row, "reason", op->site->reason);
    add_text(run, row, "reason_place", op->reason_place);
    add_text(run, row, "unlock", op->site->unlock);
    return row;
}

static cJSON *buffer_row(const ar_run *run, const ar_audit_buffer *buffer) {
    cJSON *row = cJSON_CreateObject();
    add_text(run, row, "name", buffer->name);
    add_text(run, row, "kind", buffer->kind);
    add_text(run, row, "type", buffer->type);
    add_text(run, row, "place", buffer->place);
    add_text(run, row, "precision", buffer->half ? "half" : "fp32");
    add_text(run, row, "role",
             buffer->role == AR_ROLE_NONE ? NULL : ar_role_name(buffer->role));
    cJSON_AddBoolToObject(row, "carries_momentum", buffer->also_state);
    if (buffer->degree >= 0)
        cJSON_AddNumberToObject(row, "degree", buffer->degree);
    else
        cJSON_AddNullToObject(row, "degree");
    cJSON_AddBoolToObject(row, "degree_in_part", buffer->degree_in_part);
    if (buffer->group >= 0)
        cJSON_AddNumberToObject(row, "optimizer", buffer->group);
    else
        cJSON_AddNullToObject(row, "optimizer");
    cJSON_AddBoolToObject(row, "cast_cached", buffer->cast_cached);
    add_text(run, row, "reason", buffer->reason);
    add_text(run, row, "reason_place", buffer->reason_place);
    add_text(run, row, "unlock", buffer->unlock);
    add_text(run, row, "pin", buffer->pin);
    add_text(run, row, "pin_place", buffer->pin_place);
    add_text(run, row, "accumulates", buffer->accumulates);
    add_text(run, row, "accumulates_place", buffer->accumulates_place);
    add_text(run, row, "scratch_places", buffer->scratch_places);
    return row;
}

static cJSON *memory_row(const ar_run *run, const ar_audit_memory *memory) {
    cJSON *row = cJSON_CreateObject();
    add_text(run, row, "role", ar_role_name(memory->role));
    add_text(run, row, "before", memory->before);
    add_text(run, row, "after", memory->after);
    cJSON_AddNumberToObject(row, "unsized", memory->unsized);
    return row;
}

static cJSON *scale_object(const ar_run *run, const ar_audit *audit) {
    cJSON *scale = cJSON_CreateObject();
    add_text(run, scale, "outcome", audit->scale_text);
    cJSON *assumptions = cJSON_AddArrayToObject(scale, "assumptions");
    for (uint32_t i = 0; i < audit->assumptions.count; i++)
        cJSON_AddItemToArray(
            assumptions,
            cJSON_CreateString(clean_text(run, audit->assumptions.data[i])));
    cJSON *places = cJSON_AddArrayToObject(scale, "places");
    for (uint32_t i = 0; i < audit->places.count; i++) {
        cJSON *row = cJSON_CreateObject();
        add_text(run, row, "what", audit->places.data[i].what);
        add_text(run, row, "place", audit->places.data[i].place);
        add_text(run, row, "text", audit->places.data[i].text);
        if (audit->places.data[i].group >= 0)
            cJSON_AddNumberToObject(row, "optimizer",
                                    audit->places.data[i].group);
        cJSON_AddItemToArray(places, row);
    }
    return scale;
}

static const char *input_name(const ar_run *run, uint32_t unit) {
    const ar_program *program = run->program;
    return program->files.list.data[program->units[unit]->main_file].name;
}

static cJSON *version_row(const ar_run *run, const ar_audit_version *version) {
    cJSON *row = cJSON_CreateObject();
    add_text(run, row, "function", version->function);
    add_text(run, row, "place", version->place);
    add_text(run, row, "name", version->name);
    add_text(run, row, "about", version->about);
    return row;
}

bool ar_audit_json(FILE *out, const ar_run *run, const ar_audit *audit) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "version", 1);
    add_text(run, root, "tool", "amp-rewrite " AMP_VERSION);
    add_text(run, root, "half",
             run->options->half == AR_HALF_BF16 ? "bf16" : "fp16");
    cJSON *inputs = cJSON_AddArrayToObject(root, "inputs");
    for (uint32_t i = 0; i < run->program->unit_count; i++)
        cJSON_AddItemToArray(
            inputs, cJSON_CreateString(clean_text(run, input_name(run, i))));
    cJSON_AddNumberToObject(root, "ops_in_half", audit->half_ops);
    cJSON_AddNumberToObject(root, "casts", audit->casts);
    cJSON *ops = cJSON_AddArrayToObject(root, "ops");
    for (uint32_t i = 0; i < audit->ops.count; i++)
        cJSON_AddItemToArray(ops, op_row(run, &audit->ops.data[i]));
    cJSON *buffers = cJSON_AddArrayToObject(root, "buffers");
    for (uint32_t i = 0; i < audit->buffers.count; i++)
        cJSON_AddItemToArray(buffers, buffer_row(run, &audit->buffers.data[i]));
    cJSON_AddNumberToObject(root, "buffers_in_half", audit->half_buffers);
    cJSON *versions = cJSON_AddArrayToObject(root, "versions");
    for (uint32_t i = 0; i < audit->versions.count; i++)
        cJSON_AddItemToArray(versions,
                             version_row(run, &audit->versions.data[i]));
    cJSON *memory = cJSON_AddArrayToObject(root, "memory");
    for (uint32_t i = 0; i < audit->memory.count; i++)
        cJSON_AddItemToArray(memory, memory_row(run, &audit->memory.data[i]));
    cJSON_AddItemToObject(root, "loss_scale", scale_object(run, audit));
    cJSON *skipped = cJSON_AddArrayToObject(root, "skipped_regions");
    for (uint32_t i = 0; i < audit->skipped.count; i++) {
        cJSON *row = cJSON_CreateObject();
        add_text(run, row, "file", audit->skipped.data[i].file);
        cJSON_AddNumberToObject(row, "first_line",
                                audit->skipped.data[i].first_line);
        cJSON_AddNumberToObject(row, "last_line",
                                audit->skipped.data[i].last_line);
        cJSON_AddItemToArray(skipped, row);
    }
    cJSON *unlocks = cJSON_AddArrayToObject(root, "unlocks");
    for (uint32_t i = 0; i < audit->unlocks.count; i++)
        cJSON_AddItemToArray(unlocks, cJSON_CreateString(clean_text(
                                          run, audit->unlocks.data[i])));
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        return false;
    bool ok = fputs(text, out) >= 0 && fputc('\n', out) >= 0;
    free(text);
    return ok;
}
