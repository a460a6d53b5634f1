/* The command line, parsed.
 *
 * One table, options.def, is the source of the parser, of --help, of the man
 * page and of the shell completion. ar_options_parse() reads argv (and
 * @response files) into an ar_options; strings in it live in the arena or in
 * argv. Every mistake is a USAGE diagnostic, all of them in one run; the caller
 * prints them and exits with AR_EXIT_USAGE. Nothing is read from disk except
 * response files, and nothing is written. */
#ifndef AR_OPTIONS_H
#define AR_OPTIONS_H

#include "base/diag.h"
#include "core/level.h"

/* Exit codes that scripts rely on. */
typedef enum ar_exit {
    AR_EXIT_DONE = 0,
    AR_EXIT_CHANGES = 1, /* --check: something would change */
    AR_EXIT_USAGE = 2,   /* command line, configuration, rule files */
    AR_EXIT_INPUT = 3,   /* input cannot be read or parsed */
    AR_EXIT_OUTPUT = 4,  /* conflicting edits, write failure */
    AR_EXIT_INTERNAL = 70
} ar_exit;

typedef enum ar_action {
    AR_ACTION_REWRITE,
    AR_ACTION_AUDIT_TEXT,
    AR_ACTION_AUDIT_JSON,
    AR_ACTION_CHECK, /* rewrite in memory, exit 1 if anything changes */
    AR_ACTION_PRINT_RULES,
    AR_ACTION_HELP, /* these four need no input and no pipeline */
    AR_ACTION_HELP_ALL,
    AR_ACTION_VERSION,
    AR_ACTION_EXPLAIN
} ar_action;

/* Where the rewritten bytes go (AR_ACTION_REWRITE only). */
typedef enum ar_output_mode {
    AR_OUTPUT_DIFF,     /* unified diff on stdout, nothing written */
    AR_OUTPUT_STDOUT,   /* -o -: the one file's new text on stdout */
    AR_OUTPUT_FILE,     /* -o FILE */
    AR_OUTPUT_DIR,      /* --out-dir: mirrors the tree below the root */
    AR_OUTPUT_IN_PLACE, /* --in-place: with a backup if a suffix is given */
} ar_output_mode;

typedef enum ar_half { AR_HALF_FP16, AR_HALF_BF16 } ar_half;

typedef enum ar_loss_scale_mode {
    AR_LOSS_SCALE_DEFAULT, /* not given: dynamic for fp16, 1 for bf16; never
                              so at -O3, whose scale is 1 */
    AR_LOSS_SCALE_DYNAMIC,
    AR_LOSS_SCALE_STATIC, /* loss_scale_value */
    AR_LOSS_SCALE_NONE    /* no scaling code is inserted */
} ar_loss_scale_mode;

typedef enum ar_colour_mode {
    AR_COLOUR_AUTO,
    AR_COLOUR_ALWAYS,
    AR_COLOUR_NEVER
} ar_colour_mode;

typedef enum ar_verbosity {
    AR_QUIET, /* errors and the payload only */
    AR_NORMAL,
    AR_VERBOSE /* remarks too */
} ar_verbosity;

/* --dump-after: the stages in their order. */
#define AR_STAGES(X)                                                           \
    X(LOAD, "load")                                                            \
    X(COLLECT, "collect")                                                      \
    X(LINK, "link")                                                            \
    X(FLOWS, "flows")                                                          \
    X(MATCH, "match")                                                          \
    X(SCALE, "scale")                                                          \
    X(SOLVE, "solve")                                                          \
    X(PLAN, "plan")                                                            \
    X(APPLY, "apply")

typedef enum ar_stage {
    AR_STAGE_NONE,
#define X(name, text) AR_STAGE_##name,
    AR_STAGES(X)
#undef X
} ar_stage;

/* What was said about the loss scaler; what was not said is left to libamp's
 * defaults. `given` tells them apart. */
typedef enum ar_scaler_setting {
    AR_SCALER_INIT_SCALE = 1 << 0,
    AR_SCALER_GROWTH_INTERVAL = 1 << 1,
    AR_SCALER_GROWTH_FACTOR = 1 << 2,
    AR_SCALER_BACKOFF_FACTOR = 1 << 3,
    AR_SCALER_MIN_SCALE = 1 << 4,
    AR_SCALER_MAX_SCALE = 1 << 5,
    AR_SCALER_HYSTERESIS = 1 << 6
} ar_scaler_setting;

typedef struct ar_scaler_settings {
    unsigned given; /* of ar_scaler_setting */
    double init_scale;
    double growth_factor;
    double backoff_factor;
    double min_scale;
    double max_scale;
    int growth_interval;
    int hysteresis;
} ar_scaler_settings;

typedef AR_VEC(const char *) ar_names;

typedef struct ar_options {
    ar_action action;
    ar_output_mode output;
    ar_level level;      /* AR_LEVEL_O1 unless given */
    ar_half half;        /* AR_HALF_FP16 unless given */
    ar_choice keep_norm; /* --keep-batchnorm-fp32 */
    ar_choice masters;   /* --master-weights */
    bool strict;         /* --strict-o3 */
    ar_loss_scale_mode loss_scale;
    double loss_scale_value;
    bool unscaled_by_level; /* -O3, and no --loss-scale was given */
    ar_scaler_settings scaler;

    ar_names files;          /* as given; may be empty with `database` */
    const char *database;    /* -p DIR, or NULL */
    const char *output_path; /* -o FILE or --out-dir DIR, else NULL */
    const char *backup;      /* --in-place=SUFFIX, or NULL: no backup */
    const char *root;        /* --root DIR, or NULL: main chooses */
    ar_names rules;          /* --rules FILE, in order */
    bool default_rules;      /* false: --no-default-rules */
    bool keep_going;         /* --keep-going */
    ar_names clang_args;     /* after "--"; with -p added to each command */
    const char *cuda_path;   /* --cuda-path DIR, or NULL: search */
    const char *explain;     /* --explain CODE */
    ar_stage dump_after;     /* AR_STAGE_NONE: no dump */
    unsigned jobs;           /* -j N; 0: as many as CPUs */
    ar_verbosity verbosity;
    ar_colour_mode colour;
} ar_options;

/* Fills *options; false if anything was wrong. The colour, verbosity and
 * action found so far are valid even then, so that the errors themselves are
 * printed as asked. */
bool ar_options_parse(ar_arena *arena, int argc, char **argv,
                      ar_options *options, ar_diags *diags);

/* --color > NO_COLOR > FORCE_COLOR, CLICOLOR_FORCE > terminal and TERM. */
bool ar_options_colour(const ar_options *options, FILE *stream);

const char *ar_stage_name(ar_stage stage);

/* --help and --help=all. */
typedef enum ar_help_kind { AR_HELP_SHORT, AR_HELP_ALL } ar_help_kind;
void ar_options_help(FILE *out, ar_help_kind kind);

#endif
