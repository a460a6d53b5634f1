#include "base/diag.h"

#include <stdlib.h>

static const ar_diag_info infos[] = {
#define X(name, number, severity, option, text)                                \
    {#name, number, AR_##severity, option, text},
#include "base/diag.def"
#undef X
};

const ar_diag_info *ar_diag_info_of(ar_diag_id id) {
    if ((unsigned)id >= AR_DIAG_COUNT)
        AR_BUG("diagnostic %d", (int)id);
    return &infos[id];
}

void ar_report(ar_diags *diags, ar_diag_id id, ar_range range, ...) {
    const ar_diag_info *info = ar_diag_info_of(id);
    va_list args;
    va_start(args, range);
    ar_diag diag = {.id = id,
                    .severity = info->severity,
                    .range = range,
                    .text = ar_vsprintf(diags->arena, info->text, args)};
    va_end(args);
    AR_PUSH(diags->arena, &diags->list, diag);
    diags->errors += info->severity == AR_ERROR;
    diags->warnings += info->severity == AR_WARNING;
}

void ar_diags_append(ar_diags *diags, const ar_diags *from) {
    for (uint32_t i = 0; i < from->list.count; i++)
        AR_PUSH(diags->arena, &diags->list, from->list.data[i]);
    diags->errors += from->errors;
    diags->warnings += from->warnings;
}

const char *ar_severity_name(ar_severity severity) {
    switch (severity) {
    case AR_NOTE:
        return "note";
    case AR_REMARK:
        return "remark";
    case AR_WARNING:
        return "warning";
    case AR_ERROR:
        return "error";
    }
    AR_BUG("severity %d", (int)severity);
}

static const char *severity_colour(ar_severity severity) {
    switch (severity) {
    case AR_NOTE:
        return "\033[1;36m";
    case AR_REMARK:
        return "\033[1;34m";
    case AR_WARNING:
        return "\033[1;35m";
    case AR_ERROR:
        return "\033[1;31m";
    }
    AR_BUG("severity %d", (int)severity);
}

/* Of a long line, generated or binary, only what is near the place is shown. */
enum { SNIPPET_BEFORE = 100, SNIPPET_AFTER = 60 };

/* Inside a character of several bytes (UTF-8). */
static bool is_continuation(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* A source must not be able to move the cursor or change colours. */
static char printable(char c) {
    return ((unsigned char)c < ' ' && c != '\t') || c == 127 ? '?' : c;
}

static ar_range near_place(const char *bytes, ar_range line, uint32_t at) {
    ar_range shown = line;
    if (at - line.begin > SNIPPET_BEFORE)
        shown.begin = at - SNIPPET_BEFORE;
    if (line.end > at && line.end - at > SNIPPET_AFTER)
        shown.end = at + SNIPPET_AFTER;
    while (shown.begin > line.begin && shown.begin < at &&
           is_continuation(bytes[shown.begin]))
        shown.begin++;
    while (shown.end < line.end && shown.end > at &&
           is_continuation(bytes[shown.end]))
        shown.end--;
    return shown;
}

/* The source line, then a caret and tildes under the range. Tabs are copied so
 * that the caret stays under its column. */
static void print_snippet(FILE *out, const ar_diag *diag, ar_files *files,
                          bool colour) {
    ar_range line = ar_line_range(files, diag->range.file, diag->range.begin);
    if (line.file == AR_NO_FILE || line.begin == line.end)
        return;
    const char *bytes = files->list.data[line.file].bytes;
    ar_line_col at = ar_line_col_at(files, diag->range.file, diag->range.begin);
    ar_range shown = near_place(bytes, line, diag->range.begin);
    const char *cut = shown.begin > line.begin ? "..." : "";
    fprintf(out, "%5u | %s", at.line, cut);
    for (uint32_t i = shown.begin; i < shown.end; i++)
        fputc(printable(bytes[i]), out);
    fprintf(out, "%s\n      | %*s", shown.end < line.end ? "..." : "",
            (int)strlen(cut), "");
    for (uint32_t i = shown.begin; i < diag->range.begin; i++)
        if (!is_continuation(bytes[i]))
            fputc(bytes[i] == '\t' ? '\t' : ' ', out);
    fprintf(out, "%s^", colour ? "\033[1;32m" : "");
    for (uint32_t i = diag->range.begin + 1;
         i < diag->range.end && i < shown.end; i++)
        if (!is_continuation(bytes[i]))
            fputc('~', out);
    fprintf(out, "%s\n", colour ? "\033[0m" : "");
}

static void print_one(FILE *out, const ar_diag *diag, ar_files *files,
                      bool colour) {
    const ar_diag_info *info = ar_diag_info_of(diag->id);
    if (diag->range.file == AR_NO_FILE) {
        fputs("amp-rewrite: ", out);
    } else {
        ar_line_col at =
            ar_line_col_at(files, diag->range.file, diag->range.begin);
        const char *name = files->list.data[diag->range.file].name;
        if (at.line)
            fprintf(out, "%s:%u:%u: ", name, at.line, at.column);
        else
            fprintf(out, "%s: ", name);
    }
    fprintf(out, "%s%s:%s %s", colour ? severity_colour(diag->severity) : "",
            ar_severity_name(diag->severity), colour ? "\033[0m" : "",
            diag->text);
    if (diag->severity != AR_NOTE)
        fprintf(out, " [AMP%03u-%s]", info->number, info->option);
    fputc('\n', out);
    if (diag->range.file != AR_NO_FILE)
        print_snippet(out, diag, files, colour);
}

/* The same place can be reached on several paths; it is told once. */
static bool is_repeated(const ar_diags *diags, uint32_t index) {
    const ar_diag *diag = &diags->list.data[index];
    for (uint32_t i = 0; i < index; i++) {
        const ar_diag *other = &diags->list.data[i];
        if (other->id == diag->id && other->range.file == diag->range.file &&
            other->range.begin == diag->range.begin &&
            strcmp(other->text, diag->text) == 0)
            return true;
    }
    return false;
}

static void print_all(FILE *out, const ar_diags *diags, ar_files *files,
                      ar_diag_style style) {
    bool parent_shown = true;
    for (uint32_t i = 0; i < diags->list.count; i++) {
        const ar_diag *diag = &diags->list.data[i];
        bool show = diag->severity == AR_NOTE     ? parent_shown
                    : diag->severity == AR_REMARK ? style.remarks
                                                  : !is_repeated(diags, i);
        parent_shown = show;
        if (show)
            print_one(out, diag, files, style.colour);
    }
}

void ar_diags_print(FILE *out, const ar_diags *diags, ar_files *files,
                    ar_diag_style style) {
    /* stderr has no buffer: every character would be a system call */
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    print_all(memory ? memory : out, diags, files, style);
    if (memory && fclose(memory) == 0)
        fwrite(text, 1, size, out);
    free(text);
}
