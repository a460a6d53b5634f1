#include "pipeline.h"

#include "core/storage_apart.h"
#include "base/crash.h"
#include "core/unsuited.h"
#include "front/workers.h"
#include "paths.h"
#include "unseen.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ar_diag_style style_of(const ar_run *run) {
    return (ar_diag_style){.colour = ar_options_colour(run->options, stderr),
                           .remarks = run->options->verbosity == AR_VERBOSE};
}

static void print_list(ar_run *run, ar_diags *diags, ar_files *files) {
    ar_diags shown = *diags;
    if (run->options->verbosity == AR_QUIET) {
        /* errors and their notes only */
        shown.list.count = 0;
        shown.list.data =
            AR_NEW_ARRAY(run->arena, ar_diag, diags->list.count + 1u);
        bool keep = false;
        for (uint32_t i = 0; i < diags->list.count; i++) {
            const ar_diag *diag = &diags->list.data[i];
            if (diag->severity != AR_NOTE)
                keep = diag->severity == AR_ERROR;
            if (keep)
                shown.list.data[shown.list.count++] = *diag;
        }
    }
    ar_diags_print(stderr, &shown, files, style_of(run));
    diags->list.count = 0;
}

/* The compiler spells names from the directory that it ran in. Those that mean
 * another file from here, or none, become paths from here. */
static void spell_from_here(ar_run *run, ar_files *files) {
    const char *here = ar_real_path(run->arena, ".");
    for (uint32_t i = 0; i < files->list.count; i++) {
        ar_file *file = &files->list.data[i];
        if (strcmp(ar_real_path(run->arena, file->name), file->real) != 0)
            file->name = ar_path_from(here, file->real);
        while (strncmp(file->name, "./", 2) == 0)
            file->name += 2; /* a header found beside its includer */
    }
}

void ar_pipeline_print_diags(ar_run *run) {
    print_list(run, &run->rule_diags, &run->rule_files);
    for (uint32_t i = 0; i < run->unit_count; i++) {
        ar_unit *unit = run->units[i];
        /* link moves the places of parsed units into the program's table */
        bool linked = run->program && unit->parsed;
        if (!linked)
            spell_from_here(run, &unit->files);
        print_list(run, &unit->diags,
                   linked ? &run->program->files : &unit->files);
    }
    ar_files none = {.arena = run->arena};
    print_list(run, &run->diags, run->program ? &run->program->files : &none);
}

/* ---- stages ------------------------------------------------------------- */

static bool load_rules(ar_run *run) {
    run->rules = ar_rules_new(run->arena);
    bool ok = true;
    if (run->options->default_rules)
        ok = ar_rules_load_packs(run->rules, &run->rule_files,
                                 ar_pack_directory(run->arena),
                                 &run->rule_diags);
    for (uint32_t i = 0; i < run->options->rules.count; i++)
        ok = ar_rules_load(run->rules, &run->rule_files,
                           run->options->rules.data[i], false,
                           &run->rule_diags) &&
             ok;
    ok = ar_rules_check(run->rules, &run->rule_diags) && ok;
    if (!ok)
        run->exit = AR_EXIT_USAGE;
    return ok;
}

/* The runtime's header is always found, so that rewritten code can be read
 * again. */
static const char **with_amp_include(ar_run *run, uint32_t *count) {
    const ar_names *given = &run->options->clang_args;
    const char **flags =
        AR_NEW_ARRAY(run->arena, const char *, given->count + 2u);
    for (uint32_t i = 0; i < given->count; i++)
        flags[i] = given->data[i];
    flags[given->count] = "-isystem";
    flags[given->count + 1] = ar_include_directory(run->arena);
    *count = given->count + 2;
    return flags;
}

static void usage_error(ar_run *run, const char *text) {
    ar_report(&run->diags, AR_DIAG_USAGE, AR_NO_RANGE, text);
    run->exit = AR_EXIT_USAGE;
}

/* A file that was named is meant to change; outside --root it cannot. */
static bool check_root(ar_run *run) {
    const ar_options *options = run->options;
    if (!options->root)
        return true;
    struct stat st;
    if (stat(options->root, &st) != 0 || !S_ISDIR(st.st_mode)) {
        usage_error(run, ar_sprintf(run->arena,
                                    "'--root' takes a directory, "
                                    "not '%s'",
                                    options->root));
        return false;
    }
    const char *root = ar_real_path(run->arena, options->root);
    for (uint32_t i = 0; i < options->files.count; i++) {
        const char *name = options->files.data[i];
        if (access(name, F_OK) == 0 &&
            !ar_path_is_below(ar_real_path(run->arena, name), root))
            usage_error(run,
                        ar_sprintf(run->arena,
                                   "'%s' is outside '%s', which '--root' says "
                                   "is all that may change",
                                   name, options->root));
    }
    return run->exit == AR_EXIT_DONE;
}

static bool load(ar_run *run, ar_jobs *jobs) {
    const ar_options *options = run->options;
    if (!check_root(run))
        return false;
    uint32_t flag_count;
    const char *const *flags = with_amp_include(run, &flag_count);
    if (options->database)
        ar_load_database(run->arena, options->database, options->files.data,
                         options->files.count, flags, flag_count, jobs,
                         &run->diags);
    else
        ar_load_files(run->arena, options->files.data, options->files.count,
                      flags, flag_count, jobs, &run->diags);
    if (run->diags.errors)
        run->exit = AR_EXIT_INPUT;
    return jobs->count && (!run->diags.errors || options->keep_going);
}

static void dump_jobs(const ar_jobs *jobs) {
    for (uint32_t i = 0; i < jobs->count; i++) {
        const ar_job *job = &jobs->data[i];
        printf("%s:", job->main_name);
        for (uint32_t k = 0; k < job->arg_count; k++)
            printf(" %s", job->args[k]);
        putchar('\n');
    }
}

static bool collect(ar_run *run, const ar_jobs *jobs) {
    bool terminal =
        isatty(STDERR_FILENO) && run->options->verbosity != AR_QUIET;
    run->units =
        ar_collect_all(run->arena, jobs, run->options->jobs,
                       terminal ? AR_PROGRESS_TERMINAL : AR_PROGRESS_OFF);
    run->unit_count = jobs->count;
    uint32_t parsed = 0, errors = 0;
    for (uint32_t i = 0; i < run->unit_count; i++) {
        parsed += run->units[i]->parsed;
        errors += run->units[i]->error_count;
    }
    if (parsed == run->unit_count && !errors)
        return true;
    /* Going on leaves units, or functions with errors in them, alone. */
    run->exit = AR_EXIT_INPUT;
    return run->options->keep_going && parsed;
}

/* Files under the root may change. Without --root: the current directory when
 * it holds every file of a project, else what the files have in common; a
 * single file changes alone. */
static const char *rewrite_root(ar_run *run) {
    if (run->options->root)
        return ar_real_path(run->arena, run->options->root);
    if (!run->options->database && run->options->output != AR_OUTPUT_DIR)
        return NULL;
    const char *common = NULL;
    const char *here = ar_real_path(run->arena, ".");
    bool all_here = true;
    for (uint32_t i = 0; i < run->unit_count; i++) {
        const ar_unit *unit = run->units[i];
        if (!unit->parsed)
            continue;
        const char *real = unit->files.list.data[unit->main_file].real;
        all_here = all_here && ar_path_is_below(real, here);
        common = common ? ar_common_directory(run->arena, common, real)
                        : ar_directory_of(run->arena, real);
    }
    return all_here ? here : common;
}

static void link_units(ar_run *run) {
    ar_unit **parsed =
        AR_NEW_ARRAY(run->arena, ar_unit *, run->unit_count + 1u);
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->unit_count; i++)
        if (run->units[i]->parsed)
            parsed[count++] = run->units[i];
    run->program =
        ar_link(run->arena, parsed, count, &run->rule_files, rewrite_root(run));
    spell_from_here(run, &run->program->files);
}

/* A file that includes the runtime's header was rewritten before. */
static bool already_rewritten(ar_run *run) {
    bool any = false;
    for (uint32_t u = 0; u < run->program->unit_count; u++) {
        const ar_unit *unit = run->program->units[u];
        for (uint32_t i = 0; i < unit->includes.count; i++) {
            const ar_include *include = &unit->includes.data[i];
            if (include->target == AR_NO_FILE ||
                !run->program->editable[include->range.file] ||
                !ar_path_ends_with(
                    run->program->files.list.data[include->target].real,
                    "amp/amp.h"))
                continue;
            ar_report(&run->diags, AR_DIAG_ALREADY_REWRITTEN, include->range,
                      run->program->files.list.data[include->range.file].name);
            any = true;
        }
    }
    return any;
}

static bool is_audit(const ar_options *options) {
    return options->action == AR_ACTION_AUDIT_TEXT ||
           options->action == AR_ACTION_AUDIT_JSON;
}

/* Must the gradients carry a scale? Not in bf16, and not at scale 1. */
static bool needs_scale(const ar_options *options) {
    switch (options->loss_scale) {
    case AR_LOSS_SCALE_DEFAULT:
        return options->half == AR_HALF_FP16;
    case AR_LOSS_SCALE_DYNAMIC:
        return true;
    case AR_LOSS_SCALE_STATIC:
        return options->loss_scale_value < 1.0 ||
               options->loss_scale_value > 1.0;
    case AR_LOSS_SCALE_NONE:
        return false;
    }
    AR_BUG("loss scale mode %d", (int)options->loss_scale);
}

/* With bf16, or scale 1, the absence of an exact place is no error. */
static void soften_errors(ar_run *run, uint32_t first) {
    for (uint32_t i = first; i < run->diags.list.count; i++) {
        ar_diag *diag = &run->diags.list.data[i];
        if (diag->severity == AR_ERROR) {
            diag->severity = AR_WARNING;
            run->diags.errors--;
            run->diags.warnings++;
        }
    }
}

static void scale(ar_run *run) {
    ar_scale_options wanted = {.want_scale = run->options->loss_scale !=
                                             AR_LOSS_SCALE_NONE};
    run->scale_diags = (ar_diags){.arena = run->arena};
    run->scale = ar_scale_analyse(run->arena, run->program, run->rules, &wanted,
                                  &run->scale_diags);
}

static bool scale_is_asked_for(const ar_options *options) {
    return options->loss_scale == AR_LOSS_SCALE_DYNAMIC ||
           options->loss_scale == AR_LOSS_SCALE_STATIC;
}

static bool stores_half(const ar_run *run) {
    return run->storage_plan && run->storage_plan->half_count;
}

/* Small gradients are lost in fp16, and nobody asked for that. */
static void warn_of_no_scale(ar_run *run) {
    const ar_options *options = run->options;
    if (options->unscaled_by_level && options->half == AR_HALF_FP16 &&
        run->scale->loop && (run->ops->half_count || stores_half(run)))
        ar_report(&run->diags, AR_DIAG_UNSCALED, run->scale->loop->range);
}

/* What the scale analysis had to say matters where something is to be scaled:
 * some op runs in half, or the user asked to hear or to have it. That no loop
 * trains is also why nothing is stored in half. */
static bool settle_scale(ar_run *run) {
    const ar_options *options = run->options;
    uint32_t before = run->diags.list.count;
    unsigned errors = run->diags.errors; /* of files that were left out */
    if (run->ops->half_count || stores_half(run) ||
        scale_is_asked_for(options) || options->dump_after == AR_STAGE_SCALE ||
        is_audit(options) ||
        (run->storage_plan && run->scale->outcome == AR_SCALE_NO_LOOP))
        ar_diags_append(&run->diags, &run->scale_diags);
    if (!needs_scale(options) || is_audit(options))
        soften_errors(run, before);
    warn_of_no_scale(run);
    if (run->diags.errors > errors)
        run->exit = AR_EXIT_USAGE;
    return run->exit == AR_EXIT_DONE || options->keep_going;
}

/* What an exact scale rests on; audits list it themselves. */
static void report_assumptions(ar_run *run) {
    const ar_scale *scale = run->scale;
    if (is_audit(run->options) || scale->outcome != AR_SCALE_FOUND)
        return;
    for (uint32_t i = 0; i < scale->assumptions.count; i++)
        ar_report(&run->diags, AR_DIAG_SCALE_ASSUMES, AR_NO_RANGE,
                  scale->assumptions.data[i]);
}

/* A float constant: 4 needs a point before its f. */
static const char *float_text(ar_arena *arena, double value) {
    const char *digits = ar_sprintf(arena, "%.9g", value);
    return ar_sprintf(arena, "%s%s", digits,
                      strpbrk(digits, ".e") ? "f" : ".0f");
}

static const char *scaler_setup(ar_run *run) {
    const ar_options *options = run->options;
    const ar_scaler_settings *s = &options->scaler;
    bool fixed = options->loss_scale == AR_LOSS_SCALE_STATIC;
    bool dynamic = options->loss_scale == AR_LOSS_SCALE_DYNAMIC &&
                   options->half == AR_HALF_BF16; /* fp16's default */
    if (!s->given && !fixed && !dynamic)
        return NULL;
    ar_str out = {.arena = run->arena};
    /* the neutral build keeps its scale of 1 */
    ar_str_add(&out, "if (AMP_HALF != AMP_FP32) {\n"
                     "    amp_scaler_options scaler;\n"
                     "    amp_scaler_defaults(AMP_HALF, &scaler);\n");
    if (fixed || dynamic)
        ar_str_addf(&out, "    scaler.dynamic = %d;\n", dynamic);
    if (fixed)
        ar_str_addf(&out, "    scaler.init_scale = %.9g;\n",
                    options->loss_scale_value);
    if (s->given & AR_SCALER_INIT_SCALE)
        ar_str_addf(&out, "    scaler.init_scale = %.9g;\n", s->init_scale);
    if (s->given & AR_SCALER_GROWTH_FACTOR)
        ar_str_addf(&out, "    scaler.growth_factor = %s;\n",
                    float_text(run->arena, s->growth_factor));
    if (s->given & AR_SCALER_BACKOFF_FACTOR)
        ar_str_addf(&out, "    scaler.backoff_factor = %s;\n",
                    float_text(run->arena, s->backoff_factor));
    if (s->given & AR_SCALER_GROWTH_INTERVAL)
        ar_str_addf(&out, "    scaler.growth_interval = %d;\n",
                    s->growth_interval);
    if (s->given & AR_SCALER_MIN_SCALE)
        ar_str_addf(&out, "    scaler.min_scale = %.9g;\n", s->min_scale);
    if (s->given & AR_SCALER_MAX_SCALE)
        ar_str_addf(&out, "    scaler.max_scale = %.9g;\n", s->max_scale);
    if (s->given & AR_SCALER_HYSTERESIS)
        ar_str_addf(&out, "    scaler.hysteresis = %d;\n", s->hysteresis);
    ar_str_add(&out, "    amp_scaler_configure(-1, &scaler);\n}");
    return ar_str_text(&out);
}

/* Scaling is worth its edits where something is in half, or when asked for. */
static const ar_scale *scale_to_place(const ar_run *run) {
    const ar_options *options = run->options;
    if (options->loss_scale == AR_LOSS_SCALE_NONE ||
        (!run->ops->half_count && !stores_half(run) &&
         !scale_is_asked_for(options)))
        return NULL;
    return run->scale;
}

/* -O3 trains at a scale of 1 in either type. */
static bool wants_no_scale(const ar_options *options) {
    return options->level == AR_LEVEL_O3 &&
           options->loss_scale == AR_LOSS_SCALE_NONE;
}

static bool plan_with(ar_run *run, const ar_scale *placed) {
    bool trains = run->scale && run->scale->outcome != AR_SCALE_NO_LOOP;
    bool bf16 = run->options->half == AR_HALF_BF16;
    ar_plan_options options = {
        .bf16 = bf16,
        .no_scaling = bf16 && trains && !wants_no_scale(run->options) &&
                      (!placed || placed->outcome != AR_SCALE_FOUND),
        .configure = scaler_setup(run),
        .headers = ar_real_path(run->arena,
                                ar_sprintf(run->arena, "%s/amp",
                                           ar_include_directory(run->arena)))};
    return ar_plan_make(run->arena, run->program, run->rules, run->ops, placed,
                        stores_half(run) ? run->storage_plan : NULL, options,
                        &run->edits, &run->plan, &run->diags);
}

/* A whole program whose training was not recognised must not be rewritten to
 * fp16 without a scale. A unit without main may be a part of one. */
static bool training_is_missed(ar_run *run) {
    ar_entity *entry = ar_find_function(run->program, "main");
    return run->scale->outcome == AR_SCALE_NO_LOOP &&
           needs_scale(run->options) && !is_audit(run->options) && entry &&
           ar_definition_of(run->program, entry->decl);
}

static bool plan(ar_run *run) {
    uint32_t before = run->diags.list.count;
    unsigned errors = run->diags.errors;
    if (training_is_missed(run)) {
        ar_report(&run->diags, AR_DIAG_LOOP_NOT_FOUND, AR_NO_RANGE);
        run->exit = AR_EXIT_USAGE;
        return false;
    }
    bool ok = plan_with(run, scale_to_place(run));
    if (!ok && is_audit(run->options)) {
        soften_errors(run, before);
        return true; /* the audit tells what is, nothing is written */
    }
    if (!ok && scale_to_place(run) && !needs_scale(run->options)) {
        /* nothing needs the scale: leave it out and say why */
        soften_errors(run, before);
        run->edits.list.count = 0;
        run->diags.errors = errors;
        ok = plan_with(run, NULL);
    }
    if (!ok)
        run->exit = AR_EXIT_USAGE;
    if (ok &&
        !ar_edits_finish(&run->edits, &run->program->files, &run->diags)) {
        run->exit = AR_EXIT_OUTPUT;
        ok = false;
    }
    return ok;
}

static void dump_edits(ar_run *run) {
    for (uint32_t i = 0; i < run->edits.list.count; i++) {
        const ar_edit *edit = &run->edits.list.data[i];
        printf("%s: %u bytes -> \"",
               ar_place(run->arena, &run->program->files, edit->range),
               edit->range.end - edit->range.begin);
        for (const char *p = edit->text; *p; p++)
            if (*p == '\n')
                fputs("\\n", stdout);
            else
                putchar(*p);
        printf("\" (%s)\n", edit->why ? edit->why : "");
    }
}

/* ---- the sequence ------------------------------------------------------- */

static bool stage_done(ar_run *run, ar_stage stage, double *since) {
    double at = now();
    run->seconds[stage] = at - *since;
    *since = at;
    ar_crash_stage(ar_stage_name(stage + 1));
    return run->options->dump_after == stage;
}

/* load to flows: the program and its facts. false: the run is over. */
static bool read_program(ar_run *run, double *since) {
    ar_jobs jobs = {0};
    if (!load(run, &jobs))
        return false;
    if (stage_done(run, AR_STAGE_LOAD, since)) {
        dump_jobs(&jobs);
        return false;
    }
    if (!collect(run, &jobs))
        return false;
    if (stage_done(run, AR_STAGE_COLLECT, since)) {
        for (uint32_t i = 0; i < run->unit_count; i++)
            ar_facts_dump(stdout, run->units[i]);
        return false;
    }
    link_units(run);
    if (stage_done(run, AR_STAGE_LINK, since)) {
        ar_program_dump(stdout, run->program);
        return false;
    }
    /* Below -O2 only what reports storage needs these facts. */
    if (run->options->level >= AR_LEVEL_O2 || is_audit(run->options) ||
        run->options->dump_after == AR_STAGE_FLOWS)
        run->storage = ar_storage_collect(run->arena, run->program, run->rules,
                                          NULL, &run->diags);
    if (stage_done(run, AR_STAGE_FLOWS, since)) {
        ar_storage_dump(stdout, run->program, run->storage);
        return false;
    }
    return true;
}

static ar_storage_policy storage_policy(const ar_options *options) {
    return (ar_storage_policy){.level = options->level,
                               .keep_norm = options->keep_norm,
                               .masters = options->masters,
                               .unscales =
                                   options->loss_scale != AR_LOSS_SCALE_NONE,
                               .strict = options->strict};
}

/* match to solve: what is decided. false: the run is over. */
static bool decide(ar_run *run, double *since) {
    run->ops = ar_match(run->arena, run->program, run->rules, &run->rule_diags);
    if (run->rule_diags.errors) {
        run->exit = AR_EXIT_USAGE;
        return false;
    }
    if (stage_done(run, AR_STAGE_MATCH, since)) {
        ar_ops_dump(stdout, run->program, run->ops);
        return false;
    }
    scale(run);
    if (stage_done(run, AR_STAGE_SCALE, since)) {
        ar_scale_dump(stdout, run->program, run->scale);
        settle_scale(run);
        return false;
    }
    ar_solve_ops(run->arena, run->program, run->rules, run->options->level,
                 run->ops, &run->diags);
    ar_remark_sizes(run->arena, run->ops, &run->diags);
    if (run->storage) {
        run->storage_plan = ar_solve_storage_apart(
            run->arena, run->program, run->rules, storage_policy(run->options),
            run->storage, run->ops, run->scale, &run->diags);
        run->storage = run->storage_plan->facts;
    }
    if (!settle_scale(run))
        return false;
    if (stage_done(run, AR_STAGE_SOLVE, since)) {
        ar_ops_dump(stdout, run->program, run->ops);
        if (run->options->level >= AR_LEVEL_O2)
            ar_storage_plan_dump(stdout, run->program, run->storage_plan);
        return false;
    }
    return true;
}

/* Audits say what is, and go on. */
static bool is_suited(ar_run *run) {
    uint32_t before = run->diags.list.count;
    if (run->options->level < AR_LEVEL_O2 || run->left_alone ||
        !ar_report_unsuited(run->program, ar_level_name(run->options->level),
                            &run->diags))
        return true;
    if (is_audit(run->options)) {
        soften_errors(run, before);
        return true;
    }
    run->exit = AR_EXIT_USAGE;
    return false;
}

bool ar_pipeline(ar_run *run) {
    double since = now();
    const ar_options *options = run->options;
    ar_crash_input(options->files.count ? options->files.data[0]
                                        : options->database);
    ar_crash_stage("rules");
    if (!load_rules(run))
        return false;
    ar_crash_stage(ar_stage_name(AR_STAGE_LOAD));
    if (options->action == AR_ACTION_PRINT_RULES) {
        ar_rules_print(stdout, run->rules, &run->rule_files);
        return false;
    }
    if (!read_program(run, &since))
        return false;
    if (!is_audit(options)) /* lists them itself */
        ar_report_unseen(run);
    run->left_alone = already_rewritten(run) || options->level == AR_LEVEL_O0;
    if (run->left_alone && (options->action == AR_ACTION_REWRITE ||
                            options->action == AR_ACTION_CHECK))
        return true;
    if (!is_suited(run) || !decide(run, &since))
        return false;
    if (run->left_alone)
        return true;
    if (!scale_to_place(run) && !run->ops->half_count && !stores_half(run)) {
        if (run->ops->outside_count)
            ar_report(&run->diags, AR_DIAG_OPS_OUTSIDE, run->ops->first_outside,
                      ar_level_name(options->level), run->ops->outside_count);
        else
            ar_report(&run->diags, AR_DIAG_NO_HALF_OPS, AR_NO_RANGE,
                      run->storage_plan ? ", and no buffer be stored in it"
                                        : "",
                      ar_level_name(options->level));
        run->left_alone = true;
        return true;
    }
    bool ok = plan(run);
    if (ok && scale_to_place(run))
        report_assumptions(run);
    if (stage_done(run, AR_STAGE_PLAN, &since)) {
        dump_edits(run);
        return false;
    }
    return ok;
}
