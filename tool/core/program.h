/* The linked program: the facts of all units as one.
 *
 * link maps the decls of several units that mean the same thing (same USR) to
 * one entity, chooses the definition of each function, and merges file tables,
 * so that a header read by ten units is one file whose facts count once. The
 * units' trees are not copied: node->decl still points into its unit;
 * ar_entity_of() gives the entity of any decl. Everything is read-only after
 * link. */
#ifndef AR_PROGRAM_H
#define AR_PROGRAM_H

#include "base/map.h"
#include "core/facts.h"

typedef struct ar_entity {
    uint32_t id;
    ar_decl *decl; /* the definition if there is one, else the first seen */
    ar_unit *unit; /* of decl */
    ar_decl **all; /* every redeclaration over all units, deterministic */
    uint32_t all_count;
    bool in_rewrite_set; /* every declaration lies in a file we may edit */
} ar_entity;

typedef struct ar_program {
    ar_arena *arena;
    ar_files files;  /* merged; ranges in units are remapped to it by link */
    ar_unit **units; /* ordered by main file name, whatever order was given */
    uint32_t unit_count;
    AR_VEC(ar_entity) entities;
    /* For each file: may it be edited? (under the root, not system) */
    bool *editable;
    struct ar_link_index *index; /* names; private to link */
} ar_program;

/* Remaps the ranges of every unit to the merged file table, those of its
 * diagnostics included, and sets decl->id to the id of the entity. A unit can
 * be linked once. Units that were not parsed are kept in the list and give
 * nothing. `root`: only files below this real path are editable, NULL: only
 * the units' main files. The program's table begins with `rule_files`, so that
 * the range of a rule has its place there too; they are never editable. */
ar_program *ar_link(ar_arena *arena, ar_unit **units, uint32_t unit_count,
                    const ar_files *rule_files, const char *root);

/* Never NULL for a decl of a linked unit. */
ar_entity *ar_entity_of(ar_program *program, const ar_decl *decl);
/* The function's definition anywhere in the program, or NULL. */
ar_decl *ar_definition_of(ar_program *program, const ar_decl *function);
/* The function named so (by name, not USR; statics of any unit), or NULL. */
ar_entity *ar_find_function(ar_program *program, const char *name);
/* A macro, function, variable, type or enumerator of the program, wherever it
 * is; file AR_NO_FILE: there is none. */
ar_range ar_find_name(const ar_program *program, const char *name);
void ar_add_names(const ar_program *program, ar_strmap *names);
/* As rules write it: the typedef of a struct without a tag, no `struct`. */
const char *ar_record_name(const ar_decl *record);
/* Calls visit for every node of every function body and initialiser once, a
 * node before its kids, in source order; facts of a header included by several
 * units are visited once. `function` is NULL in a file-scope initialiser. */
typedef void ar_visit_node(void *context, ar_unit *unit, ar_decl *function,
                           ar_node *node);
void ar_program_visit(ar_program *program, ar_visit_node *visit, void *context);

/* --dump-after=link: units, editable files, entities outside system headers. */
void ar_program_dump(FILE *out, ar_program *program);

#endif
