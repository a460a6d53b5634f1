#include "unseen.h"

enum { SHOWN_REGIONS = 4, SHOWN_FILES = 3 };

/* Directives, braces and C++ linkage alone are no code to miss. */
static bool holds_code(ar_run *run, ar_range range) {
    char *text =
        ar_strdup(run->arena, ar_text(run->arena, &run->program->files, range));
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        line += strspn(line, " \t\r{}");
        if (*line && *line != '#' && strncmp(line, "extern \"C\"", 10) != 0)
            return true;
    }
    return false;
}

typedef AR_VEC(ar_range) regions;

static regions skipped_in(ar_run *run, ar_file_id file) {
    ar_program *program = run->program;
    regions seen = {0};
    for (uint32_t u = 0; u < program->unit_count; u++) {
        const ar_unit *unit = program->units[u];
        for (uint32_t i = 0; i < unit->skipped.count; i++) {
            ar_range range = unit->skipped.data[i];
            bool known = range.file != file;
            for (uint32_t k = 0; !known && k < seen.count; k++)
                known = seen.data[k].begin == range.begin;
            if (!known && holds_code(run, range))
                AR_PUSH(run->arena, &seen, range);
        }
    }
    return seen;
}

static void report_skipped(ar_run *run, const regions *seen) {
    ar_files *files = &run->program->files;
    ar_str lines = {.arena = run->arena};
    for (uint32_t i = 0; i < seen->count && i < SHOWN_REGIONS; i++) {
        ar_range range = seen->data[i];
        ar_str_addf(&lines, "%s%u-%u", i ? ", " : "",
                    ar_line_col_at(files, range.file, range.begin).line,
                    ar_line_col_at(files, range.file, range.end).line);
    }
    if (seen->count > SHOWN_REGIONS)
        ar_str_addf(&lines, " and %u more regions",
                    seen->count - SHOWN_REGIONS);
    ar_report(&run->diags, AR_DIAG_SKIPPED_REGION, seen->data[0],
              ar_str_text(&lines));
}

/* One note for a file, since headers have many regions; one for all files of a
 * large program, unless it is to be verbose. */
void ar_report_unseen(ar_run *run) {
    AR_VEC(regions) all = {0};
    uint32_t count = 0;
    for (ar_file_id id = 0; id < run->program->files.list.count; id++) {
        if (!run->program->editable[id])
            continue;
        regions seen = skipped_in(run, id);
        count += seen.count;
        if (seen.count)
            AR_PUSH(run->arena, &all, seen);
    }
    if (all.count > SHOWN_FILES && run->options->verbosity != AR_VERBOSE) {
        ar_report(&run->diags, AR_DIAG_SKIPPED_FILES, AR_NO_RANGE, count,
                  all.count);
        return;
    }
    for (uint32_t i = 0; i < all.count; i++)
        report_skipped(run, &all.data[i]);
}
