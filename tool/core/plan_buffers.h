/* Buffers that are made known to the runtime: what plan_buffers.c, which writes
 * the registrations, asks of plan_buffer_list.c, which knows what they are.
 * Everything lives in the arena of the plan. */
#ifndef AR_PLAN_BUFFERS_H
#define AR_PLAN_BUFFERS_H

#include "core/chains.h"
#include "core/naming.h"
#include "core/plan.h"

typedef enum ar_buffer_kind {
    AR_BUFFER_PARAM,
    AR_BUFFER_GRAD,
    AR_BUFFER_CARRY,
    AR_BUFFER_TRACKED, /* a seed buffer: only its size matters */
    AR_BUFFER_OTHER    /* a part that must not be taken for a gradient */
} ar_buffer_kind;

typedef struct ar_buffer {
    const ar_cell *cell;
    const ar_object *object;
    ar_buffer_kind kind;
    int group;
    bool done;
} ar_buffer;

typedef struct ar_buffers {
    ar_plan *plan;
    const ar_scale *scale;
    AR_VEC(ar_buffer) list;
    ar_table listed;       /* cells of the list */
    ar_table tracked;      /* allocation calls already renamed */
    ar_table sized;        /* stores after which a size is said */
    ar_table arrays;       /* registered, to be marked in parts */
    ar_table with_grads;   /* objects that hold a gradient */
    ar_table visible;      /* entities that the loop's unit declares in full */
    ar_object_name *names; /* at the loop, when first asked for */
    ar_chains of_object;   /* the list, by object */
    ar_chains cells;       /* by object */
    ar_chains sites;       /* objects, by the allocating call */
    /* pointer stores: by statement, by what is stored, by where to */
    ar_chains stores_at, stores_of, stores_in;
} ar_buffers;

/* All that is to be registered, in the order in which it is. */
ar_buffers ar_buffers_new(ar_plan *plan, const ar_scale *scale);
bool ar_has_grads(const ar_buffers *b, const ar_object *object);
bool ar_buffer_is_vital(const ar_buffers *b, const ar_buffer *one);
bool ar_cell_is_half(const ar_buffers *b, const ar_cell *cell);
bool ar_same_registration(const ar_buffer *a, const ar_buffer *b);
bool ar_buffer_is_whole(const ar_buffers *b, const ar_buffer *one);
/* The first of the object; NULL: it has none. */
const ar_buffer *ar_registration_of(const ar_buffers *b,
                                    const ar_object *object);
bool ar_leads_to_buffer(const ar_buffers *b, const ar_pointer_store *store,
                        const ar_buffer *one);
bool ar_site_is_uniform(const ar_buffers *b, const ar_buffer *one);
/* through_holder: what is stored holds the buffer, in this path. */
bool ar_store_is_uniform(const ar_buffers *b, const ar_pointer_store *store,
                         const ar_buffer *one, bool through_holder,
                         const char *path);

#endif
