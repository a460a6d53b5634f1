/* The documentation of diagnostics: --explain and docs/diagnostics.md.
 *
 * The texts are in base/diag_docs.def, one entry for each name of
 * base/diag.def. A test fails and names the diagnostic when one is missing. */
#ifndef AR_EXPLAIN_H
#define AR_EXPLAIN_H

#include "base/diag.h"

typedef struct ar_diag_doc {
    const char *meaning; /* NULL: no entry */
    const char *remedy;
} ar_diag_doc;

ar_diag_doc ar_diag_doc_of(ar_diag_id id);

/* Prints the documentation of every diagnostic that `code` names: AMP402, 402,
 * no-seed or AMP402-no-seed. false + USAGE diagnostic if it names none. */
bool ar_explain(FILE *out, const char *code, ar_diags *diags);

/* The whole reference as Markdown. */
void ar_explain_markdown(FILE *out);

#endif
