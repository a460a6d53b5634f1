/* Versions of functions: one text for each set of precisions that a function is
 * called with.
 *
 * Memory that a function only reaches through its parameters and result is
 * generic: every call says what it is, and so of which precision. A function
 * that is called with one set of precisions is rewritten where it stands. One
 * that is called with several gets a further text for each of the others, with
 * a name of its own, where its text allows that.
 *
 * The decisions of an ar_storage_plan are those of the first version of every
 * function. A *view* is the same plan with the decisions of another version: in
 * round r those of version r, of functions that have so many. Whatever asks
 * about one site, or rewrites it, sees one view and need not know of versions.
 */
#ifndef AR_STORAGE_VERSIONS_H
#define AR_STORAGE_VERSIONS_H

#include "core/program.h"
#include "core/storage.h"

typedef struct ar_function_version {
    bool *half;        /* by position in the function's generics */
    const char *name;  /* of the function in this version */
    const char *about; /* "x and y in half": how it differs from the others */
} ar_function_version;

typedef struct ar_function_versions {
    ar_entity *function;
    const uint32_t *generics; /* classes, ascending */
    uint32_t generic_count;
    AR_VEC(ar_function_version)
    list;                 /* the first has the function's own place */
    const char *one_text; /* why there can be no second, or NULL */
} ar_function_versions;

typedef struct ar_storage_versions {
    ar_function_versions **of; /* by entity id; NULL: nothing generic */
    AR_VEC(ar_function_versions *) functions; /* in the order of entities */
    uint32_t rounds;                          /* at least 1 */
} ar_storage_versions;

struct ar_storage_plan;

struct ar_storage_plan *ar_storage_view(ar_arena *arena,
                                        const struct ar_storage_plan *plan,
                                        uint32_t round);
/* The version that the call needs where it stands, as the view sees it. */
const ar_function_version *
ar_storage_version_called(const struct ar_storage_plan *view,
                          const ar_storage_call *call);
/* The definition that the site is in, or the function that it declares a part
 * of; NULL: neither. */
const ar_decl *ar_storage_function_of(const ar_site *site);
/* Has the function a version of this number? Of number 0 everything has one,
 * what is outside functions too. */
bool ar_storage_has_version(const struct ar_storage_plan *plan,
                            ar_program *program, const ar_decl *function,
                            uint32_t number);

#endif
