/* rule_at: the rule for a function where it is called. `for "file"` of a rule
 * means the file that a call is written in, wherever the question comes up. */
#ifndef AR_RULE_AT_H
#define AR_RULE_AT_H

#include "core/program.h"
#include "rules/rules.h"

/* NULL: no rule, no function, or no rules. `at`: the call. */
const ar_function_rule *ar_rule_at(const ar_rules *rules,
                                   const ar_program *program,
                                   const ar_decl *function, ar_range at);

#endif
