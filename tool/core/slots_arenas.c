#include "core/slots.h"

/* Arenas. Recognised is the loop that hands out, with its table; what else must
 * be seen before the parts may have elements of different sizes becomes the
 * arena's problem if it is not. All of it stands in one block, so that nothing
 * happens twice or in another order. */

/* ---- small questions ----------------------------------------------------- */

static bool is_name_of(const ar_node *node, const ar_decl *decl) {
    node = ar_skip_casts(node);
    return node && node->kind == AR_REF && node->decl == decl;
}

static const ar_decl *named(const ar_node *node) {
    node = ar_skip_casts(node);
    return node && node->kind == AR_REF ? node->decl : NULL;
}

static bool is_number(const ar_node *node, int64_t value) {
    node = ar_skip_casts(node);
    return node && node->kind == AR_INT_LIT && node->int_value == value;
}

static uint64_t size_operand(const ar_node *node) {
    const ar_type *type = node->type_operand ? node->type_operand
                          : node->kid_count  ? node->kids[0]->type
                                             : NULL;
    return type ? type->bytes : 0;
}

/* The value of a constant, 0 when it is not one. */
static uint64_t constant(const ar_node *node) {
    node = ar_skip_casts(node);
    if (!node)
        return 0;
    if (node->kind == AR_INT_LIT && node->int_value > 0)
        return (uint64_t)node->int_value;
    if (node->kind == AR_REF && node->decl &&
        node->decl->kind == AR_DECL_ENUMERATOR && node->decl->value > 0)
        return (uint64_t)node->decl->value;
    if (node->kind == AR_SIZEOF)
        return size_operand(node);
    if (node->kind == AR_BINARY && node->op == AR_OP_DIV) {
        uint64_t a = constant(node->kids[0]), b = constant(node->kids[1]);
        return b && a % b == 0 ? a / b : 0;
    }
    return 0;
}

/* Expressions that name the same variable, field or element. */
static bool is_same(const ar_node *a, const ar_node *b) {
    a = ar_skip_casts(a);
    b = ar_skip_casts(b);
    if (!a || !b || a->kind != b->kind || a->kid_count != b->kid_count)
        return false;
    switch ((int)a->kind) {
    case AR_REF:
        return a->decl == b->decl;
    case AR_MEMBER:
        if (a->decl != b->decl)
            return false;
        break;
    case AR_DEREF:
    case AR_ADDRESS:
        break;
    default:
        return false;
    }
    for (uint32_t i = 0; i < a->kid_count; i++)
        if (!is_same(a->kids[i], b->kids[i]))
            return false;
    return true;
}

/* How often the function names it, other than in a sizeof. */
static uint32_t mentions(const ar_node *node, const ar_decl *decl) {
    uint32_t count = 0;
    if (!node || node->kind == AR_SIZEOF)
        return 0;
    if (node->kind == AR_REF && node->decl == decl)
        return 1;
    for (uint32_t i = 0; i < node->decl_count; i++)
        count += mentions(node->decls[i]->init, decl);
    for (uint32_t i = 0; i < node->kid_count; i++)
        count += mentions(node->kids[i], decl);
    return count;
}

/* How often the function sets it, or lets others do so by its address. */
static uint32_t settings(const ar_node *node, const ar_node *lvalue) {
    uint32_t count = 0;
    if (!node)
        return 0;
    bool sets = node->kind == AR_ASSIGN || node->kind == AR_COMPOUND_ASSIGN ||
                node->kind == AR_ADDRESS ||
                (node->kind == AR_UNARY && node->op >= AR_OP_PRE_INC);
    if (sets && is_same(node->kids[0], lvalue))
        count++;
    for (uint32_t i = 0; i < node->decl_count; i++) {
        const ar_decl *decl = node->decls[i];
        count += decl->init && is_name_of(lvalue, decl);
        count += settings(decl->init, lvalue);
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        count += settings(node->kids[i], lvalue);
    return count;
}

static bool has_kind(const ar_node *node, ar_node_kind kind) {
    if (!node)
        return false;
    if (node->kind == kind)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (has_kind(node->kids[i], kind))
            return true;
    return false;
}

static ar_node *expression(ar_node *statement) {
    return statement && statement->kind == AR_EXPR_STMT && statement->kid_count
               ? statement->kids[0]
               : NULL;
}

/* ---- loops from 0 to a number -------------------------------------------- */

typedef struct counted {
    const ar_decl *variable; /* NULL: it is no such loop */
    uint64_t count;
} counted;

static const ar_decl *starts_at_zero(const ar_node *init) {
    if (init && init->kind == AR_DECL_STMT && init->decl_count == 1 &&
        is_number(init->decls[0]->init, 0))
        return init->decls[0];
    if (init && init->kind == AR_EXPR_STMT && init->kid_count)
        init = init->kids[0];
    if (init && init->kind == AR_ASSIGN && is_number(init->kids[1], 0))
        return named(init->kids[0]);
    return NULL;
}

static bool adds_one(const ar_node *step, const ar_decl *variable) {
    if (step && step->kind == AR_UNARY)
        return (step->op == AR_OP_PRE_INC || step->op == AR_OP_POST_INC) &&
               is_name_of(step->kids[0], variable);
    return step && step->kind == AR_COMPOUND_ASSIGN && step->op == AR_OP_ADD &&
           is_name_of(step->kids[0], variable) && is_number(step->kids[1], 1);
}

static counted counted_loop(const ar_node *loop) {
    counted none = {NULL, 0};
    if (loop->kind != AR_FOR)
        return none;
    const ar_decl *variable = starts_at_zero(loop->kids[0]);
    const ar_node *cond = loop->kids[1];
    if (!variable || !cond || cond->kind != AR_BINARY ||
        (cond->op != AR_OP_LT && cond->op != AR_OP_NE) ||
        !is_name_of(cond->kids[0], variable) ||
        !adds_one(loop->kids[2], variable))
        return none;
    return (counted){variable, constant(cond->kids[1])};
}

/* The statements of the body, which are as many as asked for. */
static ar_node *const *body_of(const ar_node *loop, uint32_t count) {
    ar_node *body = loop->kids[3];
    if (body && body->kind == AR_COMPOUND)
        return body->kid_count == count ? body->kids : NULL;
    return count == 1 && body ? &loop->kids[3] : NULL;
}

/* ---- the loop that hands out --------------------------------------------- */

typedef struct finder {
    ar_graph *g;
    ar_decl *function;
    ar_storage_arena arena;
    ar_node *block; /* that holds the loop */
    counted loop;
    const ar_decl *cursor; /* what is stepped: a pointer, or a distance */
    const ar_node *memory; /* what points to all; NULL: the cursor did */
} finder;

static bool is_table(const ar_decl *decl, const ar_decl *function) {
    const ar_type *type = decl ? decl->type : NULL;
    if (!decl || decl->kind != AR_DECL_VAR || decl->parent != function ||
        !ar_is_kind(type, AR_TYPE_ARRAY) || ar_float_depth(type) != 3 ||
        !ar_is_kind(type->element, AR_TYPE_POINTER) ||
        !ar_is_kind(type->element->element, AR_TYPE_POINTER))
        return false;
    return decl->init && decl->init->kind == AR_INIT_LIST &&
           decl->init->kid_count == type->count;
}

/* *table[i] = cursor, or memory + cursor */
static bool is_store(finder *f, ar_node *store) {
    if (!store || store->kind != AR_ASSIGN)
        return false;
    const ar_node *to = store->kids[0];
    const ar_node *element =
        to->kind == AR_DEREF ? ar_skip_casts(to->kids[0]) : NULL;
    if (!element || element->kind != AR_INDEX ||
        !is_name_of(element->kids[1], f->loop.variable))
        return false;
    f->arena.table = (ar_decl *)named(element->kids[0]);
    const ar_node *value = ar_skip_casts(store->kids[1]);
    if (value->kind == AR_BINARY && value->op == AR_OP_ADD) {
        f->memory = value->kids[0];
        value = ar_skip_casts(value->kids[1]);
    }
    f->cursor = named(value);
    return f->cursor && f->cursor->kind == AR_DECL_VAR &&
           f->cursor->parent == f->function &&
           ar_is_kind(f->cursor->type,
                      f->memory ? AR_TYPE_INT : AR_TYPE_POINTER);
}

/* cursor += lengths[i] */
static bool is_step(finder *f, ar_node *step) {
    if (!step || step->kind != AR_COMPOUND_ASSIGN || step->op != AR_OP_ADD ||
        !is_name_of(step->kids[0], f->cursor))
        return false;
    ar_node *length = ar_skip_casts(step->kids[1]);
    if (!length || length->kind != AR_INDEX ||
        !is_name_of(length->kids[1], f->loop.variable))
        return false;
    f->arena.lengths = length->kids[0];
    return true;
}

static bool take_parts(finder *f) {
    const ar_node *list = f->arena.table->init;
    f->arena.part_count = list->kid_count;
    f->arena.parts =
        AR_NEW_ARRAY(f->g->arena, struct ar_arena_part, list->kid_count + 1u);
    for (uint32_t i = 0; i < list->kid_count; i++) {
        const ar_node *kid = list->kids[i];
        ar_node *pointer = kid && kid->kind == AR_ADDRESS ? kid->kids[0] : NULL;
        if (!pointer || ar_float_depth(pointer->type) != 1 ||
            !ar_is_kind(pointer->type, AR_TYPE_POINTER) ||
            (pointer->kind != AR_MEMBER && pointer->kind != AR_REF))
            return false;
        f->arena.parts[i].pointer = pointer;
    }
    return true;
}

static bool hands_out(finder *f, ar_node *loop) {
    f->loop = counted_loop(loop);
    ar_node *const *body = f->loop.variable ? body_of(loop, 2) : NULL;
    if (!body)
        return false;
    f->arena.store = expression(body[0]);
    f->arena.step = expression(body[1]);
    return is_store(f, f->arena.store) &&
           is_table(f->arena.table, f->function) && is_step(f, f->arena.step) &&
           mentions(f->function->body, f->arena.table) == 1 && take_parts(f);
}

/* ---- what the layout rests on -------------------------------------------- */

static bool problem(finder *f, const char *text, const ar_node *at) {
    f->arena.problem = text;
    f->arena.problem_at = at->range;
    return false;
}

/* The statement of the block that gives it its one value. */
static ar_node *set_in(const finder *f, const ar_node *lvalue,
                       ar_node **value) {
    ar_node *found = NULL;
    if (settings(f->function->body, lvalue) != 1)
        return NULL;
    for (uint32_t i = 0; i < f->block->kid_count; i++) {
        ar_node *statement = f->block->kids[i];
        ar_node *assign = expression(statement);
        for (uint32_t k = 0; statement && k < statement->decl_count; k++)
            if (is_name_of(lvalue, statement->decls[k]) &&
                statement->decls[k]->init) {
                found = statement;
                *value = statement->decls[k]->init;
            }
        if (!assign || assign->kind != AR_ASSIGN ||
            !is_same(assign->kids[0], lvalue))
            continue;
        found = statement;
        *value = assign->kids[1];
    }
    return found;
}

/* The same of a variable that is stepped as well. */
static ar_node *starts_in(const finder *f, const ar_decl *decl,
                          ar_node **value) {
    for (uint32_t i = 0; i < f->block->kid_count; i++) {
        ar_node *statement = f->block->kids[i];
        ar_node *assign = expression(statement);
        for (uint32_t k = 0; statement && k < statement->decl_count; k++)
            if (statement->decls[k] == decl && decl->init) {
                *value = decl->init;
                return statement;
            }
        if (assign && assign->kind == AR_ASSIGN &&
            is_name_of(assign->kids[0], decl)) {
            *value = assign->kids[1];
            return statement;
        }
    }
    return NULL;
}

static bool is_before(const ar_node *a, const ar_node *b) {
    return a->range.file == b->range.file && a->range.end <= b->range.begin;
}

/* Follows what the cursor starts from to the call that allocates it. */
static bool find_allocation(finder *f, ar_node **statement, ar_node **call) {
    ar_node *value = NULL, *at = f->arena.store;
    if (f->memory) {
        at = starts_in(f, f->cursor, &value);
        if (!at || !is_number(value, 0) || !is_before(at, f->arena.store))
            return problem(f, "the distance does not start from 0",
                           f->arena.store);
        at = f->arena.store;
        value = (ar_node *)f->memory;
    } else {
        at = starts_in(f, f->cursor, &value);
    }
    for (int i = 0; i < 3 && at && value; i++) {
        value = ar_skip_casts(value);
        if (value->kind == AR_CALL) {
            *statement = at;
            *call = value;
            return true;
        }
        ar_node *next = NULL, *by = set_in(f, value, &next);
        if (!by || !is_before(by, at))
            break;
        at = by;
        value = next;
    }
    return problem(f, "it is not allocated where it is handed out",
                   f->arena.store);
}

/* total * sizeof(float): the factors but for the total. */
static bool is_total(const ar_node *node, const ar_decl **total) {
    node = ar_skip_casts(node);
    if (node->kind == AR_BINARY && node->op == AR_OP_MUL)
        return is_total(node->kids[0], total) && is_total(node->kids[1], total);
    if (node->kind == AR_SIZEOF)
        return size_operand(node) == sizeof(float);
    if (node->kind != AR_REF || *total || !node->decl ||
        !ar_is_kind(node->type, AR_TYPE_INT))
        return false;
    *total = node->decl;
    return true;
}

static bool is_text(const ar_node *node) {
    return ar_is_address(node->type) &&
           ar_is_kind(node->type->element, AR_TYPE_INT) &&
           node->type->element->bytes == 1;
}

/* Beside the total, a wrapper may be told where it is called. */
static const ar_decl *total_of(const ar_node *call) {
    const ar_decl *total = NULL;
    for (uint32_t i = 1; i < call->kid_count; i++) {
        const ar_node *argument = ar_skip_casts(call->kids[i]);
        if (argument->kind != AR_STRING_LIT && argument->kind != AR_INT_LIT &&
            (argument->kind != AR_REF || !is_text(argument)) &&
            !is_total(argument, &total))
            return NULL;
    }
    return total;
}

/* for (...) total += lengths[i]; */
static ar_node *sum_in(const finder *f, ar_node *loop, const ar_decl *total) {
    counted c = counted_loop(loop);
    ar_node *const *body = c.variable ? body_of(loop, 1) : NULL;
    ar_node *sum = body ? expression(body[0]) : NULL;
    if (!sum || sum->kind != AR_COMPOUND_ASSIGN || sum->op != AR_OP_ADD ||
        !is_name_of(sum->kids[0], total) || c.count != f->loop.count)
        return NULL;
    const ar_node *length = ar_skip_casts(sum->kids[1]);
    bool is_length = length->kind == AR_INDEX &&
                     is_name_of(length->kids[1], c.variable) &&
                     is_same(length->kids[0], f->arena.lengths);
    return is_length ? sum : NULL;
}

static bool find_sum(finder *f, const ar_decl *total, const ar_node *before) {
    ar_node *start = NULL, *zero = NULL;
    start = starts_in(f, total, &zero);
    for (uint32_t i = 0; i < f->block->kid_count && !f->arena.sum; i++) {
        ar_node *statement = f->block->kids[i];
        if (statement && statement->kind == AR_FOR) {
            f->arena.sum = sum_in(f, statement, total);
            f->arena.sum_loop = statement;
        }
    }
    if (!f->arena.sum || !is_before(f->arena.sum_loop, before))
        return problem(f, "its size is not seen to be the sum of the lengths",
                       before);
    if (!start || !is_number(zero, 0) || !is_before(start, f->arena.sum_loop))
        return problem(f, "the sum of the lengths does not start from 0",
                       f->arena.sum);
    uint32_t expected = start->kind == AR_DECL_STMT ? 2 : 3;
    if (mentions(f->function->body, total) != expected)
        return problem(f,
                       ar_sprintf(f->g->arena,
                                  "'%s' is used for more than its size",
                                  total->name),
                       f->arena.sum);
    return true;
}

/* ---- between the sum and the loop ---------------------------------------- */

/* What a system function may write by an argument; texts that a wrapper is
 * given are literals. */
static bool may_write_by(const finder *f, const ar_node *argument) {
    const ar_node *node = ar_skip_casts(argument);
    if (!ar_is_address(node->type))
        return ar_is_address(argument->type) && node->kind != AR_INT_LIT;
    if (node->kind == AR_STRING_LIT)
        return false;
    if (is_text(node) && node->kind == AR_REF && node->decl)
        return ar_is_kind(node->type, AR_TYPE_POINTER) &&
               (node->decl->kind != AR_DECL_PARAM ||
                node->decl->parent == f->function);
    const ar_type *to = node->type->element;
    return !ar_is_kind(to, AR_TYPE_RECORD) || !to->record ||
           !to->record->is_system;
}

static bool may_write(const finder *f, const ar_node *call) {
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    if (!callee || !callee->is_system)
        return true;
    for (uint32_t i = 1; i < call->kid_count; i++)
        if (may_write_by(f, call->kids[i]))
            return true;
    return false;
}

/* Something that could change the lengths. */
static const ar_node *may_change(const finder *f, const ar_node *node,
                                 const ar_node *allocation) {
    const ar_node *lvalue = NULL;
    if (!node || node->kind == AR_SIZEOF || node == f->arena.store)
        return NULL;
    if (node->kind == AR_ASSIGN || node->kind == AR_COMPOUND_ASSIGN ||
        (node->kind == AR_UNARY && node->op >= AR_OP_PRE_INC))
        lvalue = ar_skip_casts(node->kids[0]);
    bool is_pointer = lvalue && ar_is_kind(lvalue->type, AR_TYPE_POINTER) &&
                      ar_float_depth(lvalue->type) > 0;
    if (lvalue && lvalue->kind != AR_REF && !is_pointer)
        return node;
    if (lvalue && lvalue->kind == AR_REF &&
        (lvalue->decl == ar_root_decl(f->arena.lengths) ||
         ar_is_kind(lvalue->type, AR_TYPE_RECORD)))
        return node;
    if (node->kind == AR_LAUNCH || node->kind == AR_STATEMENT_EXPR ||
        node->kind == AR_UNKNOWN_EXPR || node->kind == AR_ASM)
        return node;
    if (node->kind == AR_CALL && node != allocation && may_write(f, node))
        return node;
    for (uint32_t i = 0; i < node->decl_count; i++) {
        const ar_node *found = may_change(f, node->decls[i]->init, allocation);
        if (found)
            return found;
    }
    for (uint32_t i = 0; i < node->kid_count; i++) {
        const ar_node *found = may_change(f, node->kids[i], allocation);
        if (found)
            return found;
    }
    return NULL;
}

static bool lengths_stay(finder *f, const ar_node *loop,
                         const ar_node *allocation) {
    bool is_between = false;
    for (uint32_t i = 0; i < f->block->kid_count; i++) {
        const ar_node *statement = f->block->kids[i];
        is_between |= statement == f->arena.sum_loop;
        const ar_node *change =
            is_between ? may_change(f, statement, allocation) : NULL;
        if (change)
            return problem(f, "the lengths may change before it is handed out",
                           change);
        if (statement == loop)
            break;
    }
    return true;
}

/* How often the size goes to what allocates, or tells of, so many bytes. */
static uint32_t passed_on(const ar_node *node, const ar_decl *size) {
    uint32_t count = 0;
    if (!node || node->kind == AR_SIZEOF)
        return 0;
    const ar_decl *callee =
        node->kind == AR_CALL ? ar_direct_callee(node->kids[0]) : NULL;
    bool takes_it = callee && callee->is_system &&
                    (callee->type->is_variadic ||
                     ar_is_kind(callee->type->element, AR_TYPE_POINTER));
    for (uint32_t i = 1; takes_it && i < node->kid_count; i++) {
        const ar_decl *total = NULL;
        count += is_total(node->kids[i], &total) && total == size;
    }
    for (uint32_t i = 0; i < node->decl_count; i++)
        count += passed_on(node->decls[i]->init, size);
    for (uint32_t i = 0; i < node->kid_count; i++)
        count += passed_on(node->kids[i], size);
    return count;
}

/* A wrapper is told room where it was told the length of floats. */
static bool wrapper_is_plain(finder *f, const ar_node *call) {
    const ar_decl *callee = ar_direct_callee(call->kids[0]);
    const ar_decl *body =
        callee ? ar_definition_of(f->g->program, callee) : NULL;
    if (!body)
        return true;
    const ar_node *change = may_change(f, body->body, NULL);
    if (change)
        return problem(f, "what allocates it does more than that", change);
    for (uint32_t i = 0; i < body->member_count; i++) {
        const ar_decl *size = body->members[i];
        if (ar_is_kind(size->type, AR_TYPE_INT) && i + 1 < call->kid_count &&
            ar_skip_casts(call->kids[i + 1])->kind != AR_INT_LIT &&
            mentions(body->body, size) != passed_on(body->body, size))
            return problem(f, "what allocates it uses its size otherwise, too",
                           call);
    }
    return true;
}

static bool prove(finder *f, const ar_node *loop) {
    ar_node *statement = NULL, *call = NULL;
    if (f->loop.count != f->arena.part_count)
        return problem(f, "the loop is not seen to go over all of the table",
                       loop);
    if (has_kind(f->function->body, AR_LABEL))
        return problem(f, "the function has labels", loop);
    if (!find_allocation(f, &statement, &call))
        return false;
    const ar_decl *total = total_of(call);
    if (!total || total->parent != f->function)
        return problem(f, "its size is not the sum of the lengths alone", call);
    if (mentions(f->function->body, f->cursor) != (f->cursor->init ? 2u : 3u))
        return problem(f,
                       ar_sprintf(f->g->arena,
                                  "'%s' is used for more than to hand it out",
                                  f->cursor->name),
                       f->arena.store);
    f->arena.allocation = call;
    return find_sum(f, total, statement) && lengths_stay(f, loop, call) &&
           wrapper_is_plain(f, call);
}

/* ---- all of them --------------------------------------------------------- */

static void look(ar_graph *g, ar_unit *unit, ar_decl *function,
                 ar_node *block) {
    for (uint32_t i = 0; i < block->kid_count; i++) {
        ar_node *loop = block->kids[i];
        finder f = {.g = g, .function = function, .block = block};
        if (!loop || loop->kind != AR_FOR || !hands_out(&f, loop))
            continue;
        f.arena.where = (ar_where){unit, function, loop->range};
        f.arena.problem_at = AR_NO_RANGE;
        prove(&f, loop);
        AR_PUSH(g->arena, &g->facts->arenas, f.arena);
        ar_map_put(&g->arena_of,
                   ar_entity_of(g->program, f.arena.table)->id + 1,
                   (void *)(uintptr_t)g->facts->arenas.count);
    }
}

static void visit(void *context, ar_unit *unit, ar_decl *function,
                  ar_node *node) {
    ar_graph *g = context;
    if (node->kind == AR_COMPOUND && function)
        look(g, unit, function, node);
}

void ar_arenas_find(ar_graph *g) {
    ar_program_visit(g->program, visit, g);
}

ar_storage_arena *ar_arena_of_table(ar_graph *g, const ar_decl *table) {
    if (!g->facts->arenas.count)
        return NULL;
    uintptr_t index = (uintptr_t)ar_map_get(
        &g->arena_of, ar_entity_of(g->program, table)->id + 1);
    return index ? &g->facts->arenas.data[index - 1] : NULL;
}
