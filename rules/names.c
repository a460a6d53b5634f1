#include "rules/parse.h"

#include <ctype.h>
#include <stdlib.h>

#define LIST(array) {array, sizeof(array) / sizeof *(array)}

static const char *const roles[] = {"param",      "grad", "state", "norm",
                                    "activation", "data", "loss"};
static const ar_role role_values[] = {
    AR_ROLE_PARAM,      AR_ROLE_GRAD, AR_ROLE_STATE, AR_ROLE_NORM,
    AR_ROLE_ACTIVATION, AR_ROLE_DATA, AR_ROLE_LOSS};
static const char *const uses[] = {"bytes", "count",    "size",    "ptr",
                                   "value", "function", "argument"};
static const ar_slot_use use_values[] = {
    AR_USE_BYTES, AR_USE_COUNT,    AR_USE_SIZE,    AR_USE_POINTER,
    AR_USE_VALUE, AR_USE_FUNCTION, AR_USE_ARGUMENT};
static const char *const subjects[] = {"role", "function", "struct", "field",
                                       "variable"};
static const char *const statements[] = {
    "op",   "alloc", "realloc",   "free", "copy",      "clear",
    "save", "load",  "optimizer", "seed", "allreduce", "clip",
    "pure", "exit",  "keep",      "role", "level"};
static const char *const clauses[] = {"allow",   "deny",   "infer", "clear",
                                      "promote", "opaque", "fp32",  "half",
                                      "return",  "zeroed", "for",   "include"};

const ar_name_list ar_role_names = LIST(roles);
const ar_name_list ar_use_names = LIST(uses);
const ar_name_list ar_statement_names = LIST(statements);
const ar_name_list ar_clause_names = LIST(clauses);

const char *ar_category_name(ar_category category) {
    switch (category) {
    case AR_CAT_ALLOW:
        return "allow";
    case AR_CAT_DENY:
        return "deny";
    case AR_CAT_INFER:
        return "infer";
    case AR_CAT_CLEAR:
        return "clear";
    case AR_CAT_PROMOTE:
        return "promote";
    case AR_CAT_OPAQUE:
        return "opaque";
    }
    AR_BUG("category %d", (int)category);
}

const char *ar_role_name(ar_role role) {
    if (role == AR_ROLE_NONE)
        return "none";
    for (uint32_t i = 0; i < ar_role_names.count; i++)
        if (role_values[i] == role)
            return roles[i];
    AR_BUG("role %d", (int)role);
}

const char *ar_rule_kind_name(ar_rule_kind kind) {
    switch (kind) {
    case AR_RULE_OP:
        return "op";
    case AR_RULE_ALLOC:
        return "alloc";
    case AR_RULE_REALLOC:
        return "realloc";
    case AR_RULE_FREE:
        return "free";
    case AR_RULE_COPY:
        return "copy";
    case AR_RULE_CLEAR:
        return "clear";
    case AR_RULE_SAVE:
        return "save";
    case AR_RULE_LOAD:
        return "load";
    case AR_RULE_OPTIMIZER:
        return "optimizer";
    case AR_RULE_SEED:
        return "seed";
    case AR_RULE_CLIP:
        return "clip";
    case AR_RULE_ALLREDUCE:
        return "allreduce";
    case AR_RULE_PURE:
        return "pure";
    case AR_RULE_EXIT:
        return "exit";
    }
    AR_BUG("rule kind %d", (int)kind);
}

const char *ar_subject_kind_name(ar_subject_kind kind) {
    if ((unsigned)kind >= sizeof subjects / sizeof *subjects)
        AR_BUG("subject kind %d", (int)kind);
    return subjects[kind];
}

const char *ar_use_name(ar_slot_use use) {
    for (uint32_t i = 0; i < ar_use_names.count; i++)
        if (use_values[i] == use)
            return uses[i];
    AR_BUG("slot use %d", (int)use);
}

static bool find(const char *name, ar_name_list list, uint32_t *index) {
    for (uint32_t i = 0; i < list.count; i++)
        if (strcmp(name, list.names[i]) == 0) {
            *index = i;
            return true;
        }
    return false;
}

bool ar_role_of_name(const char *name, ar_role *role) {
    uint32_t i;
    if (!find(name, ar_role_names, &i))
        return false;
    *role = role_values[i];
    return true;
}

bool ar_use_of_name(const char *name, ar_slot_use *use) {
    uint32_t i;
    if (!find(name, ar_use_names, &i))
        return false;
    *use = use_values[i];
    return true;
}

enum { MAX_WORD = 32 };

static unsigned min3(unsigned a, unsigned b, unsigned c) {
    unsigned m = a < b ? a : b;
    return m < c ? m : c;
}

/* Edits (insert, delete, change, swap of neighbours) from a to b, letter case
 * aside. */
static unsigned distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    if (n > MAX_WORD || m > MAX_WORD)
        return UINT32_MAX;
    unsigned d[MAX_WORD + 1][MAX_WORD + 1];
    for (size_t i = 0; i <= n; i++)
        d[i][0] = (unsigned)i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            int x = tolower((unsigned char)a[i - 1]);
            int y = tolower((unsigned char)b[j - 1]);
            d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1,
                           d[i - 1][j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) &&
                d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[n][m];
}

const char *ar_nearest(const char *word, ar_name_list list) {
    const char *best = NULL;
    unsigned best_distance = UINT32_MAX;
    for (uint32_t i = 0; i < list.count; i++) {
        unsigned d = distance(word, list.names[i]);
        if (d < best_distance) {
            best_distance = d;
            best = list.names[i];
        }
    }
    size_t length = strlen(word);
    unsigned limit = length <= 2 ? 1 : length <= 5 ? 2 : 3;
    return best_distance <= limit && best_distance < length ? best : NULL;
}

const char *ar_number_text(ar_arena *arena, double number) {
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return ar_strdup(arena, text);
}
