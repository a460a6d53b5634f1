/* The pipeline: load -> collect -> link -> match -> scale -> solve -> plan.
 *
 * Runs the stages in order over one ar_options and keeps what they made, so
 * that output and reports can be written afterwards. Nothing is written to
 * disk here. */
#ifndef AR_PIPELINE_H
#define AR_PIPELINE_H

#include "core/plan.h"
#include "core/solve_storage.h"
#include "options.h"

typedef struct ar_run {
    ar_arena *arena;
    const ar_options *options;
    ar_files rule_files; /* rule diagnostics have their places here */
    ar_diags rule_diags;
    ar_diags scale_diags; /* of the scale stage, until it is settled */
    ar_diags diags;       /* everything else; places in program->files */
    ar_rules *rules;
    ar_unit **units; /* every unit that was tried */
    uint32_t unit_count;
    ar_program *program;             /* the units that were parsed */
    const ar_storage_facts *storage; /* -O2, audits and dumps; else NULL */
    ar_storage_plan *storage_plan;   /* where storage is, after solve */
    ar_ops *ops;
    ar_scale *scale;
    ar_plan plan;
    ar_edits edits;  /* finished */
    bool left_alone; /* nothing to rewrite: already done, or no half op */
    ar_exit exit;    /* AR_EXIT_DONE so far */
    double seconds[AR_STAGE_APPLY + 1]; /* per stage */
} ar_run;

/* Returns false when the run is over before there is anything to write:
 * run->exit says why, or a stage was dumped. */
bool ar_pipeline(ar_run *run);

/* Prints what has not been printed of the diagnostics. */
void ar_pipeline_print_diags(ar_run *run);

#endif
