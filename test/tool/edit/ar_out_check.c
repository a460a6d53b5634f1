/* Drives the output modules for their tests.
 *
 *     ar-out-check apply FILE EDIT...  EDIT: FILE:BEGIN:END:ORDER:TEXT, \n in
 *                                      TEXT is a line end; new text to stdout;
 *                                      wrap=FILE:BEGIN:END:LAYER:HEAD:TAIL
 *     ar-out-check diff OLD NEW
 *     ar-out-check write [like=FILE] [backup] PATH=TEXT...
 *     ar-out-check options ARGUMENT...
 *     ar-out-check colour ARGUMENT... */
#include "options.h"
#include "out/edit.h"

#include <stdlib.h>

typedef struct check {
    ar_arena *arena;
    ar_files files;
    ar_diags diags;
} check;

static int finish(check *c, int status) {
    ar_diags_print(stderr, &c->diags, &c->files, (ar_diag_style){false, true});
    return c->diags.errors ? status : 0;
}

static const ar_file *load(check *c, const char *name) {
    ar_file_id id = ar_files_add(&c->files, name, name, false);
    const ar_file *file = ar_files_load(&c->files, id);
    if (!file) {
        perror(name);
        exit(3);
    }
    return file;
}

static const char *unescape(check *c, const char *text) {
    ar_str s = {.arena = c->arena};
    for (; *text; text++) {
        bool newline = text[0] == '\\' && text[1] == 'n';
        ar_str_addn(&s, newline ? "\n" : text, 1);
        text += newline;
    }
    return ar_str_text(&s);
}

static char *cut(char **rest) {
    char *field = *rest;
    char *colon = strchr(field, ':');
    if (!colon) {
        fprintf(stderr, "bad edit '%s'\n", field);
        exit(2);
    }
    *colon = '\0';
    *rest = colon + 1;
    return field;
}

static ar_edit read_edit(check *c, const char *arg) {
    char *rest = ar_strdup(c->arena, arg);
    const char *file = cut(&rest);
    ar_edit edit = {.why = arg};
    edit.range.file = ar_files_add(&c->files, file, file, false);
    edit.range.begin = (uint32_t)strtoul(cut(&rest), NULL, 10);
    edit.range.end = (uint32_t)strtoul(cut(&rest), NULL, 10);
    edit.order = atoi(cut(&rest));
    edit.text = unescape(c, rest);
    return edit;
}

static ar_wrap read_wrap(check *c, const char *arg) {
    char *rest = ar_strdup(c->arena, arg);
    const char *file = cut(&rest);
    ar_wrap wrap = {.why = arg};
    wrap.range.file = ar_files_add(&c->files, file, file, false);
    wrap.range.begin = (uint32_t)strtoul(cut(&rest), NULL, 10);
    wrap.range.end = (uint32_t)strtoul(cut(&rest), NULL, 10);
    wrap.layer = atoi(cut(&rest));
    wrap.head = cut(&rest);
    wrap.tail = rest;
    return wrap;
}

static int run_apply(check *c, int argc, char **argv) {
    ar_edits edits = {.arena = c->arena};
    load(c, argv[0]);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "wrap=", 5) == 0)
            ar_edit_wrap(&edits, read_wrap(c, argv[i] + 5));
        else
            ar_edit_add(&edits, read_edit(c, argv[i]));
    if (!ar_edits_finish(&edits, &c->files, &c->diags))
        return finish(c, 4);
    ar_file_id *ids;
    uint32_t count = ar_edits_files(&edits, c->arena, &ids);
    for (uint32_t i = 0; i < count; i++) {
        ar_bytes new = ar_edits_apply(c->arena, &edits, &c->files, ids[i]);
        fwrite(new.data, 1, new.size, stdout);
    }
    return finish(c, 4);
}

static int run_diff(check *c, char **argv) {
    const ar_file *file = load(c, argv[0]);
    ar_bytes before = {file->bytes, file->size};
    file = load(c, argv[1]);
    ar_bytes after = {file->bytes, file->size};
    ar_diff_print(stdout, argv[0], argv[1], before, after);
    return 0;
}

static int run_write(check *c, int argc, char **argv) {
    ar_output *outputs = AR_NEW_ARRAY(c->arena, ar_output, (size_t)argc);
    uint32_t count = 0;
    ar_output next = {0};
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "backup") == 0) {
            next.kind = AR_WRITE_BACKUP;
            continue;
        }
        char *text = strchr(argv[i], '=');
        if (!text)
            return 2;
        *text++ = '\0';
        if (strcmp(argv[i], "like") == 0) {
            next.like = text;
            continue;
        }
        text = ar_strdup(c->arena, unescape(c, text));
        next.path = argv[i];
        next.bytes = (ar_bytes){text, strlen(text)};
        outputs[count++] = next;
        next = (ar_output){0};
    }
    ar_write_files(outputs, count, &c->diags);
    return finish(c, 4);
}

static void print_names(const char *title, ar_names names) {
    printf("%s:", title);
    for (uint32_t i = 0; i < names.count; i++)
        printf(" <%s>", names.data[i]);
    putchar('\n');
}

static void print_text(const char *title, const char *text) {
    printf("%s: %s\n", title, text ? text : "(none)");
}

static void print_options(const ar_options *o) {
    static const char *const actions[] = {
        "rewrite", "audit-text", "audit-json", "check",  "print-rules",
        "help",    "help-all",   "version",    "explain"};
    static const char *const outputs[] = {"diff", "stdout", "file", "dir",
                                          "in-place"};
    static const char *const scales[] = {"default", "dynamic", "static",
                                         "none"};
    print_text("action", actions[o->action]);
    print_text("output", outputs[o->output]);
    printf("level: %d\nhalf: %s\n", (int)o->level,
           o->half == AR_HALF_BF16 ? "bf16" : "fp16");
    printf("loss-scale: %s %g\n", scales[o->loss_scale], o->loss_scale_value);
    const ar_scaler_settings *s = &o->scaler;
    printf("scaler: %#x %g %g %g %g %g %d %d\n", s->given, s->init_scale,
           s->growth_factor, s->backoff_factor, s->min_scale, s->max_scale,
           s->growth_interval, s->hysteresis);
    print_names("files", o->files);
    print_names("rules", o->rules);
    print_names("clang", o->clang_args);
    print_text("database", o->database);
    print_text("output-path", o->output_path);
    print_text("backup", o->backup);
    print_text("root", o->root);
    print_text("cuda-path", o->cuda_path);
    print_text("explain", o->explain);
    print_text("dump-after", ar_stage_name(o->dump_after));
    printf("default-rules: %d\nkeep-going: %d\njobs: %u\nverbosity: %d\n",
           o->default_rules, o->keep_going, o->jobs, (int)o->verbosity);
}

static int run_options(check *c, int argc, char **argv) {
    ar_options options;
    /* argv[0] stands for the program's name */
    bool ok =
        ar_options_parse(c->arena, argc + 1, argv - 1, &options, &c->diags);
    if (ok)
        print_options(&options);
    return finish(c, AR_EXIT_USAGE);
}

static int run_colour(check *c, int argc, char **argv) {
    ar_options options;
    ar_options_parse(c->arena, argc + 1, argv - 1, &options, &c->diags);
    puts(ar_options_colour(&options, stderr) ? "colour" : "plain");
    return 0;
}

int main(int argc, char **argv) {
    ar_arena *arena = ar_arena_new();
    check c = {
        .arena = arena, .files = {.arena = arena}, .diags = {.arena = arena}};
    const char *what = argc > 1 ? argv[1] : "";
    int status = 2;
    if (strcmp(what, "apply") == 0 && argc > 2)
        status = run_apply(&c, argc - 2, argv + 2);
    else if (strcmp(what, "diff") == 0 && argc == 4)
        status = run_diff(&c, argv + 2);
    else if (strcmp(what, "write") == 0)
        status = run_write(&c, argc - 2, argv + 2);
    else if (strcmp(what, "options") == 0)
        status = run_options(&c, argc - 2, argv + 2);
    else if (strcmp(what, "colour") == 0)
        status = run_colour(&c, argc - 2, argv + 2);
    ar_arena_free(arena);
    return status;
}
