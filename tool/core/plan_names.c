/* Names that the rewritten code needs: where the program means something else
 * by one of them, the output would mean something else too, or not compile. */
#include "core/layout.h"
#include "core/plan.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the program's names ------------------------------------------------ */

/* false: stop */
typedef bool visit_name(void *context, const char *name, ar_range place);

/* Tags and fields have name spaces of their own. */
static bool is_ordinary(const ar_decl *decl) {
    return decl->kind != AR_DECL_RECORD && decl->kind != AR_DECL_FIELD &&
           !decl->is_system;
}

static void each_name(const ar_program *program, visit_name *visit,
                      void *context) {
    for (uint32_t u = 0; u < program->unit_count; u++) {
        const ar_unit *unit = program->units[u];
        for (uint32_t i = 0; i < unit->macros.count; i++)
            if (!visit(context, unit->macros.data[i].name,
                       unit->macros.data[i].range))
                return;
        for (uint32_t i = 0; i < unit->decls.count; i++)
            if (is_ordinary(unit->decls.data[i]) &&
                !visit(context, unit->decls.data[i]->name,
                       unit->decls.data[i]->name_range))
                return;
    }
}

typedef struct search {
    const char *name;
    ar_range place; /* file AR_NO_FILE: not found */
} search;

static bool is_it(void *context, const char *name, ar_range place) {
    search *s = context;
    if (strcmp(name, s->name) != 0)
        return true;
    s->place = place;
    return false;
}

ar_range ar_find_name(const ar_program *program, const char *name) {
    search s = {name, AR_NO_RANGE};
    each_name(program, is_it, &s);
    return s.place;
}

static bool add_name(void *context, const char *name, ar_range place) {
    (void)place;
    ar_strmap_put(context, name, context);
    return true;
}

void ar_add_names(const ar_program *program, ar_strmap *names) {
    each_name(program, add_name, names);
}

/* ---- words -------------------------------------------------------------- */

/* Every word of the text, those in strings and comments too. */
static void add_words(ar_arena *arena, ar_strmap *words, const char *text) {
    while (*text) {
        size_t length = 0;
        while (ar_is_word(text[length]))
            length++;
        if (length)
            ar_strmap_put(words, ar_strndup(arena, text, length), words);
        text += length ? length : 1;
    }
}

static void add_file(ar_arena *arena, ar_strmap *words, const char *path) {
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    while (file && getline(&line, &size, file) > 0)
        add_words(arena, words, line);
    free(line);
    if (file)
        fclose(file);
}

/* What the headers of the runtime mention. */
static void add_headers(ar_arena *arena, ar_strmap *words,
                        const char *directory) {
    DIR *dir = opendir(directory);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (*entry->d_name != '.')
            add_file(arena, words,
                     ar_sprintf(arena, "%s/%s", directory, entry->d_name));
    closedir(dir);
}

/* ---- both --------------------------------------------------------------- */

typedef struct name_check {
    ar_plan *plan;
    const char *directory; /* of the runtime's headers */
    ar_strmap inserted, runtime, told;
    bool is_ready, ok;
} name_check;

/* Few programs have a name that begins so, and no other needs the words. */
static void prepare(name_check *check) {
    ar_arena *arena = check->plan->arena;
    check->is_ready = true;
    check->inserted.arena = check->runtime.arena = check->told.arena = arena;
    const ar_edits *edits = check->plan->placer.edits;
    for (uint32_t i = 0; i < edits->list.count; i++)
        add_words(arena, &check->inserted, edits->list.data[i].text);
    add_headers(arena, &check->runtime, check->directory);
}

static bool is_header_of_runtime(const name_check *check, ar_range place) {
    const char *real = check->plan->program->files.list.data[place.file].real;
    size_t length = strlen(check->directory);
    return strncmp(real, check->directory, length) == 0 && real[length] == '/';
}

static bool check_name(void *context, const char *name, ar_range place) {
    name_check *check = context;
    if ((strncmp(name, "amp_", 4) != 0 && strncmp(name, "AMP_", 4) != 0) ||
        place.file == AR_NO_FILE || is_header_of_runtime(check, place))
        return true;
    if (!check->is_ready)
        prepare(check);
    bool is_needed = ar_strmap_get(&check->inserted, name) &&
                     (ar_strmap_get(&check->runtime, name) ||
                      strncmp(name, "amp_seed_scale", 14) == 0);
    if (!is_needed || ar_strmap_get(&check->told, name))
        return true;
    ar_strmap_put(&check->told, name, check);
    ar_report(check->plan->diags, AR_DIAG_OP_NAME_TAKEN, place, name);
    check->ok = false;
    return true;
}

bool ar_plan_names(ar_plan *plan) {
    name_check check = {
        .plan = plan, .directory = plan->options.headers, .ok = true};
    each_name(plan->program, check_name, &check);
    return check.ok;
}
