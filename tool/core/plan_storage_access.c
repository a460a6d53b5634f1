/* Storage edits: reads and writes of elements. */
#include "core/layout.h"
#include "core/plan_storage_parts.h"

/* ---- text of macro arguments --------------------------------------------- */

static bool same_place(ar_range a, ar_range b) {
    return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

/* An argument that a macro uses twice is two expressions with one text. They
 * must want the same change. */
static bool is_used_otherwise(const ar_node *root, const ar_node *node) {
    if (!root)
        return false;
    if (root != node && root->kind == node->kind && root->type == node->type &&
        same_place(root->range, node->range) &&
        root->is_lvalue_read != node->is_lvalue_read)
        return true;
    for (uint32_t i = 0; i < root->kid_count; i++)
        if (is_used_otherwise(root->kids[i], node))
            return true;
    for (uint32_t i = 0; i < root->decl_count; i++)
        if (is_used_otherwise(root->decls[i]->init, node))
            return true;
    return false;
}

static const ar_macro *find_macro(const ar_unit *unit, const char *name,
                                  size_t length) {
    for (uint32_t i = 0; i < unit->macros.count; i++) {
        const ar_macro *macro = &unit->macros.data[i];
        if (macro->is_function_like && strlen(macro->name) == length &&
            memcmp(macro->name, name, length) == 0)
            return macro;
    }
    return NULL;
}

/* Its body, or that of a macro it uses, has #argument. */
static bool stringifies(const ar_rewriter *r, const ar_unit *unit,
                        const ar_macro *macro, int depth) {
    const char *text = ar_source_text(r, macro->range) + strlen(macro->name);
    while (*text) {
        if (text[0] == '#' && text[1] != '#' && text[-1] != '#')
            return true;
        size_t length = 0;
        while (ar_is_word(text[length]))
            length++;
        const ar_macro *used =
            length && depth ? find_macro(unit, text, length) : NULL;
        if (used && stringifies(r, unit, used, depth - 1))
            return true;
        text += length ? length : 1;
    }
    return false;
}

/* Macros whose brackets hold this text, looked for outwards. */
bool ar_is_stringified(const ar_rewriter *r, const ar_unit *unit,
                       ar_range range) {
    const ar_file *file = ar_files_load(&r->program->files, range.file);
    int open = 0;
    for (uint32_t at = range.begin; at > 0; at--) {
        char c = file->bytes[at - 1];
        open += c == '(' ? -1 : c == ')' ? 1 : 0;
        if (strchr(";{}", c) && open == 0)
            return false;
        if (c != '(' || open >= 0)
            continue;
        open = 0;
        uint32_t end = at - 1;
        while (end > 0 && strchr(" \t", file->bytes[end - 1]))
            end--;
        uint32_t begin = end;
        while (begin > 0 && ar_is_word(file->bytes[begin - 1]))
            begin--;
        const ar_macro *macro =
            find_macro(unit, file->bytes + begin, end - begin);
        if (macro && stringifies(r, unit, macro, 4))
            return true;
    }
    return false;
}

const char *ar_access_problem(const ar_rewriter *r, const ar_site *site,
                              const ar_node *node) {
    ar_range range = node->range;
    bool is_use = ar_is_whole_use(r, site->where.unit, node);
    bool is_argument = site->in_macro_argument || is_use;
    range.in_macro_body &= !is_use;
    const char *problem = ar_text_problem(r, range);
    if (!problem && is_argument &&
        ar_is_stringified(r, site->where.unit, node->range))
        problem = "a macro turns the text into a string";
    if (!problem && is_argument && site->where.function &&
        is_used_otherwise(site->where.function->body, node))
        problem = "a macro uses the text both as a value and as memory";
    return problem;
}

/* ---- atomics ------------------------------------------------------------- */

static bool holds(const ar_node *root, const ar_node *node) {
    if (!root || root == node)
        return root == node;
    for (uint32_t i = 0; i < root->kid_count; i++)
        if (holds(root->kids[i], node))
            return true;
    return false;
}

static bool is_atomic(const ar_site *site) {
    const ar_unit *unit = site->where.unit;
    for (uint32_t i = 0; i < unit->pragmas.count; i++) {
        const ar_pragma *pragma = &unit->pragmas.data[i];
        if (pragma->kind == AR_PRAGMA_OMP && pragma->next_stmt &&
            strncmp(pragma->text, "atomic", 6) == 0 &&
            holds(pragma->next_stmt, site->node))
            return true;
    }
    return false;
}

static const char *store_problem(const ar_rewriter *r, const ar_site *site) {
    const char *problem = ar_access_problem(r, site, site->node);
    if (!problem)
        problem = ar_access_problem(r, site, site->node->kids[0]);
    if (!problem && is_atomic(site))
        problem = "the update is atomic";
    return problem;
}

/* ---- sums in a scratch --------------------------------------------------- */

/* Whatever is done to it is done to the float that stands in for it. */
static bool is_summed(ar_rewriter *r, const ar_node *lvalue,
                      const char **problem) {
    const ar_sum_access *sum = ar_sum_access_of(r, lvalue);
    *problem = sum ? ar_text_problem(r, lvalue->range) : NULL;
    if (sum && !*problem)
        ar_put_text(r, lvalue->range, sum->text);
    return sum != NULL;
}

/* ---- loads --------------------------------------------------------------- */

const char *ar_rewrite_load(ar_rewriter *r, const ar_site *site) {
    const ar_node *parent =
        ar_storage_parent(r->storage->index, site->where.unit, site->node);
    if (parent && parent->kind == AR_UNARY && parent->op >= AR_OP_PRE_INC)
        return NULL; /* the store of ++ reads it as well */
    const char *problem = ar_access_problem(r, site, site->node);
    const char *of_sum;
    if (!problem && is_summed(r, site->node, &of_sum))
        return of_sum;
    if (!problem)
        ar_put_around(r, site->node->range, AR_LAYER_LOAD, "amp_to_float(",
                      ")");
    return problem;
}

/* ---- stores -------------------------------------------------------------- */

/* The float that was stored, where an expression goes on with it. */
static void put_value(ar_rewriter *r, const ar_site *site) {
    if (ar_value_is_used(r, site->where.unit, site->node))
        ar_put_around(r, site->node->range, AR_LAYER_VALUE, "amp_to_float(",
                      ")");
}

const char *ar_rewrite_store(ar_rewriter *r, const ar_site *site) {
    const char *problem = store_problem(r, site);
    if (problem || is_summed(r, site->node->kids[0], &problem))
        return problem;
    ar_put_call(r, site->node->kids[1], AR_LAYER_CONVERT, "amp_to_half(", ")");
    put_value(r, site);
    return NULL;
}

/* ---- compound stores ----------------------------------------------------- */

static bool reads_floats(const ar_node *node) {
    if (!node)
        return false;
    if (node->is_lvalue_read && ar_is_floating(node->type))
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (reads_floats(node->kids[i]))
            return true;
    return false;
}

/* The text of the lvalue can stand twice. */
static bool can_repeat(const ar_node *lvalue, const ar_node *value) {
    return ar_plan_is_pure(lvalue) && !reads_floats(lvalue) &&
           !ar_has_effects(value);
}

static const char *function_of(ar_op op) {
    switch ((int)op) {
    case AR_OP_ADD:
    case AR_OP_PRE_INC:
    case AR_OP_PRE_DEC:
        return "amp_half_add";
    case AR_OP_SUB:
        return "amp_half_sub";
    case AR_OP_MUL:
        return "amp_half_mul";
    case AR_OP_DIV:
        return "amp_half_div";
    case AR_OP_POST_INC:
    case AR_OP_POST_DEC:
        return "amp_half_post_add";
    default:
        return NULL;
    }
}

/* Needs no parentheses as the right side of this operator. */
static bool stands_alone(const ar_node *value, ar_op op) {
    while (value->kind == AR_IMPLICIT && value->kid_count &&
           !value->range.in_macro_body)
        value = value->kids[0];
    if (value->range.in_macro_body)
        return false;
    switch ((int)value->kind) {
    case AR_INT_LIT:
    case AR_FLOAT_LIT:
    case AR_REF:
    case AR_MEMBER:
    case AR_INDEX:
    case AR_CALL:
    case AR_CAST:
    case AR_DEREF:
        return true;
    case AR_BINARY:
        return (op == AR_OP_ADD || op == AR_OP_SUB) &&
               (value->op == AR_OP_MUL || value->op == AR_OP_DIV);
    default:
        return false;
    }
}

static ar_range between(ar_range all, uint32_t begin, uint32_t end) {
    all.begin = begin;
    all.end = end;
    return all;
}

/* x op= e -> x = amp_to_half(amp_to_float(x) op e) */
static void put_repeated(ar_rewriter *r, const ar_site *site) {
    const ar_node *node = site->node;
    const ar_node *lvalue = node->kids[0], *value = node->kids[1];
    bool has_brackets = value->range.end < node->range.end;
    bool bare = has_brackets || stands_alone(value, node->op);
    ar_range op = node->op_range;
    char next = *ar_source_text(r, between(op, op.end, op.end + 1));
    op.end += !bare && next == ' '; /* the bracket comes behind it */
    ar_put_text(r, op,
                ar_sprintf(r->arena, "= amp_to_half(amp_to_float(%s) %s%s",
                           ar_rewritten_text(r, lvalue),
                           ar_op_spelling(node->op), bare ? "" : " ("));
    ar_put_around(r, node->range, AR_LAYER_STORE, "", bare ? ")" : "))");
    put_value(r, site);
}

/* x op= e -> amp_half_op(&x, e) */
static void put_function(ar_rewriter *r, const ar_site *site) {
    const ar_node *node = site->node;
    ar_put_around(r, node->range, AR_LAYER_STORE,
                  ar_sprintf(r->arena, "%s(&", function_of(node->op)), ")");
    const char *text = ar_source_text(
        r, between(node->range, node->op_range.begin - 1, node->op_range.end));
    bool has_space = text[0] == ' ' || text[0] == '\t';
    ar_range op = node->op_range;
    op.begin -= has_space;
    ar_put_text(r, op, ",");
}

static const char *compound(ar_rewriter *r, const ar_site *site) {
    const ar_node *node = site->node;
    if (!function_of(node->op))
        return "it is updated by an operator that has no form for half";
    const char *problem = ar_text_problem(r, node->op_range);
    if (problem)
        return problem;
    if (can_repeat(node->kids[0], node->kids[1])) {
        put_repeated(r, site);
        return NULL;
    }
    put_function(r, site);
    return NULL;
}

/* ++x and x++ -> x = amp_to_half(amp_to_float(x) + 1.0f), where the value is
 * used a call. */
static const char *increment(ar_rewriter *r, const ar_site *site) {
    const ar_node *node = site->node;
    const ar_node *lvalue = node->kids[0];
    bool down = node->op == AR_OP_PRE_DEC || node->op == AR_OP_POST_DEC;
    bool post = node->op == AR_OP_POST_INC || node->op == AR_OP_POST_DEC;
    uint32_t at = post ? node->range.end - 2 : node->range.begin;
    ar_range sign = between(node->range, at, at + 2);
    if (strcmp(ar_source_text(r, sign), down ? "--" : "++") != 0)
        return "its increment is spelled in an unknown way";
    if (!ar_value_is_used(r, site->where.unit, node) &&
        can_repeat(lvalue, NULL)) {
        const char *text =
            ar_sprintf(r->arena, " = amp_to_half(amp_to_float(%s) %c 1.0f)",
                       ar_rewritten_text(r, lvalue), down ? '-' : '+');
        ar_put_text(r, sign, post ? text : "");
        if (!post)
            ar_put_around(r, node->range, AR_LAYER_STORE, "", text);
        return NULL;
    }
    ar_put_around(r, node->range, AR_LAYER_STORE,
                  ar_sprintf(r->arena, "%s(&", function_of(node->op)),
                  down ? ", -1.0f)" : ", 1.0f)");
    ar_put_text(r, sign, "");
    return NULL;
}

const char *ar_rewrite_compound(ar_rewriter *r, const ar_site *site) {
    const char *problem = store_problem(r, site);
    if (problem || is_summed(r, site->node->kids[0], &problem))
        return problem;
    return site->node->kind == AR_UNARY ? increment(r, site)
                                        : compound(r, site);
}
