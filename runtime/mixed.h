/* mixed.h - notices when objects built with different AMP_HALF_* types meet
 * in one program. Said once; the program runs on. */
#ifndef AMP_MIXED_H
#define AMP_MIXED_H

#include <amp/amp.h>

void amp_note_half(amp_dtype half);

#endif
