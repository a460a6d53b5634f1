/* Does a loop always touch the same element of memory, or the same row? */
#include "core/storage_solver.h"
#include "core/storage_sum_parts.h"

/* ---- one element --------------------------------------------------------- */

static const char *const otherwise =
    "the loop uses the memory in another way as well";
static const char *const macro_text = "its text comes from a macro body";

static bool is_one_element(const ar_sum_reader *r, const ar_node *lvalue) {
    for (uint32_t i = 0; i < lvalue->kid_count; i++)
        if (!ar_sum_is_fixed(r, lvalue->kids[i]))
            return false;
    return lvalue->kind == AR_INDEX || lvalue->kind == AR_DEREF;
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
    const ar_sum_nest *row; /* the loop over it */
    ar_sum_count length;
    bool is_odd;
} address;

/* A conversion that keeps the value of an index. */
static const ar_node *skip_wide_casts(const ar_node *node) {
    while ((node->kind == AR_IMPLICIT || node->kind == AR_CAST) &&
           node->kid_count == 1 && ar_sum_is_integer(node->type) &&
           ar_sum_is_integer(node->kids[0]->type) && node->type->bytes >= 4 &&
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
static bool take_row(const ar_sum_reader *r, const ar_sum_use *one,
                     address *a) {
    for (uint32_t i = 0; i < a->term_count; i++) {
        const ar_node *node = skip_wide_casts(a->terms[i].node);
        const ar_decl *decl =
            node->kind == AR_REF ? ar_sum_variable(node) : NULL;
        for (const ar_sum_nest *l = one->inner; decl && l->outer;
             l = l->outer) {
            int64_t start;
            if (!ar_sum_read_count(r, l->node, &a->length) ||
                a->length.variable != decl)
                continue;
            a->row = l;
            if (a->terms[i].minus || !a->length.by_one ||
                (a->length.op != AR_OP_LT && a->length.op != AR_OP_LE) ||
                !ar_sum_number(a->length.start, &start) || start != 0)
                return false;
            memmove(&a->terms[i], &a->terms[i + 1],
                    (--a->term_count - i) * sizeof *a->terms);
            return true;
        }
    }
    return false;
}

static bool read_row(const ar_sum_reader *r, const ar_sum_use *one,
                     address *a) {
    const ar_node *lvalue = one->lvalue;
    *a = (address){0};
    if (lvalue->kind == AR_INDEX) {
        add_pointer(a, lvalue->kids[0]);
        add_terms(a, lvalue->kids[1], false);
    } else if (lvalue->kind == AR_DEREF) {
        add_pointer(a, lvalue->kids[0]);
    }
    if (!a->base || ar_float_depth(a->base->type) != 1 || a->is_odd ||
        !take_row(r, one, a))
        return false;
    for (uint32_t i = 0; i < a->term_count; i++)
        if (!ar_sum_is_fixed(r, a->terms[i].node))
            return false;
    return ar_sum_is_fixed(r, a->base) && ar_sum_is_fixed(r, a->length.bound);
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

static bool reads_memory(const ar_node *node) {
    bool reads = node->kind == AR_MEMBER || node->kind == AR_INDEX ||
                 node->kind == AR_DEREF ||
                 (node->kind == AR_BINARY &&
                  (node->op == AR_OP_DIV || node->op == AR_OP_REM));
    for (uint32_t i = 0; i < node->kid_count && !reads; i++)
        reads = node->kids[i] && reads_memory(node->kids[i]);
    return reads;
}

/* Where the row has no element, the program need not be able to say it. */
static bool may_fault(const address *a) {
    bool may = reads_memory(a->base);
    for (uint32_t i = 0; i < a->term_count; i++)
        may |= reads_memory(a->terms[i].node);
    return may;
}

/* The row as an expression, and its length. */
static bool say_row(const ar_sum_reader *r, const address *a,
                    ar_sum_scratch *s) {
    const char *base = ar_sum_text(r, a->base),
               *n = ar_sum_operand(r, a->length.bound, AR_OP_ADD);
    bool is_bare = a->base->kind == AR_REF || a->base->kind == AR_MEMBER ||
                   a->base->kind == AR_INDEX;
    ar_str terms = {.arena = r->arena};
    if (!base || a->base->range.in_macro_body || !n)
        return false;
    for (uint32_t i = 0; i < a->term_count; i++) {
        const char *text = ar_sum_operand(
            r, a->terms[i].node, a->terms[i].minus ? AR_OP_SUB : AR_OP_ADD);
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

/* ---- what is in front of the loop ---------------------------------------- */

/* row NULL: an element. */
typedef struct start {
    const ar_node *sum;
    const address *row;
} start;

static bool uses(const ar_node *node, const ar_decl *root) {
    if (!node)
        return false;
    if ((node->kind == AR_INDEX || node->kind == AR_DEREF) &&
        ar_root_decl(node) == root)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (uses(node->kids[i], root))
            return true;
    return false;
}

static bool sets(const ar_sum_reader *r, const start *s, const ar_node *node,
                 const ar_sum_nest *around) {
    if (node->kind != AR_ASSIGN ||
        uses(node->kids[1], ar_root_decl(node->kids[0])))
        return false;
    if (!s->row) /* a loop around it may have no iteration */
        return !around->outer && ar_storage_same(node->kids[0], s->sum);
    ar_sum_use one = {.lvalue = node->kids[0], .inner = around};
    address a;
    return read_row(r, &one, &a) && is_same_row(s->row, &a) &&
           a.row == around && !around->outer->outer;
}

static bool has_jump(const ar_node *node) {
    bool has = node->kind == AR_BREAK || node->kind == AR_CONTINUE ||
               node->kind == AR_GOTO || node->kind == AR_RETURN;
    for (uint32_t i = 0; i < node->kid_count && !has; i++)
        has = node->kids[i] && has_jump(node->kids[i]);
    return has;
}

/* Where the sum is made under a condition, so is this. */
static bool is_asked(const ar_sum_reader *r, const ar_sum_nest *branch) {
    const char *text = ar_sum_condition(r, branch);
    for (uint32_t i = 0; i < r->accesses.count && text; i++)
        if (!ar_sum_is_asked(r, r->accesses.data[i].inner, text))
            return false;
    return text != NULL;
}

static bool starts(const ar_sum_reader *r, const start *s, const ar_node *node,
                   const ar_sum_nest *around) {
    const ar_sum_nest inner = {.node = (ar_node *)node, .outer = around};
    switch ((int)node->kind) {
    case AR_COMPOUND:
        for (uint32_t i = 0; i < node->kid_count; i++)
            if (starts(r, s, node->kids[i], around))
                return true;
        return false;
    case AR_FOR:
        return !has_jump(node->kids[3]) && starts(r, s, node->kids[3], &inner);
    case AR_IF: {
        const ar_sum_nest branch = {.node = node->kids[0], .outer = around};
        return is_asked(r, &branch) && starts(r, s, node->kids[1], around);
    }
    case AR_EXPR_STMT:
        return sets(r, s, node->kids[0], around);
    default:
        return false;
    }
}

/* What the address is made of is set between there and the loop. */
static bool changes(const ar_node *block, uint32_t from, const ar_node *loop,
                    const ar_node *node) {
    const ar_decl *decl = ar_sum_variable(node);
    for (uint32_t i = from; decl && block->kids[i] != loop; i++)
        if (ar_sum_sets(block->kids[i], decl))
            return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (node->kids[i] && changes(block, from, loop, node->kids[i]))
            return true;
    return false;
}

static bool moves(const ar_node *block, uint32_t from, const ar_node *loop,
                  const start *s) {
    if (!s->row)
        return changes(block, from, loop, s->sum);
    for (uint32_t i = 0; i < s->row->term_count; i++)
        if (changes(block, from, loop, s->row->terms[i].node))
            return true;
    return changes(block, from, loop, s->row->base) ||
           changes(block, from, loop, s->row->length.bound);
}

static bool is_started(const ar_sum_reader *r, const ar_node *sum,
                       const address *of_row) {
    const start s = {sum, of_row};
    const ar_node *loop = r->in->loop;
    const ar_node *block = r->in->parent;
    const ar_sum_nest outside = {.node = (ar_node *)loop};
    if (!block || block->kind != AR_COMPOUND)
        return false;
    for (uint32_t i = 0; block->kids[i] != loop; i++)
        if (starts(r, &s, block->kids[i], &outside) &&
            !moves(block, i, loop, &s))
            return true;
    return false;
}

/* ---- the scratch ----------------------------------------------------------
 */

static ar_sum_scratch *element(ar_sum_reader *r, const ar_node *sum) {
    ar_sum_scratch *s = AR_NEW(r->arena, ar_sum_scratch);
    s->form = AR_SUM_ELEMENT;
    s->memory = ar_sum_text(r, sum);
    for (uint32_t i = 0; i < r->accesses.count; i++) {
        const ar_node *lvalue = r->accesses.data[i].lvalue;
        if (!ar_storage_same(lvalue, sum))
            ar_sum_refuse(r, otherwise, lvalue->range);
        AR_PUSH(r->arena, &s->accesses, (ar_sum_access){lvalue, NULL});
    }
    if (!s->memory)
        ar_sum_refuse(r, macro_text, sum->range);
    if (!ar_sum_guard(r, NULL, &s->guard))
        ar_sum_refuse(r, "the loop may not come to it", sum->range);
    s->starts = is_started(r, sum, NULL);
    return s;
}

static ar_sum_scratch *row(ar_sum_reader *r, const ar_node *sum) {
    ar_sum_scratch *s = AR_NEW(r->arena, ar_sum_scratch);
    const ar_sum_nest **rows =
        ar_alloc_array(r->arena, r->accesses.count + 1u, sizeof *rows);
    address first = {0};
    for (uint32_t i = 0; i < r->accesses.count; i++) {
        const ar_sum_use *one = &r->accesses.data[i];
        address a;
        if (!read_row(r, one, &a)) {
            ar_sum_refuse(
                r, "it is no element or row that the loop leaves in place",
                one->lvalue->range);
            return NULL;
        }
        if (i == 0)
            first = a;
        if (!is_same_row(&first, &a)) {
            ar_sum_refuse(r, otherwise, one->lvalue->range);
            return NULL;
        }
        rows[i] = a.row;
        AR_PUSH(r->arena, &s->accesses,
                (ar_sum_access){one->lvalue, a.length.variable->name});
    }
    s->form = AR_SUM_ROW;
    if (!say_row(r, &first, s))
        ar_sum_refuse(r, macro_text, sum->range);
    if (!ar_sum_guard(r, may_fault(&first) ? NULL : rows, &s->guard))
        ar_sum_refuse(r, "the loop may not come to it", sum->range);
    s->starts = is_started(r, sum, &first);
    return s;
}

/* libamp's buffers are not. */
static bool is_volatile(const ar_sum_reader *r, const ar_node *lvalue) {
    const ar_decl *decl = ar_root_decl(lvalue);
    return !decl ||
           strstr(ar_text(r->arena, &r->in->program->files, decl->range),
                  "volatile");
}

ar_sum_scratch *ar_sum_shape(const ar_sum_search *search, const ar_node *sum,
                             ar_sum_problem *problem) {
    ar_sum_reader r = {.in = search,
                       .arena = search->arena,
                       .assigned = {.arena = search->arena}};
    ar_node *node = search->loop;
    if (node->kind != AR_FOR) {
        *problem = (ar_sum_problem){
            "how often the loop runs is not known before it", node->range};
        return NULL;
    }
    ar_sum_read(&r);
    if (!r.accesses.count || r.accesses.count != search->wanted.count)
        ar_sum_refuse(&r, otherwise, node->range);
    if (is_volatile(&r, sum))
        ar_sum_refuse(&r, "it may be volatile", sum->range);
    for (uint32_t i = 0; i < r.accesses.count; i++)
        if (r.accesses.data[i].lvalue->range.in_macro_body)
            ar_sum_refuse(&r, macro_text, r.accesses.data[i].lvalue->range);
    ar_sum_scratch *s = NULL;
    if (!r.found.why)
        s = is_one_element(&r, sum) ? element(&r, sum) : row(&r, sum);
    *problem = r.found;
    return r.found.why ? NULL : s;
}
