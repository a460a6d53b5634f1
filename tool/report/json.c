#include "report/audit.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

/* cJSON copies every string; NULL becomes null. */
static void add_text(cJSON *object, const char *key, const char *text) {
    if (text)
        cJSON_AddStringToObject(object, key, text);
    else
        cJSON_AddNullToObject(object, key);
}

static cJSON *op_row(const ar_audit_op *op) {
    cJSON *row = cJSON_CreateObject();
    add_text(row, "op", op->site->name);
    add_text(row, "callee", op->callee);
    add_text(row, "function", op->function);
    add_text(row, "place", op->place);
    add_text(row, "category", ar_category_name(op->site->category));
    add_text(row, "precision", op->site->half ? "half" : "fp32");
    add_text(row, "reason", op->site->reason);
    add_text(row, "reason_place", op->reason_place);
    add_text(row, "unlock", op->site->unlock);
    return row;
}

static cJSON *buffer_row(const ar_audit_buffer *buffer) {
    cJSON *row = cJSON_CreateObject();
    add_text(row, "name", buffer->name);
    add_text(row, "kind", buffer->kind);
    add_text(row, "type", buffer->type);
    add_text(row, "place", buffer->place);
    add_text(row, "precision", "fp32");
    add_text(row, "role",
             buffer->role == AR_ROLE_NONE ? NULL : ar_role_name(buffer->role));
    cJSON_AddBoolToObject(row, "carries_momentum", buffer->also_state);
    if (buffer->degree >= 0)
        cJSON_AddNumberToObject(row, "degree", buffer->degree);
    else
        cJSON_AddNullToObject(row, "degree");
    if (buffer->group >= 0)
        cJSON_AddNumberToObject(row, "optimizer", buffer->group);
    else
        cJSON_AddNullToObject(row, "optimizer");
    cJSON_AddBoolToObject(row, "cast_cached", buffer->cast_cached);
    add_text(row, "reason", buffer->reason);
    add_text(row, "reason_place", buffer->reason_place);
    add_text(row, "pin", buffer->pin);
    add_text(row, "pin_place", buffer->pin_place);
    add_text(row, "accumulates", buffer->accumulates);
    add_text(row, "accumulates_place", buffer->accumulates_place);
    return row;
}

static cJSON *scale_object(const ar_audit *audit) {
    cJSON *scale = cJSON_CreateObject();
    add_text(scale, "outcome", audit->scale_text);
    cJSON *places = cJSON_AddArrayToObject(scale, "places");
    for (uint32_t i = 0; i < audit->places.count; i++) {
        cJSON *row = cJSON_CreateObject();
        add_text(row, "what", audit->places.data[i].what);
        add_text(row, "place", audit->places.data[i].place);
        add_text(row, "text", audit->places.data[i].text);
        if (audit->places.data[i].group >= 0)
            cJSON_AddNumberToObject(row, "optimizer",
                                    audit->places.data[i].group);
        cJSON_AddItemToArray(places, row);
    }
    return scale;
}

bool ar_audit_json(FILE *out, const ar_run *run, const ar_audit *audit) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "version", 1);
    add_text(root, "tool", "amp-rewrite " AMP_VERSION);
    add_text(root, "half",
             run->options->half == AR_HALF_BF16 ? "bf16" : "fp16");
    cJSON *inputs = cJSON_AddArrayToObject(root, "inputs");
    for (uint32_t i = 0; i < run->program->unit_count; i++)
        cJSON_AddItemToArray(
            inputs, cJSON_CreateString(run->program->units[i]->main_name));
    cJSON_AddNumberToObject(root, "ops_in_half", audit->half_ops);
    cJSON_AddNumberToObject(root, "casts", audit->casts);
    cJSON *ops = cJSON_AddArrayToObject(root, "ops");
    for (uint32_t i = 0; i < audit->ops.count; i++)
        cJSON_AddItemToArray(ops, op_row(&audit->ops.data[i]));
    cJSON *buffers = cJSON_AddArrayToObject(root, "buffers");
    for (uint32_t i = 0; i < audit->buffers.count; i++)
        cJSON_AddItemToArray(buffers, buffer_row(&audit->buffers.data[i]));
    cJSON_AddItemToObject(root, "loss_scale", scale_object(audit));
    cJSON *skipped = cJSON_AddArrayToObject(root, "skipped_regions");
    for (uint32_t i = 0; i < audit->skipped.count; i++) {
        cJSON *row = cJSON_CreateObject();
        add_text(row, "file", audit->skipped.data[i].file);
        cJSON_AddNumberToObject(row, "first_line",
                                audit->skipped.data[i].first_line);
        cJSON_AddNumberToObject(row, "last_line",
                                audit->skipped.data[i].last_line);
        cJSON_AddItemToArray(skipped, row);
    }
    cJSON *unlocks = cJSON_AddArrayToObject(root, "unlocks");
    for (uint32_t i = 0; i < audit->unlocks.count; i++)
        cJSON_AddItemToArray(unlocks,
                             cJSON_CreateString(audit->unlocks.data[i]));
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        return false;
    bool ok = fputs(text, out) >= 0 && fputc('\n', out) >= 0;
    free(text);
    return ok;
}
