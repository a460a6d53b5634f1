/* Private to storage_sum_*.c: one loop that adds to memory, as it is read. */
#ifndef AR_STORAGE_SUM_PARTS_H
#define AR_STORAGE_SUM_PARTS_H

#include "core/storage_sums.h"

/* One of the loops and conditions from the scratch's loop inwards. */
typedef struct ar_sum_nest {
    ar_node *node;                   /* a loop, or the condition of an if */
    const struct ar_sum_nest *outer; /* NULL: it is that loop */
    bool has_jump;                   /* a break or continue of its own */
    bool is_else;
} ar_sum_nest;

/* A use of the memory. */
typedef struct ar_sum_use {
    const ar_node *lvalue;
    const ar_sum_nest *inner;
    bool stores, always; /* always: whenever what is around it runs */
} ar_sum_use;

typedef struct ar_sum_reader {
    const ar_sum_search *in;
    ar_arena *arena;
    AR_VEC(ar_sum_use) accesses;
    ar_table assigned;    /* variables that the loop sets or declares */
    bool stores_numbers;  /* to memory of other types than float */
    ar_sum_problem found; /* why NULL: none */
} ar_sum_reader;

/* for (v = start; v op bound; ...) */
typedef struct ar_sum_count {
    const ar_decl *variable;
    const ar_node *start, *bound;
    ar_op op;
    bool by_one; /* upwards, and the body does not set v */
} ar_sum_count;

/* ---- storage_sum_reads.c ------------------------------------------------- */

/* Fills in the uses, what is assigned, and the first problem. */
void ar_sum_read(ar_sum_reader *r);
/* The first problem stays. */
void ar_sum_refuse(ar_sum_reader *r, const char *why, ar_range at);
bool ar_sum_is_loop(const ar_node *node);
/* The variable or parameter that the expression is, or NULL. */
const ar_decl *ar_sum_variable(const ar_node *node);

/* ---- storage_sum_loops.c ------------------------------------------------- */

/* The loop does not change its value, nor declare what it names. Memory of
 * other types than float only changes where the loop stores to some: a float is
 * no number or pointer. */
bool ar_sum_is_fixed(const ar_sum_reader *r, const ar_node *node);
/* NULL: it has no text of its own. */
const char *ar_sum_text(const ar_sum_reader *r, const ar_node *node);
/* With brackets around what would not be one operand of such an operator. */
const char *ar_sum_operand(const ar_sum_reader *r, const ar_node *node,
                           ar_op of);
/* It is assigned to in there. */
bool ar_sum_sets(const ar_node *node, const ar_decl *decl);
bool ar_sum_is_integer(const ar_type *type);
bool ar_sum_number(const ar_node *node, int64_t *value);
bool ar_sum_read_count(const ar_sum_reader *r, const ar_node *loop,
                       ar_sum_count *c);
/* What must be true for the inside to be come to; "": nothing. NULL: it cannot
 * be said in front of the scratch's loop. */
const char *ar_sum_condition(const ar_sum_reader *r, const ar_sum_nest *at);
/* One of the conditions from here outwards is this one. */
bool ar_sum_is_asked(const ar_sum_reader *r, const ar_sum_nest *inner,
                     const char *text);
/* What must be true for the loop to use the memory at all, NULL where it always
 * does; false: that cannot be said. rows: by use, the loop over its row. */
bool ar_sum_guard(const ar_sum_reader *r, const ar_sum_nest *const *rows,
                  const char **guard);

#endif
