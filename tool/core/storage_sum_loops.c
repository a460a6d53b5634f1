/* The loops of a sum in memory: do they always touch the same element or row,
 * and how is that said in front of them? */
#include "core/layout.h"
#include "core/storage_solver.h"
#include "core/storage_sums.h"

/* One of the loops and conditions from the scratch's loop inwards. */
typedef struct nest {
    ar_node *node;            /* a loop, or the condition of an if */
    const struct nest *outer; /* NULL: it is that loop */
    bool has_jump;            /* a break or continue of its own */
    bool is_else;
} nest;

typedef struct access {
    const ar_node *lvalue;
    const nest *inner;
    bool stores, always; /* always: whenever the loops around it run */
} access;

typedef struct reader {
    const ar_sum_search *in;
    ar_arena *arena;
    AR_VEC(access) accesses;
    ar_table assigned;    /* variables that the loop sets or declares */
    bool stores_numbers;  /* to memory of other types than float */
    ar_sum_problem found; /* why NULL: none */
} reader;

static bool is_loop(const ar_node *node) {
    return node->kind == AR_FOR || node->kind == AR_WHILE ||
           node->kind == AR_DO;
}

static void refuse(reader *r, const char *why, ar_range at) {
    if (!r->found.why)
        r->found = (ar_sum_problem){why, at};
}

/* ---- what the loop does -------------------------------------------------- */

static const ar_decl *variable(const ar_node *node) {
    node = ar_skip_casts(node);
    return node && node->kind == AR_REF && node->decl &&
                   (node->decl->kind == AR_DECL_VAR ||
                    node->decl->kind == AR_DECL_PARAM)
               ? node->decl
               : NULL;
}

static void note_store(reader *r, const ar_node *target) {
    const ar_decl *decl = variable(target);
    if (decl)
        ar_table_add(&r->assigned, ar_key(decl), 0);
    else
        r->stores_numbers |= !ar_is_floating(target->type);
}

enum { MAX_DEPTH = 8 }; /* of calls */

static bool is_pure_function(ar_program *program, const ar_decl *function,
                             int depth);

/* Works on numbers only: it reaches no memory. */
static bool is_pure(ar_program *program, const ar_node *node, int depth) {
    if (!node)
        return true;
    switch ((int)node->kind) {
    case AR_CALL: {
        const ar_decl *callee = ar_direct_callee(node->kids[0]);
        if (!callee || !is_pure_function(program, callee, depth))
            return false;
        for (uint32_t i = 1; i < node->kid_count; i++)
            if (ar_is_address(node->kids[i]->type) ||
                !is_pure(program, node->kids[i], depth))
                return false;
        return true;
    }
    case AR_REF:
        return node->decl && (node->decl->kind == AR_DECL_ENUMERATOR ||
                              (node->decl->kind == AR_DECL_PARAM &&
                               !ar_is_address(node->decl->type)) ||
                              (node->decl->kind == AR_DECL_VAR &&
                               node->decl->storage == AR_STORAGE_AUTO &&
                               !ar_is_address(node->decl->type)));
    case AR_INDEX:
    case AR_DEREF:
    case AR_MEMBER:
    case AR_ADDRESS:
    case AR_LAUNCH:
    case AR_STATEMENT_EXPR:
    case AR_VA_ARG:
    case AR_UNKNOWN_EXPR:
    case AR_UNKNOWN_STMT:
    case AR_ASM:
        return false;
    default:
        break;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (!is_pure(program, node->kids[i], depth))
            return false;
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (node->decls[i]->storage != AR_STORAGE_AUTO ||
            !is_pure(program, node->decls[i]->init, depth))
            return false;
    return true;
}

/* What the C library is given no address for does not know of the memory. */
static bool is_pure_function(ar_program *program, const ar_decl *function,
                             int depth) {
    const ar_decl *definition = ar_definition_of(program, function);
    if (!definition)
        return function->is_system;
    return depth < MAX_DEPTH && definition->body &&
           is_pure(program, definition->body, depth + 1);
}

static void check_call(reader *r, const ar_node *call) {
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    bool ok = callee && is_pure_function(r->in->program, callee, 0);
    for (uint32_t i = 1; i < call->kid_count && ok; i++)
        ok = !ar_is_address(call->kids[i]->type);
    if (ok)
        return;
    refuse(r,
           callee ? ar_sprintf(r->arena, "'%s' is called in the loop",
                               callee->name)
                  : "a function is called in the loop",
           call->range);
}

typedef struct context {
    const nest *inner; /* the innermost loop or condition around */
    nest *loop;
    nest *breaks; /* the loop that a break leaves; NULL: a switch */
    bool maybe;   /* it may not be come to for other reasons */
} context;

static void visit(reader *r, ar_node *node, context at);

static void visit_kids(reader *r, ar_node *node, context at) {
    for (uint32_t i = 0; i < node->kid_count; i++)
        visit(r, node->kids[i], at);
    for (uint32_t i = 0; i < node->decl_count; i++) {
        ar_table_add(&r->assigned, ar_key(node->decls[i]), 0);
        visit(r, node->decls[i]->init, at);
    }
}

static void visit_loop(reader *r, ar_node *node, context at) {
    nest *loop = AR_NEW(r->arena, nest);
    *loop = (nest){.node = node, .outer = at.inner};
    context inside = {loop, loop, loop, at.maybe};
    if (node->kind != AR_FOR) {
        inside.maybe = true;
        visit_kids(r, node, inside);
        return;
    }
    context between = inside;
    between.maybe = true;
    visit(r, node->kids[0], at);
    visit(r, node->kids[1], between);
    visit(r, node->kids[3], inside);
    visit(r, node->kids[2], between);
}

static void visit_if(reader *r, ar_node *node, context at) {
    visit(r, node->kids[0], at);
    for (uint32_t i = 1; i < node->kid_count; i++) {
        nest *branch = AR_NEW(r->arena, nest);
        *branch =
            (nest){.node = node->kids[0], .outer = at.inner, .is_else = i == 2};
        context inside = at;
        inside.inner = branch;
        visit(r, node->kids[i], inside);
    }
}

/* The first kid is always come to. */
static void visit_first(reader *r, ar_node *node, context at) {
    context rest = at;
    rest.maybe = true;
    if (node->kind == AR_SWITCH)
        rest.breaks = NULL;
    for (uint32_t i = 0; i < node->kid_count; i++)
        visit(r, node->kids[i], i == 0 ? at : rest);
}

static void visit(reader *r, ar_node *node, context at) {
    if (!node)
        return;
    uint64_t wanted = ar_table_get(&r->in->wanted, ar_key(node), 0);
    if (wanted) {
        access one = {node, at.inner, wanted == 2, !at.maybe};
        AR_PUSH(r->arena, &r->accesses, one);
    }
    switch ((int)node->kind) {
    case AR_FOR:
    case AR_WHILE:
    case AR_DO:
        visit_loop(r, node, at);
        return;
    case AR_IF:
        visit_if(r, node, at);
        return;
    case AR_SWITCH:
    case AR_CONDITIONAL:
        visit_first(r, node, at);
        return;
    case AR_BINARY:
        if (node->op == AR_OP_LOGICAL_AND || node->op == AR_OP_LOGICAL_OR) {
            visit_first(r, node, at);
            return;
        }
        break;
    case AR_BREAK:
        if (at.breaks)
            at.breaks->has_jump = true;
        break;
    case AR_CONTINUE:
        at.loop->has_jump = true;
        break;
    case AR_ASSIGN:
    case AR_COMPOUND_ASSIGN:
        note_store(r, node->kids[0]);
        break;
    case AR_UNARY:
        if (node->op >= AR_OP_PRE_INC)
            note_store(r, node->kids[0]);
        break;
    case AR_ADDRESS:
        if (variable(node->kids[0]))
            note_store(r, node->kids[0]);
        break;
    case AR_CALL:
        check_call(r, node);
        break;
    case AR_RETURN:
    case AR_GOTO:
    case AR_LABEL:
        refuse(r, "a jump may leave the loop", node->range);
        break;
    case AR_LAUNCH:
    case AR_STATEMENT_EXPR:
    case AR_VA_ARG:
    case AR_UNKNOWN_EXPR:
    case AR_UNKNOWN_STMT:
    case AR_ASM:
        refuse(r, "the loop holds more than the tool reads", node->range);
        break;
    default:
        break;
    }
    visit_kids(r, node, at);
}

/* ---- what stays the same in the loop ------------------------------------- */

static bool takes_address(const ar_node *node, const ar_decl *decl) {
    if (!node)
        return false;
    if (node->kind == AR_ADDRESS && variable(node->kids[0]) == decl)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (takes_address(node->kids[i], decl))
            return true;
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (takes_address(node->decls[i]->init, decl))
            return true;
    return false;
}

static bool is_own(const reader *r, const ar_decl *decl) {
    return (decl->kind == AR_DECL_PARAM || decl->storage == AR_STORAGE_AUTO) &&
           !takes_address(r->in->where.function->body, decl);
}

/* Memory of other types than float only changes where the loop stores to some:
 * a float is no number or pointer. */
static bool is_fixed(const reader *r, const ar_node *node) {
    if (!node)
        return true;
    const ar_decl *decl = variable(node);
    switch ((int)node->kind) {
    case AR_INT_LIT:
    case AR_SIZEOF:
        return true;
    case AR_REF:
        if (!decl)
            return node->decl && node->decl->kind == AR_DECL_ENUMERATOR;
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
    case AR_BINARY:
    case AR_CAST:
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
        if (!is_fixed(r, node->kids[i]))
            return false;
    return true;
}

/* ---- text ---------------------------------------------------------------- */

/* The definition is one word or number, or all in brackets. */
static bool is_one_operand(const reader *r, const ar_macro *macro) {
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

static bool is_constant_macro(const reader *r, const char *name) {
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
static const char *text_of(const reader *r, const ar_node *node) {
    if (node->range.file == AR_NO_FILE)
        return NULL;
    const char *text = ar_text(r->arena, &r->in->program->files, node->range);
    return !node->range.in_macro_body || is_constant_macro(r, text) ? text
                                                                    : NULL;
}

/* Brackets around what would not be one operand of such an operator. */
static const char *operand(const reader *r, const ar_node *node, ar_op of) {
    const char *text = text_of(r, node);
    while (node->kind == AR_IMPLICIT && node->kid_count)
        node = node->kids[0];
    bool is_bare = node->range.in_macro_body || node->kind == AR_INT_LIT ||
                   node->kind == AR_REF || node->kind == AR_MEMBER ||
                   node->kind == AR_INDEX || node->kind == AR_SIZEOF ||
                   node->kind == AR_CAST || node->kind == AR_DEREF ||
                   (node->kind == AR_BINARY &&
                    (node->op == AR_OP_MUL || node->op == AR_OP_DIV ||
                     (of != AR_OP_SUB &&
                      (node->op == AR_OP_ADD || node->op == AR_OP_SUB))));
    return !text || is_bare ? text : ar_sprintf(r->arena, "(%s)", text);
}

/* ---- loops that count ---------------------------------------------------- */

/* for (v = start; v op bound; ...) */
typedef struct count {
    const ar_decl *variable;
    const ar_node *start, *bound;
    ar_op op;
    bool by_one; /* upwards, and the body does not set v */
} count;

static bool is_integer(const ar_type *type) {
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

static void find_start(count *c, const ar_node *init) {
    if (!init)
        return;
    if (init->kind == AR_EXPR_STMT && init->kid_count)
        init = init->kids[0];
    if (init->kind == AR_ASSIGN) {
        c->variable = variable(init->kids[0]);
        c->start = init->kids[1];
    } else if (init->kind == AR_DECL_STMT && init->decl_count == 1) {
        c->variable = init->decls[0];
        c->start = init->decls[0]->init;
    }
}

static bool sets(const ar_node *node, const ar_decl *decl) {
    if (!node)
        return false;
    bool is_store = node->kind == AR_ASSIGN ||
                    node->kind == AR_COMPOUND_ASSIGN ||
                    (node->kind == AR_UNARY && node->op >= AR_OP_PRE_INC);
    if (is_store && variable(node->kids[0]) == decl)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (sets(node->kids[i], decl))
            return true;
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (sets(node->decls[i]->init, decl))
            return true;
    return false;
}

static bool adds_one(const ar_node *step, const ar_decl *decl) {
    if (!step || !step->kid_count || variable(step->kids[0]) != decl)
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
static bool is_counter(const reader *r, const count *c) {
    const ar_node *start = ar_skip_casts(c->start);
    const ar_type *type = c->variable->type;
    if (!is_integer(type) || c->variable->is_volatile ||
        !is_own(r, c->variable))
        return false;
    if (start->kind == AR_INT_LIT && start->int_value >= 0)
        return true;
    return is_integer(start->type) && start->type->bytes <= type->bytes &&
           start->type->is_signed == type->is_signed;
}

static bool read_count(const reader *r, const ar_node *loop, count *c) {
    *c = (count){0};
    if (loop->kind != AR_FOR)
        return false;
    find_start(c, loop->kids[0]);
    const ar_node *cond = ar_skip_casts(loop->kids[1]);
    if (!c->variable || !c->start || !cond || cond->kind != AR_BINARY ||
        cond->op < AR_OP_LT || cond->op > AR_OP_NE || !is_counter(r, c))
        return false;
    bool is_left = variable(cond->kids[0]) == c->variable;
    if (!is_left && variable(cond->kids[1]) != c->variable)
        return false;
    c->op = is_left ? cond->op : mirrored(cond->op);
    c->bound = cond->kids[is_left];
    c->by_one = adds_one(loop->kids[2], c->variable) &&
                !sets(loop->kids[3], c->variable);
    return is_integer(ar_skip_casts(c->bound)->type);
}

static bool is_number(const ar_node *node, int64_t *value) {
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

/* Adds the condition for the loop to have an iteration; false: it cannot be
 * said in front of the scratch's loop. */
static bool add_condition(const reader *r, const ar_node *loop, ar_str *out) {
    count c;
    int64_t start, bound;
    if (loop->kind == AR_FOR && !loop->kids[1])
        return true;
    if (!read_count(r, loop, &c) || !is_fixed(r, c.start) ||
        !is_fixed(r, c.bound))
        return false;
    bool is_literal = is_number(c.start, &start);
    if (is_literal && is_number(c.bound, &bound) && holds(start, c.op, bound))
        return true;
    const char *a = operand(r, c.start, c.op), *b = operand(r, c.bound, c.op);
    if (!a || !b)
        return false;
    if (is_literal)
        ar_str_addf(out, "%s %s %s", b, ar_op_spelling(mirrored(c.op)), a);
    else
        ar_str_addf(out, "%s %s %s", a, ar_op_spelling(c.op), b);
    return true;
}

/* The same for a branch to be taken. */
static bool add_branch(const reader *r, const nest *branch, ar_str *out) {
    const ar_node *condition = branch->node;
    const char *text = is_fixed(r, condition) ? text_of(r, condition) : NULL;
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

/* What must be true for the inside to be come to; "": nothing. NULL: it cannot
 * be said in front of the scratch's loop. */
static const char *condition_of(const reader *r, const nest *at) {
    ar_str out = {.arena = r->arena};
    bool ok = is_loop(at->node) ? add_condition(r, at->node, &out)
                                : add_branch(r, at, &out);
    return ok ? ar_str_text(&out) : NULL;
}

/* All from the scratch's loop to the access, but this loop; in the order that
 * the program asks them. */
static bool add_conditions(const reader *r, const nest *inner,
                           const nest *without, ar_str *out) {
    if (!inner)
        return true;
    if (!add_conditions(r, inner->outer, without, out))
        return false;
    const char *text = inner == without ? "" : condition_of(r, inner);
    if (text && *text)
        ar_str_addf(out, "%s%s", out->length ? " && " : "", text);
    return text != NULL;
}

static bool is_asked(const reader *r, const nest *inner, const char *text) {
    for (; inner; inner = inner->outer) {
        const char *other = condition_of(r, inner);
        if (other && strcmp(other, text) == 0)
            return true;
    }
    return false;
}

/* All other accesses are come to under these conditions only: what they do
 * where the scratch is not there would be lost. */
static bool covers_all(const reader *r, const nest *inner,
                       const nest *without) {
    for (; inner; inner = inner->outer) {
        const char *text = inner == without ? "" : condition_of(r, inner);
        for (uint32_t i = 0; i < r->accesses.count && *text; i++)
            if (!is_asked(r, r->accesses.data[i].inner, text))
                return false;
    }
    return true;
}

static bool jumps(const nest *loop) {
    for (; loop; loop = loop->outer)
        if (loop->has_jump)
            return true;
    return false;
}

/* A store that every run of the loop comes to under these conditions: the
 * memory is there, and the loop's own. */
static bool find_guard(const reader *r, const nest *const *rows,
                       const char **guard) {
    for (uint32_t i = 0; i < r->accesses.count; i++) {
        const access *one = &r->accesses.data[i];
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

/* ---- one element --------------------------------------------------------- */

static const char *const otherwise =
    "the loop uses the memory in another way as well";
static const char *const macro_text = "its text comes from a macro body";

static bool is_one_element(const reader *r, const ar_node *lvalue) {
    for (uint32_t i = 0; i < lvalue->kid_count; i++)
        if (!is_fixed(r, lvalue->kids[i]))
            return false;
    return lvalue->kind == AR_INDEX || lvalue->kind == AR_DEREF;
}

static ar_sum_scratch *element(reader *r, const ar_node *sum) {
    ar_sum_scratch *s = AR_NEW(r->arena, ar_sum_scratch);
    s->form = AR_SUM_ELEMENT;
    s->memory = text_of(r, sum);
    for (uint32_t i = 0; i < r->accesses.count; i++) {
        const ar_node *lvalue = r->accesses.data[i].lvalue;
        if (!ar_storage_same(lvalue, sum))
            refuse(r, otherwise, lvalue->range);
        AR_PUSH(r->arena, &s->accesses, (ar_sum_access){lvalue, NULL});
    }
    if (!s->memory)
        refuse(r, macro_text, sum->range);
    if (!find_guard(r, NULL, &s->guard))
        refuse(r, "the loop may not come to it", sum->range);
    return s;
}

/* ---- a row --------------------------------------------------------------- */

enum { MAX_TERMS = 8 };

/* base[term + term - term + v] */
typedef struct address {
    const ar_node *base;
    struct term {
        const ar_node *node;
        bool minus;
    } terms[MAX_TERMS];
    uint32_t term_count;
    const nest *row; /* the loop over it */
    count length;
    bool is_odd;
} address;

/* A conversion that keeps the value of an index. */
static const ar_node *skip_wide_casts(const ar_node *node) {
    while ((node->kind == AR_IMPLICIT || node->kind == AR_CAST) &&
           node->kid_count == 1 && is_integer(node->type) &&
           is_integer(node->kids[0]->type) && node->type->bytes >= 4 &&
           node->type->bytes >= node->kids[0]->type->bytes)
        node = node->kids[0];
    return node;
}

static void add_terms(address *a, const ar_node *node, bool minus) {
    const ar_node *inner = skip_wide_casts(node);
    if (inner->kind == AR_BINARY &&
        (inner->op == AR_OP_ADD || inner->op == AR_OP_SUB)) {
        add_terms(a, inner->kids[0], minus);
        add_terms(a, inner->kids[1], minus != (inner->op == AR_OP_SUB));
    } else if (a->term_count == MAX_TERMS) {
        a->is_odd = true;
    } else {
        a->terms[a->term_count++] = (struct term){node, minus};
    }
}

static void add_pointer(address *a, const ar_node *node) {
    while (node->kind == AR_IMPLICIT && node->kid_count)
        node = node->kids[0];
    if (node->kind == AR_BINARY &&
        (node->op == AR_OP_ADD || node->op == AR_OP_SUB)) {
        bool is_left = ar_is_address(node->kids[0]->type);
        add_pointer(a, node->kids[!is_left]);
        add_terms(a, node->kids[is_left], node->op == AR_OP_SUB);
    } else if (node->kind == AR_ADDRESS && node->kids[0]->kind == AR_INDEX) {
        add_pointer(a, node->kids[0]->kids[0]);
        add_terms(a, node->kids[0]->kids[1], false);
    } else {
        a->base = node;
    }
}

/* The term that is the variable of a loop around the access, from zero up. */
static bool take_row(const reader *r, const access *one, address *a) {
    for (uint32_t i = 0; i < a->term_count; i++) {
        const ar_node *node = skip_wide_casts(a->terms[i].node);
        const ar_decl *decl = node->kind == AR_REF ? variable(node) : NULL;
        for (const nest *l = one->inner; decl && l->outer; l = l->outer) {
            int64_t start;
            if (!read_count(r, l->node, &a->length) ||
                a->length.variable != decl)
                continue;
            a->row = l;
            if (a->terms[i].minus || !a->length.by_one ||
                (a->length.op != AR_OP_LT && a->length.op != AR_OP_LE) ||
                !is_number(a->length.start, &start) || start != 0)
                return false;
            memmove(&a->terms[i], &a->terms[i + 1],
                    (--a->term_count - i) * sizeof *a->terms);
            return true;
        }
    }
    return false;
}

static bool read_row(const reader *r, const access *one, address *a) {
    const ar_node *lvalue = one->lvalue;
    *a = (address){0};
    if (lvalue->kind == AR_INDEX) {
        add_pointer(a, lvalue->kids[0]);
        add_terms(a, lvalue->kids[1], false);
    } else if (lvalue->kind == AR_DEREF) {
        add_pointer(a, lvalue->kids[0]);
    }
    if (!a->base || a->is_odd || !take_row(r, one, a))
        return false;
    for (uint32_t i = 0; i < a->term_count; i++)
        if (!is_fixed(r, a->terms[i].node))
            return false;
    return is_fixed(r, a->base) && is_fixed(r, a->length.bound);
}

static bool has_term(const address *a, const struct term *t) {
    for (uint32_t i = 0; i < a->term_count; i++)
        if (a->terms[i].minus == t->minus &&
            ar_storage_same(a->terms[i].node, t->node))
            return true;
    return false;
}

static bool is_same_row(const address *a, const address *b) {
    if (a->term_count != b->term_count || a->length.op != b->length.op ||
        !ar_storage_same(a->base, b->base) ||
        !ar_storage_same(a->length.bound, b->length.bound))
        return false;
    for (uint32_t i = 0; i < a->term_count; i++)
        if (!has_term(b, &a->terms[i]) || !has_term(a, &b->terms[i]))
            return false;
    return true;
}

/* The row as an expression, and its length. */
static bool say_row(const reader *r, const address *a, ar_sum_scratch *s) {
    const char *base = text_of(r, a->base),
               *n = operand(r, a->length.bound, AR_OP_ADD);
    bool is_bare = a->base->kind == AR_REF || a->base->kind == AR_MEMBER ||
                   a->base->kind == AR_INDEX;
    ar_str terms = {.arena = r->arena};
    if (!base || a->base->range.in_macro_body || !n)
        return false;
    for (uint32_t i = 0; i < a->term_count; i++) {
        const char *text = operand(r, a->terms[i].node,
                                   a->terms[i].minus ? AR_OP_SUB : AR_OP_ADD);
        if (!text)
            return false;
        ar_str_addf(&terms, "%s%s",
                    a->terms[i].minus ? (i ? " - " : "-") : (i ? " + " : ""),
                    text);
    }
    s->memory = !a->term_count
                    ? base
                    : ar_sprintf(r->arena, is_bare ? "&%s[%s]" : "&(%s)[%s]",
                                 base, ar_str_text(&terms));
    s->count =
        a->length.op == AR_OP_LE
            ? ar_sprintf(r->arena, "%s + 1", n)
            : ar_text(r->arena, &r->in->program->files, a->length.bound->range);
    return true;
}

static ar_sum_scratch *row(reader *r, const ar_node *sum) {
    ar_sum_scratch *s = AR_NEW(r->arena, ar_sum_scratch);
    const nest **rows =
        ar_alloc_array(r->arena, r->accesses.count + 1u, sizeof *rows);
    address first = {0};
    for (uint32_t i = 0; i < r->accesses.count; i++) {
        const access *one = &r->accesses.data[i];
        address a;
        if (!read_row(r, one, &a)) {
            refuse(r, "it is no element or row that the loop leaves in place",
                   one->lvalue->range);
            return NULL;
        }
        if (i == 0)
            first = a;
        if (!is_same_row(&first, &a)) {
            refuse(r, otherwise, one->lvalue->range);
            return NULL;
        }
        rows[i] = a.row;
        AR_PUSH(r->arena, &s->accesses,
                (ar_sum_access){one->lvalue, a.length.variable->name});
    }
    s->form = AR_SUM_ROW;
    if (!say_row(r, &first, s))
        refuse(r, macro_text, sum->range);
    if (!find_guard(r, rows, &s->guard))
        refuse(r, "the loop may not come to it", sum->range);
    return s;
}

ar_sum_scratch *ar_sum_shape(const ar_sum_search *search, const ar_node *sum,
                             ar_sum_problem *problem) {
    reader r = {.in = search,
                .arena = search->arena,
                .assigned = {.arena = search->arena}};
    nest loop = {.node = search->loop};
    context at = {&loop, &loop, &loop, false};
    ar_node *node = search->loop;
    if (node->kind != AR_FOR) {
        *problem = (ar_sum_problem){
            "how often the loop runs is not known before it", node->range};
        return NULL;
    }
    context between = at;
    between.maybe = true;
    visit(&r, node->kids[0], between);
    visit(&r, node->kids[1], between);
    visit(&r, node->kids[2], between);
    visit(&r, node->kids[3], at);
    if (r.accesses.count != search->wanted.count)
        refuse(&r, otherwise, node->range);
    for (uint32_t i = 0; i < r.accesses.count; i++)
        if (r.accesses.data[i].lvalue->range.in_macro_body)
            refuse(&r, macro_text, r.accesses.data[i].lvalue->range);
    ar_sum_scratch *s = NULL;
    if (!r.found.why)
        s = is_one_element(&r, sum) ? element(&r, sum) : row(&r, sum);
    *problem = r.found;
    return r.found.why ? NULL : s;
}
