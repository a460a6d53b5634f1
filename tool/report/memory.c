/* What the program's own float buffers take, by role, before the rewrite and
 * after. Sizes come from the allocations that the loss-scale analysis followed,
 * seen from the outermost call that still says them, and from array types. What
 * libamp keeps beside (half copies of parameters) is not in it. */
#include "report/audit.h"

#include <ctype.h>

/* number * text; without a text the number alone, and 0 * nothing: cannot be
 * said. */
typedef struct size {
    uint64_t number;
    const char *text;
} size;

typedef struct sum {
    AR_VEC(size) terms;
} sum;

typedef struct share {
    sum before, after;
    uint32_t unsized;
    bool any;
} share;

typedef struct sizer {
    ar_run *run;
    const ar_object *object;
} sizer;

static bool is_known(size s) {
    return s.number || s.text;
}

static const char *text_of(ar_arena *arena, size s) {
    if (!s.text)
        return ar_sprintf(arena, "%llu", (unsigned long long)s.number);
    return s.number == 1 ? s.text
                         : ar_sprintf(arena, "%llu * %s",
                                      (unsigned long long)s.number, s.text);
}

/* ---- expressions --------------------------------------------------------- */

/* The source on one line. */
static size as_written(const sizer *z, const ar_node *node) {
    const char *from =
        ar_text(z->run->arena, &z->run->program->files, node->range);
    char *text = ar_strdup(z->run->arena, from), *to = text;
    for (const char *c = from; *c; c++) {
        bool blank = isspace((unsigned char)*c) != 0;
        if (!blank || (to > text && to[-1] != ' '))
            *to++ = blank ? ' ' : *c;
    }
    *to = 0;
    bool is_closed = node->kind == AR_REF || node->kind == AR_MEMBER ||
                     node->kind == AR_INDEX || node->kind == AR_CALL;
    return (size){1,
                  is_closed ? text : ar_sprintf(z->run->arena, "(%s)", text)};
}

static size multiply(ar_arena *arena, size a, size b) {
    return (size){a.number * b.number,
                  !a.text   ? b.text
                  : !b.text ? a.text
                            : ar_sprintf(arena, "%s * %s", a.text, b.text)};
}

static size add(ar_arena *arena, ar_op op, size a, size b) {
    bool same = (!a.text && !b.text) ||
                (a.text && b.text && strcmp(a.text, b.text) == 0);
    if (same && (op == AR_OP_ADD || a.number > b.number))
        return (size){op == AR_OP_ADD ? a.number + b.number
                                      : a.number - b.number,
                      a.text};
    return (size){1, ar_sprintf(arena, "(%s %s %s)", text_of(arena, a),
                                ar_op_spelling(op), text_of(arena, b))};
}

static size value_of(const sizer *z, const ar_node *node, uint32_t frame);

/* What the call that entered the function gives for the parameter. */
static size parameter(const sizer *z, const ar_node *node, uint32_t frame) {
    const ar_object *o = z->object;
    const ar_node *call = frame ? o->context[frame - 1] : NULL;
    if (!call || call->kind != AR_CALL ||
        node->decl->index + 1 >= call->kid_count)
        return as_written(z, node);
    return value_of(z, call->kids[node->decl->index + 1], frame - 1);
}

static size binary(const sizer *z, const ar_node *node, uint32_t frame) {
    ar_arena *arena = z->run->arena;
    size a = value_of(z, node->kids[0], frame);
    size b = value_of(z, node->kids[1], frame);
    switch (node->op) {
    case AR_OP_MUL:
        return multiply(arena, a, b);
    case AR_OP_ADD:
    case AR_OP_SUB:
        return add(arena, node->op, a, b);
    case AR_OP_DIV:
        if (!a.text && !b.text && b.number)
            return (size){a.number / b.number, NULL};
        return (size){1, ar_sprintf(arena, "(%s / (%s))", text_of(arena, a),
                                    text_of(arena, b))};
    default:
        return as_written(z, node);
    }
}

static size value_of(const sizer *z, const ar_node *node, uint32_t frame) {
    while (node->kid_count &&
           (node->kind == AR_CAST || node->kind == AR_IMPLICIT))
        node = node->kids[0];
    switch (node->kind) {
    case AR_INT_LIT:
        return (size){(uint64_t)node->int_value, NULL};
    case AR_REF:
        if (node->decl && node->decl->kind == AR_DECL_ENUMERATOR)
            return (size){(uint64_t)node->decl->value, NULL};
        if (node->decl && node->decl->kind == AR_DECL_PARAM)
            return parameter(z, node, frame);
        return as_written(z, node);
    case AR_SIZEOF: {
        const ar_type *type = node->type_operand ? node->type_operand
                              : node->kid_count  ? node->kids[0]->type
                                                 : NULL;
        return type && type->bytes ? (size){type->bytes, NULL}
                                   : as_written(z, node);
    }
    case AR_BINARY:
        return binary(z, node, frame);
    default:
        return as_written(z, node);
    }
}

/* ---- objects ------------------------------------------------------------- */

static bool is_length(ar_slot_use use) {
    return use == AR_USE_BYTES || use == AR_USE_COUNT || use == AR_USE_SIZE;
}

static size allocation(ar_run *run, const ar_object *object) {
    sizer z = {run, object};
    const ar_node *site = object->site;
    const ar_decl *callee = ar_direct_callee(site->kids[0]);
    const ar_function_rule *rule =
        callee ? ar_rules_find(
                     run->rules, callee->name,
                     ar_file_name(&run->program->files, site->range.file))
               : NULL;
    size all = {0};
    for (uint32_t i = 0; rule && rule->uses && i < rule->param_count; i++) {
        if (!is_length(rule->uses[i]) || i + 1 >= site->kid_count)
            continue;
        size one = value_of(&z, site->kids[i + 1], object->context_depth);
        all = is_known(all) ? multiply(run->arena, all, one) : one;
    }
    return all;
}

/* The frame of the call that entered the function; 0: it is not seen. */
static uint32_t frame_in(const ar_run *run, const ar_object *object,
                         const ar_decl *function) {
    uint32_t frame = object->context_depth;
    for (; frame; frame--) {
        const ar_decl *callee =
            ar_direct_callee(object->context[frame - 1]->kids[0]);
        if (callee && ar_definition_of(run->program, callee) == function)
            break;
    }
    return frame;
}

/* lengths[i] floats */
static size part_of_arena(ar_run *run, const ar_cell *cell,
                          const ar_storage_arena *arena, uint32_t part) {
    sizer z = {run, cell->object};
    uint32_t frame = frame_in(run, cell->object, arena->where.function);
    size lengths = value_of(&z, arena->lengths, frame);
    return (size){sizeof(float),
                  ar_sprintf(run->arena, "%s[%u]", lengths.text, part)};
}

static size size_of(ar_run *run, const ar_cell *cell) {
    uint32_t part;
    const ar_storage_arena *arena =
        ar_storage_part_of(run->storage_plan, run->scale, cell, &part);
    if (arena)
        return part_of_arena(run, cell, arena, part);
    const ar_type *type = cell->field && !strchr(cell->path, '[')
                              ? cell->field->type
                          : cell->field        ? NULL
                          : cell->object->decl ? cell->object->decl->type
                                               : NULL;
    if (type)
        return (size){type->bytes, NULL};
    if (cell->field || !cell->object->site)
        return (size){0};
    return allocation(run, cell->object);
}

/* ---- sums ---------------------------------------------------------------- */

static void add_term(ar_run *run, sum *to, size s) {
    for (uint32_t i = 0; i < to->terms.count; i++) {
        size *one = &to->terms.data[i];
        if ((!one->text && !s.text) ||
            (one->text && s.text && strcmp(one->text, s.text) == 0)) {
            one->number += s.number;
            return;
        }
    }
    AR_PUSH(run->arena, &to->terms, s);
}

static void add_buffer(ar_run *run, share *to, size s, bool half) {
    to->any = true;
    if (!is_known(s)) {
        to->unsized++;
        return;
    }
    add_term(run, &to->before, s);
    if (half && s.number % 2)
        s = (size){1,
                   ar_sprintf(run->arena, "(%s) / 2", text_of(run->arena, s))};
    else if (half)
        s.number /= 2;
    add_term(run, &to->after, s);
}

static const char *sum_text(ar_run *run, const sum *of) {
    ar_str out = {.arena = run->arena};
    for (uint32_t i = 0; i < of->terms.count; i++)
        ar_str_addf(&out, "%s%s", i ? " + " : "",
                    text_of(run->arena, of->terms.data[i]));
    return of->terms.count ? ar_str_text(&out) : "0";
}

/* A buffer is counted once, whatever parts it has and wherever it is used.
 * Those of an arena that is split are buffers each, and its whole is none. */
static bool is_counted(const ar_run *run, ar_table *seen, const ar_cell *cell) {
    const ar_object *object = cell->object;
    uint32_t part;
    if (ar_storage_part_of(run->storage_plan, run->scale, cell, &part))
        return !ar_table_add(seen, ar_key(object), ar_key2(part, UINT32_MAX));
    if (ar_storage_is_handed_out(run->storage_plan, run->scale, object))
        return true;
    uint64_t what = object->decl ? ar_key(object->decl) : ar_key(object);
    return !ar_table_add(seen, what, ar_key(cell->field));
}

void ar_audit_add_memory(ar_run *run, ar_audit *audit) {
    if (run->options->level < AR_LEVEL_O2)
        return;
    share shares[AR_ROLE_LOSS + 1] = {0};
    ar_table seen = {.arena = run->arena};
    for (uint32_t i = 0; i < run->scale->cells.count; i++) {
        const ar_cell *cell = run->scale->cells.data[i];
        uint32_t id = ar_storage_class_of_cell(run->storage_plan, cell);
        if (id == AR_NO_ID || ar_storage_is_scalar(run->storage, id) ||
            is_counted(run, &seen, cell))
            continue;
        const ar_storage_decision *d = &run->storage_plan->classes[id];
        add_buffer(run, &shares[d->role], size_of(run, cell), d->half);
    }
    for (uint32_t role = 1; role <= AR_ROLE_LOSS; role++) {
        const share *s = &shares[role];
        ar_audit_memory row = {.role = (ar_role)role,
                               .before = sum_text(run, &s->before),
                               .after = sum_text(run, &s->after),
                               .unsized = s->unsized};
        if (s->any)
            AR_PUSH(run->arena, &audit->memory, row);
    }
}
