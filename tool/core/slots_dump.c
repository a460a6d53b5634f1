#include "core/slots.h"

/* ---- names --------------------------------------------------------------- */

const char *ar_scalar_name(ar_scalar_kind kind) {
    static const char *const names[AR_SCALAR_KINDS] = {
        "float", "double", "half", "byte", "int", "pointer", "vector", "struct",
    };
    return names[kind];
}

const char *ar_pin_name(ar_pin_kind kind) {
    static const char *const names[AR_PIN_KINDS] = {
        "reinterpreted",  "union",      "struct",         "foreign-call",
        "foreign-memory", "callback",   "foreign-object", "outside",
        "from-integer",   "to-integer", "varargs",        "literal-bytes",
        "several-types",  "unmodelled",
    };
    return names[kind];
}

const char *ar_site_name(ar_site_kind kind) {
    static const char *const names[AR_SITE_KINDS] = {
        "declaration", "cast",       "sizeof",  "load",        "store",
        "compound",    "address-of", "literal", "initialiser", "vector",
        "allocation",  "copy",       "clear",   "file",        "call",
        "launch",      "printed",    "scanned", "struct",
    };
    return names[kind];
}

const char *ar_accumulator_name(ar_accumulator_kind kind) {
    static const char *const names[AR_ACCUMULATE_KINDS] = {
        "invariant",
        "scatter",
        "overlap",
        "call",
    };
    return names[kind];
}

static const char *record_name(const ar_decl *record) {
    if (record->type && record->type->spelling && *record->type->spelling) {
        const char *name = record->type->spelling;
        return strncmp(name, "struct ", 7) == 0 ? name + 7 : name;
    }
    return record->name;
}

const char *ar_decl_words(ar_arena *arena, const ar_decl *decl) {
    if (!decl)
        return "expression";
    if (decl->kind == AR_DECL_FUNCTION)
        return ar_sprintf(arena, "%s:result", decl->name);
    if (decl->kind == AR_DECL_FIELD && decl->parent)
        return ar_sprintf(arena, "%s.%s", record_name(decl->parent),
                          decl->name);
    if (decl->parent && decl->parent->kind == AR_DECL_FUNCTION)
        return ar_sprintf(arena, "%s:%s", decl->parent->name, decl->name);
    return decl->name;
}

const char *ar_slot_name(ar_arena *arena, const ar_slot *slot) {
    const ar_decl *decl = slot->entity->decl;
    const char *name = ar_decl_words(arena, decl);
    if (slot->object && slot->holder)
        return ar_sprintf(arena, "%s.%s/%u", slot->holder, decl->name,
                          slot->level);
    if (slot->web)
        return ar_sprintf(arena, "%s/%u#%u", name, slot->level, slot->web + 1);
    return ar_sprintf(arena, "%s/%u", name, slot->level);
}

/* ---- the dump ------------------------------------------------------------ */

typedef struct dumper {
    FILE *out;
    ar_arena *arena;
    ar_program *program;
    const ar_storage_facts *facts;
} dumper;

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Without folders, so that the dump does not depend on where it runs. */
static const char *place(dumper *d, ar_range range) {
    if (range.file == AR_NO_FILE)
        return "?";
    ar_line_col at =
        ar_line_col_at(&d->program->files, range.file, range.begin);
    return ar_sprintf(d->arena, "%s:%u:%u",
                      base_name(d->program->files.list.data[range.file].name),
                      at.line, at.column);
}

static bool is_scalar_class(dumper *d, const ar_storage_class *c) {
    for (uint32_t i = 0; i < c->slot_count; i++)
        if (!d->facts->slots.data[c->slots[i]].is_scalar)
            return false;
    return c->slot_count > 0;
}

static void dump_accumulators(dumper *d, const ar_storage_class *c) {
    for (uint32_t i = 0; i < c->accumulator_count; i++) {
        const ar_accumulator *a =
            &d->facts->accumulators.data[c->accumulators[i]];
        fprintf(d->out, "  accumulates %s %s", ar_accumulator_name(a->kind),
                place(d, a->where.range));
        if (a->inner_loop)
            fprintf(d->out, " in loop %s", place(d, a->inner_loop->range));
        fputc('\n', d->out);
    }
}

static void dump_class(dumper *d, const ar_storage_class *c) {
    fprintf(d->out, "class %s", c->name);
    if (c->generic_of)
        fprintf(d->out, " generic in %s", c->generic_of->name);
    if (c->is_global)
        fputs(" global", d->out);
    if (c->is_scratch)
        fputs(" scratch", d->out);
    fputc('\n', d->out);
    for (uint32_t i = 0; i < c->slot_count; i++) {
        const ar_slot *slot = &d->facts->slots.data[c->slots[i]];
        fprintf(d->out, "  slot %s %s\n", ar_slot_name(d->arena, slot),
                place(d, slot->where.range));
    }
    if (c->generic_of)
        for (uint32_t i = 0; i < c->concrete_count; i++)
            fprintf(d->out, "  stands for %s\n",
                    d->facts->classes.data[c->concrete[i]].name);
    for (uint32_t i = 0; i < c->pin_count; i++)
        fprintf(d->out, "  pin %s: %s at %s\n", ar_pin_name(c->pins[i].kind),
                c->pins[i].reason, place(d, c->pins[i].where.range));
    for (uint32_t i = 0; i < c->kind_count; i++)
        if (c->kinds[i].kind != AR_SCALAR_FLOAT)
            fprintf(d->out, "  also %s at %s\n",
                    ar_scalar_name(c->kinds[i].kind),
                    place(d, c->kinds[i].where.range));
    dump_accumulators(d, c);
    if (!c->site_count)
        return;
    fputs("  sites", d->out);
    for (uint32_t i = 0; i < AR_SITE_KINDS; i++)
        if (c->site_counts[i])
            fprintf(d->out, " %s=%u", ar_site_name((ar_site_kind)i),
                    c->site_counts[i]);
    fputc('\n', d->out);
}

static void dump_flow(dumper *d, const ar_flow *flow) {
    static const char *const verbs[] = {"memory", "value", "bytes"};
    fprintf(d->out, "flow %s %s -> %s %s", verbs[flow->kind],
            ar_decl_words(d->arena, flow->from_decl),
            ar_decl_words(d->arena, flow->to_decl),
            place(d, flow->where.range));
    if (flow->kind == AR_FLOW_MEMORY)
        fprintf(d->out, " (%s)\n", d->facts->classes.data[flow->to].name);
    else
        fprintf(d->out, " (%s -> %s)\n",
                d->facts->classes.data[flow->from].name,
                d->facts->classes.data[flow->to].name);
}

static void dump_site(dumper *d, const ar_site *site) {
    fprintf(d->out, "site %s %s", ar_site_name(site->kind),
            place(d, site->where.range));
    if (site->kind == AR_SITE_RECORD)
        fprintf(d->out, " %s", site->decl ? site->decl->name : "");
    for (uint32_t i = 0; i < site->class_count; i++)
        fprintf(d->out, "%s%s", i ? ", " : " ",
                d->facts->classes.data[site->classes[i]].name);
    if (site->in_macro_body)
        fputs(" (macro body)", d->out);
    if (site->in_macro_argument)
        fputs(" (macro argument)", d->out);
    fputc('\n', d->out);
}

static void dump_arena(dumper *d, const ar_storage_arena *arena) {
    const ar_storage_class *classes = d->facts->classes.data;
    fprintf(d->out, "arena %s %s",
            arena->whole == AR_NO_ID ? "?" : classes[arena->whole].name,
            place(d, arena->where.range));
    for (uint32_t i = 0; i < arena->part_count; i++) {
        uint32_t id = arena->parts[i].class_id;
        fprintf(d->out, "%s%s", i ? ", " : ": ",
                id == AR_NO_ID ? "?" : classes[id].name);
    }
    if (arena->problem)
        fprintf(d->out, "; %s %s", arena->problem, place(d, arena->problem_at));
    fputc('\n', d->out);
}

void ar_storage_dump(FILE *out, ar_program *program,
                     const ar_storage_facts *facts) {
    dumper d = {out, ar_arena_new(), program, facts};
    for (uint32_t i = 0; i < facts->classes.count; i++) {
        const ar_storage_class *c = &facts->classes.data[i];
        if (!is_scalar_class(&d, c) || c->pin_count || c->slot_count > 1)
            dump_class(&d, c);
    }
    for (uint32_t i = 0; i < facts->flows.count; i++)
        dump_flow(&d, &facts->flows.data[i]);
    for (uint32_t i = 0; i < facts->arenas.count; i++)
        dump_arena(&d, &facts->arenas.data[i]);
    for (uint32_t i = 0; i < facts->sites.count; i++)
        dump_site(&d, &facts->sites.data[i]);
    ar_storage_print_counts(out, program, facts);
    ar_arena_free(d.arena);
}

/* ---- counts -------------------------------------------------------------- */

typedef struct counts {
    uint32_t fields, params, locals, results, globals;
    uint32_t classes, largest, generic, pinned_slots, accumulating;
    uint32_t split_locals;
    uint32_t sites[AR_SITE_KINDS];
    uint32_t sizeof_many, sizeof_none, in_body, in_argument;
    uint32_t mixed_groups, split_groups;
} counts;

static void count_slot(counts *n, const ar_slot *slot) {
    if (!slot->is_float || slot->is_scalar || slot->web)
        return;
    const ar_decl *decl = slot->entity->decl;
    n->split_locals += slot->web_count > 1;
    switch (decl->kind) {
    case AR_DECL_FIELD:
        n->fields++;
        return;
    case AR_DECL_PARAM:
        n->params++;
        return;
    case AR_DECL_FUNCTION:
        n->results++;
        return;
    case AR_DECL_VAR:
        if (decl->storage == AR_STORAGE_AUTO)
            n->locals++;
        else
            n->globals++;
        return;
    case AR_DECL_RECORD:
    case AR_DECL_TYPEDEF:
    case AR_DECL_ENUMERATOR:
        return;
    }
}

/* Declared slots in this class: the webs of one local count once. */
static uint32_t declared(const ar_storage_facts *facts,
                         const ar_storage_class *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->slot_count; i++) {
        const ar_slot *slot = &facts->slots.data[c->slots[i]];
        count += !slot->is_scalar;
    }
    return count;
}

static void count_class(const ar_storage_facts *facts, counts *n,
                        const ar_storage_class *c) {
    uint32_t slots = declared(facts, c);
    if (!slots)
        return;
    n->classes++;
    n->generic += c->generic_of != NULL;
    n->largest = slots > n->largest ? slots : n->largest;
    n->pinned_slots += c->pin_count ? slots : 0;
    n->accumulating += c->accumulates;
}

static void count_site(counts *n, const ar_site *site) {
    n->sites[site->kind]++;
    n->in_body += site->in_macro_body;
    n->in_argument += site->in_macro_argument;
    if (site->kind == AR_SITE_SIZEOF) {
        n->sizeof_many += site->class_count > 1;
        n->sizeof_none += site->class_count == 0;
    }
}

/* float a, *b, *c: declarators of one group share the float token. A group
 * must be taken apart when only some of it change. */
static void count_groups(const ar_storage_facts *facts, counts *n) {
    const ar_site *sites = facts->sites.data;
    for (uint32_t i = 0; i < facts->sites.count;) {
        uint32_t end = i + 1, scalars = 0, pointers = 0;
        bool differ = false;
        if (sites[i].kind != AR_SITE_DECLARATION) {
            i++;
            continue;
        }
        while (end < facts->sites.count &&
               sites[end].kind == AR_SITE_DECLARATION &&
               sites[end].where.range.file == sites[i].where.range.file &&
               sites[end].where.range.begin == sites[i].where.range.begin)
            end++;
        uint32_t first = AR_NO_ID;
        for (uint32_t k = i; k < end; k++) {
            bool is_scalar = ar_float_depth(sites[k].decl->type) == 0;
            scalars += is_scalar;
            pointers += !is_scalar;
            if (is_scalar)
                continue;
            differ |= sites[k].class_count > 1 ||
                      (first != AR_NO_ID && sites[k].classes[0] != first);
            first = sites[k].classes[0];
        }
        n->mixed_groups += end - i > 1 && scalars && pointers;
        n->split_groups += end - i > 1 && pointers > 1 && differ;
        i = end;
    }
}

void ar_storage_print_counts(FILE *out, ar_program *program,
                             const ar_storage_facts *facts) {
    (void)program;
    counts n = {0};
    for (uint32_t i = 0; i < facts->slots.count; i++)
        count_slot(&n, &facts->slots.data[i]);
    for (uint32_t i = 0; i < facts->classes.count; i++)
        count_class(facts, &n, &facts->classes.data[i]);
    for (uint32_t i = 0; i < facts->sites.count; i++)
        count_site(&n, &facts->sites.data[i]);
    count_groups(facts, &n);
    const uint32_t *s = n.sites;
    fprintf(out,
            "counts slots %u (field %u param %u local %u result %u global "
            "%u), %u split\n",
            n.fields + n.params + n.locals + n.results + n.globals, n.fields,
            n.params, n.locals, n.results, n.globals, n.split_locals);
    fprintf(out,
            "counts classes %u (%u generic), largest %u, pinned slots %u, "
            "accumulating %u\n",
            n.classes, n.generic, n.largest, n.pinned_slots, n.accumulating);
    fprintf(out,
            "counts casts %u, sizeof one/many/none %u/%u/%u, "
            "alloc/copy/clear/file %u/%u/%u/%u\n",
            s[AR_SITE_CAST], s[AR_SITE_SIZEOF] - n.sizeof_many - n.sizeof_none,
            n.sizeof_many, n.sizeof_none, s[AR_SITE_ALLOCATION],
            s[AR_SITE_COPY], s[AR_SITE_CLEAR], s[AR_SITE_FILE]);
    fprintf(out,
            "counts groups mixed/split %u/%u, load/store/compound %u/%u/%u, "
            "address/scan/print "
            "%u/%u/%u, macro body/argument %u/%u\n",
            n.mixed_groups, n.split_groups, s[AR_SITE_LOAD], s[AR_SITE_STORE],
            s[AR_SITE_COMPOUND_STORE], s[AR_SITE_ADDRESS_OF],
            s[AR_SITE_VARARGS_ADDRESS], s[AR_SITE_VARARGS_VALUE], n.in_body,
            n.in_argument);
}
