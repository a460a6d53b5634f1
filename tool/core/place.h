/* Where text can be put into C source: before or after a statement, around an
 * expression, around a run of statements. Turns places in the tree into edits,
 * and knows about the things that make that hard: a statement that is the whole
 * body of an if or a loop, a pragma that must stay next to its loop, two
 * statements on one line, text that comes from a macro body. Each call either
 * adds all its edits or none and returns false. */
#ifndef AR_PLACE_H
#define AR_PLACE_H

#include "core/parents.h"
#include "core/program.h"
#include "out/edit.h"

typedef struct ar_placer {
    ar_arena *arena;
    ar_program *program;
    ar_edits *edits;
    ar_parents parents;
    AR_VEC(const ar_node *) braced; /* statements that got braces already */
} ar_placer;

ar_placer ar_placer_new(ar_arena *arena, ar_program *program, ar_edits *edits);

/* NULL at the top of a body or initialiser. */
ar_node *ar_placer_parent(ar_placer *placer, const ar_unit *unit,
                          const ar_node *node);
/* The statement that holds an expression; a statement is its own. NULL for an
 * initialiser at file scope. */
ar_node *ar_statement_of(ar_placer *placer, const ar_unit *unit, ar_node *node);

/* The end of a statement with its semicolon. */
uint32_t ar_statement_end(ar_program *program, const ar_node *statement);

/* text: whole statements without line end or indentation; lines are separated
 * by \n and get the indentation of `statement`. A single call may have places
 * to break it at (ar_break_call). */
bool ar_place_before(ar_placer *placer, ar_unit *unit, ar_node *statement,
                     const char *text, const char *why);
bool ar_place_after(ar_placer *placer, ar_unit *unit, ar_node *statement,
                    const char *text, const char *why);
/* head { first ... last } tail, the inside indented one step. head: "if (c)".
 * false also when a jump would leave the block past `tail`, or a variable
 * declared in it is used after it; *problem then says so. */
bool ar_place_block(ar_placer *placer, ar_unit *unit, ar_node *first,
                    ar_node *last, const char *head, const char *tail,
                    const char *why, const char **problem);
/* expression -> expression * factor */
bool ar_place_factor(ar_placer *placer, ar_unit *unit, ar_node *expression,
                     const char *factor, const char *why);
/* What goes around one expression, from the inside. */
typedef enum ar_place_layer {
    AR_LAYER_LOAD,   /* the value of what is stored in half */
    AR_LAYER_STORE,  /* another form of a store */
    AR_LAYER_VALUE,  /* the value of a store */
    AR_LAYER_FACTOR, /* times something */
    AR_LAYER_CALL,   /* as an argument: f( e ) */
    AR_LAYER_CONVERT /* what is stored */
} ar_place_layer;

/* expression -> head expression tail, as a function argument: f( e ) */
bool ar_place_around(ar_placer *placer, ar_node *expression, const char *head,
                     const char *tail, const char *why);
bool ar_place_replace(ar_placer *placer, ar_range range, const char *text,
                      const char *why);
/* Another name for the callee; lines that are aligned behind it follow. */
bool ar_place_rename(ar_placer *placer, const ar_node *call, const char *name,
                     const char *why);
/* The text in front of a list in brackets grows by `shift` bytes: lines of it
 * that reach to the right of its bracket belong there. */
void ar_place_realign(ar_placer *placer, ar_range list, size_t shift);
/* Further arguments at the end, `a, b`. longer: by how many bytes the callee's
 * name grows, as the line may then be full. */
bool ar_place_argument(ar_placer *placer, const ar_node *call, const char *text,
                       size_t longer, const char *why);

#endif
