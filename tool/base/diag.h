/* Diagnostics: what the tool tells its user.
 *
 * A stage adds diagnostics to a list and goes on; main prints the list and
 * turns it into an exit code. Texts come from diag.def only. Errors start in
 * lower case and end without a full stop. */
#ifndef AR_DIAG_H
#define AR_DIAG_H

#include "base/source.h"

#include <stdio.h>

typedef enum ar_severity {
    AR_NOTE,   /* belongs to the diagnostic before it */
    AR_REMARK, /* shown with -v */
    AR_WARNING,
    AR_ERROR
} ar_severity;

typedef enum ar_diag_id {
#define X(name, number, severity, option, text) AR_DIAG_##name,
#include "base/diag.def"
#undef X
    AR_DIAG_COUNT
} ar_diag_id;

typedef struct ar_diag_info {
    const char *name; /* NO_SEED */
    unsigned number;  /* 402 */
    ar_severity severity;
    const char *option; /* no-seed */
    const char *text;
} ar_diag_info;

typedef struct ar_diag {
    ar_diag_id id;
    ar_severity severity;
    ar_range range; /* in the table that the list is printed with */
    const char *text;
} ar_diag;

typedef struct ar_diags {
    ar_arena *arena;
    AR_VEC(ar_diag) list;
    unsigned errors, warnings;
} ar_diags;

const ar_diag_info *ar_diag_info_of(ar_diag_id id);
/* As messages spell it. */
const char *ar_severity_name(ar_severity severity);

/* range.file AR_NO_FILE: a diagnostic without a place. */
void ar_report(ar_diags *diags, ar_diag_id id, ar_range range, ...);
#define AR_NO_RANGE ((ar_range){AR_NO_FILE, 0, 0, false})

/* Adds what `from` holds; the ranges must be of the same files. */
void ar_diags_append(ar_diags *diags, const ar_diags *from);

typedef struct ar_diag_style {
    bool colour;
    bool remarks; /* show AR_REMARK */
} ar_diag_style;

/* clang style: place, severity, text [AMP402-no-seed], source line, caret. */
void ar_diags_print(FILE *out, const ar_diags *diags, ar_files *files,
                    ar_diag_style style);

#endif
