/* Loading: files and packs into a rule set. */
#include "rules/parse.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

ar_rules *ar_rules_new(ar_arena *arena) {
    ar_rules *rules = AR_NEW(arena, ar_rules);
    rules->arena = arena;
    return rules;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A file named twice is read once: its rules cannot disagree with themselves.
 */
static bool first_time(ar_rules *rules, ar_file_id id) {
    for (uint32_t i = 0; i < rules->loaded.count; i++)
        if (rules->loaded.data[i] == id)
            return false;
    AR_PUSH(rules->arena, &rules->loaded, id);
    return true;
}

bool ar_rules_parse(ar_rules *rules, ar_files *files, ar_file_id id,
                    bool is_builtin, ar_diags *diags) {
    if (is_builtin && rules->functions.count != rules->builtin_count)
        AR_BUG("packs are loaded before the user's rules");
    const ar_file *file = ar_files_load(files, id);
    if (!file) {
        ar_report(diags, AR_DIAG_CANNOT_READ, AR_NO_RANGE,
                  files->list.data[id].name, strerror(errno));
        return false;
    }
    if (!first_time(rules, id))
        return true;
    ar_rule_parser p = {.rules = rules,
                        .files = files,
                        .diags = diags,
                        .file = id,
                        .origin =
                            is_builtin ? base_name(file->name) : file->name,
                        .c_text = {.arena = rules->arena}};
    uint32_t skip = 0;
    if (file->size >= 3 && memcmp(file->bytes, "\xef\xbb\xbf", 3) == 0)
        skip = 3;
    p.offset = skip;
    p.token_span = (ar_span){skip, skip};
    ar_rule_scan(&p, file->bytes + skip, file->size - skip);
    if (is_builtin) {
        rules->builtin_count = rules->functions.count;
        rules->builtin_subjects = rules->subjects.count;
    }
    return p.errors == 0;
}

bool ar_rules_load(ar_rules *rules, ar_files *files, const char *path,
                   bool is_builtin, ar_diags *diags) {
    char *real = realpath(path, NULL);
    if (!real) {
        ar_report(diags, AR_DIAG_CANNOT_READ, AR_NO_RANGE, path,
                  strerror(errno));
        return false;
    }
    ar_file_id id = ar_files_add(files, path, real, false);
    free(real);
    return ar_rules_parse(rules, files, id, is_builtin, diags);
}

static bool is_rule_file(const char *name) {
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".amp") == 0 &&
           name[0] != '.';
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool ar_rules_load_packs(ar_rules *rules, ar_files *files, const char *pack_dir,
                         ar_diags *diags) {
    DIR *dir = opendir(pack_dir);
    if (!dir) {
        ar_report(diags, AR_DIAG_CANNOT_READ, AR_NO_RANGE, pack_dir,
                  strerror(errno));
        return false;
    }
    AR_VEC(const char *) names = {0};
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        if (is_rule_file(e->d_name))
            AR_PUSH(rules->arena, &names,
                    ar_sprintf(rules->arena, "%s/%s", pack_dir, e->d_name));
    closedir(dir);
    if (names.count)
        qsort(names.data, names.count, sizeof *names.data, compare_names);
    bool ok = true;
    for (uint32_t i = 0; i < names.count; i++)
        ok &= ar_rules_load(rules, files, names.data[i], true, diags);
    return ok;
}
