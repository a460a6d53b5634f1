/* What the loop of a sum in memory leaves as it is, and what that says in front
 * of the loop: how often loops run, and whether they do. */
#include "core/layout.h"
#include "core/plan_storage.h"
#include "core/storage_solver.h"
#include "core/storage_sum_parts.h"

/* ---- what stays the same in the loop ------------------------------------- */

static bool takes_address(const ar_node *node, const ar_decl *decl) {
    if (!node)
        return false;
    if (node->kind == AR_ADDRESS && ar_sum_variable(node->kids[0]) == decl)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (takes_address(node->kids[i], decl))
            return true;
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (takes_address(node->decls[i]->init, decl))
            return true;
    return false;
}

static bool is_own(const ar_sum_reader *r, const ar_decl *decl) {
    return (decl->kind == AR_DECL_PARAM || decl->storage == AR_STORAGE_AUTO) &&
           !takes_address(r->in->where.function->body, decl);
}

/* Memory of other types than float only changes where the loop stores to some:
 * a float is no number or pointer; names that the loop declares mean nothing in
 * front of it. */
bool ar_sum_is_fixed(const ar_sum_reader *r, const ar_node *node) {
    if (!node)
        return true;
    const ar_decl *decl = ar_sum_variable(node);
    switch ((int)node->kind) {
    case AR_INT_LIT:
        return true;
    case AR_REF:
        if (!decl)
            return node->decl && node->decl->kind == AR_DECL_ENUMERATOR &&
                   !ar_range_holds(r->in->loop->range, node->decl->range);
        return !decl->is_volatile &&
               !ar_table_get(&r->assigned, ar_key(decl), 0) &&
               (!r->stores_numbers || is_own(r, decl)) &&
               !ar_is_floating(node->type);
    case AR_MEMBER:
    case AR_INDEX:
    case AR_DEREF:
        if (r->stores_numbers || ar_is_floating(node->type) ||
            (node->decl && node->decl->is_volatile))
            return false;
        break;
    case AR_CAST: /* (float *)p is other text in half */
        if (ar_is_address(node->type) && !ar_is_null_pointer(node))
            return false;
        break;
    case AR_BINARY:
    case AR_IMPLICIT:
    case AR_ADDRESS:
        break;
    case AR_UNARY:
        if (node->op >= AR_OP_PRE_INC)
            return false;
        break;
    default:
        return false;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (!ar_sum_is_fixed(r, node->kids[i]))
            return false;
    return true;
}

/* ---- text ---------------------------------------------------------------- */

/* The definition is one word or number, or all in brackets. */
static bool is_one_operand(const ar_sum_reader *r, const ar_macro *macro) {
    const char *text = ar_text(r->arena, &r->in->program->files, macro->range) +
                       strlen(macro->name);
    size_t length = strspn(text, " \t"), word = 0;
    text += length;
    while (ar_is_word(text[word]) || text[word] == '.')
        word++;
    if (word)
        return !text[word + strspn(text + word, " \t\r\n")];
    int open = 0;
    do {
        open += *text == '(' ? 1 : *text == ')' ? -1 : 0;
        text += *text != '\0';
    } while (open > 0 && *text);
    return open == 0 && length && !text[strspn(text, " \t\r\n")];
}

static bool is_constant_macro(const ar_sum_reader *r, const char *name) {
    const ar_unit *unit = r->in->where.unit;
    const ar_macro *found = NULL;
    for (uint32_t i = 0; i < unit->macros.count; i++)
        if (strcmp(unit->macros.data[i].name, name) == 0) {
            if (found)
                return false;
            found = &unit->macros.data[i];
        }
    return found && !found->is_function_like && is_one_operand(r, found);
}

/* NULL: it has no text of its own. */
const char *ar_sum_text(const ar_sum_reader *r, const ar_node *node) {
    if (node->range.file == AR_NO_FILE)
        return NULL;
    const char *text = ar_text(r->arena, &r->in->program->files, node->range);
    return !node->range.in_macro_body || is_constant_macro(r, text) ? text
                                                                    : NULL;
}

/* Brackets around what would not be one operand of such an operator. */
const char *ar_sum_operand(const ar_sum_reader *r, const ar_node *node,
                           ar_op of) {
    const char *text = ar_sum_text(r, node);
    while (node->kind == AR_IMPLICIT && node->kid_count)
        node = node->kids[0];
    bool is_bare = node->range.in_macro_body || node->kind == AR_INT_LIT ||
                   node->kind == AR_REF || node->kind == AR_MEMBER ||
                   node->kind == AR_INDEX || node->kind == AR_CAST ||
                   node->kind == AR_DEREF ||
                   (node->kind == AR_BINARY &&
                    (node->op == AR_OP_MUL || node->op == AR_OP_DIV ||
                     (of != AR_OP_SUB &&
                      (node->op == AR_OP_ADD || node->op == AR_OP_SUB))));
    return !text || is_bare ? text : ar_sprintf(r->arena, "(%s)", text);
}

/* ---- loops that count ---------------------------------------------------- */

bool ar_sum_is_integer(const ar_type *type) {
    return ar_is_kind(type, AR_TYPE_INT) || ar_is_kind(type, AR_TYPE_ENUM);
}

static ar_op mirrored(ar_op op) {
    switch ((int)op) {
    case AR_OP_LT:
        return AR_OP_GT;
    case AR_OP_GT:
        return AR_OP_LT;
    case AR_OP_LE:
        return AR_OP_GE;
    case AR_OP_GE:
        return AR_OP_LE;
    default:
        return op;
    }
}

static void find_start(ar_sum_count *c, const ar_node *init) {
    if (!init)
        return;
    if (init->kind == AR_EXPR_STMT && init->kid_count)
        init = init->kids[0];
    if (init->kind == AR_ASSIGN) {
        c->variable = ar_sum_variable(init->kids[0]);
        c->start = init->kids[1];
    } else if (init->kind == AR_DECL_STMT && init->decl_count == 1) {
        c->variable = init->decls[0];
        c->start = init->decls[0]->init;
    }
}

bool ar_sum_sets(const ar_node *node, const ar_decl *decl) {
    if (!node)
        return false;
    bool is_store = node->kind == AR_ASSIGN ||
                    node->kind == AR_COMPOUND_ASSIGN ||
                    (node->kind == AR_UNARY && node->op >= AR_OP_PRE_INC);
    if (is_store && ar_sum_variable(node->kids[0]) == decl)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (ar_sum_sets(node->kids[i], decl))
            return true;
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (ar_sum_sets(node->decls[i]->init, decl))
            return true;
    return false;
}

static bool adds_one(const ar_node *step, const ar_decl *decl) {
    if (!step || !step->kid_count || ar_sum_variable(step->kids[0]) != decl)
        return false;
    if (step->kind == AR_UNARY)
        return step->op == AR_OP_PRE_INC || step->op == AR_OP_POST_INC;
    const ar_node *by =
        step->kind == AR_COMPOUND_ASSIGN && step->op == AR_OP_ADD
            ? ar_skip_casts(step->kids[1])
            : NULL;
    return by && by->kind == AR_INT_LIT && by->int_value == 1;
}

/* An integer that the start has the value of. */
static bool is_counter(const ar_sum_reader *r, const ar_sum_count *c) {
    const ar_node *start = ar_skip_casts(c->start);
    const ar_type *type = c->variable->type;
    if (!ar_sum_is_integer(type) || c->variable->is_volatile ||
        !is_own(r, c->variable))
        return false;
    if (start->kind == AR_INT_LIT && start->int_value >= 0)
        return true;
    return ar_sum_is_integer(start->type) &&
           start->type->bytes <= type->bytes &&
           start->type->is_signed == type->is_signed;
}

bool ar_sum_read_count(const ar_sum_reader *r, const ar_node *loop,
                       ar_sum_count *c) {
    *c = (ar_sum_count){0};
    if (loop->kind != AR_FOR)
        return false;
    find_start(c, loop->kids[0]);
    const ar_node *cond = ar_skip_casts(loop->kids[1]);
    if (!c->variable || !c->start || !cond || cond->kind != AR_BINARY ||
        cond->op < AR_OP_LT || cond->op > AR_OP_NE || !is_counter(r, c))
        return false;
    bool is_left = ar_sum_variable(cond->kids[0]) == c->variable;
    if (!is_left && ar_sum_variable(cond->kids[1]) != c->variable)
        return false;
    c->op = is_left ? cond->op : mirrored(cond->op);
    c->bound = cond->kids[is_left];
    c->by_one = adds_one(loop->kids[2], c->variable) &&
                !ar_sum_sets(loop->kids[3], c->variable);
    return ar_sum_is_integer(ar_skip_casts(c->bound)->type);
}

bool ar_sum_number(const ar_node *node, int64_t *value) {
    node = ar_skip_casts(node);
    bool is_enumerator = node->kind == AR_REF && node->decl &&
                         node->decl->kind == AR_DECL_ENUMERATOR;
    *value = is_enumerator ? node->decl->value : node->int_value;
    return is_enumerator || node->kind == AR_INT_LIT;
}

static bool holds(int64_t a, ar_op op, int64_t b) {
    switch ((int)op) {
    case AR_OP_LT:
        return a < b;
    case AR_OP_GT:
        return a > b;
    case AR_OP_LE:
        return a <= b;
    case AR_OP_GE:
        return a >= b;
    case AR_OP_NE:
        return a != b;
    default:
        return a == b;
    }
}

/* ---- does it run? -------------------------------------------------------- */

/* An unsigned variable that counts down to what may be negative: the literal
 * that it starts with compares in another way. */
static bool is_mixed_down(const ar_sum_count *c) {
    const ar_node *bound = ar_skip_casts(c->bound);
    return !c->variable->type->is_signed &&
           (c->op == AR_OP_GT || c->op == AR_OP_GE) &&
           bound->kind != AR_INT_LIT && bound->type->is_signed;
}

/* Adds the condition for the loop to have an iteration; false: it cannot be
 * said in front of the scratch's loop. */
static bool add_condition(const ar_sum_reader *r, const ar_node *loop,
                          ar_str *out) {
    ar_sum_count c;
    int64_t start, bound;
    if (loop->kind == AR_FOR && !loop->kids[1])
        return true;
    if (!ar_sum_read_count(r, loop, &c) || !ar_sum_is_fixed(r, c.start) ||
        !ar_sum_is_fixed(r, c.bound) || is_mixed_down(&c))
        return false;
    bool is_literal = ar_sum_number(c.start, &start);
    if (is_literal && ar_sum_number(c.bound, &bound) &&
        holds(start, c.op, bound))
        return true;
    const char *a = ar_sum_operand(r, c.start, c.op),
               *b = ar_sum_operand(r, c.bound, c.op);
    if (!a || !b)
        return false;
    if (is_literal)
        ar_str_addf(out, "%s %s %s", b, ar_op_spelling(mirrored(c.op)), a);
    else
        ar_str_addf(out, "%s %s %s", a, ar_op_spelling(c.op), b);
    return true;
}

/* The same for a branch to be taken. */
static bool add_branch(const ar_sum_reader *r, const ar_sum_nest *branch,
                       ar_str *out) {
    const ar_node *condition = branch->node;
    const char *text =
        ar_sum_is_fixed(r, condition) ? ar_sum_text(r, condition) : NULL;
    if (!text)
        return false;
    while (condition->kind == AR_IMPLICIT && condition->kid_count)
        condition = condition->kids[0];
    bool is_bare = condition->kind == AR_REF || condition->kind == AR_MEMBER;
    bool is_comparison = condition->kind == AR_BINARY &&
                         condition->op >= AR_OP_LT &&
                         condition->op <= AR_OP_NE && !branch->is_else;
    ar_str_add(out, branch->is_else ? "!" : "");
    ar_str_addf(out, is_bare || is_comparison ? "%s" : "(%s)", text);
    return true;
}

const char *ar_sum_condition(const ar_sum_reader *r, const ar_sum_nest *at) {
    ar_str out = {.arena = r->arena};
    bool ok = ar_sum_is_loop(at->node) ? add_condition(r, at->node, &out)
                                       : add_branch(r, at, &out);
    return ok ? ar_str_text(&out) : NULL;
}

/* All from the scratch's loop to the access, but this loop; in the order that
 * the program asks them. */
static bool add_conditions(const ar_sum_reader *r, const ar_sum_nest *inner,
                           const ar_sum_nest *without, ar_str *out) {
    if (!inner)
        return true;
    if (!add_conditions(r, inner->outer, without, out))
        return false;
    const char *text = inner == without ? "" : ar_sum_condition(r, inner);
    if (text && *text)
        ar_str_addf(out, "%s%s", out->length ? " && " : "", text);
    return text != NULL;
}

bool ar_sum_is_asked(const ar_sum_reader *r, const ar_sum_nest *inner,
                     const char *text) {
    for (; inner; inner = inner->outer) {
        const char *other = ar_sum_condition(r, inner);
        if (other && strcmp(other, text) == 0)
            return true;
    }
    return false;
}

/* All other accesses are come to under these conditions only: what they do
 * where the scratch is not there would be lost. */
static bool covers_all(const ar_sum_reader *r, const ar_sum_nest *inner,
                       const ar_sum_nest *without) {
    for (; inner; inner = inner->outer) {
        const char *text = inner == without ? "" : ar_sum_condition(r, inner);
        for (uint32_t i = 0; i < r->accesses.count && *text; i++)
            if (!ar_sum_is_asked(r, r->accesses.data[i].inner, text))
                return false;
    }
    return true;
}

static bool jumps(const ar_sum_nest *loop) {
    for (; loop; loop = loop->outer)
        if (loop->has_jump)
            return true;
    return false;
}

/* A store that every run of the loop comes to under these conditions: the
 * memory is there, and the loop's own. */
bool ar_sum_guard(const ar_sum_reader *r, const ar_sum_nest *const *rows,
                  const char **guard) {
    for (uint32_t i = 0; i < r->accesses.count; i++) {
        const ar_sum_use *one = &r->accesses.data[i];
        ar_str out = {.arena = r->arena};
        if (!one->stores || !one->always || jumps(one->inner) ||
            !add_conditions(r, one->inner, rows ? rows[i] : NULL, &out) ||
            !covers_all(r, one->inner, rows ? rows[i] : NULL))
            continue;
        *guard = out.length ? ar_str_text(&out) : NULL;
        return true;
    }
    return false;
}
