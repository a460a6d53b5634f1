/* What the edits of a storage level cannot do. */
#include "core/plan_storage.h"

const char *ar_storage_site_refusal(ar_arena *arena, ar_program *program,
                                    const ar_rules *rules, const ar_ops *ops,
                                    const ar_storage_plan *plan,
                                    const ar_site *site) {
    (void)arena, (void)program, (void)rules, (void)ops, (void)plan, (void)site;
    return NULL;
}
