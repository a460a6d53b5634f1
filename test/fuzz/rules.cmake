# Deterministic mutations of the rule packs and of the test inputs.
add_executable(rules_fuzz rules_fuzz.c)
target_link_libraries(rules_fuzz PRIVATE ar_rules)
amp_warnings(rules_fuzz)
file(GLOB corpus CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rules/packs/*.amp
    ${PROJECT_SOURCE_DIR}/test/rules/*.amp
    ${PROJECT_SOURCE_DIR}/test/rules/inputs/*.amp)
add_test(NAME fuzz_rules COMMAND rules_fuzz 400 ${corpus})
