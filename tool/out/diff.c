/* The unified diff of two texts, line by line as GNU diff finds it: Myers'
 * O(ND) difference in linear space (Algorithmica 1, 1986) over the lines that
 * both sides have, with GNU diff's choices where several answers are shortest,
 * so that a reviewer sees the same hunks in either. Lines that cannot match
 * are set aside first, which keeps D small for a source with many edits. */
#include "out/edit.h"

#include <stdlib.h>

enum { CONTEXT = 3 };

/* Beyond this cost a shortest answer is no longer worth its time. */
enum { COST_LIMIT = 4096 };

typedef struct span {
    const char *text;
    uint32_t size; /* with the line end, if there is one */
} span;

typedef struct text {
    span *lines;
    int count;
    /* The window that is compared: what both sides share at the ends is left
     * out but for the context. */
    int first;     /* the same in both texts */
    int length;    /* lines of the window */
    int *classes;  /* equal number: equal line; of the window */
    char *changed; /* of the window, with a 0 before and after it */
    int *kept;     /* classes of the lines that are compared */
    int *kept_at;  /* their places in the window */
    int kept_count;
} text;

static text split(ar_arena *arena, ar_bytes bytes) {
    AR_VEC(span) lines = {0};
    const char *end = bytes.data + bytes.size;
    for (const char *p = bytes.data; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *next = newline ? newline + 1 : end;
        AR_PUSH(arena, &lines, (span){p, (uint32_t)(next - p)});
        p = next;
    }
    return (text){.lines = lines.data, .count = (int)lines.count};
}

static bool same_span(span a, span b) {
    return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

/* ---- the window -------------------------------------------------------- */

static void find_window(text *a, text *b) {
    int shorter = smaller(a->count, b->count);
    int prefix = 0;
    while (prefix < shorter && same_span(a->lines[prefix], b->lines[prefix]))
        prefix++;
    int first = larger(prefix - CONTEXT, 0);
    int suffix = 0;
    while (suffix < shorter - first &&
           same_span(a->lines[a->count - suffix - 1],
                     b->lines[b->count - suffix - 1]))
        suffix++;
    int dropped = larger(suffix - CONTEXT, 0);
    a->first = b->first = first;
    a->length = a->count - dropped - first;
    b->length = b->count - dropped - first;
}

static uint32_t hash(span s) {
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < s.size; i++)
        h = (h ^ (unsigned char)s.text[i]) * 16777619u;
    return h ^ (h >> 15);
}

typedef struct class_table {
    span *spans; /* of each class */
    int *slots;  /* class + 1, or 0 */
    uint32_t mask;
    int count;
} class_table;

static int class_of(class_table *table, span s) {
    uint32_t at = hash(s) & table->mask;
    while (table->slots[at]) {
        int class = table->slots[at] - 1;
        if (same_span(table->spans[class], s))
            return class;
        at = (at + 1) & table->mask;
    }
    table->spans[table->count] = s;
    table->slots[at] = ++table->count;
    return table->count - 1;
}

/* Returns the number of classes. */
static int classify(ar_arena *arena, text *a, text *b) {
    size_t lines = (size_t)a->length + (size_t)b->length;
    uint32_t size = 16;
    while (size < lines * 2)
        size *= 2;
    class_table table = {.spans = AR_NEW_ARRAY(arena, span, lines),
                         .slots = AR_NEW_ARRAY(arena, int, size),
                         .mask = size - 1};
    text *sides[] = {a, b};
    for (int s = 0; s < 2; s++) {
        text *side = sides[s];
        side->classes = AR_NEW_ARRAY(arena, int, (size_t)side->length);
        side->changed = AR_NEW_ARRAY(arena, char, (size_t)side->length + 2) + 1;
        for (int i = 0; i < side->length; i++)
            side->classes[i] = class_of(&table, side->lines[side->first + i]);
    }
    return table.count;
}

/* ---- lines set aside ---------------------------------------------------- */

typedef enum mark {
    KEEP,
    MAYBE, /* matches so many lines that it says little (a lone brace) */
    DROP   /* matches no line of the other side */
} mark;

/* The square root of n to a power of two, times base. */
static int scaled_root(int base, int n) {
    for (n >>= 2; n > 0; n >>= 2)
        base *= 2;
    return base;
}

/* From one end of a run: MAYBEs are kept until three DROPs in a row were seen,
 * or a DROP eight or more lines in. */
static void keep_edge(mark *marks, int from, int step, int length) {
    int in_a_row = 0;
    for (int i = 0; i < length && in_a_row < 3; i++) {
        mark *m = &marks[from + step * i];
        if (*m == DROP && i >= 8)
            return;
        in_a_row = *m == DROP ? in_a_row + 1 : 0;
        if (*m == MAYBE)
            *m = KEEP;
    }
}

/* In a run of lines that may go, with a DROP at both ends: MAYBEs go with
 * their neighbours only where they are few and scattered. */
static void thin_run(mark *marks, int begin, int end) {
    int length = end - begin;
    int maybe = 0;
    for (int i = begin; i < end; i++)
        maybe += marks[i] == MAYBE;
    int longest = scaled_root(1, length >> 2) + 1;
    for (int i = begin; i < end;) {
        int stop = i;
        while (stop < end && marks[stop] == MAYBE)
            stop++;
        bool keep = maybe * 4 > length || stop - i >= longest;
        for (int k = i; keep && k < stop; k++)
            marks[k] = KEEP;
        i = larger(stop, i + 1);
    }
    if (maybe * 4 > length)
        return;
    keep_edge(marks, begin, 1, length);
    keep_edge(marks, end - 1, -1, length);
}

/* MAYBEs outside a run that DROPs hold together are kept. */
static void settle_marks(mark *marks, int count) {
    for (int i = 0; i < count;) {
        if (marks[i] != DROP) {
            marks[i++] = KEEP;
            continue;
        }
        int end = i, last_drop = i;
        for (; end < count && marks[end] != KEEP; end++)
            if (marks[end] == DROP)
                last_drop = end;
        for (int k = last_drop + 1; k < end; k++)
            marks[k] = KEEP;
        thin_run(marks, i, last_drop + 1);
        i = last_drop + 1;
    }
}

static int *count_classes(ar_arena *arena, const text *side, int classes) {
    int *counts = AR_NEW_ARRAY(arena, int, (size_t)classes);
    for (int i = 0; i < side->length; i++)
        counts[side->classes[i]]++;
    return counts;
}

/* other: how often each class occurs on the other side. */
static void set_aside(ar_arena *arena, text *side, const int *other) {
    size_t count = (size_t)side->length;
    mark *marks = AR_NEW_ARRAY(arena, mark, count);
    int many = scaled_root(5, side->length / 64);
    for (int i = 0; i < side->length; i++) {
        int matches = other[side->classes[i]];
        marks[i] = matches == 0 ? DROP : matches > many ? MAYBE : KEEP;
    }
    settle_marks(marks, side->length);
    side->kept = AR_NEW_ARRAY(arena, int, count);
    side->kept_at = AR_NEW_ARRAY(arena, int, count);
    for (int i = 0; i < side->length; i++) {
        if (marks[i] != KEEP) {
            side->changed[i] = 1;
            continue;
        }
        side->kept[side->kept_count] = side->classes[i];
        side->kept_at[side->kept_count++] = i;
    }
}

/* ---- Myers ------------------------------------------------------------- */

/* A box of the edit graph: x in the old lines, y in the new. Diagonal d holds
 * the points with x - y == d. */
typedef struct box {
    int x0, x1, y0, y1;
} box;

typedef enum effort {
    SHORTEST, /* whatever it costs */
    BOUNDED
} effort;

typedef struct cut {
    int x, y;
    effort before, after;
} cut;

typedef struct search {
    text *a, *b;
    int *forward, *backward; /* furthest x on each diagonal */
    int limit;
} search;

typedef struct frontier {
    int low, high; /* diagonals reached */
} frontier;

/* One more difference: both ends of the frontier move out, or in at the edge
 * of the box. What lies beyond is marked as not reached. */
static void widen(frontier *f, int *reach, int least, int most, int never) {
    if (f->low > least)
        reach[--f->low - 1] = never;
    else
        f->low++;
    if (f->high < most)
        reach[++f->high + 1] = never;
    else
        f->high--;
}

static int slide_forward(const search *s, box in, int d) {
    int lower = s->forward[d - 1], upper = s->forward[d + 1];
    int x = lower < upper ? upper : lower + 1;
    while (x < in.x1 && x - d < in.y1 && s->a->kept[x] == s->b->kept[x - d])
        x++;
    return s->forward[d] = x;
}

static int slide_backward(const search *s, box in, int d) {
    int lower = s->backward[d - 1], upper = s->backward[d + 1];
    int x = lower < upper ? lower : upper - 1;
    while (x > in.x0 && x - d > in.y0 &&
           s->a->kept[x - 1] == s->b->kept[x - d - 1])
        x--;
    return s->backward[d] = x;
}

/* Too dear: cut where one of the two searches has come furthest. */
static cut furthest_cut(const search *s, box in, frontier f, frontier b) {
    int best_f = -1, x_f = in.x0;
    for (int d = f.high; d >= f.low; d -= 2) {
        int x = smaller(smaller(s->forward[d], in.x1), in.y1 + d);
        if (x + x - d > best_f) {
            best_f = x + x - d;
            x_f = x;
        }
    }
    int best_b = INT32_MAX, x_b = in.x1;
    for (int d = b.high; d >= b.low; d -= 2) {
        int x = larger(larger(s->backward[d], in.x0), in.y0 + d);
        if (x + x - d < best_b) {
            best_b = x + x - d;
            x_b = x;
        }
    }
    if (in.x1 + in.y1 - best_b < best_f - (in.x0 + in.y0))
        return (cut){x_f, best_f - x_f, SHORTEST, BOUNDED};
    return (cut){x_b, best_b - x_b, BOUNDED, SHORTEST};
}

/* A point in the middle of a shortest path through the box. */
static cut find_cut(const search *s, box in, effort how) {
    int least = in.x0 - in.y1, most = in.x1 - in.y0;
    int start = in.x0 - in.y0, goal = in.x1 - in.y1;
    bool odd = ((start - goal) & 1) != 0;
    frontier f = {start, start}, b = {goal, goal};
    s->forward[start] = in.x0;
    s->backward[goal] = in.x1;
    for (int cost = 1;; cost++) {
        widen(&f, s->forward, least, most, -1);
        for (int d = f.high; d >= f.low; d -= 2) {
            int x = slide_forward(s, in, d);
            if (odd && b.low <= d && d <= b.high && s->backward[d] <= x)
                return (cut){x, x - d, SHORTEST, SHORTEST};
        }
        widen(&b, s->backward, least, most, INT32_MAX);
        for (int d = b.high; d >= b.low; d -= 2) {
            int x = slide_backward(s, in, d);
            if (!odd && f.low <= d && d <= f.high && x <= s->forward[d])
                return (cut){x, x - d, SHORTEST, SHORTEST};
        }
        if (how == BOUNDED && cost >= s->limit)
            return furthest_cut(s, in, f, b);
    }
}

static void compare(const search *s, box in, effort how) {
    const int *a = s->a->kept, *b = s->b->kept;
    while (in.x0 < in.x1 && in.y0 < in.y1 && a[in.x0] == b[in.y0])
        in.x0++, in.y0++;
    while (in.x0 < in.x1 && in.y0 < in.y1 && a[in.x1 - 1] == b[in.y1 - 1])
        in.x1--, in.y1--;
    if (in.x0 == in.x1 || in.y0 == in.y1) {
        for (int x = in.x0; x < in.x1; x++)
            s->a->changed[s->a->kept_at[x]] = 1;
        for (int y = in.y0; y < in.y1; y++)
            s->b->changed[s->b->kept_at[y]] = 1;
        return;
    }
    cut at = find_cut(s, in, how);
    compare(s, (box){in.x0, at.x, in.y0, at.y}, at.before);
    compare(s, (box){at.x, in.x1, at.y, in.y1}, at.after);
}

static void compare_kept(ar_arena *arena, text *a, text *b) {
    int diagonals = a->kept_count + b->kept_count + 3;
    int *reach = AR_NEW_ARRAY(arena, int, 2 * (size_t)diagonals);
    int limit = 1;
    for (int n = diagonals; n > 0; n >>= 2)
        limit *= 2;
    search s = {.a = a,
                .b = b,
                .forward = reach + b->kept_count + 1,
                .backward = reach + diagonals + b->kept_count + 1,
                .limit = larger(limit, COST_LIMIT)};
    compare(&s, (box){0, a->kept_count, 0, b->kept_count}, BOUNDED);
}

/* ---- where a change is shown -------------------------------------------- */

/* A run of changed lines [begin, end) of one side, and the place in the other
 * side just after the changes that face it. */
typedef struct run {
    const int *classes;
    char *changed;
    const char *other;
    int begin, end, facing, length;
} run;

static void step_back(run *r) {
    r->changed[--r->begin] = 1;
    r->changed[--r->end] = 0;
    while (r->changed[r->begin - 1])
        r->begin--;
    while (r->other[--r->facing])
        ;
}

/* True if the run now ends at a change of the other side. */
static bool step_forward(run *r) {
    bool faces = false;
    r->changed[r->begin++] = 0;
    r->changed[r->end++] = 1;
    while (r->changed[r->end])
        r->end++;
    while (r->other[++r->facing])
        faces = true;
    return faces;
}

/* A run whose last line equals the line before it (or first, after it) can
 * slide. It goes as far down as it can, taking in the runs that it meets, then
 * back up to the last place where it faces a change of the other side. */
static void slide_run(run *r) {
    int size, facing_end;
    do {
        size = r->end - r->begin;
        while (r->begin > 0 &&
               r->classes[r->begin - 1] == r->classes[r->end - 1])
            step_back(r);
        facing_end =
            r->facing > 0 && r->other[r->facing - 1] ? r->end : r->length;
        while (r->end < r->length && r->classes[r->begin] == r->classes[r->end])
            if (step_forward(r))
                facing_end = r->end;
    } while (size != r->end - r->begin);
    while (facing_end < r->end)
        step_back(r);
}

static void slide_runs(text *side, const text *other) {
    run r = {.classes = side->classes,
             .changed = side->changed,
             .other = other->changed,
             .length = side->length};
    for (;;) {
        while (r.end < r.length && !r.changed[r.end]) {
            while (r.other[r.facing])
                r.facing++;
            r.facing++;
            r.end++;
        }
        if (r.end == r.length)
            return;
        r.begin = r.end;
        while (r.changed[r.end])
            r.end++;
        while (r.other[r.facing])
            r.facing++;
        slide_run(&r);
    }
}

/* ---- hunks ------------------------------------------------------------- */

typedef struct change {
    int a0, a1, b0, b1; /* lines of the texts, ends exclusive */
} change;

typedef AR_VEC(change) changes;

static void list_changes(ar_arena *arena, const text *a, const text *b,
                         changes *out) {
    for (int i = 0, j = 0; i < a->length || j < b->length; i++, j++) {
        change c = {a->first + i, 0, b->first + j, 0};
        while (a->changed[i])
            i++;
        while (b->changed[j])
            j++;
        c.a1 = a->first + i;
        c.b1 = b->first + j;
        if (c.a0 != c.a1 || c.b0 != c.b1)
            AR_PUSH(arena, out, c);
    }
}

static void print_span(FILE *out, char sign, span line) {
    fputc(sign, out);
    fwrite(line.text, 1, line.size, out);
    if (line.text[line.size - 1] != '\n')
        fputs("\n\\ No newline at end of file\n", out);
}

static void print_spans(FILE *out, char sign, const text *t, int begin,
                        int end) {
    for (int i = begin; i < end; i++)
        print_span(out, sign, t->lines[i]);
}

/* An empty range is named by the line before it. */
static void print_range(FILE *out, char sign, int begin, int end) {
    fprintf(out, "%c%d", sign, begin == end ? begin : begin + 1);
    if (end - begin != 1)
        fprintf(out, ",%d", end - begin);
}

static void print_hunk(FILE *out, const text *a, const text *b,
                       const change *list, uint32_t count) {
    const change *last = &list[count - 1];
    int before = smaller(list[0].a0, CONTEXT);
    int after = smaller(a->count - last->a1, CONTEXT);
    fputs("@@ ", out);
    print_range(out, '-', list[0].a0 - before, last->a1 + after);
    fputc(' ', out);
    print_range(out, '+', list[0].b0 - before, last->b1 + after);
    fputs(" @@\n", out);
    int at = list[0].a0 - before;
    for (uint32_t i = 0; i < count; i++) {
        print_spans(out, ' ', a, at, list[i].a0);
        print_spans(out, '-', a, list[i].a0, list[i].a1);
        print_spans(out, '+', b, list[i].b0, list[i].b1);
        at = list[i].a1;
    }
    print_spans(out, ' ', a, at, last->a1 + after);
}

static void print_hunks(FILE *out, const text *a, const text *b,
                        const changes *list) {
    for (uint32_t i = 0; i < list->count;) {
        uint32_t end = i + 1;
        while (end < list->count &&
               list->data[end].a0 - list->data[end - 1].a1 <= 2 * CONTEXT)
            end++;
        print_hunk(out, a, b, &list->data[i], end - i);
        i = end;
    }
}

/* patch(1) ends a name at the first blank unless a tab follows it. */
static void print_name(FILE *out, const char *sign, const char *name) {
    fprintf(out, "%s %s%s\n", sign, name, strchr(name, ' ') ? "\t" : "");
}

void ar_diff_print(FILE *out, const char *old_name, const char *new_name,
                   ar_bytes before, ar_bytes after) {
    if (before.size == after.size &&
        (before.size == 0 || memcmp(before.data, after.data, before.size) == 0))
        return;
    ar_arena *arena = ar_arena_new();
    text a = split(arena, before);
    text b = split(arena, after);
    find_window(&a, &b);
    int classes = classify(arena, &a, &b);
    const int *in_a = count_classes(arena, &a, classes);
    const int *in_b = count_classes(arena, &b, classes);
    set_aside(arena, &a, in_b);
    set_aside(arena, &b, in_a);
    compare_kept(arena, &a, &b);
    slide_runs(&a, &b);
    slide_runs(&b, &a);
    changes list = {0};
    list_changes(arena, &a, &b, &list);
    print_name(out, "---", old_name);
    print_name(out, "+++", new_name);
    print_hunks(out, &a, &b, &list);
    ar_arena_free(arena);
}
