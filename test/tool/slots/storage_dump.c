/* ar-storage-dump: prints the storage facts of a program, for the tests.
 *
 *   ar-storage-dump [--counts] [--root DIR] [--packs DIR] [--rules FILE]
 *                   [-p BUILD] FILE... [-- compiler flags] */
#include "base/stack.h"
#include "core/storage.h"
#include "front/load.h"
#include "front/workers.h"

#include <dirent.h>
#include <stdlib.h>

typedef struct arguments {
    const char *names[4096];
    uint32_t name_count;
    const char *const *flags;
    uint32_t flag_count;
    const char *root, *packs, *rules, *database;
    bool only_counts;
} arguments;

static _Noreturn void fail(const char *text) {
    fprintf(stderr, "ar-storage-dump: %s\n", text);
    exit(2);
}

static bool takes(int argc, char **argv, int *i, const char *option,
                  const char **value) {
    if (strcmp(argv[*i], option) != 0)
        return false;
    if (++*i == argc)
        fail("option without a value");
    *value = argv[*i];
    return true;
}

static void read_arguments(int argc, char **argv, arguments *a) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            a->flags = (const char *const *)&argv[i + 1];
            a->flag_count = (uint32_t)(argc - i - 1);
            return;
        }
        if (strcmp(argv[i], "--counts") == 0)
            a->only_counts = true;
        else if (!takes(argc, argv, &i, "--root", &a->root) &&
                 !takes(argc, argv, &i, "--packs", &a->packs) &&
                 !takes(argc, argv, &i, "--rules", &a->rules) &&
                 !takes(argc, argv, &i, "-p", &a->database)) {
            if (a->name_count == sizeof a->names / sizeof *a->names)
                fail("too many files");
            a->names[a->name_count++] = argv[i];
        }
    }
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void load_packs(ar_arena *arena, ar_rules *rules, ar_files *files,
                       const char *folder, ar_diags *diags) {
    DIR *dir = opendir(folder);
    if (!dir)
        fail("cannot read the packs");
    AR_VEC(const char *) names = {0};
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".amp") == 0)
            AR_PUSH(arena, &names,
                    ar_sprintf(arena, "%s/%s", folder, entry->d_name));
    }
    closedir(dir);
    if (names.count)
        qsort(names.data, names.count, sizeof *names.data, compare_names);
    for (uint32_t i = 0; i < names.count; i++)
        ar_rules_load(rules, files, names.data[i], true, diags);
}

static void run(arguments *a) {
    ar_arena *arena = ar_arena_new();
    ar_files files = {.arena = arena};
    ar_diags diags = {.arena = arena};
    ar_jobs jobs = {0};
    ar_rules *rules = ar_rules_new(arena);
    if (a->packs)
        load_packs(arena, rules, &files, a->packs, &diags);
    if (a->rules)
        ar_rules_load(rules, &files, a->rules, false, &diags);
    if (a->database)
        ar_load_database(arena, a->database, a->names, a->name_count, a->flags,
                         a->flag_count, &jobs, &diags);
    else
        ar_load_files(arena, a->names, a->name_count, a->flags, a->flag_count,
                      &jobs, &diags);
    ar_unit **units = ar_collect_all(arena, &jobs, 0, AR_PROGRESS_OFF);
    for (uint32_t i = 0; i < jobs.count; i++)
        ar_diags_print(stderr, &units[i]->diags, &units[i]->files,
                       (ar_diag_style){0});
    ar_program *program = ar_link(arena, units, jobs.count, a->root, &diags);
    ar_storage_facts *facts = ar_storage_collect(arena, program, rules, &diags);
    ar_diags_print(stderr, &diags, &files, (ar_diag_style){0});
    if (a->only_counts)
        ar_storage_print_counts(stdout, program, facts);
    else
        ar_storage_dump(stdout, program, facts);
    fprintf(stderr, "%u cells, %.3f s\n", facts->cell_count, facts->seconds);
    exit(diags.errors ? 3 : 0);
}

static void run_with(void *context) {
    run(context);
}

int main(int argc, char **argv) {
    static arguments a;
    read_arguments(argc, argv, &a);
    ar_run_on_big_stack(run_with, &a);
}
