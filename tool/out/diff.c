/* The unified diff of two texts, line by line.
 *
 * The difference is found with the linear-space algorithm of E. W. Myers, "An
 * O(ND) Difference Algorithm and Its Variations", Algorithmica 1 (1986),
 * section 4b: two greedy searches, one from each end, meet in the middle of a
 * shortest script, and both halves are solved alike. Texts with very many
 * differences are not worth a shortest script: what is left of them is shown as
 * replaced. */
#include "out/edit.h"

enum { CONTEXT = 3 };

/* Insertions and deletions that one of the two searches may spend. */
enum { EFFORT = 8000 };

enum { UNREACHED = -1 };

typedef struct line {
    const char *text;
    uint32_t size; /* with the line end, if there is one */
    uint32_t hash;
} line;

typedef AR_VEC(line) lines;

/* Lines [a0, a1) of the old text against [b0, b1) of the new: a part to
 * compare, or one change. */
typedef struct box {
    int a0, a1, b0, b1;
} box;

typedef AR_VEC(box) boxes;

typedef enum direction { FORWARD, BACKWARD } direction;

typedef struct search {
    ar_arena *arena;
    const line *a, *b;
    /* How many old lines the furthest path on each diagonal has passed, per
     * direction, counted from the corner where the direction starts; diagonal
     * d holds the points with old lines - new lines == d. */
    int *reach[2];
    boxes changes; /* in order, not touching */
} search;

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

static lines split(ar_arena *arena, ar_bytes bytes) {
    lines out = {0};
    const char *end = bytes.data + bytes.size;
    for (const char *p = bytes.data; p < end;) {
        line one = {.text = p, .hash = 2166136261u}; /* FNV-1a */
        do
            one.hash = (one.hash ^ (unsigned char)*p) * 16777619u;
        while (*p++ != '\n' && p < end);
        one.size = (uint32_t)(p - one.text);
        AR_PUSH(arena, &out, one);
    }
    return out;
}

static bool same(const line *a, const line *b) {
    return a->hash == b->hash && a->size == b->size &&
           memcmp(a->text, b->text, a->size) == 0;
}

/* ---- the difference ----------------------------------------------------- */

static void trim(const search *s, box *in) {
    while (in->a0 < in->a1 && in->b0 < in->b1 &&
           same(&s->a[in->a0], &s->b[in->b0]))
        in->a0++, in->b0++;
    while (in->a0 < in->a1 && in->b0 < in->b1 &&
           same(&s->a[in->a1 - 1], &s->b[in->b1 - 1]))
        in->a1--, in->b1--;
}

/* Are the lines behind x old and y new ones, seen from this end, equal? */
static bool same_at(const search *s, box in, direction way, int x, int y) {
    return way == FORWARD ? same(&s->a[in.a0 + x], &s->b[in.b0 + y])
                          : same(&s->a[in.a1 - 1 - x], &s->b[in.b1 - 1 - y]);
}

/* One edit more, to diagonal d, from a neighbour; then along equal lines. */
static int advance(const search *s, box in, direction way, int d, int spent) {
    int *reach = s->reach[way];
    int width = in.a1 - in.a0, height = in.b1 - in.b0;
    int x = UNREACHED;
    if (spent == 0)
        x = 0;
    if (spent && reach[d - 1] != UNREACHED && reach[d - 1] < width)
        x = reach[d - 1] + 1;
    if (spent && reach[d + 1] != UNREACHED && reach[d + 1] - d <= height)
        x = larger(x, reach[d + 1]);
    while (x != UNREACHED && x < width && x - d < height &&
           same_at(s, in, way, x, x - d))
        x++;
    return reach[d] = x;
}

/* Do the path of this direction on diagonal d and one of the other direction
 * touch? The other one sees the same diagonal from the far corner. */
static bool they_meet(const search *s, box in, direction way, int d,
                      int other_spent) {
    int width = in.a1 - in.a0, height = in.b1 - in.b0;
    int seen = width - height - d;
    if (seen < -other_spent || seen > other_spent || (seen - other_spent) % 2)
        return false;
    int here = s->reach[way][d], there = s->reach[!way][seen];
    return here != UNREACHED && there != UNREACHED && here + there >= width;
}

/* Where a shortest script is in its middle. False if that takes too long. */
static bool find_middle(const search *s, box in, int *a, int *b) {
    int width = in.a1 - in.a0, height = in.b1 - in.b0;
    for (direction way = FORWARD; way <= BACKWARD; way++)
        s->reach[way][-1] = s->reach[way][1] = UNREACHED;
    for (int spent = 0; spent <= EFFORT; spent++) {
        for (direction way = FORWARD; way <= BACKWARD; way++) {
            int other_spent = way == FORWARD ? spent - 1 : spent;
            int *reach = s->reach[way];
            /* neighbours that no path has come to yet */
            reach[-spent - 1] = reach[spent + 1] = UNREACHED;
            for (int d = -spent; d <= spent; d += 2) {
                if (d < -height || d > width) {
                    reach[d] = UNREACHED;
                    continue;
                }
                int x = advance(s, in, way, d, spent);
                if (!they_meet(s, in, way, d, other_spent))
                    continue;
                *a = way == FORWARD ? in.a0 + x : in.a1 - x;
                *b = way == FORWARD ? in.b0 + x - d : in.b1 - (x - d);
                return true;
            }
        }
    }
    return false;
}

static void add_change(search *s, box in) {
    if (in.a0 == in.a1 && in.b0 == in.b1)
        return;
    box *last =
        s->changes.count ? &s->changes.data[s->changes.count - 1] : NULL;
    if (last && last->a1 == in.a0 && last->b1 == in.b0) {
        last->a1 = in.a1;
        last->b1 = in.b1;
        return;
    }
    AR_PUSH(s->arena, &s->changes, in);
}

static void compare(search *s, box in) {
    int a, b;
    trim(s, &in);
    if (in.a0 == in.a1 || in.b0 == in.b1 || !find_middle(s, in, &a, &b)) {
        add_change(s, in);
        return;
    }
    compare(s, (box){in.a0, a, in.b0, b});
    compare(s, (box){a, in.a1, b, in.b1});
}

/* Lines put in or taken out whose first line also follows them can be shown
 * one line later, and then look like what a writer does: a function goes in
 * with its own closing brace. */
static void slide(const search *s, int a_count, int b_count) {
    for (uint32_t i = 0; i < s->changes.count; i++) {
        box *c = &s->changes.data[i];
        bool last = i + 1 == s->changes.count;
        int a_end = last ? a_count : c[1].a0 - 1;
        int b_end = last ? b_count : c[1].b0 - 1;
        bool in_a = c->b0 == c->b1;
        if (!in_a && c->a0 != c->a1)
            continue;
        while (c->a1 < a_end && c->b1 < b_end &&
               (in_a ? same(&s->a[c->a0], &s->a[c->a1])
                     : same(&s->b[c->b0], &s->b[c->b1])))
            c->a0++, c->a1++, c->b0++, c->b1++;
    }
}

static boxes find_changes(ar_arena *arena, const lines *a, const lines *b) {
    search s = {.arena = arena, .a = a->data, .b = b->data};
    size_t side = EFFORT + 2;
    for (direction way = FORWARD; way <= BACKWARD; way++)
        s.reach[way] = AR_NEW_ARRAY(arena, int, 2 * side) + side;
    compare(&s, (box){0, (int)a->count, 0, (int)b->count});
    slide(&s, (int)a->count, (int)b->count);
    return s.changes;
}

/* ---- hunks -------------------------------------------------------------- */

static void print_lines(FILE *out, char sign, const lines *from, int begin,
                        int end) {
    for (const line *one = from->data + begin; begin < end; begin++, one++) {
        fputc(sign, out);
        fwrite(one->text, 1, one->size, out);
        if (one->text[one->size - 1] != '\n')
            fputs("\n\\ No newline at end of file\n", out);
    }
}

/* An empty range is named by the line before it. */
static void print_range(FILE *out, char sign, int begin, int end) {
    fprintf(out, "%c%d", sign, begin == end ? begin : begin + 1);
    if (end - begin != 1)
        fprintf(out, ",%d", end - begin);
}

static void print_hunk(FILE *out, const lines *a, const lines *b,
                       const box *list, uint32_t count) {
    const box *last = &list[count - 1];
    int before = smaller(list[0].a0, CONTEXT);
    int after = smaller((int)a->count - last->a1, CONTEXT);
    fputs("@@ ", out);
    print_range(out, '-', list[0].a0 - before, last->a1 + after);
    fputc(' ', out);
    print_range(out, '+', list[0].b0 - before, last->b1 + after);
    fputs(" @@\n", out);
    int at = list[0].a0 - before;
    for (uint32_t i = 0; i < count; i++) {
        print_lines(out, ' ', a, at, list[i].a0);
        print_lines(out, '-', a, list[i].a0, list[i].a1);
        print_lines(out, '+', b, list[i].b0, list[i].b1);
        at = list[i].a1;
    }
    print_lines(out, ' ', a, at, last->a1 + after);
}

static bool is_control(char c) {
    return (unsigned char)c < ' ' || c == 127;
}

/* In quotes, as a C string: what diff(1) prints and patch(1) reads. */
static void print_quoted(FILE *out, const char *name) {
    fputc('"', out);
    for (const char *c = name; *c; c++)
        if (is_control(*c))
            fprintf(out, "\\%03o", (unsigned)(unsigned char)*c);
        else
            fprintf(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    fputc('"', out);
}

/* patch(1) ends a name at the first blank unless a tab follows it. */
static void print_name(FILE *out, const char *sign, const char *name) {
    bool quoted = strpbrk(name, "\"\\") != NULL;
    for (const char *c = name; *c; c++)
        quoted |= is_control(*c);
    fprintf(out, "%s ", sign);
    if (quoted)
        print_quoted(out, name);
    else
        fprintf(out, "%s%s", name, strchr(name, ' ') ? "\t" : "");
    fputc('\n', out);
}

void ar_diff_print(FILE *out, const char *old_name, const char *new_name,
                   ar_bytes before, ar_bytes after) {
    ar_arena *arena = ar_arena_new();
    lines a = split(arena, before);
    lines b = split(arena, after);
    boxes list = find_changes(arena, &a, &b);
    if (list.count) {
        print_name(out, "---", old_name);
        print_name(out, "+++", new_name);
    }
    for (uint32_t i = 0, end; i < list.count; i = end) {
        end = i + 1;
        while (end < list.count &&
               list.data[end].a0 - list.data[end - 1].a1 <= 2 * CONTEXT)
            end++;
        print_hunk(out, &a, &b, &list.data[i], end - i);
    }
    ar_arena_free(arena);
}
