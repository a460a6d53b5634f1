#include "core/program.h"

#include "base/map.h"

#include <stdlib.h>

/* What is one thing across units is decided by a key:
 *   external functions, variables   the USR; but every file has its own main
 *   static ones, typedefs           USR and file: a USR knows base names only
 *   records                         USR and, if the program has several records
 *                                   of that USR, the list of their fields
 *   fields, parameters              key of the owner and position
 *   locals                          the place */

struct ar_link_index {
    ar_strmap functions; /* name -> ar_entity */
};

typedef AR_VEC(ar_decl *) decl_list;

typedef struct linker {
    ar_arena *arena;
    ar_program *program;
    /* per unit */
    ar_unit *unit;
    ar_file_id *file_map;
    decl_list found;       /* every decl of the unit, listed or only referred */
    ar_table seen;         /* decls, nodes and types that were met */
    ar_strmap first_decls; /* USR -> first decl of the unit */
    /* whole program */
    ar_strmap record_shapes; /* USR -> signature, "" when they differ */
    ar_strmap keys;          /* key -> draft */
    AR_VEC(struct draft *) drafts;
    decl_list *unit_decls;
    AR_VEC(ar_node *) work;
} linker;

/* An entity while its declarations are gathered. */
typedef struct draft {
    ar_decl *decl;
    ar_unit *unit;
    AR_VEC(ar_decl *) all;
} draft;

/* ---- files --------------------------------------------------------------- */

static int compare_units(const void *a, const void *b) {
    const ar_unit *x = *(ar_unit *const *)a, *y = *(ar_unit *const *)b;
    int order = strcmp(x->main_name, y->main_name);
    if (!order && x->directory && y->directory)
        order = strcmp(x->directory, y->directory);
    if (!order)
        order = (x->language > y->language) - (x->language < y->language);
    return order;
}

static void merge_files(linker *l, ar_unit *unit) {
    ar_files *files = &l->program->files;
    uint32_t count = unit->files.list.count;
    l->file_map = AR_NEW_ARRAY(l->arena, ar_file_id, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const ar_file *file = &unit->files.list.data[i];
        ar_file_id id =
            ar_files_add(files, file->name, file->real, file->is_system);
        /* A file that one unit finds on an ordinary path is no system file. */
        files->list.data[id].is_system &= file->is_system;
        l->file_map[i] = id;
    }
}

static ar_file_id map_file(const linker *l, ar_file_id id) {
    if (id == AR_NO_FILE)
        return id;
    if (id >= l->unit->files.list.count)
        AR_BUG("file id %u in '%s'", id, l->unit->main_name);
    return l->file_map[id];
}

static void map_range(const linker *l, ar_range *range) {
    range->file = map_file(l, range->file);
}

/* ---- one unit: find all decls, remap all ranges -------------------------- */

/* False: it was there. */
static bool meet(linker *l, const void *thing) {
    return ar_table_add(&l->seen, ar_key(thing), 0);
}

static void find_decl(linker *l, ar_decl *decl) {
    if (decl && meet(l, decl))
        AR_PUSH(l->arena, &l->found, decl);
}

static void find_in_type(linker *l, const ar_type *type) {
    while (type && meet(l, type)) {
        find_decl(l, type->record);
        for (uint32_t i = 0; i < type->param_count; i++)
            find_in_type(l, type->params[i]);
        type = type->element;
    }
}

static void push_node(linker *l, ar_node *node) {
    if (node && meet(l, node))
        AR_PUSH(l->arena, &l->work, node);
}

/* An explicit stack, because generated sources nest deeper than the machine
 * stack allows. */
static void remap_nodes(linker *l, ar_node *root) {
    push_node(l, root);
    while (l->work.count) {
        ar_node *node = l->work.data[--l->work.count];
        map_range(l, &node->range);
        map_range(l, &node->op_range);
        map_range(l, &node->float_token);
        map_range(l, &node->record_token);
        find_in_type(l, node->type);
        find_in_type(l, node->type_operand);
        find_decl(l, node->decl);
        for (uint32_t i = 0; i < node->decl_count; i++)
            find_decl(l, node->decls[i]);
        for (uint32_t i = 0; i < node->kid_count; i++)
            push_node(l, node->kids[i]);
    }
}

static void remap_decl(linker *l, ar_decl *decl) {
    map_range(l, &decl->range);
    map_range(l, &decl->name_range);
    map_range(l, &decl->float_token);
    map_range(l, &decl->record_token);
    find_in_type(l, decl->type);
    find_in_type(l, decl->aliased);
    find_decl(l, decl->parent);
    find_decl(l, decl->definition);
    for (uint32_t i = 0; i < decl->member_count; i++)
        find_decl(l, decl->members[i]);
    remap_nodes(l, decl->init);
    remap_nodes(l, decl->body);
}

static void remap_rest(linker *l, ar_unit *unit) {
    if (unit->parsed || unit->main_file < unit->files.list.count)
        unit->main_file = map_file(l, unit->main_file);
    else
        unit->main_file = AR_NO_FILE;
    for (uint32_t i = 0; i < unit->pragmas.count; i++) {
        map_range(l, &unit->pragmas.data[i].range);
        remap_nodes(l, unit->pragmas.data[i].next_stmt);
        find_decl(l, unit->pragmas.data[i].next_decl);
    }
    for (uint32_t i = 0; i < unit->includes.count; i++) {
        map_range(l, &unit->includes.data[i].range);
        unit->includes.data[i].target =
            map_file(l, unit->includes.data[i].target);
    }
    for (uint32_t i = 0; i < unit->macros.count; i++)
        map_range(l, &unit->macros.data[i].range);
    for (uint32_t i = 0; i < unit->unseen.count; i++)
        map_range(l, &unit->unseen.data[i].range);
    for (uint32_t i = 0; i < unit->skipped.count; i++)
        map_range(l, &unit->skipped.data[i]);
    for (uint32_t i = 0; i < unit->diags.list.count; i++)
        map_range(l, &unit->diags.list.data[i].range);
}

static void note_record(linker *l, const ar_decl *record);

static void take_unit(linker *l, ar_unit *unit, decl_list *decls) {
    l->unit = unit;
    l->found = (decl_list){0};
    l->seen = (ar_table){.arena = l->arena};
    merge_files(l, unit);
    for (uint32_t i = 0; i < unit->decls.count; i++)
        find_decl(l, unit->decls.data[i]);
    remap_rest(l, unit);
    /* The list grows while it is walked. */
    for (uint32_t i = 0; i < l->found.count; i++)
        remap_decl(l, l->found.data[i]);
    for (uint32_t i = 0; i < l->found.count; i++)
        if (l->found.data[i]->kind == AR_DECL_RECORD)
            note_record(l, l->found.data[i]);
    *decls = l->found;
}

/* ---- keys ---------------------------------------------------------------- */

static const char *signature(linker *l, const ar_decl *record) {
    ar_str text = {.arena = l->arena};
    for (uint32_t i = 0; i < record->member_count; i++) {
        const ar_decl *field = record->members[i];
        ar_str_addf(&text, "%s:%s;", field->name,
                    field->type ? field->type->spelling : "?");
    }
    return ar_str_text(&text);
}

static void note_record(linker *l, const ar_decl *record) {
    if (!record->is_definition || !record->usr)
        return;
    const char *shape = signature(l, record);
    const char *old = ar_strmap_get(&l->record_shapes, record->usr);
    if (old && strcmp(old, shape) != 0)
        shape = "";
    if (!old || !*shape)
        ar_strmap_put(&l->record_shapes, record->usr, (void *)shape);
}

static const char *file_of(const linker *l, const ar_decl *decl) {
    ar_file_id file = decl->name_range.file;
    if (file == AR_NO_FILE)
        file = decl->range.file;
    return file == AR_NO_FILE ? "" : l->program->files.list.data[file].real;
}

static const char *place_key(linker *l, const ar_decl *decl) {
    ar_range at =
        decl->name_range.file == AR_NO_FILE ? decl->range : decl->name_range;
    /* Two names declared in one macro body have one range. */
    return ar_sprintf(l->arena, "%d %s %u %s %s", (int)decl->kind,
                      file_of(l, decl), at.begin, decl->name,
                      decl->usr ? decl->usr : "");
}

static const char *key_of(linker *l, const ar_decl *decl);

static const char *record_key(linker *l, const ar_decl *decl) {
    const char *shape = ar_strmap_get(&l->record_shapes, decl->usr);
    if (!shape || *shape)
        return decl->usr;
    const ar_decl *whole = ar_strmap_get(&l->first_decls, decl->usr);
    if (whole && !decl->is_definition && whole->is_definition)
        decl = whole;
    return ar_sprintf(l->arena, "%s %s", decl->usr, signature(l, decl));
}

/* The file is that of the first declaration in the unit: a static function may
 * be declared in a header and defined beside it. */
static const char *file_key(linker *l, const ar_decl *decl) {
    const ar_decl *first = ar_strmap_get(&l->first_decls, decl->usr);
    return ar_sprintf(l->arena, "%s %s", decl->usr,
                      file_of(l, first ? first : decl));
}

static bool is_local(const ar_decl *decl) {
    return decl->storage == AR_STORAGE_AUTO ||
           (decl->kind == AR_DECL_VAR && !decl->is_file_scope &&
            decl->storage != AR_STORAGE_EXTERN);
}

static const char *key_of(linker *l, const ar_decl *decl) {
    bool has_usr = decl->usr && *decl->usr;
    switch (decl->kind) {
    case AR_DECL_PARAM:
    case AR_DECL_FIELD:
        if (!decl->parent)
            return place_key(l, decl);
        return ar_sprintf(l->arena, "%s #%u %s", key_of(l, decl->parent),
                          decl->index,
                          decl->kind == AR_DECL_FIELD ? decl->name : "");
    case AR_DECL_VAR:
    case AR_DECL_FUNCTION:
        if (!has_usr || is_local(decl))
            return place_key(l, decl);
        if (decl->storage == AR_STORAGE_STATIC ||
            (decl->kind == AR_DECL_FUNCTION && strcmp(decl->name, "main") == 0))
            return file_key(l, decl);
        return decl->usr;
    case AR_DECL_RECORD:
        return has_usr ? record_key(l, decl) : place_key(l, decl);
    case AR_DECL_TYPEDEF:
    case AR_DECL_ENUMERATOR:
        return has_usr ? file_key(l, decl) : place_key(l, decl);
    }
    AR_BUG("decl kind %d", (int)decl->kind);
}

/* ---- entities ------------------------------------------------------------ */

static bool defines(const ar_decl *decl) {
    return decl->is_definition || decl->body;
}

/* A parameter of the definition, with the names the body uses, stands for the
 * parameter in all prototypes. */
static bool is_better(const ar_decl *candidate, const ar_decl *current) {
    if (candidate->kind == AR_DECL_PARAM)
        return candidate->parent && candidate->parent->body &&
               !(current->parent && current->parent->body);
    if (candidate->kind == AR_DECL_FUNCTION)
        return candidate->body && !current->body;
    return defines(candidate) && !defines(current);
}

static void add_decl(linker *l, ar_unit *unit, ar_decl *decl) {
    const char *key = key_of(l, decl);
    draft *d = ar_strmap_get(&l->keys, key);
    if (!d) {
        d = AR_NEW(l->arena, draft);
        d->decl = decl;
        d->unit = unit;
        decl->id = l->drafts.count;
        AR_PUSH(l->arena, &l->drafts, d);
        ar_strmap_put(&l->keys, key, d);
    } else {
        decl->id = d->all.data[0]->id;
        if (is_better(decl, d->decl)) {
            d->decl = decl;
            d->unit = unit;
        }
    }
    AR_PUSH(l->arena, &d->all, decl);
}

static void add_unit(linker *l, ar_unit *unit, const decl_list *decls) {
    l->first_decls = (ar_strmap){.arena = l->arena};
    for (uint32_t i = 0; i < decls->count; i++) {
        ar_decl *decl = decls->data[i];
        if (!decl->usr || !*decl->usr)
            continue;
        const ar_decl *first = ar_strmap_get(&l->first_decls, decl->usr);
        /* Records: the definition says what is in them. */
        if (!first || (decl->kind == AR_DECL_RECORD && decl->is_definition))
            ar_strmap_put(&l->first_decls, decl->usr, decl);
    }
    for (uint32_t i = 0; i < decls->count; i++)
        add_decl(l, unit, decls->data[i]);
}

static bool may_edit(const ar_program *program, const ar_decl *decl) {
    ar_file_id file = decl->range.file;
    return file != AR_NO_FILE && program->editable[file] && !decl->is_system;
}

static void finish_entities(linker *l) {
    ar_program *program = l->program;
    for (uint32_t i = 0; i < l->drafts.count; i++) {
        draft *d = l->drafts.data[i];
        ar_entity entity = {.id = i,
                            .decl = d->decl,
                            .unit = d->unit,
                            .all = d->all.data,
                            .all_count = d->all.count,
                            .in_rewrite_set = true};
        for (uint32_t j = 0; j < d->all.count; j++)
            entity.in_rewrite_set &= may_edit(program, d->all.data[j]);
        AR_PUSH(l->arena, &program->entities, entity);
    }
    program->index = AR_NEW(l->arena, struct ar_link_index);
    ar_strmap *names = &program->index->functions;
    names->arena = l->arena;
    for (uint32_t i = 0; i < program->entities.count; i++) {
        ar_entity *entity = &program->entities.data[i];
        if (entity->decl->kind != AR_DECL_FUNCTION)
            continue;
        const ar_entity *old = ar_strmap_get(names, entity->decl->name);
        if (!old || (!old->decl->body && entity->decl->body))
            ar_strmap_put(names, entity->decl->name, entity);
    }
}

/* ---- which files may change ---------------------------------------------- */

static bool is_below(const char *path, const char *root) {
    size_t length = strlen(root);
    while (length > 1 && root[length - 1] == '/')
        length--;
    if (length == 1 && root[0] == '/')
        return path[0] == '/';
    return strncmp(path, root, length) == 0 && path[length] == '/';
}

/* What was edited in a generated file is lost when it is made again. */
static void protect_generated(ar_program *program) {
    for (uint32_t i = 0; i < program->unit_count; i++)
        if (program->units[i]->is_generated)
            program->editable[program->units[i]->main_file] = false;
}

static void find_editable(linker *l, const char *root) {
    ar_program *program = l->program;
    uint32_t count = program->files.list.count;
    program->editable = AR_NEW_ARRAY(l->arena, bool, count + 1);
    if (root) {
        for (uint32_t i = 0; i < count; i++) {
            const ar_file *file = &program->files.list.data[i];
            program->editable[i] =
                !file->is_system && is_below(file->real, root);
        }
        return;
    }
    for (uint32_t i = 0; i < program->unit_count; i++) {
        ar_file_id main_file = program->units[i]->main_file;
        if (main_file != AR_NO_FILE && main_file < count)
            program->editable[main_file] = true;
    }
}

/* As system files, which nobody edits. */
static void take_rule_files(ar_program *program, const ar_files *rule_files) {
    for (uint32_t i = 0; i < rule_files->list.count; i++) {
        ar_file file = rule_files->list.data[i];
        file.is_system = true;
        AR_PUSH(program->arena, &program->files.list, file);
    }
}

ar_program *ar_link(ar_arena *arena, ar_unit **units, uint32_t unit_count,
                    const ar_files *rule_files, const char *root) {
    ar_program *program = AR_NEW(arena, ar_program);
    program->arena = arena;
    program->files.arena = arena;
    take_rule_files(program, rule_files);
    program->units = AR_NEW_ARRAY(arena, ar_unit *, unit_count + 1);
    program->unit_count = unit_count;
    if (unit_count) {
        memcpy(program->units, units, unit_count * sizeof *units);
        qsort(program->units, unit_count, sizeof *units, compare_units);
    }
    linker l = {.arena = arena,
                .program = program,
                .record_shapes = {.arena = arena},
                .keys = {.arena = arena}};
    l.unit_decls = AR_NEW_ARRAY(arena, decl_list, unit_count + 1);
    for (uint32_t i = 0; i < unit_count; i++)
        take_unit(&l, program->units[i], &l.unit_decls[i]);
    find_editable(&l, root);
    protect_generated(program);
    for (uint32_t i = 0; i < unit_count; i++)
        add_unit(&l, program->units[i], &l.unit_decls[i]);
    finish_entities(&l);
    return program;
}

/* ---- questions ----------------------------------------------------------- */

ar_entity *ar_entity_of(ar_program *program, const ar_decl *decl) {
    if (!decl || decl->id >= program->entities.count)
        AR_BUG("not a decl of this program");
    return &program->entities.data[decl->id];
}

ar_decl *ar_definition_of(ar_program *program, const ar_decl *function) {
    ar_decl *decl = ar_entity_of(program, function)->decl;
    return decl->body ? decl : NULL;
}

const char *ar_record_name(const ar_decl *record) {
    const char *name = record->type ? record->type->spelling : NULL;
    if (name && strncmp(name, "struct ", 7) == 0)
        name += 7;
    return name && *name ? name : record->name;
}

ar_entity *ar_find_function(ar_program *program, const char *name) {
    return ar_strmap_get(&program->index->functions, name);
}

typedef struct visitor {
    ar_arena *arena;
    ar_visit_node *visit;
    void *context;
    AR_VEC(ar_node *) work;
} visitor;

static void visit_later(visitor *v, ar_node *node) {
    if (node)
        AR_PUSH(v->arena, &v->work, node);
}

static void visit_tree(visitor *v, ar_unit *unit, ar_decl *function,
                       ar_node *root) {
    visit_later(v, root);
    while (v->work.count) {
        ar_node *node = v->work.data[--v->work.count];
        v->visit(v->context, unit, function, node);
        for (uint32_t i = node->kid_count; i-- > 0;)
            visit_later(v, node->kids[i]);
        for (uint32_t i = node->decl_count; i-- > 0;)
            if (node->decls[i]->kind == AR_DECL_VAR)
                visit_later(v, node->decls[i]->init);
    }
}

/* The root when this decl's tree is still to be visited, else NULL. */
static ar_node *fresh_root(ar_map *done, const ar_decl *decl) {
    ar_node *root = NULL;
    if (decl->kind == AR_DECL_FUNCTION)
        root = decl->body;
    else if (decl->kind == AR_DECL_VAR && !is_local(decl) && !decl->parent)
        root = decl->init;
    if (!root)
        return NULL;
    /* One entity, one place: the same text read by another unit. */
    uint64_t key = ar_key2(decl->id, root->range.begin);
    const ar_node *old = ar_map_get(done, key);
    if (old && old->range.file == root->range.file)
        return NULL;
    ar_map_put(done, key, root);
    return root;
}

void ar_program_visit(ar_program *program, ar_visit_node *visit,
                      void *context) {
    ar_arena *arena = ar_arena_new();
    visitor v = {.arena = arena, .visit = visit, .context = context};
    ar_map done = {.arena = arena};
    for (uint32_t i = 0; i < program->unit_count; i++) {
        ar_unit *unit = program->units[i];
        for (uint32_t j = 0; j < unit->decls.count; j++) {
            ar_decl *decl = unit->decls.data[j];
            ar_node *root = fresh_root(&done, decl);
            visit_tree(&v, unit, decl->kind == AR_DECL_FUNCTION ? decl : NULL,
                       root);
        }
    }
    ar_arena_free(arena);
}
