/* Programs that a storage level has nothing to say to: they store double, or
 * half already. */
#ifndef AR_UNSUITED_H
#define AR_UNSUITED_H

#include "core/program.h"

/* Reports why, at the first buffer that shows it; false: there is no reason.
 * level: as the user spells it. */
bool ar_report_unsuited(ar_program *program, const char *level,
                        ar_diags *diags);

#endif
