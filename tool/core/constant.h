/* Numbers that an expression says by its own text: literals, enumerators,
 * constant variables with an initialiser, arithmetic of those. */
#ifndef AR_CONSTANT_H
#define AR_CONSTANT_H

#include "core/facts.h"

/* Asked for what else a name may stand for; hands `depth` on. */
typedef bool ar_resolve(const void *context, const ar_decl *decl,
                        uint32_t depth, double *value);

/* false: not a constant. */
bool ar_constant(const ar_node *node, double *value);
/* The same, with `resolve` asked about other names; depth is 0 at first. */
bool ar_constant_with(const ar_node *node, ar_resolve *resolve,
                      const void *context, uint32_t depth, double *value);

#endif
