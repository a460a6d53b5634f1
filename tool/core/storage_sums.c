/* Which sums in memory have a scratch: what else the loop touches, and what
 * stands around it in the text. */
#include "core/storage_sums.h"

#include "core/chains.h"
#include "core/layout.h"
#include "core/storage_solver.h"

#include <ctype.h>
#include <stdlib.h>

typedef struct finder {
    ar_arena *arena;
    ar_program *program;
    const ar_storage_facts *facts;
    const ar_storage_index *index;
    const ar_scale *scale; /* or NULL */
    ar_storage_sums *sums;
    uint32_t *sharing; /* by class: a set of `sharing` */
    ar_table *asked;   /* pairs of classes that one search was at */
    ar_chains sites;   /* by function */
    ar_strmap *names;  /* of the program, when first asked for */
} finder;

/* ---- may two classes be one memory? -------------------------------------- */

static bool do_meet(const finder *f, uint32_t a, uint32_t b);

/* Both are generic in the function: each call says what they are. What leads
 * to the same callers again says nothing new. */
static bool meet_at_calls(const finder *f, uint32_t a, uint32_t b) {
    if (!ar_table_add(f->asked, a + UINT64_C(1), b + UINT64_C(1)))
        return false;
    const ar_entity *function =
        ar_entity_of(f->program, f->facts->classes.data[a].generic_of);
    for (uint32_t i = ar_storage_call_of(f->index, function); i;
         i = ar_storage_call_after(f->index, i)) {
        const ar_storage_call *call = &f->facts->calls.data[i - 1];
        uint32_t for_a = ar_storage_actual(call, a);
        uint32_t for_b = ar_storage_actual(call, b);
        if (for_a != AR_NO_ID && for_b != AR_NO_ID && do_meet(f, for_a, for_b))
            return true;
    }
    return false;
}

/* What classes may share their memory with others. */
typedef enum sharing {
    SHARES_NONE = 0,
    SHARES_WHOLE = 1,   /* an arena, */
    SHARES_PART = 2,    /* in which this lies */
    SHARES_SCRATCH = 4, /* uses of one field that are kept apart */
} sharing;

static uint32_t sharing_of(const finder *f, const ar_storage_class *c) {
    uint32_t set = f->sharing[c->id];
    for (uint32_t i = 0; i < c->concrete_count; i++)
        set |= f->sharing[c->concrete[i]];
    return set;
}

static bool may_share(uint32_t x, uint32_t y) {
    return x & y & (SHARES_SCRATCH | SHARES_WHOLE) ||
           (x & SHARES_WHOLE && y & SHARES_PART) ||
           (x & SHARES_PART && y & SHARES_WHOLE);
}

static bool stands_for(const ar_storage_class *c, uint32_t id) {
    for (uint32_t i = 0; i < c->concrete_count; i++)
        if (c->concrete[i] == id)
            return true;
    return false;
}

static bool do_meet(const finder *f, uint32_t a, uint32_t b) {
    const ar_storage_class *x = &f->facts->classes.data[a];
    const ar_storage_class *y = &f->facts->classes.data[b];
    if (a == b || may_share(sharing_of(f, x), sharing_of(f, y)))
        return true;
    if (x->generic_of && x->generic_of == y->generic_of)
        return meet_at_calls(f, a, b);
    if (x->generic_of && y->generic_of) {
        for (uint32_t i = 0; i < y->concrete_count; i++)
            if (stands_for(x, y->concrete[i]))
                return true;
        return false;
    }
    return stands_for(x, b) || stands_for(y, a);
}

static bool may_meet(const finder *f, uint32_t a, uint32_t b) {
    if (f->asked->count)
        ar_table_clear(f->asked);
    return do_meet(f, a, b);
}

/* ---- the sites in the loop ----------------------------------------------- */

static bool is_of(const ar_site *site, uint32_t class_id) {
    for (uint32_t i = 0; i < site->class_count; i++)
        if (site->classes[i] == class_id)
            return true;
    return false;
}

static const ar_node *lvalue_of(const ar_site *site) {
    return site->kind == AR_SITE_LOAD ? site->node : site->node->kids[0];
}

/* Does the site only name the memory, or its type? */
static bool is_mention(ar_site_kind kind) {
    return kind == AR_SITE_DECLARATION || kind == AR_SITE_CAST ||
           kind == AR_SITE_SIZEOF || kind == AR_SITE_LITERAL ||
           kind == AR_SITE_RECORD || kind == AR_SITE_VARARGS_VALUE;
}

static const char *site_problem(const finder *f, ar_sum_search *in,
                                const ar_site *site, uint32_t class_id) {
    bool is_access = site->kind == AR_SITE_LOAD ||
                     site->kind == AR_SITE_STORE ||
                     site->kind == AR_SITE_COMPOUND_STORE;
    if (is_of(site, class_id)) {
        if (is_access) {
            uint64_t key = ar_key(lvalue_of(site));
            bool stores = site->kind != AR_SITE_LOAD ||
                          ar_table_get(&in->wanted, key, 0) == 2;
            ar_table_put(&in->wanted, key, 0, stores ? 2 : 1);
        }
        return is_access || is_mention(site->kind)
                   ? NULL
                   : "the loop uses the memory as a whole, or its address";
    }
    for (uint32_t i = 0; i < site->class_count && !is_mention(site->kind); i++)
        if (may_meet(f, class_id, site->classes[i]))
            return ar_sprintf(
                f->arena, "the loop uses '%s', which may be the same memory",
                f->facts->classes.data[site->classes[i]].name);
    return NULL;
}

static bool read_sites(const finder *f, ar_sum_search *in, uint32_t class_id,
                       ar_sum_problem *problem) {
    for (uint32_t i = ar_chain(&f->sites, ar_key(in->where.function)); i;
         i = f->sites.next[i]) {
        const ar_site *site = &f->facts->sites.data[i - 1];
        if (!site->node || !ar_range_holds(in->loop->range, site->where.range))
            continue;
        const char *why = site_problem(f, in, site, class_id);
        if (why) {
            *problem = (ar_sum_problem){why, site->where.range};
            return false;
        }
    }
    return true;
}

/* ---- the text around the loop -------------------------------------------- */

/* collapse(n), or 1. */
static uint64_t collapsed(const char *pragma) {
    const char *at = strstr(pragma, "collapse");
    if (!at)
        return 1;
    at += strlen("collapse");
    at += strspn(at, " (");
    return isdigit((unsigned char)*at) ? strtoull(at, NULL, 10) : UINT64_MAX;
}

/* How many loops, one the whole of the other, lead from this one to that. */
static uint64_t loops_to(const ar_node *from, const ar_node *to) {
    uint64_t depth = 0;
    while (from && from != to) {
        if (from->kind == AR_FOR) {
            depth++;
            from = from->kids[3];
        } else if (from->kind == AR_COMPOUND && from->kid_count) {
            const ar_node *next = NULL;
            for (uint32_t i = 0; i < from->kid_count && !next; i++)
                if (ar_range_holds(from->kids[i]->range, to->range))
                    next = from->kids[i];
            from = next;
        } else {
            return UINT64_MAX;
        }
    }
    return from ? depth : UINT64_MAX;
}

static bool is_plain_simd(const char *pragma) {
    return strncmp(pragma, "simd", 4) == 0 && !strchr(pragma, '(');
}

static const char *pragma_problem(const ar_sum_search *in,
                                  const ar_pragma *pragma) {
    const ar_node *next = pragma->next_stmt;
    if (pragma->kind != AR_PRAGMA_OMP)
        return NULL;
    if (ar_range_holds(in->loop->range, pragma->range))
        return is_plain_simd(pragma->text)
                   ? NULL
                   : "a pragma of OpenMP is in the loop";
    if (next == in->loop)
        return "a pragma of OpenMP stands before the loop";
    bool is_around = next && ar_range_holds(next->range, in->loop->range);
    if (is_around && collapsed(pragma->text) > 1 &&
        loops_to(next, in->loop) < collapsed(pragma->text))
        return "a pragma of OpenMP takes the loop together with another";
    return NULL;
}

/* Text of the loop that is repeated in front of it may mean something else. */
static bool holds_directive(const finder *f, ar_range range) {
    const ar_file *file = ar_files_load(&f->program->files, range.file);
    for (uint32_t at = ar_next_line(file, range.begin); at < range.end;
         at = ar_next_line(file, at)) {
        uint32_t sign = ar_skip_space(file, at);
        if (sign >= range.end || file->bytes[sign] != '#')
            continue;
        uint32_t word = ar_skip_space(file, sign + 1);
        if (strchr("iedu", file->bytes[word])) /* if, else, define, undef */
            return true;
    }
    return false;
}

/* The scale of the loss that is multiplied into memory in place. */
static const char *seed_problem(const finder *f, const ar_node *loop,
                                ar_range *at) {
    for (uint32_t g = 0; f->scale && g < f->scale->group_count; g++)
        for (uint32_t i = 0; i < f->scale->groups[g].seed_count; i++) {
            const ar_seed *seed = &f->scale->groups[g].seeds[i];
            *at = seed->node->range;
            if (seed->form != AR_SEED_EXPRESSION &&
                ar_range_holds(loop->range, seed->node->range))
                return "the loss scale is multiplied into memory in the loop";
        }
    return NULL;
}

static const char *place_problem(const finder *f, const ar_sum_search *in,
                                 ar_range *at) {
    const ar_node *loop = in->loop;
    *at = loop->range;
    if (loop->range.file == AR_NO_FILE || loop->range.in_macro_body)
        return "the loop comes from a macro body";
    if (!f->program->editable[loop->range.file])
        return "the loop is in a file that may not change";
    if (holds_directive(f, loop->range))
        return "an #if or #define is in the loop";
    const ar_node *parent = in->parent;
    if (!parent || parent->kind == AR_LABEL || parent->kind == AR_CASE ||
        parent->kind == AR_DEFAULT)
        return "a label stands before the loop";
    const ar_unit *unit = in->where.unit;
    for (uint32_t i = 0; i < unit->pragmas.count; i++) {
        const char *why = pragma_problem(in, &unit->pragmas.data[i]);
        *at = unit->pragmas.data[i].range;
        if (why)
            return why;
    }
    return seed_problem(f, loop, at);
}

/* ---- one sum ------------------------------------------------------------- */

static bool is_taken(const finder *f, const ar_decl *function,
                     const char *name) {
    for (uint32_t i = 0; i < f->sums->list.count; i++)
        if (f->sums->list.data[i]->where.function == function &&
            strcmp(f->sums->list.data[i]->name, name) == 0)
            return true;
    if (!f->names->arena) {
        f->names->arena = f->arena;
        ar_add_names(f->program, f->names);
    }
    return ar_strmap_get(f->names, name) != NULL;
}

static const char *free_name(const finder *f, const ar_decl *function,
                             const ar_node *lvalue) {
    const ar_decl *decl = ar_root_decl(lvalue);
    const char *base = decl && decl->name[0]
                           ? ar_sprintf(f->arena, "%s_sum", decl->name)
                           : "row_sum";
    const char *name = base;
    for (int i = 2; is_taken(f, function, name); i++)
        name = ar_sprintf(f->arena, "%s%d", base, i);
    return name;
}

/* How many of the sum's loops, from the inside, the training loop repeats. */
static uint32_t loops_in_step(const finder *f, const ar_accumulator *sum) {
    const ar_node *training = f->scale ? f->scale->loop : NULL;
    uint32_t count = sum->loop_count;
    while (count && training &&
           ar_range_holds(sum->loops[count - 1]->range, training->range))
        count--;
    return count;
}

static ar_sum_scratch *find_at(const finder *f, const ar_accumulator *sum,
                               ar_node *loop, ar_sum_problem *problem) {
    ar_sum_search in = {.arena = f->arena,
                        .program = f->program,
                        .where = sum->where,
                        .loop = loop,
                        .parent =
                            ar_storage_parent(f->index, sum->where.unit, loop),
                        .wanted = {.arena = f->arena}};
    in.where.range = loop->range;
    problem->why = place_problem(f, &in, &problem->at);
    if (problem->why || !read_sites(f, &in, sum->class_id, problem))
        return NULL;
    ar_sum_scratch *s = ar_sum_shape(&in, sum->node->kids[0], problem);
    if (!s)
        return NULL;
    s->where = in.where;
    s->loop = loop;
    s->class_id = sum->class_id;
    s->name = free_name(f, in.where.function, sum->node->kids[0]);
    for (uint32_t i = 0; i < s->accesses.count; i++) {
        ar_sum_access *one = &s->accesses.data[i];
        one->text = one->text
                        ? ar_sprintf(f->arena, "%s[%s]", s->name, one->text)
                        : s->name;
    }
    return s;
}

/* Around the outermost loop, or around one that a start of the sum stands in
 * front of: the loops outside do not repeat it then. */
static ar_sum_scratch *find(const finder *f, const ar_accumulator *sum,
                            ar_sum_problem *problem) {
    uint32_t count = loops_in_step(f, sum);
    for (uint32_t i = count; i-- > 0;) {
        ar_sum_problem other;
        ar_sum_scratch *s =
            find_at(f, sum, sum->loops[i], i + 1 == count ? problem : &other);
        if (s && (i + 1 == count || s->starts))
            return s;
    }
    return NULL;
}

/* The scratch of another sum, which this one is an access of. */
static bool is_shared(const finder *f, const ar_accumulator *sum,
                      const ar_sum_scratch *s) {
    uint32_t count = loops_in_step(f, sum);
    for (uint32_t i = 0; i < count; i++)
        if (sum->loops[i] == s->loop)
            return i + 1 == count || s->starts;
    return false;
}

static void find_scratch(finder *f, uint32_t i) {
    const ar_accumulator *sum = &f->facts->accumulators.data[i];
    ar_storage_sums *sums = f->sums;
    if (sum->kind != AR_ACCUMULATE_INVARIANT || !sum->where.function ||
        sum->where.unit->language != AR_LANG_C || !loops_in_step(f, sum))
        return;
    ar_sum_scratch *s = ar_map_get(&sums->at, ar_key(sum->node->kids[0]));
    if (s && is_shared(f, sum, s)) {
        sums->of[i] = s;
        return;
    }
    s = s ? NULL : find(f, sum, &sums->problems[i]);
    for (uint32_t k = 0; s && k < s->accesses.count; k++)
        if (ar_map_get(&sums->at, ar_key(s->accesses.data[k].lvalue)))
            s = NULL;
    if (!s) {
        if (!sums->problems[i].why)
            sums->problems[i] = (ar_sum_problem){
                "sums of several loops are one in the other", sum->where.range};
        return;
    }
    for (uint32_t k = 0; k < s->accesses.count; k++)
        ar_map_put(&sums->at, ar_key(s->accesses.data[k].lvalue), s);
    AR_PUSH(f->arena, &sums->list, s);
    sums->of[i] = s;
}

static void find_sharing(finder *f) {
    const ar_storage_facts *facts = f->facts;
    f->sharing = AR_NEW_ARRAY(f->arena, uint32_t, facts->classes.count + 1u);
    for (uint32_t i = 0; i < facts->classes.count; i++)
        if (facts->classes.data[i].is_scratch)
            f->sharing[i] |= SHARES_SCRATCH;
    for (uint32_t i = 0; i < facts->arenas.count; i++) {
        const ar_storage_arena *arena = &facts->arenas.data[i];
        f->sharing[arena->whole] |= SHARES_WHOLE;
        for (uint32_t k = 0; k < arena->part_count; k++)
            f->sharing[arena->parts[k].class_id] |= SHARES_PART;
    }
}

ar_storage_sums *ar_storage_find_sums(ar_arena *arena, ar_program *program,
                                      const ar_storage_facts *facts,
                                      const ar_storage_index *index,
                                      const ar_scale *scale) {
    uint32_t count = facts->accumulators.count;
    finder f = {.arena = arena,
                .program = program,
                .facts = facts,
                .index = index,
                .scale = scale,
                .sums = AR_NEW(arena, ar_storage_sums),
                .asked = AR_NEW(arena, ar_table),
                .sites = ar_chains_new(arena, facts->sites.count),
                .names = AR_NEW(arena, ar_strmap)};
    f.asked->arena = arena;
    f.sums->at.arena = arena;
    f.sums->of = AR_NEW_ARRAY(arena, ar_sum_scratch *, count + 1u);
    f.sums->problems = AR_NEW_ARRAY(arena, ar_sum_problem, count + 1u);
    find_sharing(&f);
    for (uint32_t i = facts->sites.count; i-- > 0;)
        if (facts->sites.data[i].where.function)
            ar_chain_add(&f.sites, ar_key(facts->sites.data[i].where.function),
                         i);
    for (uint32_t i = 0; i < count; i++)
        find_scratch(&f, i);
    return f.sums;
}
