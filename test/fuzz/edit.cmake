# The edit applier and the diff, against naive ones.
add_executable(edit_fuzz edit_fuzz.c)
target_link_libraries(edit_fuzz PRIVATE ar_out)
amp_warnings(edit_fuzz)
add_test(NAME fuzz_edit COMMAND edit_fuzz 20000)
