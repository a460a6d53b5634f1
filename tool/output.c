#include "output.h"

#include "paths.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct result {
    ar_file_id id;
    ar_bytes before, after;
    bool changed;
} result;

typedef AR_VEC(result) results;

static bool load_result(ar_run *run, ar_file_id id, result *out) {
    const ar_file *file = ar_files_load(&run->program->files, id);
    if (!file) {
        ar_report(&run->diags, AR_DIAG_CANNOT_READ, AR_NO_RANGE,
                  run->program->files.list.data[id].name, strerror(errno));
        run->exit = AR_EXIT_INPUT;
        return false;
    }
    out->id = id;
    out->before = (ar_bytes){file->bytes, file->size};
    out->after = run->left_alone ? out->before
                                 : ar_edits_apply(run->arena, &run->edits,
                                                  &run->program->files, id);
    out->changed =
        out->before.size != out->after.size ||
        memcmp(out->before.data, out->after.data, out->before.size) != 0;
    return true;
}

/* A generated source is an input that is not edited. */
static bool is_input(const ar_run *run, ar_file_id id) {
    for (uint32_t i = 0; i < run->program->unit_count; i++)
        if (run->program->units[i]->main_file == id)
            return true;
    return false;
}

/* Every file of the rewrite set, changed or not: an output tree compiles by
 * itself. Units are parsed twice for CUDA, so files come once each. */
static bool make_results(ar_run *run, results *out) {
    for (ar_file_id id = 0; id < run->program->files.list.count; id++) {
        result one;
        if (!run->program->editable[id] && !is_input(run, id))
            continue;
        if (!load_result(run, id, &one))
            return false;
        AR_PUSH(run->arena, out, one);
    }
    return true;
}

static const char *name_of(const ar_run *run, const result *one) {
    return run->program->files.list.data[one->id].name;
}

/* patch(1) changes no file through a link to it. */
static const char *patch_name(const ar_run *run, const result *one) {
    const char *name = name_of(run, one);
    struct stat st;
    if (lstat(name, &st) != 0 || !S_ISLNK(st.st_mode))
        return name;
    return ar_path_from(ar_real_path(run->arena, "."),
                        run->program->files.list.data[one->id].real);
}

static void write_diff(ar_run *run, const results *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        const result *one = &all->data[i];
        if (!one->changed)
            continue;
        const char *name = patch_name(run, one);
        /* an absolute name needs no prefix that -p1 would strip wrongly */
        bool relative = name[0] != '/';
        ar_diff_print(stdout,
                      relative ? ar_sprintf(run->arena, "a/%s", name) : name,
                      relative ? ar_sprintf(run->arena, "b/%s", name) : name,
                      one->before, one->after);
    }
}

static const result *main_result(ar_run *run, const results *all) {
    for (uint32_t i = 0; i < all->count; i++)
        if (all->data[i].id == run->program->units[0]->main_file)
            return &all->data[i];
    AR_BUG("the main file is not in the rewrite set");
}

static void write_failed(ar_run *run) {
    run->exit = AR_EXIT_OUTPUT;
}

static void write_one(ar_run *run, const results *all) {
    const result *one = main_result(run, all);
    if (run->options->output == AR_OUTPUT_STDOUT) {
        fwrite(one->after.data, 1, one->after.size, stdout);
        return;
    }
    if (!ar_write_file(run->options->output_path, one->after,
                       run->program->files.list.data[one->id].real,
                       &run->diags))
        write_failed(run);
}

/* Below the directory that holds every file of the set. */
static void write_tree(ar_run *run, const results *all) {
    const char *top = run->options->root
                          ? ar_real_path(run->arena, run->options->root)
                          : NULL;
    for (uint32_t i = 0; !run->options->root && i < all->count; i++) {
        const char *real = run->program->files.list.data[all->data[i].id].real;
        top = top ? ar_common_directory(run->arena, top, real)
                  : ar_directory_of(run->arena, real);
    }
    ar_output *outputs = AR_NEW_ARRAY(run->arena, ar_output, all->count + 1u);
    for (uint32_t i = 0; i < all->count; i++) {
        const char *real = run->program->files.list.data[all->data[i].id].real;
        size_t skip = strcmp(top, "/") == 0 ? 1 : strlen(top) + 1;
        outputs[i] = (ar_output){.path = ar_sprintf(run->arena, "%s/%s",
                                                    run->options->output_path,
                                                    real + skip),
                                 .bytes = all->data[i].after,
                                 .like = real,
                                 .kind = AR_WRITE_REPLACE};
    }
    if (!ar_write_files(outputs, all->count, &run->diags))
        write_failed(run);
}

static void write_in_place(ar_run *run, const results *all) {
    const char *suffix = run->options->backup;
    ar_output *outputs =
        AR_NEW_ARRAY(run->arena, ar_output, 2u * all->count + 1u);
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const result *one = &all->data[i];
        if (!one->changed)
            continue;
        const char *real = run->program->files.list.data[one->id].real;
        if (suffix) {
            const char *backup = ar_sprintf(run->arena, "%s%s", real, suffix);
            outputs[count++] =
                (ar_output){backup, one->before, real, AR_WRITE_BACKUP};
        }
        outputs[count++] =
            (ar_output){real, one->after, real, AR_WRITE_REPLACE};
    }
    if (!ar_write_files(outputs, count, &run->diags))
        write_failed(run);
}

void ar_output_write(ar_run *run) {
    results all = {0};
    if (!make_results(run, &all))
        return;
    if (run->options->action == AR_ACTION_CHECK) {
        for (uint32_t i = 0; i < all.count; i++)
            if (all.data[i].changed) {
                run->exit = AR_EXIT_CHANGES;
                if (run->options->verbosity != AR_QUIET)
                    printf("%s\n", name_of(run, &all.data[i]));
            }
        return;
    }
    switch (run->options->output) {
    case AR_OUTPUT_DIFF:
        write_diff(run, &all);
        break;
    case AR_OUTPUT_STDOUT:
    case AR_OUTPUT_FILE:
        write_one(run, &all);
        break;
    case AR_OUTPUT_DIR:
        write_tree(run, &all);
        break;
    case AR_OUTPUT_IN_PLACE:
        write_in_place(run, &all);
        break;
    }
}
