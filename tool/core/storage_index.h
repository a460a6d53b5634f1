/* Look-ups over storage facts that would otherwise be searches through all of
 * them: the edits ask about every site. Made once; read-only. */
#ifndef AR_STORAGE_INDEX_H
#define AR_STORAGE_INDEX_H

#include "core/ops.h"
#include "core/storage.h"

typedef struct ar_storage_index ar_storage_index;

ar_storage_index *ar_storage_index_make(ar_arena *arena, ar_program *program,
                                        const ar_storage_facts *facts,
                                        const ar_ops *ops);

/* The node that holds this one, as ar_parent_of says. */
ar_node *ar_storage_parent(const ar_storage_index *index, const ar_unit *unit,
                           const ar_node *node);

/* The sites of this node: 1 + the first one, 0 for none; then the next. */
uint32_t ar_storage_site_at(const ar_storage_index *index, const ar_node *node);
uint32_t ar_storage_site_after(const ar_storage_index *index, uint32_t site);

/* The typedefs that name the struct, and no pointer to it: 1 + the entity of
 * the first one, 0 for none; then the next. */
uint32_t ar_storage_typedef_of(const ar_storage_index *index,
                               const ar_entity *record);
uint32_t ar_storage_typedef_after(const ar_storage_index *index, uint32_t name);

/* What the call, or the mention of a function, ties together, or NULL. */
const ar_storage_call *ar_storage_call_at(const ar_storage_index *index,
                                          const ar_node *node);

/* The op of this call, or NULL. */
const ar_op_site *ar_storage_op_at(const ar_storage_index *index,
                                   const ar_node *call);

/* The copy of bytes from float memory to float memory that the call is, or
 * NULL. */
const ar_flow *ar_storage_copy_at(const ar_storage_index *index,
                                  const ar_unit *unit, const ar_node *call);

/* A declarator of the unit, or an enumerator, has a sizeof and the name:
 * `float b[sizeof a / sizeof(float)]`. Such expressions are no part of the
 * tree. */
bool ar_storage_is_measured(const ar_storage_index *index, const ar_unit *unit,
                            const char *name);

/* The calls, and mentions as a value, of a function: 1 + the first of
 * facts->calls, 0 for none; then the next. */
uint32_t ar_storage_call_of(const ar_storage_index *index,
                            const ar_entity *callee);
uint32_t ar_storage_call_after(const ar_storage_index *index, uint32_t call);

/* The declarations of the unit that share this token for a float or a struct,
 * typedefs left out, in the order of the unit; NULL at the end. */
typedef struct ar_token_decls {
    const ar_decl *decl;
    const struct ar_token_decls *next;
} ar_token_decls;
const ar_token_decls *ar_storage_declared_with(const ar_storage_index *index,
                                               const ar_unit *unit,
                                               ar_range token);

/* The words between the brackets of typeof wherever that gives a float; NULL at
 * the end. */
typedef struct ar_typeof {
    const char *operand;
    const struct ar_typeof *next;
} ar_typeof;
const ar_typeof *ar_storage_typeofs(const ar_storage_index *index);

/* Where the variable or field is named, or the function called directly: in the
 * order of the program; NULL at the end. */
typedef struct ar_mention {
    ar_unit *unit;
    ar_decl *function; /* NULL: in an initialiser at file scope */
    ar_node *node;     /* REF, MEMBER or CALL */
    const struct ar_mention *next;
} ar_mention;
const ar_mention *ar_storage_mentions(const ar_storage_index *index,
                                      const ar_entity *entity);

/* Marks the class, what it stands for, and what stands for any of that. */
void ar_storage_mark_memory(const ar_storage_facts *facts, uint32_t id,
                            bool *marks);

/* Memory that a function allocates, or passes on, as void * only. */
bool ar_storage_is_untyped(const ar_storage_facts *facts, uint32_t id);

/* The function is named other than to call it. */
bool ar_storage_is_function_value(const ar_storage_index *index,
                                  const ar_entity *function);

#endif
