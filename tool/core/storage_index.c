#include "core/layout.h"
#include "core/storage_index.h"

#include "base/map.h"
#include "core/chains.h"
#include "core/parents.h"

#include <string.h>

struct ar_storage_index {
    ar_arena *arena;
    ar_program *program;
    const ar_storage_facts *facts;
    const ar_ops *ops;
    ar_parents *parents;
    ar_chains sites, calls, op_sites; /* by node */
    ar_chains calls_of;               /* by callee */
    ar_chains typedefs;               /* entities, by that of their struct */
    ar_chains copies;                 /* flows, by the place of the call */
    ar_table units;                   /* unit -> 1 + its position */
    ar_strmap *measured;              /* by unit */
    ar_table tokens;                  /* (unit, place) -> ar_token_decls */
    bool *is_value;                   /* by entity */
    ar_mention **first, **last;       /* by entity */
    const ar_typeof *typeofs;
    const ar_node *callee; /* of the call in hand, while is_value is filled */
};

static void index_sites(ar_storage_index *index) {
    const ar_storage_facts *facts = index->facts;
    index->sites = ar_chains_new(index->arena, facts->sites.count);
    for (uint32_t i = facts->sites.count; i-- > 0;)
        if (facts->sites.data[i].node)
            ar_chain_add(&index->sites, ar_key(facts->sites.data[i].node), i);
    index->calls = ar_chains_new(index->arena, facts->calls.count);
    index->calls_of = ar_chains_new(index->arena, facts->calls.count);
    for (uint32_t i = facts->calls.count; i-- > 0;) {
        ar_chain_add(&index->calls, ar_key(facts->calls.data[i].node), i);
        ar_chain_add(&index->calls_of, facts->calls.data[i].callee->id, i);
    }
}

static void index_ops(ar_storage_index *index) {
    index->op_sites = ar_chains_new(index->arena, index->ops->list.count);
    for (uint32_t i = index->ops->list.count; i-- > 0;)
        ar_chain_add(&index->op_sites, ar_key(index->ops->list.data[i].node),
                     i);
}

static uint64_t place_key(ar_range range) {
    return ar_key2(range.file, range.begin);
}

static void index_copies(ar_storage_index *index) {
    const ar_storage_facts *facts = index->facts;
    index->copies = ar_chains_new(index->arena, facts->flows.count);
    for (uint32_t i = facts->flows.count; i-- > 0;)
        if (facts->flows.data[i].kind == AR_FLOW_BYTES)
            ar_chain_add(&index->copies,
                         place_key(facts->flows.data[i].where.range), i);
}

/* ---- sizeof in declarators ----------------------------------------------- */

/* What the tree does not have of a declarator: its bounds, or a value. */
static const char *bounds_of(const ar_storage_index *index,
                             const ar_decl *decl) {
    bool has_bounds = decl->kind == AR_DECL_ENUMERATOR ||
                      (decl->kind != AR_DECL_FUNCTION &&
                       ar_is_kind(decl->type, AR_TYPE_ARRAY));
    if (!has_bounds || decl->is_system || decl->range.in_macro_body ||
        decl->range.file == AR_NO_FILE)
        return "";
    ar_range range = decl->range;
    range.begin = decl->name_range.end;
    if (decl->init && decl->init->range.begin > range.begin &&
        decl->init->range.begin < range.end)
        range.end = decl->init->range.begin;
    if (decl->name_range.file != range.file || range.begin >= range.end)
        return "";
    return ar_text(index->arena, &index->program->files, range);
}

static void index_measured(ar_storage_index *index, const ar_unit *unit,
                           ar_strmap *words) {
    words->arena = index->arena;
    for (uint32_t i = 0; i < unit->decls.count; i++) {
        const char *text = bounds_of(index, unit->decls.data[i]);
        if (!strstr(text, "sizeof"))
            continue;
        while (*text) {
            size_t length = 0;
            while (ar_is_word(text[length]))
                length++;
            if (length)
                ar_strmap_put(words, ar_strndup(index->arena, text, length),
                              words);
            text += length ? length : 1;
        }
    }
}

bool ar_storage_is_measured(const ar_storage_index *index, const ar_unit *unit,
                            const char *name) {
    uint64_t position = ar_table_get(&index->units, ar_key(unit), 0);
    return position && ar_strmap_get(&index->measured[position - 1], name);
}

/* ---- declarations -------------------------------------------------------- */

static void index_typedefs(ar_storage_index *index) {
    const ar_program *program = index->program;
    index->typedefs = ar_chains_new(index->arena, program->entities.count);
    for (uint32_t i = program->entities.count; i-- > 0;) {
        const ar_decl *decl = program->entities.data[i].decl;
        if (decl->kind == AR_DECL_TYPEDEF && !decl->is_system &&
            ar_is_kind(decl->aliased, AR_TYPE_RECORD))
            ar_chain_add(&index->typedefs, decl->aliased->record->id, i);
    }
}

uint32_t ar_storage_typedef_of(const ar_storage_index *index,
                               const ar_entity *record) {
    return ar_chain(&index->typedefs, record->id);
}

uint32_t ar_storage_typedef_after(const ar_storage_index *index,
                                  uint32_t name) {
    return index->typedefs.next[name];
}

static uint64_t token_key(ar_range token) {
    return ar_key2(token.file, token.begin);
}

/* Another word for float than `float` that has brackets is a typeof. */
static void note_typeof(ar_storage_index *index, ar_range token,
                        bool is_alias) {
    if (!is_alias || token.file == AR_NO_FILE)
        return;
    const char *text = ar_text(index->arena, &index->program->files, token);
    const char *operand = strchr(text, '(');
    if (!operand)
        return;
    ar_typeof *one = AR_NEW(index->arena, ar_typeof);
    *one = (ar_typeof){operand, index->typeofs};
    index->typeofs = one;
}

static void index_token(ar_storage_index *index, const ar_unit *unit,
                        const ar_decl *decl, ar_range token) {
    if (token.file == AR_NO_FILE)
        return;
    ar_token_decls *one = AR_NEW(index->arena, ar_token_decls);
    one->decl = decl;
    one->next = ar_storage_declared_with(index, unit, token);
    ar_table_put(&index->tokens, ar_key(unit), token_key(token), ar_key(one));
}

static void index_tokens(ar_storage_index *index, const ar_unit *unit) {
    for (uint32_t i = unit->decls.count; i-- > 0;) {
        const ar_decl *decl = unit->decls.data[i];
        if (decl->kind == AR_DECL_TYPEDEF)
            continue;
        note_typeof(index, decl->float_token, decl->float_is_alias);
        index_token(index, unit, decl, decl->float_token);
        index_token(index, unit, decl, decl->record_token);
    }
}

static void add_mention(ar_storage_index *index, const ar_decl *named,
                        ar_mention mention) {
    uint32_t id = ar_entity_of(index->program, named)->id;
    ar_mention *one = AR_NEW(index->arena, ar_mention);
    *one = mention;
    if (index->last[id])
        index->last[id]->next = one;
    else
        index->first[id] = one;
    index->last[id] = one;
}

static const ar_decl *named_by(const ar_node *node) {
    if (node->kind == AR_CALL)
        return ar_direct_callee(node->kids[0]);
    bool is_name = node->kind == AR_REF || node->kind == AR_MEMBER;
    return is_name && node->decl && node->decl->kind != AR_DECL_FUNCTION
               ? node->decl
               : NULL;
}

/* A node is visited before its kids, so a callee follows its call. */
static void note_name(void *context, ar_unit *unit, ar_decl *function,
                      ar_node *node) {
    ar_storage_index *index = context;
    note_typeof(index, node->float_token, node->float_is_alias);
    const ar_decl *named = named_by(node);
    if (named)
        add_mention(index, named, (ar_mention){unit, function, node, NULL});
    if (node->kind == AR_CALL || node->kind == AR_LAUNCH)
        index->callee = ar_skip_casts(node->kids[0]);
    if (node->kind == AR_REF && node != index->callee && node->decl &&
        node->decl->kind == AR_DECL_FUNCTION)
        index->is_value[ar_entity_of(index->program, node->decl)->id] = true;
}

ar_storage_index *ar_storage_index_make(ar_arena *arena, ar_program *program,
                                        const ar_storage_facts *facts,
                                        const ar_ops *ops) {
    ar_storage_index *index = AR_NEW(arena, ar_storage_index);
    index->arena = index->tokens.arena = index->units.arena = arena;
    index->program = program;
    index->facts = facts;
    index->ops = ops;
    index->parents = AR_NEW(arena, ar_parents);
    *index->parents = ar_parents_new(arena);
    index_typedefs(index);
    index_sites(index);
    index_ops(index);
    index_copies(index);
    index->measured = AR_NEW_ARRAY(arena, ar_strmap, program->unit_count + 1);
    for (uint32_t u = 0; u < program->unit_count; u++) {
        ar_table_put(&index->units, ar_key(program->units[u]), 0, u + 1);
        index_measured(index, program->units[u], &index->measured[u]);
        index_tokens(index, program->units[u]);
    }
    index->is_value = AR_NEW_ARRAY(arena, bool, program->entities.count + 1u);
    uint32_t entities = program->entities.count + 1u;
    index->first = AR_NEW_ARRAY(arena, ar_mention *, entities);
    index->last = AR_NEW_ARRAY(arena, ar_mention *, entities);
    ar_program_visit(program, note_name, index);
    return index;
}

ar_node *ar_storage_parent(const ar_storage_index *index, const ar_unit *unit,
                           const ar_node *node) {
    return ar_parent_of(index->parents, unit, node);
}

uint32_t ar_storage_site_at(const ar_storage_index *index,
                            const ar_node *node) {
    return ar_chain(&index->sites, ar_key(node));
}

uint32_t ar_storage_site_after(const ar_storage_index *index, uint32_t site) {
    return index->sites.next[site];
}

const ar_storage_call *ar_storage_call_at(const ar_storage_index *index,
                                          const ar_node *node) {
    uint32_t call = ar_chain(&index->calls, ar_key(node));
    return call ? &index->facts->calls.data[call - 1] : NULL;
}

uint32_t ar_storage_call_of(const ar_storage_index *index,
                            const ar_entity *callee) {
    return ar_chain(&index->calls_of, callee->id);
}

uint32_t ar_storage_call_after(const ar_storage_index *index, uint32_t call) {
    return index->calls_of.next[call];
}

const ar_op_site *ar_storage_op_at(const ar_storage_index *index,
                                   const ar_node *call) {
    uint32_t op = ar_chain(&index->op_sites, ar_key(call));
    return op ? &index->ops->list.data[op - 1] : NULL;
}

const ar_flow *ar_storage_copy_at(const ar_storage_index *index,
                                  const ar_unit *unit, const ar_node *call) {
    for (uint32_t i = ar_chain(&index->copies, place_key(call->range)); i;
         i = index->copies.next[i]) {
        const ar_flow *flow = &index->facts->flows.data[i - 1];
        if (flow->where.unit == unit &&
            flow->where.range.end == call->range.end)
            return flow;
    }
    return NULL;
}

const ar_token_decls *ar_storage_declared_with(const ar_storage_index *index,
                                               const ar_unit *unit,
                                               ar_range token) {
    return (const ar_token_decls *)(uintptr_t)ar_table_get(
        &index->tokens, ar_key(unit), token_key(token));
}

const ar_typeof *ar_storage_typeofs(const ar_storage_index *index) {
    return index->typeofs;
}

const ar_mention *ar_storage_mentions(const ar_storage_index *index,
                                      const ar_entity *entity) {
    return index->first[entity->id];
}

bool ar_storage_is_function_value(const ar_storage_index *index,
                                  const ar_entity *function) {
    return index->is_value[function->id];
}

void ar_storage_mark_memory(const ar_storage_facts *facts, uint32_t id,
                            bool *marks) {
    const ar_storage_class *c = &facts->classes.data[id];
    marks[id] = true;
    for (uint32_t i = 0; i < c->concrete_count; i++)
        marks[c->concrete[i]] = true;
    for (uint32_t i = 0; i < facts->classes.count; i++) {
        const ar_storage_class *generic = &facts->classes.data[i];
        for (uint32_t k = 0; k < generic->concrete_count; k++)
            marks[i] |= marks[generic->concrete[k]];
    }
}

static bool is_untyped_slot(const ar_slot *slot) {
    const ar_decl *decl = slot->entity->decl;
    const ar_type *type =
        decl->kind == AR_DECL_FUNCTION ? decl->type->element : decl->type;
    return ar_float_depth(type) < 0;
}

/* Clearing is part of allocating only. */
bool ar_storage_is_untyped(const ar_storage_facts *facts, uint32_t id) {
    const ar_storage_class *c = &facts->classes.data[id];
    const uint32_t *sites = c->site_counts;
    if (!c->generic_of ||
        sites[AR_SITE_ALLOCATION] + sites[AR_SITE_CLEAR] < c->site_count ||
        (sites[AR_SITE_CLEAR] && !sites[AR_SITE_ALLOCATION]))
        return false;
    for (uint32_t i = 0; i < c->slot_count; i++)
        if (!is_untyped_slot(&facts->slots.data[c->slots[i]]))
            return false;
    return true;
}
