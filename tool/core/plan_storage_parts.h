/* Private to plan_storage*.c.
 *
 * Every kind of site has one function that both judges and rewrites it: it
 * returns in plain words why the site cannot be rewritten, or NULL after adding
 * the edits, if there is somewhere to add them to. What the solver was told can
 * be done is thus what is done. */
#ifndef AR_PLAN_STORAGE_PARTS_H
#define AR_PLAN_STORAGE_PARTS_H

#include "core/place.h"
#include "core/plan.h"
#include "core/plan_storage.h"

typedef struct ar_rewriter {
    ar_arena *arena;
    ar_program *program;
    const ar_rules *rules;
    const ar_ops *ops;
    const ar_storage_plan *storage;
    ar_plan *plan; /* where edits go; NULL: only asks */
} ar_rewriter;

/* ---- plan_storage_text.c: places and edits ------------------------------- */

bool ar_class_is_half(const ar_rewriter *r, uint32_t id);
/* All, or some, of the classes that a site is about are stored in half. */
bool ar_site_all_half(const ar_rewriter *r, const ar_site *site);
bool ar_site_some_half(const ar_rewriter *r, const ar_site *site);
/* The float memory behind this declaration is stored in half; of a local with
 * several webs: that of the first. */
bool ar_decl_is_half(const ar_rewriter *r, const ar_decl *decl);

/* NULL, or why text cannot change there. */
const char *ar_text_problem(const ar_rewriter *r, ar_range range);
const char *ar_source_text(const ar_rewriter *r, ar_range range);
/* No effect where the rewriter only asks. The file gets the runtime's header.
 */
void ar_put_text(ar_rewriter *r, ar_range range, const char *text);
void ar_put_around(ar_rewriter *r, ar_range range, ar_place_layer layer,
                   const char *head, const char *tail);
/* The same around what becomes the argument of a call: a comma expression,
 * whose own brackets stay outside, gets another pair. */
void ar_put_call(ar_rewriter *r, const ar_node *argument, ar_place_layer layer,
                 const char *head, const char *tail);
/* The text that names the element type in a cast or sizeof becomes the half
 * type's. */
const char *ar_put_half_type(ar_rewriter *r, const ar_node *node);
/* NULL, or why the text is more than another word for float. */
const char *ar_alias_problem(const ar_rewriter *r, ar_range token);

/* Does the text use the value of this expression? */
bool ar_value_is_used(const ar_rewriter *r, const ar_unit *unit,
                      const ar_node *node);
/* Evaluating it changes something, or could. */
bool ar_has_effects(const ar_node *node);

/* The function is named other than to call it. Pointers to functions spell the
 * types of parameters, and are not changed. */
bool ar_is_function_value(const ar_rewriter *r, const ar_decl *function);

/* plan_storage_macro.c: the text of a macro's use is this expression and no
 * more, so that what goes around the expression can go around the use. */
bool ar_is_whole_use(const ar_rewriter *r, const ar_unit *unit,
                     const ar_node *node);

/* ---- per kind of site ---------------------------------------------------- */

/* plan_storage_decl.c */
/* The word that a declaration wants in the place of the one for its element
 * type or struct; NULL: as it is. */
typedef const char *ar_word_for(void *context, const ar_decl *decl);
/* Gives all declarators that share the token the words they want. */
const char *ar_put_words(ar_rewriter *r, const ar_unit *unit, ar_range token,
                         ar_word_for *word_for, void *context);
/* The word stands in the text. */
bool ar_holds_word(const char *text, const char *word);
/* Behind the qualifiers that follow the type: `float const *a`. */
uint32_t ar_specifiers_end(const ar_file *file, uint32_t at);
const char *ar_rewrite_declaration(ar_rewriter *r, const ar_site *site);
const char *ar_rewrite_cast(ar_rewriter *r, const ar_site *site);
/* plan_storage_webs.c */
bool ar_can_be_split(const ar_decl *decl);
/* The text of an expression with the names that such locals get. */
const char *ar_rewritten_text(const ar_rewriter *r, const ar_node *node);
/* A local that points to memory of both precisions becomes two. */
const char *ar_split_local(ar_rewriter *r, const ar_unit *unit,
                           const ar_decl *decl);
/* plan_storage_init.c */
const char *ar_rewrite_initialiser(ar_rewriter *r, const ar_site *site);
/* plan_storage_records.c: structs told apart by object */
const char *ar_rewrite_record(ar_rewriter *r, const ar_site *site);
/* The declaration of a field of such a struct; is_done: that is all of it, the
 * struct gets copies. */
const char *ar_rewrite_own_field(ar_rewriter *r, const ar_site *site,
                                 bool *is_done);
/* plan_storage_access.c */
const char *ar_rewrite_load(ar_rewriter *r, const ar_site *site);
const char *ar_rewrite_store(ar_rewriter *r, const ar_site *site);
const char *ar_rewrite_compound(ar_rewriter *r, const ar_site *site);
/* NULL, or why the text of an expression of the site cannot change. */
const char *ar_access_problem(const ar_rewriter *r, const ar_site *site,
                              const ar_node *node);
/* Macros whose brackets hold this text turn it into a string. */
bool ar_is_stringified(const ar_rewriter *r, const ar_unit *unit,
                       ar_range range);
/* plan_storage_scan.c */
const char *ar_rewrite_scan(ar_rewriter *r, const ar_site *site);
/* plan_storage_vector.c */
const char *ar_rewrite_vector(ar_rewriter *r, const ar_site *site);
/* plan_storage_bytes.c */
const char *ar_rewrite_sizeof(ar_rewriter *r, const ar_site *site);
/* plan_storage_arenas.c: all arenas that are split, in the view of a round;
 * false: one cannot be */
bool ar_rewrite_arenas(ar_rewriter *r, uint32_t round);
/* plan_storage_sums.c: what an access has in its place where an FP32 scratch
 * stands in for the memory; NULL: there is none */
const ar_sum_access *ar_sum_access_of(const ar_rewriter *r,
                                      const ar_node *lvalue);
/* The statements around the loops of those scratches. */
bool ar_rewrite_sums(ar_rewriter *r, uint32_t round);
/* plan_storage_calls.c */
const char *ar_rewrite_call(ar_rewriter *r, const ar_site *site);

/* A copy between float buffers of two precisions. */
bool ar_copy_is_mixed(const ar_rewriter *r, const ar_unit *unit,
                      const ar_node *call);
/* The rule that a call of foreign code follows; NULL: own code, or none. */
const ar_function_rule *ar_memory_rule(const ar_rewriter *r,
                                       const ar_node *call);
/* What the runtime calls a function of the C library that moves buffers
 * between memory and files; NULL: nothing. */
const char *ar_file_function(const ar_node *call);

#endif
