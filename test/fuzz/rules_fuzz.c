/* Fuzz target for the rule language: any bytes must be either rules or errors
 * with places inside the file; and what was read must survive printing.
 *
 * With -DAR_LIBFUZZER it is a libFuzzer target. Otherwise main runs a fixed
 * number of mutations of the files given, the same ones every time:
 *
 *   rules_fuzz ITERATIONS FILE...
 */
#include "rules/rules.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct result {
    ar_rules *rules;
    ar_files files;
    ar_diags diags;
    bool ok;
} result;

static result parse(ar_arena *arena, const char *bytes, size_t size) {
    result r = {.rules = ar_rules_new(arena),
                .files = {.arena = arena},
                .diags = {.arena = arena}};
    ar_file_id id = ar_files_add(&r.files, "fuzz.amp", "fuzz.amp", false);
    ar_file *file = &r.files.list.data[id];
    file->bytes = bytes;
    file->size = (uint32_t)size;
    file->loaded = true;
    r.ok = ar_rules_parse(r.rules, &r.files, id, false, &r.diags);
    return r;
}

static void require(bool condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "rules_fuzz: %s\n", what);
    abort();
}

static char *printed(result *r, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    require(out != NULL, "no memory");
    ar_rules_print(out, r->rules, &r->files);
    fclose(out);
    return text;
}

static void check_places(result *r, size_t size) {
    for (uint32_t i = 0; i < r->diags.list.count; i++) {
        ar_range range = r->diags.list.data[i].range;
        require(range.file == AR_NO_FILE ||
                    (range.begin <= range.end && range.end <= size),
                "a diagnostic lies outside the file");
    }
    FILE *null = fopen("/dev/null", "w");
    if (!null)
        return;
    ar_diags_print(null, &r->diags, &r->files, (ar_diag_style){0});
    fclose(null);
}

static bool sets_agree(const ar_rules *a, const ar_rules *b) {
    if (a->functions.count != b->functions.count ||
        a->subjects.count != b->subjects.count ||
        a->levels.count != b->levels.count)
        return false;
    for (uint32_t i = 0; i < a->functions.count; i++)
        if (!ar_function_rules_agree(&a->functions.data[i],
                                     &b->functions.data[i]))
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 20)
        return 0;
    ar_arena *arena = ar_arena_new();
    result first =
        parse(arena, ar_strndup(arena, (const char *)data, size), size);
    require(first.ok == (first.diags.errors == 0), "errors without a message");
    bool clean = ar_rules_check(first.rules, &first.diags);
    check_places(&first, size);
    if (first.ok) {
        size_t length;
        char *text = printed(&first, &length);
        result second = parse(arena, text, length);
        require(second.ok, "printed rules do not parse");
        require(!clean || sets_agree(first.rules, second.rules),
                "printed rules mean something else");
        free(text);
    }
    ar_arena_free(arena);
    return 0;
}

#ifndef AR_LIBFUZZER

typedef struct bytes {
    uint8_t *data;
    size_t size, room;
} bytes;

static uint32_t next(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static const char *const words[] = {
    "op",    "alloc",  "keep",  "level", "fp32", "half",    "in",  "inout",
    "->",    "return", "when",  "for",   "f(",   "...",     ")",   "(",
    "[",     "]",      "{",     "}",     ";",    ",",       "=",   "*",
    "\"",    "'",      "#",     "\n",    "//",   "include", "1e9", "-",
    "allow", "zeroed", "param", ": ",    "ptr",  "\"a*b\"", "/",   "\xff"};

static void replace(bytes *b, size_t at, size_t drop, const void *with,
                    size_t length) {
    if (b->size - drop + length > b->room)
        return;
    memmove(b->data + at + length, b->data + at + drop, b->size - at - drop);
    memcpy(b->data + at, with, length);
    b->size += length - drop;
}

/* Changes, drops, inserts or copies a few bytes or a word. */
static void mutate(bytes *b, uint32_t *state) {
    size_t at = b->size ? next(state) % b->size : 0;
    size_t span = b->size ? next(state) % 40 : 0;
    if (span > b->size - at)
        span = b->size - at;
    const char *word = words[next(state) % (sizeof words / sizeof *words)];
    uint8_t byte = (uint8_t)next(state);
    uint8_t copy[40];
    switch (next(state) % 5) {
    case 0:
        replace(b, at, 0, word, strlen(word));
        return;
    case 1:
        replace(b, at, span, word, strlen(word));
        return;
    case 2:
        replace(b, at, span, "", 0);
        return;
    case 3:
        replace(b, at, b->size ? 1 : 0, &byte, 1);
        return;
    case 4:
        memcpy(copy, b->data + at, span);
        replace(b, b->size ? next(state) % b->size : 0, 0, copy, span);
        return;
    }
}

static bytes read_file(const char *path) {
    enum { ROOM = 4096 };
    bytes b = {0};
    FILE *f = fopen(path, "rb");
    require(f != NULL, path);
    uint8_t *data = malloc(1 << 20);
    require(data != NULL, "no memory");
    b.data = data;
    b.size = fread(data, 1, (1 << 20) - ROOM, f);
    b.room = b.size + ROOM;
    fclose(f);
    return b;
}

/* A run of whole lines, so that small inputs are common. */
static void cut(bytes *b, const bytes *from, uint32_t *state) {
    size_t begin = next(state) % (from->size + 1);
    while (begin && from->data[begin - 1] != '\n')
        begin--;
    size_t end = begin + next(state) % 1500;
    if (end > from->size)
        end = from->size;
    b->size = end - begin;
    memcpy(b->data, from->data + begin, b->size);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: rules_fuzz ITERATIONS FILE...\n");
        return 2;
    }
    unsigned long count = strtoul(argv[1], NULL, 10);
    uint32_t state = 2463534242u;
    for (int i = 2; i < argc; i++) {
        bytes corpus = read_file(argv[i]);
        LLVMFuzzerTestOneInput(corpus.data, corpus.size);
        bytes b = {.data = malloc(corpus.room), .room = corpus.room};
        require(b.data != NULL, "no memory");
        for (unsigned long k = 0; k < count; k++) {
            cut(&b, &corpus, &state);
            for (uint32_t m = next(&state) % 6; m-- > 0;)
                mutate(&b, &state);
            LLVMFuzzerTestOneInput(b.data, b.size);
        }
        free(b.data);
        free(corpus.data);
    }
    printf("%lu mutations of %d files\n", count, argc - 2);
    return 0;
}

#endif
