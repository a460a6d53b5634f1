/* Allocations in parts with elements of different sizes: where the parts lie,
 * and clearing of so many bytes as floats would take. */
#include "check.h"

#include <amp/amp_storage.h>

#include <stdlib.h>
#include <string.h>

enum { PARTS = 5 };

static const size_t lengths[PARTS] = {7, 3, 0, 5, 1};
static const size_t sizes[PARTS] = {2, 4, 2, 2, 4};

typedef struct arena {
    float *memory;
    size_t floats;
    unsigned char *parts[PARTS];
} arena;

/* As rewritten code does it; every byte is set. */
static void hand_out(arena *a, float *memory, const size_t *n) {
    float *it = memory;
    a->memory = memory;
    for (int i = 0; i < PARTS; i++) {
        amp_arena_part(&a->parts[i], it, n[i], sizes[i]);
        it += amp_arena_floats(n[i], sizes[i]);
    }
    a->floats = (size_t)(it - memory);
    memset(memory, 0xaa, a->floats * sizeof *memory);
}

static void room_is_whole_floats(void **state) {
    (void)state;
    assert_int_equal(amp_arena_floats(0, 2), 0);
    assert_int_equal(amp_arena_floats(1, 2), 1);
    assert_int_equal(amp_arena_floats(2, 2), 1);
    assert_int_equal(amp_arena_floats(7, 2), 4);
    assert_int_equal(amp_arena_floats(7, sizeof(float)), 7);
}

static void assert_cleared(const arena *a, size_t elements) {
    for (int i = 0; i < PARTS; i++)
        for (size_t k = 0; k < lengths[i]; k++, elements -= elements > 0)
            for (size_t b = 0; b < sizes[i]; b++)
                assert_int_equal(a->parts[i][k * sizes[i] + b],
                                 elements ? 0 : 0xaa);
}

static void clears_as_many_elements(void **state) {
    (void)state;
    float memory[32];
    for (size_t n = 0; n <= 16; n++) {
        arena a;
        hand_out(&a, memory, lengths);
        assert_int_equal(a.floats, 4 + 3 + 3 + 1);
        amp_arena_clear(memory, n * sizeof(float));
        assert_cleared(&a, n);
    }
}

static void clears_from_a_part_on(void **state) {
    (void)state;
    float memory[32];
    arena a;
    hand_out(&a, memory, lengths);
    amp_arena_clear(a.parts[1], 4 * sizeof(float));
    assert_int_equal(a.parts[0][13], 0xaa);
    assert_int_equal(a.parts[1][0], 0);
    assert_int_equal(a.parts[1][11], 0);
    assert_int_equal(a.parts[3][0], 0);
    assert_int_equal(a.parts[3][1], 0);
    assert_int_equal(a.parts[3][2], 0xaa);
}

/* Memory that was freed is handed out again, at other places in it. */
static void later_parts_count(void **state) {
    (void)state;
    float memory[64];
    static const size_t longer[PARTS] = {9, 1, 4, 20, 2};
    arena a;
    for (int i = 0; i < PARTS; i++) {
        hand_out(&a, memory + i, longer);
        hand_out(&a, memory + 2 * i, lengths);
        amp_arena_clear(memory + 2 * i, 16 * sizeof(float));
        assert_cleared(&a, 16);
    }
}

static void many_parts(void **state) {
    (void)state;
    enum { MANY = 1000 };
    float *memory = calloc(MANY, sizeof *memory);
    assert_non_null(memory);
    for (int i = MANY; i-- > 0;) {
        float *part;
        amp_arena_part(&part, memory + i, 1 + (size_t)(i % 2),
                       i % 2 ? 2 : sizeof *part);
        assert_ptr_equal(part, memory + i);
        *part = 1.0f;
    }
    amp_arena_clear(memory, (MANY + MANY / 2) * sizeof *memory);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(bits_of(memory[i]), 0);
    free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_whole_floats),
        cmocka_unit_test(clears_as_many_elements),
        cmocka_unit_test(clears_from_a_part_on),
        cmocka_unit_test(later_parts_count),
        cmocka_unit_test(many_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
