/* ar-rules-check: loads rule files as the tool would, and says what it found.
 *
 *   ar-rules-check [--packs DIR] [--print] [--round-trip]
 *                  [--find NAME[@FILE]] [--covers LIST] FILE...
 *
 * Diagnostics go to stderr. Exit status 0: no errors, 2: errors, 1: a test of
 * this program failed. */
#include "rules/rules.h"

#include <stdlib.h>

typedef struct options {
    const char *packs, *find, *covers;
    bool print, round_trip;
    const char **files;
    int file_count;
} options;

typedef struct loaded {
    ar_rules *rules;
    ar_files files;
    ar_diags diags;
    bool ok;
} loaded;

static void load(ar_arena *arena, const options *o, loaded *l) {
    *l = (loaded){.rules = ar_rules_new(arena),
                  .files = {.arena = arena},
                  .diags = {.arena = arena},
                  .ok = true};
    if (o->packs)
        l->ok &= ar_rules_load_packs(l->rules, &l->files, o->packs, &l->diags);
    for (int i = 0; i < o->file_count; i++)
        l->ok &=
            ar_rules_load(l->rules, &l->files, o->files[i], false, &l->diags);
    l->ok &= ar_rules_check(l->rules, &l->diags);
    ar_diags_print(stderr, &l->diags, &l->files, (ar_diag_style){0});
}

/* Without the origins, which are comments. */
static char *printed(ar_arena *arena, loaded *l) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    ar_rules_print(out, l->rules, &l->files);
    fclose(out);
    char *copy = ar_strndup(arena, text, size);
    free(text);
    char *to = copy;
    bool comment = false;
    for (const char *from = copy; *from; from++) {
        comment = *from == '#' ? true : *from == '\n' ? false : comment;
        if (!comment)
            *to++ = *from;
    }
    *to = 0;
    return copy;
}

static bool sets_agree(const ar_rules *a, const ar_rules *b) {
    if (a->functions.count != b->functions.count)
        return false;
    for (uint32_t i = 0; i < a->functions.count; i++)
        if (!ar_function_rules_agree(&a->functions.data[i],
                                     &b->functions.data[i])) {
            fprintf(stderr, "round trip changed the rule for '%s'\n",
                    a->functions.data[i].function);
            return false;
        }
    return true;
}

static bool reload(ar_arena *arena, const char *text, loaded *l) {
    char path[] = "/tmp/ar-rules-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f)
        return false;
    fputs(text, f);
    fclose(f);
    const char *names[] = {path};
    load(arena, &(options){.files = names, .file_count = 1}, l);
    remove(path);
    return l->ok;
}

/* Prints, parses, prints and parses again: the text must not change, and the
 * sets of both parses must agree. */
static bool round_trip(ar_arena *arena, loaded *l) {
    const char *first = printed(arena, l);
    loaded again, third;
    if (!reload(arena, first, &again))
        return false;
    const char *second = printed(arena, &again);
    if (strcmp(first, second) != 0) {
        fprintf(stderr, "round trip changed the text\n");
        return false;
    }
    bool whole = l->rules->functions.count == again.rules->functions.count;
    return reload(arena, second, &third) &&
           (!whole || sets_agree(l->rules, again.rules)) &&
           sets_agree(again.rules, third.rules);
}

static void find(ar_arena *arena, loaded *l, const char *what) {
    char *name = ar_strdup(arena, what);
    char *file = strchr(name, '@');
    if (file)
        *file++ = 0;
    const ar_function_rule *rule =
        ar_rules_find(l->rules, name, file ? file : "x.c");
    if (rule)
        printf("%s: %s %s (%s)\n", name, ar_rule_kind_name(rule->kind),
               rule->has_category ? ar_category_name(rule->category) : "-",
               ar_place(arena, &l->files, rule->range));
    else
        printf("%s: no rule\n", name);
}

/* Each line of the list is a function that some rule must be about. */
static bool covers(loaded *l, const char *path) {
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return false;
    }
    bool ok = true;
    for (char line[256]; fgets(line, sizeof line, f);) {
        line[strcspn(line, "\r\n")] = 0;
        if (*line && *line != '#' && !ar_rules_find(l->rules, line, "x.c")) {
            printf("no rule for %s\n", line);
            ok = false;
        }
    }
    fclose(f);
    return ok;
}

static void read_options(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--packs") == 0 && i + 1 < argc)
            o->packs = argv[++i];
        else if (strcmp(argv[i], "--find") == 0 && i + 1 < argc)
            o->find = argv[++i];
        else if (strcmp(argv[i], "--covers") == 0 && i + 1 < argc)
            o->covers = argv[++i];
        else if (strcmp(argv[i], "--print") == 0)
            o->print = true;
        else if (strcmp(argv[i], "--round-trip") == 0)
            o->round_trip = true;
        else
            o->files[o->file_count++] = argv[i];
    }
}

int main(int argc, char **argv) {
    ar_arena *arena = ar_arena_new();
    options o = {.files = AR_NEW_ARRAY(arena, const char *, (size_t)argc)};
    read_options(argc, argv, &o);
    loaded l;
    load(arena, &o, &l);
    int status = l.ok ? 0 : 2;
    if (o.print)
        ar_rules_print(stdout, l.rules, &l.files);
    if (o.find)
        find(arena, &l, o.find);
    if (o.round_trip && !round_trip(arena, &l))
        status = 1;
    if (o.covers && !covers(&l, o.covers))
        status = 1;
    ar_arena_free(arena);
    return status;
}
