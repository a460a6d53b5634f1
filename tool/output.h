/* Output: the rewritten bytes as a diff, a file, a tree, or in place. */
#ifndef AR_OUTPUT_H
#define AR_OUTPUT_H

#include "pipeline.h"

/* Sets run->exit. Everything is prepared in memory before the first file is
 * touched. */
void ar_output_write(ar_run *run);

#endif
