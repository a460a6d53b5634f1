/* The registry: ranges, marks, and what freeing does. */
#include "buffers.h"
#include "check.h"

static amp_segment at(const void *p) {
    amp_segment s;
    assert_true(amp_buffers_find(p, &s));
    return s;
}

static bool known(const void *p) {
    amp_segment s;
    return amp_buffers_find(p, &s);
}

static void allocators_register(void **state) {
    (void)state;
    float *p = amp_malloc(400, AMP_PARAM, 2, "w");
    float *q = amp_calloc(10, 8, AMP_GRAD, 3, "dw");
    assert_int_equal(at(p).role, AMP_PARAM);
    assert_int_equal(at(p).group, 2);
    assert_int_equal(at(p).bytes, 400);
    assert_string_equal(at(p + 99).name, "w");
    assert_int_equal(at(q).bytes, 80);
    for (int i = 0; i < 20; i++)
        assert_true(q[i] == 0.0f);
    assert_false(known(p + 100) && at(p + 100).base == (char *)p);
    amp_free(p);
    assert_false(known(p));
    assert_true(known(q));
    amp_free(q);
    assert_false(known(q));
}

static void free_takes_anything(void **state) {
    (void)state;
    amp_free(NULL);
    amp_free(malloc(10));
    float *p = amp_malloc(16, AMP_GRAD, 0, NULL);
    amp_free(malloc(10));
    assert_true(known(p));
    amp_free(p);
}

static void registers_foreign_memory(void **state) {
    (void)state;
    static float x[100];
    assert_int_equal(amp_register(x, sizeof x, AMP_PARAM, 0, "x"), AMP_OK);
    assert_int_equal(amp_register(x, sizeof x, AMP_GRAD, 1, "y"), AMP_OK);
    assert_int_equal(at(x + 50).role, AMP_GRAD);
    assert_int_equal(amp_register(x + 10, 40, AMP_GRAD, 1, "z"),
                     AMP_ERR_OVERLAP);
    assert_int_equal(amp_register(x, 40, AMP_GRAD, 1, "z"), AMP_ERR_OVERLAP);
    assert_int_equal(amp_unregister(x + 1), AMP_ERR_UNKNOWN_BUFFER);
    assert_int_equal(amp_unregister(x), AMP_OK);
    assert_int_equal(amp_unregister(x), AMP_ERR_UNKNOWN_BUFFER);
    assert_int_equal(amp_register(NULL, 4, AMP_GRAD, 0, NULL),
                     AMP_ERR_ARGUMENT);
    assert_int_equal(amp_register(x, 0, AMP_GRAD, 0, NULL), AMP_ERR_ARGUMENT);
    assert_int_equal(amp_register(x, 4, AMP_GRAD, AMP_MAX_GROUPS, NULL),
                     AMP_ERR_ARGUMENT);
    assert_int_equal(amp_register(x, 4, AMP_GRAD, -1, NULL), AMP_ERR_ARGUMENT);
    assert_int_equal(amp_register(x, 4, (amp_role)9, 0, NULL),
                     AMP_ERR_ARGUMENT);
}

/* Code that registers its arrays may run twice; cuts start anew then. */
static void registers_a_cut_range_again(void **state) {
    (void)state;
    static float x[100];
    for (int round = 0; round < 2; round++) {
        assert_int_equal(amp_register(x, sizeof x, AMP_TRACKED, 0, "x"),
                         AMP_OK);
        assert_int_equal(at(x + 50).bytes, sizeof x);
        assert_int_equal(amp_mark(x + 40, AMP_GRAD, 1, "g"), AMP_OK);
        assert_int_equal(amp_mark(x + 70, AMP_PARAM, 0, "w"), AMP_OK);
        assert_int_equal(at(x + 50).role, AMP_GRAD);
    }
    assert_int_equal(amp_register(x, sizeof x - 4, AMP_GRAD, 0, "x"),
                     AMP_ERR_OVERLAP);
    assert_int_equal(amp_unregister(x), AMP_OK);
    assert_false(known(x + 80));
}

static void gradients_are_aligned(void **state) {
    (void)state;
    static float x[10];
    char *odd = (char *)x + 2;
    assert_int_equal(amp_register(odd, 8, AMP_GRAD, 0, "x"), AMP_ERR_ARGUMENT);
    assert_int_equal(amp_register(x, sizeof x, AMP_TRACKED, 0, "x"), AMP_OK);
    assert_int_equal(amp_mark(odd, AMP_GRAD_CARRY, 0, "x"), AMP_ERR_ARGUMENT);
    assert_int_equal(amp_unregister(x), AMP_OK);
}

/* One arena, cut into buffers as llm.c and its kind do. */
static void marks_cut_an_arena(void **state) {
    (void)state;
    float *arena = amp_malloc(100 * sizeof *arena, AMP_TRACKED, 0, "arena");
    assert_int_equal(amp_mark(arena + 60, AMP_GRAD, 1, "c"), AMP_OK);
    assert_int_equal(amp_mark(arena + 20, AMP_PARAM, 0, "b"), AMP_OK);
    assert_int_equal(at(arena + 19).role, AMP_TRACKED);
    assert_int_equal(at(arena + 20).role, AMP_PARAM);
    assert_int_equal(at(arena + 20).bytes, 40 * sizeof *arena);
    assert_int_equal(at(arena + 59).role, AMP_PARAM);
    assert_int_equal(at(arena + 60).bytes, 40 * sizeof *arena);
    assert_int_equal(at(arena + 99).group, 1);
    assert_int_equal(amp_mark(arena, AMP_GRAD, 0, "a"), AMP_OK);
    assert_int_equal(at(arena + 19).role, AMP_GRAD);
    assert_int_equal(at(arena + 20).role, AMP_PARAM);
    assert_int_equal(amp_mark(arena + 100, AMP_GRAD, 0, "past"),
                     AMP_ERR_UNKNOWN_BUFFER);
    amp_free(arena);
    assert_false(known(arena));
    assert_false(known(arena + 30));
    assert_false(known(arena + 70));
}

static void adjacent_parameters_are_one(void **state) {
    (void)state;
    float *arena = amp_malloc(100 * sizeof *arena, AMP_PARAM, 0, "a");
    assert_int_equal(amp_mark(arena + 40, AMP_PARAM, 0, "b"), AMP_OK);
    assert_int_equal(amp_mark(arena + 80, AMP_GRAD, 0, "g"), AMP_OK);
    assert_true(amp_buffers_is_param(arena + 30, 80));
    assert_true(amp_buffers_is_param(arena, 320));
    assert_false(amp_buffers_is_param(arena, 324));
    assert_false(amp_buffers_is_param(arena + 70, 80));
    amp_free(arena);
    assert_false(amp_buffers_is_param(arena, 4));
}

static void realloc_keeps_roles(void **state) {
    (void)state;
    float *p = amp_realloc(NULL, 400, AMP_GRAD, 1, "g");
    assert_int_equal(at(p).role, AMP_GRAD);
    assert_int_equal(amp_mark(p + 50, AMP_GRAD_CARRY, 2, "h"), AMP_OK);
    p = amp_realloc(p, 1 << 20, AMP_TRACKED, 0, "other");
    assert_int_equal(at(p).role, AMP_GRAD);
    assert_int_equal(at(p + 49).role, AMP_GRAD);
    assert_int_equal(at(p + 50).role, AMP_GRAD_CARRY);
    assert_int_equal(at(p + (1 << 18) - 1).group, 2);
    p = amp_realloc(p, 100, AMP_TRACKED, 0, "other");
    assert_int_equal(at(p).bytes, 100);
    assert_int_equal(at(p).role, AMP_GRAD);
    amp_free(p);
    assert_false(known(p));
    /* Tracked memory takes the role that it is given now. */
    p = amp_malloc(40, AMP_TRACKED, 0, "t");
    p = amp_realloc(p, 80, AMP_PARAM, 3, "t");
    assert_int_equal(at(p).role, AMP_PARAM);
    assert_int_equal(at(p).bytes, 80);
    amp_free(p);
    /* A role that makes no sense leaves it tracked, where it is now. */
    p = amp_malloc(40, AMP_TRACKED, 0, "t");
    p = amp_realloc(p, 1 << 20, (amp_role)9, 3, "t");
    assert_int_equal(at(p).role, AMP_TRACKED);
    assert_int_equal(at(p).bytes, 1 << 20);
    amp_free(p);
    /* Memory from elsewhere is taken in. */
    p = amp_realloc(malloc(10), 40, AMP_PARAM, 0, "m");
    assert_int_equal(at(p).role, AMP_PARAM);
    amp_free(p);
}

/* A buffer freed behind the registry's back must not block its successor at
 * the same address. (Allocators that never reuse one, as sanitizers do, have
 * nothing to test.) */
static void stale_entries_give_way(void **state) {
    (void)state;
    void *old = amp_malloc(64, AMP_GRAD, 0, "old");
    uintptr_t address = (uintptr_t)old;
    free(old);
    void *next = amp_malloc(64, AMP_PARAM, 0, "new");
    if ((uintptr_t)next == address) {
        assert_int_equal(at(next).role, AMP_PARAM);
        assert_string_equal(at(next).name, "new");
    }
    amp_free(next);
    assert_false(known(next));
}

static bool sum_bytes(amp_segment *s, void *context) {
    *(size_t *)context += s->bytes;
    return true;
}

static void gradients_of_a_group(void **state) {
    (void)state;
    float *a = amp_malloc(40, AMP_GRAD, 5, "a");
    float *b = amp_malloc(80, AMP_GRAD_CARRY, 5, "b");
    float *c = amp_malloc(160, AMP_PARAM, 5, "c");
    float *d = amp_malloc(320, AMP_GRAD, 6, "d");
    size_t bytes = 0;
    assert_int_equal(amp_buffers_gradients(5, sum_bytes, &bytes), 2);
    assert_int_equal(bytes, 120);
    amp_free(a);
    amp_free(b);
    amp_free(c);
    amp_free(d);
    assert_int_equal(amp_buffers_gradients(5, sum_bytes, &bytes), 0);
}

static void failed_registration_is_remembered(void **state) {
    (void)state;
    void *p = amp_malloc(8, AMP_GRAD, AMP_MAX_GROUPS, "bad group");
    assert_non_null(p);
    assert_false(known(p));
    amp_free(p);
    p = amp_malloc(8, (amp_role)7, 4, "bad role");
    assert_true(amp_buffers_take_failure(4));
    assert_false(amp_buffers_take_failure(4));
    amp_free(p);
}

static void many_buffers(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    static float *p[COUNT];
    uint64_t seed = 1;
    for (int i = 0; i < COUNT; i++)
        p[i] = amp_malloc(4 + next_random(&seed) % 500, AMP_PARAM, i % 16, "p");
    for (int i = 0; i < COUNT; i += 2)
        amp_free(p[i]);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(known(p[i]) && at(p[i]).start == (char *)p[i], i % 2);
    for (int i = 1; i < COUNT; i += 2)
        amp_free(p[i]);
    for (int i = 0; i < COUNT; i++)
        assert_false(known(p[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocators_register),
        cmocka_unit_test(free_takes_anything),
        cmocka_unit_test(registers_foreign_memory),
        cmocka_unit_test(registers_a_cut_range_again),
        cmocka_unit_test(gradients_are_aligned),
        cmocka_unit_test(marks_cut_an_arena),
        cmocka_unit_test(adjacent_parameters_are_one),
        cmocka_unit_test(realloc_keeps_roles),
        cmocka_unit_test(gradients_of_a_group),
        cmocka_unit_test(failed_registration_is_remembered),
        cmocka_unit_test(many_buffers),
        cmocka_unit_test(stale_entries_give_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
