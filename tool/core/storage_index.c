#include "core/storage_index.h"

#include "base/map.h"
#include "core/chains.h"

#include <string.h>

struct ar_storage_index {
    ar_arena *arena;
    ar_program *program;
    const ar_storage_facts *facts;
    ar_chains sites, calls; /* by node */
    ar_table tokens;        /* (unit, place) -> ar_token_decls */
    bool *is_value;         /* by entity */
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
    for (uint32_t i = facts->calls.count; i-- > 0;)
        ar_chain_add(&index->calls, ar_key(facts->calls.data[i].node), i);
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

static void index_tokens(ar_storage_index *index, const ar_unit *unit) {
    for (uint32_t i = unit->decls.count; i-- > 0;) {
        const ar_decl *decl = unit->decls.data[i];
        if (decl->kind == AR_DECL_TYPEDEF ||
            decl->float_token.file == AR_NO_FILE)
            continue;
        note_typeof(index, decl->float_token, decl->float_is_alias);
        ar_token_decls *one = AR_NEW(index->arena, ar_token_decls);
        one->decl = decl;
        one->next = ar_storage_declared_with(index, unit, decl->float_token);
        ar_table_put(&index->tokens, ar_key(unit), token_key(decl->float_token),
                     ar_key(one));
    }
}

/* A node is visited before its kids, so a callee follows its call. */
static void note_value(void *context, ar_unit *unit, ar_decl *function,
                       ar_node *node) {
    (void)unit, (void)function;
    ar_storage_index *index = context;
    note_typeof(index, node->float_token, node->float_is_alias);
    if (node->kind == AR_CALL || node->kind == AR_LAUNCH)
        index->callee = ar_skip_casts(node->kids[0]);
    if (node->kind == AR_REF && node != index->callee && node->decl &&
        node->decl->kind == AR_DECL_FUNCTION)
        index->is_value[ar_entity_of(index->program, node->decl)->id] = true;
}

ar_storage_index *ar_storage_index_make(ar_arena *arena, ar_program *program,
                                        const ar_storage_facts *facts) {
    ar_storage_index *index = AR_NEW(arena, ar_storage_index);
    index->arena = index->tokens.arena = arena;
    index->program = program;
    index->facts = facts;
    index_sites(index);
    for (uint32_t u = 0; u < program->unit_count; u++)
        index_tokens(index, program->units[u]);
    index->is_value = AR_NEW_ARRAY(arena, bool, program->entities.count + 1u);
    ar_program_visit(program, note_value, index);
    return index;
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

const ar_token_decls *ar_storage_declared_with(const ar_storage_index *index,
                                               const ar_unit *unit,
                                               ar_range float_token) {
    return (const ar_token_decls *)(uintptr_t)ar_table_get(
        &index->tokens, ar_key(unit), token_key(float_token));
}

const ar_typeof *ar_storage_typeofs(const ar_storage_index *index) {
    return index->typeofs;
}

bool ar_storage_is_function_value(const ar_storage_index *index,
                                  const ar_entity *function) {
    return index->is_value[function->id];
}
