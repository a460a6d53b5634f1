/* The audit: which op and which buffer runs in which precision, and why.
 *
 * ar_audit_make gathers rows from the decisions; the writers only format them,
 * so that text and JSON cannot disagree. */
#ifndef AR_AUDIT_H
#define AR_AUDIT_H

#include "pipeline.h"

typedef struct ar_audit_op {
    const ar_op_site *site;
    const char *function;     /* that holds it, or NULL */
    const char *callee;       /* or NULL */
    const char *place;        /* file:line:col */
    const char *reason_place; /* the rule's or fact's place, or NULL */
} ar_audit_op;

typedef struct ar_audit_buffer {
    const char *name;
    const char *kind; /* variable, field, parameter, heap */
    const char *type;
    const char *place;
    ar_role role;
    bool also_state;
    int degree;          /* in the loss scale; -1: not known */
    bool degree_in_part; /* it also points to memory of the other degree */
    int group;           /* optimizer, or -1 */
    bool cast_cached;    /* a half copy is kept between steps */
    bool half;
    const char *reason;
    const char *reason_place; /* or NULL */
    const char *unlock;       /* what would make it half, or NULL */
    /* what a level that changes storage would meet */
    const char *pin, *pin_place;                 /* root cause, or NULL */
    const char *accumulates, *accumulates_place; /* or NULL */
    const char *scratch_places; /* loops that sum in FP32 beside it, or NULL */
} ar_audit_buffer;

/* The buffers of one role, as far as the training is followed. Bytes are a sum
 * of numbers and products: "16384 + 512 * batch". */
typedef struct ar_audit_memory {
    ar_role role;
    const char *before, *after;
    uint32_t unsized; /* buffers whose size cannot be said */
} ar_audit_memory;

/* A function that is called with several precisions has a copy for each. */
typedef struct ar_audit_version {
    const char *function, *place;
    const char *name, *about; /* of the copy; "in half", "x, y in half" */
} ar_audit_version;

typedef struct ar_audit_place {
    const char *what; /* seed, unscale, step, carry, fused */
    const char *place;
    const char *text; /* the line, trimmed */
    int group;
} ar_audit_place;

typedef struct ar_audit_skipped {
    const char *file;
    uint32_t first_line, last_line;
} ar_audit_skipped;

typedef struct ar_audit {
    AR_VEC(ar_audit_op) ops;
    AR_VEC(ar_audit_buffer) buffers;
    AR_VEC(ar_audit_memory) memory; /* -O2; by role */
    AR_VEC(ar_audit_version) versions;
    AR_VEC(ar_audit_place) places;
    AR_VEC(ar_audit_skipped) skipped;
    AR_VEC(const char *) unlocks; /* what would bring more ops into half */
    uint32_t half_ops, half_buffers, casts;
    const char *scale_text; /* one line about the loss scale */
    AR_VEC(const char *)
    assumptions; /* what the loss scale takes for granted */
} ar_audit;

ar_audit *ar_audit_make(ar_run *run);
/* memory.c: fills in `memory`; what the program's own buffers take. */
void ar_audit_add_memory(ar_run *run, ar_audit *audit);

void ar_audit_text(FILE *out, const ar_run *run, const ar_audit *audit);
/* Schema: docs/audit-json.md, "version": 1. false on write errors. */
bool ar_audit_json(FILE *out, const ar_run *run, const ar_audit *audit);

#endif
