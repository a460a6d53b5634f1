/* What the stages ask a rule set: subjects, levels, parts, arity. */
#include "rules/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct fixture {
    ar_arena *arena;
    ar_rules *rules;
    ar_files files;
    ar_diags diags;
} fixture;

static void add(fixture *f, const char *name, const char *text, bool builtin) {
    ar_file_id id = ar_files_add(&f->files, name, name, false);
    ar_file *file = &f->files.list.data[id];
    file->bytes = text;
    file->size = (uint32_t)strlen(text);
    file->loaded = true;
    assert_true(ar_rules_parse(f->rules, &f->files, id, builtin, &f->diags));
}

static int set_up(void **state) {
    fixture *f = test_malloc(sizeof *f);
    ar_arena *arena = ar_arena_new();
    *f = (fixture){.arena = arena,
                   .rules = ar_rules_new(arena),
                   .files = {.arena = arena},
                   .diags = {.arena = arena}};
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    ar_arena_free(f->arena);
    test_free(f);
    return 0;
}

static void precision_and_role_are_found_apart(void **state) {
    fixture *f = *state;
    add(f, "u.amp",
        "keep fp32 field \"net.*\"; keep half field \"net.act*\";\n"
        "role grad net.act; keep fp32 role norm;\n",
        false);
    const ar_rules *r = f->rules;
    const ar_subject_rule *s =
        ar_rules_find_precision(r, AR_SUBJECT_FIELD, "net.act");
    assert_non_null(s);
    assert_true(s->half);
    s = ar_rules_find_precision(r, AR_SUBJECT_FIELD, "net.w");
    assert_non_null(s);
    assert_false(s->half);
    s = ar_rules_find_role(r, AR_SUBJECT_FIELD, "net.act");
    assert_non_null(s);
    assert_int_equal(s->sets_role, AR_ROLE_GRAD);
    assert_null(ar_rules_find_role(r, AR_SUBJECT_FIELD, "net.w"));
    assert_null(ar_rules_find_precision(r, AR_SUBJECT_VARIABLE, "net.w"));
    s = ar_rules_find_precision(r, AR_SUBJECT_ROLE, "norm");
    assert_non_null(s);
    assert_int_equal(s->subject_role, AR_ROLE_NORM);
}

static void a_later_level_entry_wins(void **state) {
    fixture *f = *state;
    add(f, "p.amp", "level O2 { param half; grad half; }", true);
    add(f, "u.amp", "level O2 { param fp32; }", false);
    assert_false(ar_rules_find_level(f->rules, 2, AR_ROLE_PARAM)->half);
    assert_true(ar_rules_find_level(f->rules, 2, AR_ROLE_GRAD)->half);
    assert_null(ar_rules_find_level(f->rules, 3, AR_ROLE_GRAD));
    assert_true(ar_rules_check(f->rules, &f->diags));
}

static void a_function_has_a_use_and_a_part(void **state) {
    fixture *f = *state;
    add(f, "u.amp",
        "op xent loss(in p, out d) deny; seed loss(in p, out d: grad);\n"
        "clip limit(inout g);\n",
        false);
    assert_true(ar_rules_check(f->rules, &f->diags));
    const ar_rules *r = f->rules;
    assert_int_equal(ar_rules_find(r, "loss", "a.c")->kind, AR_RULE_OP);
    assert_int_equal(ar_rules_find_part(r, "loss", "a.c")->kind, AR_RULE_SEED);
    assert_int_equal(ar_rules_find(r, "limit", "a.c")->kind, AR_RULE_CLIP);
    assert_null(ar_rules_find_part(r, "other", "a.c"));
}

static void algebra_is_read_as_written(void **state) {
    fixture *f = *state;
    add(f, "u.amp",
        "op a g(k, in x, in y, inout z)\n"
        "    infer  z = 2 * k * x - z / y + f(x, y), return = 0;\n",
        false);
    const ar_function_rule *rule = ar_rules_find(f->rules, "g", "a.c");
    assert_int_equal(rule->equation_count, 2);
    assert_int_equal(rule->algebra[0].target, 3);
    assert_int_equal(rule->algebra[0].term_count, 3);
    const ar_term *t = rule->algebra[0].terms;
    assert_int_equal(t[0].factor_count, 2);
    assert_int_equal(t[0].factors[0], 0);
    assert_int_equal(t[0].factors[1], 1);
    assert_true(t[0].coefficient == 2);
    assert_int_equal(t[1].factor_count, 1);
    assert_int_equal(t[1].factors[0], 3);
    assert_int_equal(t[1].nonlinear_count, 1);
    assert_int_equal(t[1].nonlinear[0], 2);
    assert_true(t[1].coefficient == -1);
    assert_false(t[1].is_nonlinear);
    assert_true(t[2].is_nonlinear);
    assert_int_equal(t[2].factor_count, 2);
    assert_int_equal(rule->algebra[1].target, AR_TARGET_RESULT);
    assert_int_equal(rule->algebra[1].term_count, 0);
}

static void uses_come_from_names_and_marks(void **state) {
    fixture *f = *state;
    add(f, "u.amp",
        "alloc take(out ptr, rows: count, size, flags);\n"
        "op a g(bytes, count);\n",
        false);
    const ar_function_rule *rule = ar_rules_find(f->rules, "take", "a.c");
    assert_int_equal(rule->uses[0], AR_USE_POINTER);
    assert_int_equal(rule->uses[1], AR_USE_COUNT);
    assert_int_equal(rule->uses[2], AR_USE_SIZE);
    assert_int_equal(rule->uses[3], AR_USE_NONE);
    assert_null(ar_rules_find(f->rules, "g", "a.c")->uses);
}

static void arity_is_checked_at_the_rule(void **state) {
    fixture *f = *state;
    add(f, "u.amp", "pure two(a, b), more(a, ...), any;", false);
    const ar_rules *r = f->rules;
    const ar_function_rule *two = ar_rules_find(r, "two", "a.c");
    const ar_function_rule *more = ar_rules_find(r, "more", "a.c");
    const ar_function_rule *any = ar_rules_find(r, "any", "a.c");
    assert_true(ar_rule_check_arity(two, "two", 2, false, &f->diags));
    assert_true(ar_rule_check_arity(two, "two", 1, true, &f->diags));
    assert_true(ar_rule_check_arity(more, "more", 3, false, &f->diags));
    assert_true(ar_rule_check_arity(any, "any", 0, false, &f->diags));
    assert_true(ar_rule_check_arity(any, "any", 7, false, &f->diags));
    assert_int_equal(f->diags.errors, 0);
    assert_false(ar_rule_check_arity(two, "two", 3, false, &f->diags));
    assert_false(ar_rule_check_arity(more, "more", 0, false, &f->diags));
    assert_int_equal(f->diags.errors, 2);
    assert_string_equal(f->diags.list.data[0].text,
                        "rule for 'two' has 2 parameters, the function has 3");
    assert_int_equal(f->diags.list.data[0].range.begin, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(precision_and_role_are_found_apart,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_later_level_entry_wins, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_function_has_a_use_and_a_part, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(algebra_is_read_as_written, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(uses_come_from_names_and_marks, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(arity_is_checked_at_the_rule, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
