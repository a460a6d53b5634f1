/* The sorted ranges against a table with an entry per byte: random
 * registrations, marks and removals, and every question after each. */
#include "check.h"
#include "segments.h"

enum { BYTES = 96, STEPS = 20000 };

typedef struct cell {
    char *base; /* NULL: unknown */
    int part;   /* number of the segment, new with each cut */
    amp_role role;
} cell;

static char memory[BYTES];
static cell model[BYTES];
static int forgotten;

static void forget(amp_segment *s) {
    (void)s;
    forgotten++;
}

static amp_segments all = {.forget = forget};

static size_t below(uint64_t *seed, size_t n) {
    return (size_t)(next_random(seed) % n);
}

/* ---- the same on the table ---------------------------------------------- */

static void set(size_t from, size_t bytes, char *base, amp_role role) {
    static int parts;
    parts++;
    for (size_t i = from; i < from + bytes; i++)
        model[i] = (cell){base, parts, role};
}

static size_t extent(size_t at, int whole) {
    size_t end = at;
    while (end < BYTES && model[end].base == model[at].base &&
           (whole || model[end].part == model[at].part))
        end++;
    return end - at;
}

static amp_status model_register(size_t at, size_t bytes, amp_role role) {
    bool starts =
        model[at].base && (at == 0 || model[at - 1].part != model[at].part);
    if (starts && extent(at, 0) == bytes) {
        for (size_t i = at; i < at + bytes; i++)
            model[i].role = role;
        return AMP_OK;
    }
    bool is_whole = model[at].base == memory + at && extent(at, 1) == bytes;
    for (size_t i = at; i < at + bytes; i++)
        if (model[i].base && !is_whole)
            return AMP_ERR_OVERLAP;
    set(at, bytes, memory + at, role);
    return AMP_OK;
}

static amp_status model_mark(size_t at, amp_role role) {
    if (!model[at].base)
        return AMP_ERR_UNKNOWN_BUFFER;
    set(at, extent(at, 0), model[at].base, role);
    return AMP_OK;
}

static amp_status model_remove(size_t at) {
    if (model[at].base != memory + at)
        return AMP_ERR_UNKNOWN_BUFFER;
    set(at, extent(at, 1), NULL, AMP_TRACKED);
    return AMP_OK;
}

static void model_evict(size_t at, size_t bytes) {
    for (size_t i = at; i < at + bytes; i++)
        if (model[i].base)
            model_remove((size_t)(model[i].base - memory));
}

/* ---- comparison --------------------------------------------------------- */

static void compare_each_byte(void) {
    for (size_t i = 0; i < BYTES; i++) {
        const amp_segment *s = amp_segments_at(&all, memory + i);
        assert_int_equal(s != NULL, model[i].base != NULL);
        if (!s)
            continue;
        assert_ptr_equal(s->base, model[i].base);
        assert_int_equal(s->role, model[i].role);
        size_t start = (size_t)(s->start - memory);
        assert_int_equal(model[start].part, model[i].part);
        assert_int_equal(s->bytes, extent(start, 0));
    }
    for (size_t i = 1; i < all.count; i++)
        assert_true(all.items[i - 1].start + all.items[i - 1].bytes <=
                    all.items[i].start);
}

static void compare_ranges(size_t at, size_t bytes) {
    bool every = true;
    bool any = false;
    for (size_t i = at; i < at + bytes; i++) {
        bool param = model[i].base && model[i].role == AMP_PARAM;
        every = every && param;
        any = any || param;
    }
    assert_int_equal(amp_segments_are_params(&all, memory + at, bytes), every);
    assert_int_equal(amp_segments_touch_param(&all, memory + at, bytes), any);
}

static void agree(void **state) {
    (void)state;
    uint64_t seed = 42;
    for (int step = 0; step < STEPS; step++) {
        size_t at = below(&seed, BYTES);
        size_t most = BYTES - at < 40 ? BYTES - at : 40;
        size_t bytes = 1 + below(&seed, most);
        amp_role role = (amp_role)below(&seed, 4);
        amp_segment s = {.start = memory + at,
                         .bytes = bytes,
                         .base = memory + at,
                         .role = role};
        switch (below(&seed, 6)) {
        case 0:
        case 1:
            assert_int_equal(amp_segments_register(&all, &s),
                             model_register(at, bytes, role));
            break;
        case 2:
        case 3:
            assert_int_equal(
                amp_segments_mark(&all, memory + at, role, 0, NULL),
                model_mark(at, role));
            break;
        case 4:
            assert_int_equal(amp_segments_remove(&all, memory + at),
                             model_remove(at));
            break;
        default:
            amp_segments_evict(&all, memory + at, bytes);
            model_evict(at, bytes);
            break;
        }
        compare_each_byte();
        compare_ranges(at, bytes);
    }
    assert_true(forgotten > STEPS / 20);
    free(all.items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
