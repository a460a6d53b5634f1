#include "options_internal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

const option ar_option_table[OPT_COUNT] = {
#define AR_GROUP(title)
#define AR_OPTION(name, short_name, long_name, argument, value, ...)           \
    {short_name, long_name, argument, value},
#include "options.def"
#undef AR_GROUP
#undef AR_OPTION
};

static const char *const stage_names[] = {"",
#define X(name, text) text,
                                          AR_STAGES(X)
#undef X
};

const char *ar_stage_name(ar_stage stage) {
    return stage_names[stage];
}

void ar_complain(const parser *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = ar_vsprintf(p->arena, format, args);
    va_end(args);
    ar_report(p->diags, AR_DIAG_USAGE, AR_NO_RANGE, text);
}

/* ---- values ------------------------------------------------------------ */

static bool parse_number(const char *text, double *out) {
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out) && errno == 0;
}

static bool parse_count(const char *text, int *out) {
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (end == text || *end || errno || n < 1 || n > INT_MAX)
        return false;
    *out = (int)n;
    return true;
}

static void bad_value(const parser *p, option_id id, const char *value,
                      const char *wanted) {
    ar_complain(p, "'%s' takes %s, not '%s'", p->given[id], wanted, value);
}

/* "a|b|c" as a sentence has it: "a, b or c". */
static const char *in_words(const parser *p, const char *choices) {
    ar_str s = {.arena = p->arena};
    for (const char *c = choices; *c; c++) {
        if (*c != '|')
            ar_str_addn(&s, c, 1);
        else
            ar_str_add(&s, strchr(c + 1, '|') ? ", " : " or ");
    }
    return ar_str_text(&s);
}

/* The place of value among the choices of the table; -1 and a message. */
static int choose(const parser *p, option_id id, const char *value) {
    size_t length = strlen(value);
    int index = 0;
    for (const char *c = ar_option_table[id].value;; index++) {
        size_t word = strcspn(c, "|");
        if (word == length && memcmp(c, value, length) == 0)
            return index;
        if (!c[word])
            break;
        c += word + 1;
    }
    bad_value(p, id, value, in_words(p, ar_option_table[id].value));
    return -1;
}

static void set_number(const parser *p, option_id id, const char *value,
                       ar_scaler_setting which, double *out, double above,
                       double below) {
    double n;
    if (!parse_number(value, &n) || !(n > above) || !(n < below)) {
        const char *wanted =
            isinf(below) ? ar_sprintf(p->arena, "a number above %g", above)
                         : ar_sprintf(p->arena, "a number between %g and %g",
                                      above, below);
        bad_value(p, id, value, wanted);
        return;
    }
    *out = n;
    p->options->scaler.given |= which;
}

static void set_count(const parser *p, option_id id, const char *value,
                      ar_scaler_setting which, int *out) {
    if (parse_count(value, out))
        p->options->scaler.given |= which;
    else
        bad_value(p, id, value, "a count of 1 or more");
}

static void set_min_scale(const parser *p, const char *value) {
    ar_scaler_settings *s = &p->options->scaler;
    if (parse_number(value, &s->min_scale) && s->min_scale >= 0)
        s->given |= AR_SCALER_MIN_SCALE;
    else
        bad_value(p, OPT_MIN_LOSS_SCALE, value, "a number of 0 or more");
}

static void set_loss_scale(const parser *p, const char *value) {
    ar_options *o = p->options;
    if (strcmp(value, "dynamic") == 0)
        o->loss_scale = AR_LOSS_SCALE_DYNAMIC;
    else if (strcmp(value, "none") == 0)
        o->loss_scale = AR_LOSS_SCALE_NONE;
    else if (parse_number(value, &o->loss_scale_value) &&
             o->loss_scale_value > 0)
        o->loss_scale = AR_LOSS_SCALE_STATIC;
    else
        bad_value(p, OPT_LOSS_SCALE, value,
                  "'dynamic', 'none' or a number above 0");
}

static void set_stage(const parser *p, const char *value) {
    ar_str names = {.arena = p->arena};
    size_t count = sizeof stage_names / sizeof *stage_names;
    for (size_t i = 1; i < count; i++) {
        if (strcmp(stage_names[i], value) == 0) {
            p->options->dump_after = (ar_stage)i;
            return;
        }
        ar_str_addf(&names, "%s%s", i == 1 ? "" : "|", stage_names[i]);
    }
    bad_value(p, OPT_DUMP_AFTER, value, in_words(p, ar_str_text(&names)));
}

static void set_help(const parser *p, const char *value) {
    if (!value)
        p->options->action = AR_ACTION_HELP;
    else if (choose(p, OPT_HELP, value) == 0)
        p->options->action = AR_ACTION_HELP_ALL;
}

/* Without a value the option says yes. */
static ar_choice yes_or_no(const parser *p, option_id id, const char *value) {
    return value && choose(p, id, value) == 1 ? AR_NO : AR_YES;
}

static void set_jobs(const parser *p, const char *value) {
    int jobs;
    if (parse_count(value, &jobs))
        p->options->jobs = (unsigned)jobs;
    else
        bad_value(p, OPT_JOBS, value, "a count of 1 or more");
}

/* Help wins over the version, and both over --explain. */
static void set_action(const parser *p, ar_action action) {
    if (p->options->action != AR_ACTION_HELP &&
        p->options->action != AR_ACTION_HELP_ALL &&
        p->options->action != AR_ACTION_VERSION)
        p->options->action = action;
}

static void set_in_place(const parser *p, const char *value) {
    p->options->backup = value;
    if (value && (value[0] == '\0' || strchr(value, '/')))
        bad_value(p, OPT_IN_PLACE, value, "a suffix without '/'");
}

/* value: NULL for an option without one. */
static void apply(parser *p, option_id id, const char *value) {
    ar_options *o = p->options;
    ar_scaler_settings *s = &o->scaler;
    int choice;
    switch (id) {
    case OPT_OUT:
    case OPT_OUT_DIR:
        o->output_path = value;
        return;
    case OPT_IN_PLACE:
        set_in_place(p, value);
        return;
    case OPT_CHECK:
        p->check = true;
        return;
    case OPT_AUDIT:
        p->audit = value ? value : "text";
        choose(p, id, p->audit);
        return;
    case OPT_DATABASE:
        o->database = value;
        return;
    case OPT_ROOT:
        o->root = value;
        return;
    case OPT_RULES:
        AR_PUSH(p->arena, &o->rules, value);
        return;
    case OPT_NO_DEFAULT_RULES:
        o->default_rules = false;
        return;
    case OPT_CUDA_PATH:
        o->cuda_path = value;
        return;
    case OPT_KEEP_GOING:
        o->keep_going = true;
        return;
    case OPT_JOBS:
        set_jobs(p, value);
        return;
    case OPT_O0:
    case OPT_O1:
    case OPT_O2:
    case OPT_O3:
        p->level = id;
        return;
    case OPT_HALF:
        choice = choose(p, id, value);
        o->half = choice == 1 ? AR_HALF_BF16 : AR_HALF_FP16;
        return;
    case OPT_KEEP_BATCHNORM:
        o->keep_norm = yes_or_no(p, id, value);
        return;
    case OPT_MASTER_WEIGHTS:
        o->masters = yes_or_no(p, id, value);
        return;
    case OPT_STRICT_O3:
        o->strict = true;
        return;
    case OPT_LOSS_SCALE:
        set_loss_scale(p, value);
        return;
    case OPT_INIT_SCALE:
        set_number(p, id, value, AR_SCALER_INIT_SCALE, &s->init_scale, 0,
                   INFINITY);
        return;
    case OPT_GROWTH_INTERVAL:
        set_count(p, id, value, AR_SCALER_GROWTH_INTERVAL, &s->growth_interval);
        return;
    case OPT_GROWTH_FACTOR:
        set_number(p, id, value, AR_SCALER_GROWTH_FACTOR, &s->growth_factor, 1,
                   INFINITY);
        return;
    case OPT_BACKOFF_FACTOR:
        set_number(p, id, value, AR_SCALER_BACKOFF_FACTOR, &s->backoff_factor,
                   0, 1);
        return;
    case OPT_MIN_LOSS_SCALE:
        set_min_scale(p, value);
        return;
    case OPT_MAX_LOSS_SCALE:
        set_number(p, id, value, AR_SCALER_MAX_SCALE, &s->max_scale, 0,
                   INFINITY);
        return;
    case OPT_HYSTERESIS:
        set_count(p, id, value, AR_SCALER_HYSTERESIS, &s->hysteresis);
        return;
    case OPT_PRINT_RULES:
        p->print_rules = true;
        return;
    case OPT_DUMP_AFTER:
        set_stage(p, value);
        return;
    case OPT_EXPLAIN:
        o->explain = value;
        set_action(p, AR_ACTION_EXPLAIN);
        return;
    case OPT_QUIET:
        o->verbosity = AR_QUIET;
        return;
    case OPT_VERBOSE:
        o->verbosity = AR_VERBOSE;
        return;
    case OPT_COLOR:
        choice = choose(p, id, value);
        if (choice >= 0)
            o->colour = (ar_colour_mode)choice;
        return;
    case OPT_VERSION:
        if (o->action != AR_ACTION_HELP && o->action != AR_ACTION_HELP_ALL)
            o->action = AR_ACTION_VERSION;
        return;
    case OPT_HELP:
        set_help(p, value);
        return;
    case OPT_COUNT:
        break;
    }
    AR_BUG("option %d", (int)id);
}

/* The option that arg begins with; *rest is what follows its name: "", "=V",
 * or the value joined to a short name. */
static option_id find_option(const char *arg, const char **rest) {
    for (int i = 0; i < OPT_COUNT; i++) {
        const option *o = &ar_option_table[i];
        size_t n = strlen(o->long_name);
        if (n && strncmp(arg, o->long_name, n) == 0 &&
            (arg[n] == '\0' || arg[n] == '=')) {
            *rest = arg + n;
            return (option_id)i;
        }
        n = strlen(o->short_name);
        if (n && arg[1] != '-' && strncmp(arg, o->short_name, n) == 0 &&
            (arg[n] == '\0' || o->argument == VALUE)) {
            *rest = arg + n;
            return (option_id)i;
        }
    }
    return OPT_COUNT;
}

static bool is_long(const char *arg) {
    return arg[0] == '-' && arg[1] == '-';
}

static void parse_option(parser *p, const char *arg) {
    const char *rest;
    option_id id = find_option(arg, &rest);
    if (id == OPT_COUNT) {
        ar_unknown_option(p, arg);
        return;
    }
    p->given[id] = ar_strndup(p->arena, arg, (size_t)(rest - arg));
    const char *value = NULL;
    /* -p=DIR is what users of other clang tools type */
    if (rest[0] == '=' && (is_long(arg) || id == OPT_DATABASE))
        value = rest + 1;
    else if (rest[0])
        value = rest;
    switch (ar_option_table[id].argument) {
    case NONE:
        if (value) {
            ar_complain(p, "'%s' takes no value", p->given[id]);
            return;
        }
        break;
    case OPTIONAL:
        break;
    case VALUE:
        if (!value && p->next < p->args.count &&
            strcmp(p->args.data[p->next], "--") != 0)
            value = p->args.data[p->next++];
        if (!value || !*value) {
            ar_complain(p, "'%s' needs a value (%s)", p->given[id],
                        ar_option_table[id].value);
            return;
        }
        break;
    }
    apply(p, id, value);
}

static void parse_arguments(parser *p) {
    while (p->next < p->args.count) {
        const char *arg = p->args.data[p->next++];
        if (strcmp(arg, "--") == 0) {
            while (p->next < p->args.count)
                AR_PUSH(p->arena, &p->options->clang_args,
                        p->args.data[p->next++]);
        } else if (strcmp(arg, "-") == 0) {
            ar_complain(p, "reading standard input is not supported");
        } else if (arg[0] == '-') {
            parse_option(p, arg);
        } else if (arg[0] == '\0') {
            ar_complain(p, "an input file has an empty name");
        } else {
            AR_PUSH(p->arena, &p->options->files, arg);
        }
    }
}

/* ---- the result -------------------------------------------------------- */

static ar_action work_action(const parser *p) {
    if (p->print_rules)
        return AR_ACTION_PRINT_RULES;
    if (p->audit)
        return strcmp(p->audit, "json") == 0 ? AR_ACTION_AUDIT_JSON
                                             : AR_ACTION_AUDIT_TEXT;
    return p->check ? AR_ACTION_CHECK : AR_ACTION_REWRITE;
}

static ar_output_mode output_mode(const parser *p) {
    if (p->given[OPT_IN_PLACE])
        return AR_OUTPUT_IN_PLACE;
    if (p->given[OPT_OUT_DIR])
        return AR_OUTPUT_DIR;
    if (!p->given[OPT_OUT])
        return AR_OUTPUT_DIFF;
    const char *path = p->options->output_path;
    return path && strcmp(path, "-") == 0 ? AR_OUTPUT_STDOUT : AR_OUTPUT_FILE;
}

static ar_level level_of(option_id given) {
    switch ((int)given) {
    case OPT_O0:
        return AR_LEVEL_O0;
    case OPT_O2:
        return AR_LEVEL_O2;
    case OPT_O3:
        return AR_LEVEL_O3;
    default:
        return AR_LEVEL_O1;
    }
}

/* At -O3 a scale of 1 is none: nothing is unscaled or checked. FP32 masters
 * bring the step back, with a scale of 1. */
static void settle_loss_scale(ar_options *o) {
    bool is_one =
        o->loss_scale == AR_LOSS_SCALE_DEFAULT ||
        (o->loss_scale == AR_LOSS_SCALE_STATIC && o->loss_scale_value == 1);
    if (o->level != AR_LEVEL_O3 || !is_one)
        return;
    o->unscaled_by_level = o->loss_scale == AR_LOSS_SCALE_DEFAULT;
    o->loss_scale =
        o->masters == AR_YES ? AR_LOSS_SCALE_STATIC : AR_LOSS_SCALE_NONE;
    o->loss_scale_value = 1;
}

bool ar_options_parse(ar_arena *arena, int argc, char **argv,
                      ar_options *options, ar_diags *diags) {
    *options = (ar_options){.action = AR_ACTION_REWRITE,
                            .level = AR_LEVEL_O1,
                            .default_rules = true,
                            .verbosity = AR_NORMAL};
    parser p = {
        .arena = arena, .diags = diags, .options = options, .level = OPT_COUNT};
    unsigned errors = diags->errors;
    ar_gather_arguments(&p, argc, argv);
    parse_arguments(&p);
    if (options->action != AR_ACTION_REWRITE)
        return diags->errors == errors;

    options->action = work_action(&p);
    options->output = output_mode(&p);
    options->level = level_of(p.level);
    ar_check_options(&p);
    settle_loss_scale(options);
    return diags->errors == errors;
}

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value;
}

static bool is_switched_on(const char *name) {
    return is_set(name) && strcmp(getenv(name), "0") != 0;
}

bool ar_options_colour(const ar_options *options, FILE *stream) {
    switch (options->colour) {
    case AR_COLOUR_ALWAYS:
        return true;
    case AR_COLOUR_NEVER:
        return false;
    case AR_COLOUR_AUTO:
        break;
    }
    if (is_set("NO_COLOR"))
        return false;
    if (is_switched_on("FORCE_COLOR") || is_switched_on("CLICOLOR_FORCE"))
        return true;
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
}
