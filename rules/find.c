/* Looking rules up, and which of two wins. */
#include "rules/parse.h"

enum { BUCKETS = 1024 };

/* Exact names by hash; patterns in a list of their own. */
struct ar_rule_index {
    AR_VEC(uint32_t) buckets[BUCKETS];
    AR_VEC(uint32_t) patterns;
};

static uint32_t bucket_of(const char *name) {
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash % BUCKETS;
}

void ar_rule_index_add(ar_rules *rules, uint32_t function) {
    if (!rules->index)
        rules->index = AR_NEW(rules->arena, struct ar_rule_index);
    const ar_function_rule *rule = &rules->functions.data[function];
    if (rule->is_pattern)
        AR_PUSH(rules->arena, &rules->index->patterns, function);
    else
        AR_PUSH(rules->arena, &rules->index->buckets[bucket_of(rule->function)],
                function);
}

ar_rule_list ar_rules_named(const ar_rules *rules, const char *name) {
    if (!rules->index)
        return (ar_rule_list){NULL, 0};
    uint32_t bucket = bucket_of(name);
    return (ar_rule_list){rules->index->buckets[bucket].data,
                          rules->index->buckets[bucket].count};
}

ar_rule_list ar_rules_of_patterns(const ar_rules *rules) {
    if (!rules->index)
        return (ar_rule_list){NULL, 0};
    return (ar_rule_list){rules->index->patterns.data,
                          rules->index->patterns.count};
}

/* '*' any bytes, '?' one byte. */
bool ar_glob_match(const char *glob, const char *text) {
    const char *star = NULL, *resume = NULL;
    while (*text) {
        if (*glob == '*') {
            star = glob++;
            resume = text;
        } else if (*glob == '?' || *glob == *text) {
            glob++;
            text++;
        } else if (star) {
            glob = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return *glob == 0;
}

enum { MAX_GLOB = 256 };

/* Dynamic programming over the ends of both; too long ones count as apart. */
bool ar_globs_meet(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    if (n >= MAX_GLOB || m >= MAX_GLOB)
        return false;
    bool next[MAX_GLOB + 1], row[MAX_GLOB + 1];
    for (size_t i = n + 1; i-- > 0;) {
        for (size_t j = m + 1; j-- > 0;) {
            bool ends = i == n && j == m;
            bool star_a = i < n && a[i] == '*', star_b = j < m && b[j] == '*';
            bool same =
                i < n && j < m && (a[i] == b[j] || a[i] == '?' || b[j] == '?');
            row[j] = ends || (star_a && next[j]) ||
                     (star_a && j < m && row[j + 1]) ||
                     (star_b && row[j + 1]) || (star_b && i < n && next[j]) ||
                     (!star_a && !star_b && same && next[j + 1]);
        }
        memcpy(next, row, sizeof next);
    }
    return next[0];
}

/* A glob without '/' is about the last part of the name, one with '/' about
 * any tail of it. */
static bool file_matches(const char *glob, const char *file_name) {
    if (!glob)
        return true;
    if (!file_name)
        return false;
    if (ar_glob_match(glob, file_name))
        return true;
    for (const char *s = file_name; (s = strchr(s, '/')) != NULL;)
        if (ar_glob_match(glob, ++s))
            return true;
    return false;
}

bool ar_is_part(ar_rule_kind kind) {
    switch (kind) {
    case AR_RULE_OPTIMIZER:
    case AR_RULE_SEED:
    case AR_RULE_CLIP:
    case AR_RULE_ALLREDUCE:
        return true;
    case AR_RULE_OP:
    case AR_RULE_ALLOC:
    case AR_RULE_REALLOC:
    case AR_RULE_FREE:
    case AR_RULE_COPY:
    case AR_RULE_CLEAR:
    case AR_RULE_SAVE:
    case AR_RULE_LOAD:
    case AR_RULE_PURE:
    case AR_RULE_EXIT:
        return false;
    }
    AR_BUG("rule kind %d", (int)kind);
}

static int compare_bools(bool a, bool b) {
    return (int)a - (int)b;
}

/* Exact before pattern, longer before shorter. */
static int compare_patterns(bool a_pattern, const char *a, bool b_pattern,
                            const char *b) {
    if (a_pattern != b_pattern)
        return a_pattern ? -1 : 1;
    if (!a_pattern)
        return 0;
    size_t n = strlen(a), m = strlen(b);
    return (n > m) - (n < m);
}

int ar_function_rule_rank(const ar_rules *rules, uint32_t a, uint32_t b) {
    const ar_function_rule *x = &rules->functions.data[a];
    const ar_function_rule *y = &rules->functions.data[b];
    int order =
        compare_bools(a >= rules->builtin_count, b >= rules->builtin_count);
    if (!order)
        order = compare_patterns(x->is_pattern, x->function, y->is_pattern,
                                 y->function);
    if (!order)
        order = compare_bools(x->for_files != NULL, y->for_files != NULL);
    return order;
}

int ar_function_rule_compare(const ar_rules *rules, uint32_t a, uint32_t b) {
    int order = ar_function_rule_rank(rules, a, b);
    return order ? order : (a > b) - (a < b);
}

static const uint32_t none = UINT32_MAX;

static uint32_t better(const ar_rules *rules, uint32_t best, uint32_t now,
                       bool part, const char *file_name) {
    const ar_function_rule *rule = &rules->functions.data[now];
    if (ar_is_part(rule->kind) != part ||
        !file_matches(rule->for_files, file_name))
        return best;
    if (best == none || ar_function_rule_compare(rules, now, best) > 0)
        return now;
    return best;
}

static const ar_function_rule *find(const ar_rules *rules, const char *name,
                                    const char *file_name, bool part) {
    if (!rules->index)
        return NULL;
    const struct ar_rule_index *index = rules->index;
    uint32_t best = none;
    uint32_t bucket = bucket_of(name);
    for (uint32_t i = 0; i < index->buckets[bucket].count; i++) {
        uint32_t f = index->buckets[bucket].data[i];
        if (strcmp(rules->functions.data[f].function, name) == 0)
            best = better(rules, best, f, part, file_name);
    }
    for (uint32_t i = 0; i < index->patterns.count; i++) {
        uint32_t f = index->patterns.data[i];
        if (ar_glob_match(rules->functions.data[f].function, name))
            best = better(rules, best, f, part, file_name);
    }
    return best == none ? NULL : &rules->functions.data[best];
}

const ar_function_rule *ar_rules_find(const ar_rules *rules, const char *name,
                                      const char *file_name) {
    const ar_function_rule *rule = find(rules, name, file_name, false);
    return rule ? rule : find(rules, name, file_name, true);
}

const ar_function_rule *ar_rules_find_part(const ar_rules *rules,
                                           const char *name,
                                           const char *file_name) {
    return find(rules, name, file_name, true);
}

/* ---- subjects ----------------------------------------------------------- */

int ar_subject_rule_rank(const ar_rules *rules, uint32_t a, uint32_t b) {
    const ar_subject_rule *x = &rules->subjects.data[a];
    const ar_subject_rule *y = &rules->subjects.data[b];
    int order = compare_bools(a >= rules->builtin_subjects,
                              b >= rules->builtin_subjects);
    if (!order)
        order = compare_patterns(x->is_pattern, x->pattern, y->is_pattern,
                                 y->pattern);
    return order;
}

typedef enum subject_wish { PRECISION, ROLE } subject_wish;

static bool is_wished(const ar_subject_rule *rule, subject_wish wish) {
    switch (wish) {
    case PRECISION:
        return rule->sets_precision;
    case ROLE:
        return rule->sets_role != AR_ROLE_NONE;
    }
    AR_BUG("wish %d", (int)wish);
}

static const ar_subject_rule *find_subject(const ar_rules *rules,
                                           ar_subject_kind kind,
                                           const char *name,
                                           subject_wish wish) {
    uint32_t best = none;
    for (uint32_t i = 0; i < rules->subjects.count; i++) {
        const ar_subject_rule *rule = &rules->subjects.data[i];
        bool matches = rule->is_pattern ? ar_glob_match(rule->pattern, name)
                                        : strcmp(rule->pattern, name) == 0;
        if (rule->kind == kind && is_wished(rule, wish) && matches &&
            (best == none || ar_subject_rule_rank(rules, i, best) >= 0))
            best = i;
    }
    return best == none ? NULL : &rules->subjects.data[best];
}

const ar_subject_rule *ar_rules_find_precision(const ar_rules *rules,
                                               ar_subject_kind kind,
                                               const char *name) {
    return find_subject(rules, kind, name, PRECISION);
}

const ar_subject_rule *ar_rules_find_role(const ar_rules *rules,
                                          ar_subject_kind kind,
                                          const char *name) {
    return find_subject(rules, kind, name, ROLE);
}

const ar_level_rule *ar_rules_find_level(const ar_rules *rules, int level,
                                         ar_role role) {
    for (uint32_t i = rules->levels.count; i-- > 0;)
        if (rules->levels.data[i].level == level &&
            rules->levels.data[i].role == role)
            return &rules->levels.data[i];
    return NULL;
}

bool ar_rule_check_arity(const ar_function_rule *rule, const char *function,
                         uint32_t param_count, bool is_variadic,
                         ar_diags *diags) {
    if (rule->param_count == param_count ||
        (rule->param_count < param_count && rule->is_variadic) ||
        (rule->param_count > param_count && is_variadic))
        return true;
    ar_report(diags, AR_DIAG_RULE_ARITY, rule->range, function,
              rule->param_count, param_count);
    return false;
}
