/* plan: decisions + sites -> edits. Knows the C that is inserted; decides
 * nothing about precision. */
#ifndef AR_PLAN_H
#define AR_PLAN_H

#include "base/map.h"
#include "core/ops.h"
#include "core/place.h"
#include "core/scale.h"
#include "core/solve_storage.h"

typedef struct ar_plan_options {
    bool bf16;             /* --half=bf16: the default of the output */
    bool no_scaling;       /* gradients exist but carry no scale: fp16 builds
                              of the output are refused */
    const char *configure; /* statement for the start of main, or NULL */
    const char *headers;   /* real path of the folder of amp.h */
} ar_plan_options;

/* A copy of a struct whose objects differ in what their fields point to. */
typedef struct ar_record_copy {
    ar_entity *record;
    uint64_t kind;      /* the fields, by index, that point to half memory */
    const char *suffix; /* of its names */
} ar_record_copy;

typedef AR_VEC(ar_record_copy) ar_record_copies;

typedef struct ar_plan {
    ar_placer placer; /* its edits: of one version of each function */
    ar_edits *edits;  /* of the program */
    ar_arena *arena;
    ar_program *program;
    const ar_rules *rules;
    ar_diags *diags;
    ar_plan_options options;
    bool *needs_amp;                /* per file: include amp/amp.h */
    AR_VEC(const char *) * headers; /* per file: further headers */
    uint32_t *first_use; /* per file: where the runtime's types are needed,
                            UINT32_MAX: nowhere before a function */
    const ar_storage_plan *storage;  /* or NULL */
    ar_record_copies *record_copies; /* of all rounds */
    bool scaled;                     /* loss scaling was placed */
    ar_table registered;             /* objects */
} ar_plan;

/* scale NULL: no loss scaling in the output; storage NULL: all of it stays
 * FP32. false: something that must be rewritten cannot be; diags say what. */
bool ar_plan_make(ar_arena *arena, ar_program *program, const ar_rules *rules,
                  const ar_ops *ops, const ar_scale *scale,
                  const ar_storage_plan *storage, ar_plan_options options,
                  ar_edits *edits, ar_plan *out, ar_diags *diags);

/* plan_ops.c: redirected calls, their wrappers, the includes */
bool ar_plan_ops(ar_plan *plan, const ar_ops *ops);
bool ar_plan_includes(ar_plan *plan);
/* plan_names.c: false when the program means something else by a name of the
 * runtime that an edit uses. To be asked when all edits are there. */
bool ar_plan_names(ar_plan *plan);
/* plan_versions.c: the further texts of functions that are called with several
 * precisions, and the calls that mean them */
bool ar_plan_calls(ar_plan *plan, uint32_t round);
bool ar_plan_version_texts(ar_plan *plan, const ar_edits *edits,
                           uint32_t round);
/* plan_scale.c: seeds, unscale, step */
bool ar_plan_scale(ar_plan *plan, const ar_scale *scale);
/* plan_kernels.c: gives the kernel the loss scale as an argument, in all its
 * launches; the name of the parameter, or NULL where that cannot be done. */
const char *ar_plan_kernel_scale(ar_plan *plan, const ar_decl *kernel,
                                 int group);
/* plan_buffers.c: parameters and gradients made known to the runtime */
bool ar_plan_buffers(ar_plan *plan, const ar_scale *scale);
/* Text that can be repeated without doing anything twice. */
bool ar_plan_is_pure(const ar_node *node);
/* plan_track.c: frame i of an object makes call i of its context, the last
 * frame (context_depth) the allocating call. */
/* The bytes that the allocating call is asked for, as an expression for this
 * frame, or NULL where they cannot be said. */
const char *ar_plan_size_at(ar_plan *plan, const ar_function_rule *rule,
                            const ar_object *object, uint32_t frame);
/* Where the statement of the frame's call stores the object's address, or
 * NULL. */
const ar_pointer_store *ar_plan_store_at(ar_plan *plan, const ar_scale *scale,
                                         const ar_object *object,
                                         uint32_t frame);

/* Can what a statement does in its condition be followed up behind it? Not
 * where its branches or its body may already work with the outcome. */
bool ar_plan_may_follow(const ar_plan *plan, const ar_node *statement);
/* x of cudaMalloc(&x, n), whatever casts are around it; NULL: other calls. */
const ar_node *ar_stored_through(const ar_node *call);
void ar_plan_need_header(ar_plan *plan, ar_file_id file, const char *header);

#endif
