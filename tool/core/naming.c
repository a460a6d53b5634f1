#include "core/naming.h"

enum { MAX_DEPTH = 6 };

static const ar_decl *field_named(const ar_decl *record, const char *name,
                                  size_t length) {
    for (uint32_t i = 0; record && i < record->member_count; i++)
        if (strlen(record->members[i]->name) == length &&
            strncmp(record->members[i]->name, name, length) == 0)
            return record->members[i];
    return NULL;
}

static bool leads_to_pointer(const char *path, const ar_decl *record) {
    while (*path == '.') {
        size_t length = strcspn(++path, ".[+");
        const ar_decl *field = field_named(record, path, length);
        if (!field)
            return false;
        path += length;
        if (!*path)
            return field->type->kind == AR_TYPE_POINTER;
        record =
            field->type->kind == AR_TYPE_RECORD ? field->type->record : NULL;
    }
    return false;
}

const char *ar_path_in_record(const char *path, const ar_decl *record) {
    for (const char *p = strchr(path, '.'); p; p = strchr(p + 1, '.'))
        if (leads_to_pointer(p, record))
            return p;
    return NULL;
}

/* A path of a variable follows its name; one of a heap object follows the
 * expression for its address. */
static const char *join(ar_arena *arena, const char *base, const char *path,
                        bool base_is_address) {
    if (!base_is_address)
        return ar_sprintf(arena, "%s%s", base, path);
    if (!*path)
        return ar_sprintf(arena, "(*%s)", base);
    if (*path == '.')
        return ar_sprintf(arena, "%s->%s", base, path + 1);
    return ar_sprintf(arena, "%s%s", base, path);
}

static bool better(const ar_object_name *a, const ar_object_name *b) {
    if (!b->text)
        return true;
    if (a->rank != b->rank)
        return a->rank < b->rank;
    if (a->is_exact != b->is_exact)
        return a->is_exact;
    size_t x = strlen(a->text), y = strlen(b->text);
    return x < y || (x == y && strcmp(a->text, b->text) < 0);
}

/* One step further from the variables: what named holders point to. */
static bool spread(ar_arena *arena, const ar_scale *scale,
                   ar_object_name *names) {
    bool changed = false;
    for (uint32_t i = 0; i < scale->stores.count; i++) {
        const ar_pointer_store *store = &scale->stores.data[i];
        const ar_object_name *base = &names[store->holder->id];
        if (!base->text || !store->at_start ||
            store->target->kind != AR_OBJECT_HEAP ||
            strchr(store->holder_path, '+'))
            continue;
        ar_object_name name = {
            join(arena, base->text, store->holder_path,
                 store->holder->kind == AR_OBJECT_HEAP),
            base->is_exact && !strchr(store->holder_path, '*'), base->rank};
        if (!better(&name, &names[store->target->id]))
            continue;
        names[store->target->id] = name;
        changed = true;
    }
    return changed;
}

ar_object_name *ar_name_objects(ar_arena *arena, const ar_scale *scale,
                                ar_name_root *accept, void *context) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < scale->objects.count; i++)
        if (scale->objects.data[i]->id >= count)
            count = scale->objects.data[i]->id + 1;
    ar_object_name *names = AR_NEW_ARRAY(arena, ar_object_name, count + 1u);
    for (uint32_t i = 0; i < scale->objects.count; i++) {
        const ar_object *object = scale->objects.data[i];
        if (object->kind == AR_OBJECT_HEAP || !object->decl ||
            !*object->decl->name)
            continue;
        ar_root_rank rank = accept(context, object);
        if (rank != AR_ROOT_NONE)
            names[object->id] =
                (ar_object_name){object->decl->name, true, rank};
    }
    for (uint32_t round = 0; round < MAX_DEPTH; round++)
        if (!spread(arena, scale, names))
            break;
    return names;
}
