#include "core/rule_at.h"

const ar_function_rule *ar_rule_at(const ar_rules *rules,
                                   const ar_program *program,
                                   const ar_decl *function, ar_range at) {
    return rules && function
               ? ar_rules_find(rules, function->name,
                               ar_file_name(&program->files, at.file))
               : NULL;
}
