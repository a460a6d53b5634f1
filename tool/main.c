/* amp-rewrite: plain FP32 C and CUDA training code to mixed precision. */
#include "explain.h"
#include "output.h"
#include "pipeline.h"

#include "base/crash.h"
#include "base/stack.h"
#include "front/version.h"
#include "report/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct command {
    int argc;
    char **argv;
    int exit;
} command;

static void print_version(ar_arena *arena) {
    printf("amp-rewrite %s\n%s\n", AMP_VERSION, ar_libclang_version(arena));
}

static void audit(ar_run *run) {
    const ar_audit *rows = ar_audit_make(run);
    if (run->options->action == AR_ACTION_AUDIT_TEXT)
        ar_audit_text(stdout, run, rows);
    else if (!ar_audit_json(stdout, run, rows))
        run->exit = AR_EXIT_OUTPUT;
}

/* -v: where the time went, for bench/ and the curious. */
static void print_times(const ar_run *run) {
    for (ar_stage stage = AR_STAGE_LOAD; stage < AR_STAGE_APPLY; stage++)
        fprintf(stderr, "amp-rewrite: time: %s %.4f s\n", ar_stage_name(stage),
                run->seconds[stage]);
}

static int run_pipeline(const ar_options *options, ar_arena *arena) {
    ar_run run = {.arena = arena,
                  .options = options,
                  .rule_files = {.arena = arena},
                  .rule_diags = {.arena = arena},
                  .diags = {.arena = arena},
                  .edits = {.arena = arena}};
    bool more = ar_pipeline(&run);
    if (more) {
        ar_crash_stage(ar_stage_name(AR_STAGE_APPLY));
        if (options->action == AR_ACTION_AUDIT_TEXT ||
            options->action == AR_ACTION_AUDIT_JSON)
            audit(&run);
        else
            ar_output_write(&run);
    }
    ar_pipeline_print_diags(&run);
    if (options->verbosity == AR_VERBOSE)
        print_times(&run);
    for (uint32_t i = 0; i < run.unit_count; i++)
        ar_arena_free(run.units[i]->arena);
    return (int)run.exit;
}

static int explain(const ar_options *options, ar_arena *arena) {
    ar_diags diags = {.arena = arena};
    ar_files none = {.arena = arena};
    if (ar_explain(stdout, options->explain, &diags))
        return AR_EXIT_DONE;
    ar_diags_print(
        stderr, &diags, &none,
        (ar_diag_style){.colour = ar_options_colour(options, stderr)});
    return AR_EXIT_USAGE;
}

static int dispatch(const ar_options *options, ar_arena *arena) {
    switch (options->action) {
    case AR_ACTION_HELP:
        ar_options_help(stdout, AR_HELP_SHORT);
        return AR_EXIT_DONE;
    case AR_ACTION_HELP_ALL:
        ar_options_help(stdout, AR_HELP_ALL);
        return AR_EXIT_DONE;
    case AR_ACTION_VERSION:
        print_version(arena);
        return AR_EXIT_DONE;
    case AR_ACTION_EXPLAIN:
        return explain(options, arena);
    case AR_ACTION_REWRITE:
    case AR_ACTION_AUDIT_TEXT:
    case AR_ACTION_AUDIT_JSON:
    case AR_ACTION_CHECK:
    case AR_ACTION_PRINT_RULES:
        return run_pipeline(options, arena);
    }
    AR_BUG("action %d", (int)options->action);
}

/* Whatever was printed: a payload that is cut off is an error. */
static bool finish_stdout(const ar_options *options, ar_arena *arena) {
    bool ok = fflush(stdout) == 0;
    int error = errno;
    if (ok && !ferror(stdout))
        return true;
    ar_diags diags = {.arena = arena};
    ar_files none = {.arena = arena};
    ar_report(&diags, AR_DIAG_CANNOT_WRITE, AR_NO_RANGE, "stdout",
              ok ? "part of it was lost" : strerror(error));
    ar_diags_print(
        stderr, &diags, &none,
        (ar_diag_style){.colour = ar_options_colour(options, stderr)});
    return false;
}

static void start(void *context) {
    command *c = context;
    ar_arena *arena = ar_arena_new();
    ar_options options;
    ar_diags diags = {.arena = arena};
    ar_files none = {.arena = arena};
    bool ok = ar_options_parse(arena, c->argc, c->argv, &options, &diags);
    ar_diags_print(
        stderr, &diags, &none,
        (ar_diag_style){.colour = ar_options_colour(&options, stderr)});
    c->exit = ok ? dispatch(&options, arena) : AR_EXIT_USAGE;
    bool fine = c->exit == AR_EXIT_DONE || c->exit == AR_EXIT_CHANGES;
    if (!finish_stdout(&options, arena) && fine)
        c->exit = AR_EXIT_OUTPUT;
    ar_arena_free(arena);
}

/* A stream that was closed before we came must not become the first file that
 * is opened. Writing to what stands in for it is an error. */
static void fill_streams(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

int main(int argc, char **argv) {
    command c = {argc, argv, AR_EXIT_INTERNAL};
    fill_streams();
    ar_crash_catch();
    signal(SIGCHLD, SIG_DFL); /* whoever ignored it: workers are waited for */
    /* The stages follow the nesting of the program by recursion. */
    ar_run_on_big_stack(start, &c);
    return c.exit;
}
