/* Fuzz target of the edit applier and the diff.
 *
 * An input is decoded into a small file and some edits. The edits are finished
 * and applied, and so they are by a naive applier that looks at every pair of
 * edits and goes byte by byte; both must agree on whether there is a conflict
 * and on the bytes. Then the diff of old and new is printed and patched in,
 * which must give the new bytes again.
 *
 * LLVMFuzzerTestOneInput is for libFuzzer (-DEDIT_FUZZ_LIBFUZZER); main runs a
 * fixed number of inputs from a fixed generator. */
#include "out/edit.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_EDITS = 8, MOST_BYTES = 96, MOST_TEXT = 5, ROOM = 1024 };

typedef struct buffer {
    char bytes[ROOM];
    size_t size;
} buffer;

typedef struct input {
    buffer file;
    ar_edit edits[MOST_EDITS];
    char texts[MOST_EDITS][MOST_TEXT + 1];
    uint32_t count;
} input;

static unsigned applied, conflicting;

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition))                                                      \
            fail(__LINE__, #condition);                                        \
    } while (0)

static _Noreturn void fail(int line, const char *what) {
    fprintf(stderr, "edit_fuzz.c:%d: %s\n", line, what);
    abort();
}

static void put(buffer *out, const char *bytes, size_t size) {
    CHECK(out->size + size <= ROOM);
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

/* ---- decoding ---------------------------------------------------------- */

typedef struct source {
    const uint8_t *data;
    size_t left;
} source;

static unsigned take(source *s) {
    if (s->left == 0)
        return 0;
    s->left--;
    return *s->data++;
}

/* Few different bytes, so that lines repeat and edits are often equal. */
static char take_byte(source *s) {
    static const char bytes[] = "ab\n}a\rb\n";
    return bytes[take(s) % (sizeof bytes - 1)];
}

static void decode(source *s, input *in) {
    unsigned mode = take(s);
    size_t size = take(s) % MOST_BYTES;
    while (in->file.size < size) {
        char c = take_byte(s);
        if (mode % 2 && c == '\n')
            put(&in->file, "\r", 1);
        put(&in->file, &c, 1);
    }
    in->count = take(s) % (MOST_EDITS + 1);
    for (uint32_t i = 0; i < in->count; i++) {
        uint32_t limit = (uint32_t)in->file.size + 1;
        uint32_t begin = take(s) % limit;
        uint32_t length = take(s) % 8;
        if (length > 4 || begin + length >= limit)
            length = 0;
        unsigned text = take(s) % (MOST_TEXT + 1);
        for (unsigned k = 0; k < text; k++)
            in->texts[i][k] = take_byte(s);
        in->edits[i] = (ar_edit){.range = {0, begin, begin + length, false},
                                 .text = in->texts[i],
                                 .order = (int)(take(s) % 3) - 1};
    }
}

/* ---- the naive applier -------------------------------------------------- */

static bool is_insertion(const ar_edit *e) {
    return e->range.begin == e->range.end;
}

static bool equal(const ar_edit *a, const ar_edit *b) {
    return a->range.begin == b->range.begin && a->range.end == b->range.end &&
           a->order == b->order && strcmp(a->text, b->text) == 0;
}

static bool clash(const ar_edit *a, const ar_edit *b) {
    if (equal(a, b) || (is_insertion(a) && is_insertion(b)))
        return false;
    /* a nameless insertion is dropped before anything is compared */
    if ((is_insertion(a) && !*a->text) || (is_insertion(b) && !*b->text))
        return false;
    return a->range.begin < b->range.end && b->range.begin < a->range.end;
}

static bool has_conflict(const input *in) {
    for (uint32_t i = 0; i < in->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (clash(&in->edits[i], &in->edits[k]))
                return true;
    return false;
}

static bool is_repeated(const input *in, uint32_t i) {
    for (uint32_t k = 0; k < i; k++)
        if (equal(&in->edits[i], &in->edits[k]))
            return true;
    return false;
}

static bool all_crlf(const buffer *file) {
    unsigned lines = 0, pairs = 0;
    for (size_t i = 0; i < file->size; i++) {
        lines += file->bytes[i] == '\n';
        pairs += i > 0 && file->bytes[i] == '\n' && file->bytes[i - 1] == '\r';
    }
    return lines > 0 && lines == pairs;
}

static void put_text(buffer *out, const char *text, bool crlf) {
    char last = '\0';
    for (; *text; last = *text++) {
        if (crlf && *text == '\n' && last != '\r')
            put(out, "\r", 1);
        put(out, text, 1);
    }
}

static void apply_naively(const input *in, buffer *out) {
    bool crlf = all_crlf(&in->file);
    size_t skip_to = 0;
    for (size_t at = 0; at <= in->file.size; at++) {
        for (int order = -1; order <= 1; order++)
            for (uint32_t i = 0; i < in->count; i++)
                if (in->edits[i].range.begin == at &&
                    is_insertion(&in->edits[i]) &&
                    in->edits[i].order == order && !is_repeated(in, i))
                    put_text(out, in->edits[i].text, crlf);
        for (uint32_t i = 0; i < in->count; i++)
            if (in->edits[i].range.begin == at &&
                !is_insertion(&in->edits[i]) && !is_repeated(in, i)) {
                put_text(out, in->edits[i].text, crlf);
                skip_to = in->edits[i].range.end;
            }
        if (at >= skip_to && at < in->file.size)
            put(out, &in->file.bytes[at], 1);
    }
}

/* ---- a naive patch ------------------------------------------------------ */

static size_t line_size(const char *bytes, size_t left) {
    const char *end = memchr(bytes, '\n', left);
    return end ? (size_t)(end - bytes) + 1 : left;
}

/* Copies lines of old until `line` (from 0) is reached. */
static void copy_lines(const buffer *old, size_t *at, long *line, long until,
                       buffer *out) {
    while (*line < until) {
        size_t n = line_size(old->bytes + *at, old->size - *at);
        CHECK(n > 0);
        put(out, old->bytes + *at, n);
        *at += n;
        ++*line;
    }
}

static void patch(const buffer *old, const char *diff, size_t size,
                  buffer *out) {
    size_t at = 0;
    long line = 0;
    const char *end = diff + size;
    for (int heading = 0; heading < 2 && size; heading++)
        diff += line_size(diff, (size_t)(end - diff));
    while (diff < end) {
        size_t n = line_size(diff, (size_t)(end - diff));
        const char *next = diff + n;
        /* the line end belongs to the diff, not to the text */
        bool open = next < end && *next == '\\';
        size_t text = n - 1 - open;
        if (*diff == '@') {
            long first = 0, count = 1;
            sscanf(diff, "@@ -%ld,%ld", &first, &count);
            copy_lines(old, &at, &line, count ? first - 1 : first, out);
        } else if (*diff == ' ' || *diff == '-') {
            CHECK(at + text <= old->size);
            CHECK(memcmp(old->bytes + at, diff + 1, text) == 0);
            at += text;
            line++;
        }
        if (*diff == ' ' || *diff == '+')
            put(out, diff + 1, text);
        diff = next;
    }
    put(out, old->bytes + at, old->size - at);
}

static void check_diff(const buffer *old, ar_bytes new) {
    char *diff = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&diff, &size);
    CHECK(memory);
    ar_diff_print(memory, "old", "new", (ar_bytes){old->bytes, old->size}, new);
    fclose(memory);
    buffer out = {.size = 0};
    patch(old, diff, size, &out);
    CHECK(out.size == new.size);
    CHECK(memcmp(out.bytes, new.data, new.size) == 0);
    free(diff);
}

/* ---- driver ------------------------------------------------------------ */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input *in = calloc(1, sizeof *in);
    CHECK(in);
    decode(&(source){data, size}, in);
    ar_arena *arena = ar_arena_new();
    ar_files files = {.arena = arena};
    ar_diags diags = {.arena = arena};
    ar_edits edits = {.arena = arena};
    ar_files_add(&files, "file", "file", false);
    files.list.data[0].loaded = true;
    files.list.data[0].bytes = in->file.bytes;
    files.list.data[0].size = (uint32_t)in->file.size;
    for (uint32_t i = 0; i < in->count; i++)
        ar_edit_add(&edits, in->edits[i]);

    bool ok = ar_edits_finish(&edits, &files, &diags);
    CHECK(ok == !has_conflict(in));
    CHECK(ok == (diags.errors == 0));
    if (ok) {
        buffer wanted = {.size = 0};
        apply_naively(in, &wanted);
        ar_bytes got = ar_edits_apply(arena, &edits, &files, 0);
        CHECK(got.size == wanted.size);
        CHECK(memcmp(got.data, wanted.bytes, got.size) == 0);
        check_diff(&in->file, got);
    }
    applied += ok;
    conflicting += !ok;
    ar_arena_free(arena);
    free(in);
    return 0;
}

#ifndef EDIT_FUZZ_LIBFUZZER
static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    uint32_t state = 2463534242u;
    for (long i = 0; i < rounds; i++) {
        uint8_t data[2 * MOST_BYTES + 80];
        size_t size = next_random(&state) % sizeof data;
        for (size_t k = 0; k < size; k++)
            data[k] = (uint8_t)(next_random(&state) >> 11);
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("%u applied, %u conflicting\n", applied, conflicting);
    /* neither outcome may have gone untested */
    return applied > rounds / 10 && conflicting > rounds / 10 ? 0 : 1;
}
#endif
