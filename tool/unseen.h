/* unseen: what the preprocessor switched off, and so nobody looked at. */
#ifndef AR_UNSEEN_H
#define AR_UNSEEN_H

#include "pipeline.h"

/* Notes into run->diags, for files that may be edited. */
void ar_report_unseen(ar_run *run);

#endif
