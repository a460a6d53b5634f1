/* The edits of a storage level: what the plan can and cannot rewrite. */
#ifndef AR_PLAN_STORAGE_H
#define AR_PLAN_STORAGE_H

#include "core/plan.h"
#include "core/solve_storage.h"

/* Why this site of a class that would be half cannot be rewritten, in plain
 * words without the place ("text of a macro body"); NULL: it can. The solver
 * asks for every site of every class that nothing else keeps in FP32; `plan`
 * holds the decisions so far, which only ever go from half to FP32. */
const char *ar_storage_site_refusal(ar_arena *arena, ar_program *program,
                                    const ar_rules *rules, const ar_ops *ops,
                                    const ar_storage_plan *plan,
                                    const ar_site *site);

/* Why the text cannot lay out the parts of this arena with elements of
 * different sizes, and where; NULL: it can. */
const char *ar_storage_arena_refusal(ar_arena *arena, ar_program *program,
                                     const ar_storage_plan *plan,
                                     const ar_storage_arena *of, ar_range *at);

/* Why this site, which clears an allocation as a whole, cannot clear its parts;
 * NULL: it can. */
const char *ar_arena_clear_refusal(ar_arena *arena, ar_program *program,
                                   const ar_rules *rules,
                                   const ar_storage_plan *plan,
                                   const ar_site *site);

/* Rewrites every site of every class that is stored in half, in the view of a
 * round. false: one of them cannot be; diags say which and why. */
bool ar_plan_storage(ar_plan *plan, const ar_ops *ops,
                     const ar_storage_plan *view, uint32_t round);

/* The copies of structs that the rounds asked for; after the last of them.
 * false: a fault of the edits, which is reported. */
bool ar_plan_record_copies(ar_plan *plan);

/* A call of an op is given memory that is stored in half. */
bool ar_op_has_half_operand(const ar_storage_plan *storage,
                            const ar_node *call);
/* The libamp entry that takes half operands for the rule's op, or NULL. */
const char *ar_mixed_target(ar_arena *arena, const ar_function_rule *rule);
/* The libamp function that does what this one does, on operands of either
 * precision, though it is no faster in half; or NULL. */
const char *ar_mixed_call(ar_arena *arena, const ar_function_rule *rule,
                          const char *function);
/* The rule is scanf's or that of one of its kin. */
bool ar_is_scan(const ar_function_rule *rule);
/* What amp_simd.h has for this intrinsic, on memory in half; or NULL. */
const char *ar_vector_form(const ar_decl *callee);
const char *ar_mixed_header(const ar_function_rule *rule);
bool ar_is_null_pointer(const ar_node *node);
/* A sizeof(float) in the expression becomes the size of the half type. */
bool ar_counts_half(const ar_storage_plan *storage, const ar_node *node);

/* What the memory behind a pointer or element is stored in. */
typedef enum ar_memory_precision {
    AR_MEMORY_FP32,
    AR_MEMORY_HALF,
    AR_MEMORY_UNKNOWN /* not found, or not the same everywhere */
} ar_memory_precision;
ar_memory_precision ar_precision_behind(const ar_storage_plan *storage,
                                        ar_program *program,
                                        const ar_node *node);
/* The memory that this call allocates, or this variable has. */
bool ar_object_is_half(const ar_storage_plan *storage, ar_program *program,
                       const ar_node *allocation, const ar_decl *variable);

#endif
