/* Ops: what the program computes, each with its category, and at a level its
 * precision.
 *
 * match finds them: calls and launches of functions that a rule knows, and
 * loop nests over float memory. solve decides. */
#ifndef AR_OPS_H
#define AR_OPS_H

#include "core/level.h"
#include "core/loops.h"
#include "core/program.h"
#include "rules/rules.h"

typedef enum ar_op_form {
    AR_OP_CALL,
    AR_OP_LAUNCH,
    AR_OP_LOOP /* an outermost loop that stores to float memory */
} ar_op_form;

typedef struct ar_op_site {
    ar_op_form form;
    ar_unit *unit;
    ar_decl *function;            /* that holds it */
    ar_node *node;                /* CALL, LAUNCH, or the loop statement */
    ar_entity *callee;            /* CALL, LAUNCH; NULL through a pointer */
    const ar_function_rule *rule; /* NULL for loops */
    ar_loop_shape shape;
    ar_category category;
    const char *name; /* gemm, exp, loop, ... */
    /* filled by solve */
    bool half;
    const char *reason; /* why this precision */
    ar_range reason_at; /* the pragma or fact behind it; no range: the rule */
    const char *unlock; /* what would make it half, or NULL */
} ar_op_site;

typedef struct ar_ops {
    AR_VEC(ar_op_site) list; /* in file and offset order */
    uint32_t half_count;
    uint32_t outside_count; /* would be half, were it not for their files */
    ar_range first_outside;
} ar_ops;

/* Rules whose parameters do not fit the prototype are reported to rule_diags,
 * whose places are in the files of the rules. */
ar_ops *ar_match(ar_arena *arena, ar_program *program, const ar_rules *rules,
                 ar_diags *rule_diags);
/* --dump-after=match and solve */
void ar_ops_dump(FILE *out, ar_program *program, const ar_ops *ops);

/* A declaration of the function with a name for every parameter, whose text a
 * wrapper can repeat; NULL if there is none. */
const ar_decl *ar_named_declaration(const ar_entity *function);

/* How many buffers a redirected call rounds to half. */
uint32_t ar_half_operands(const ar_function_rule *rule);

/* Gives every op a precision and one reason. */
void ar_solve_ops(ar_arena *arena, ar_program *program, const ar_rules *rules,
                  ar_level level, ar_ops *ops, ar_diags *diags);

/* Says which ops in half have constant sizes that do not suit it. */
void ar_remark_sizes(ar_arena *arena, const ar_ops *ops, ar_diags *diags);

#endif
