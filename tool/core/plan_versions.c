/* Further versions of functions: copies of their text with the edits of a
 * round, and the calls that mean them. */
#include "core/chains.h"
#include "core/layout.h"
#include "core/plan.h"
#include "core/plan_storage.h"

/* ---- calls --------------------------------------------------------------- */

bool ar_plan_calls(ar_plan *plan, uint32_t round) {
    const ar_storage_plan *view = plan->storage;
    bool ok = true;
    for (uint32_t i = 0; i < view->facts->calls.count; i++) {
        const ar_storage_call *call = &view->facts->calls.data[i];
        const ar_decl *callee = call->callee->decl;
        if ((call->node->kind != AR_CALL) ||
            !ar_storage_has_version(view, plan->program, call->where.function,
                                    round))
            continue;
        const ar_function_version *v = ar_storage_version_called(view, call);
        if (!v || strcmp(v->name, callee->name) == 0)
            continue;
        if (!ar_place_rename(&plan->placer, call->node, v->name,
                             "half storage")) {
            ar_report(plan->diags, AR_DIAG_STORAGE_SITE, call->node->range,
                      callee->name, "the call is in text that cannot change");
            ok = false;
        }
    }
    return ok;
}

/* ---- text ---------------------------------------------------------------- */

static bool is_inside(ar_range edit, ar_range text) {
    bool insertion = edit.begin == edit.end;
    return edit.file == text.file && edit.end <= text.end &&
           (insertion ? edit.begin > text.begin && edit.end < text.end
                      : edit.begin >= text.begin);
}

/* The edits of a round by their place, a page of text a list. */
typedef struct round_edits {
    const ar_edits *edits;
    ar_chains pages;
} round_edits;

enum { PAGE = 4096 };

static round_edits sort_edits(ar_arena *arena, const ar_edits *edits) {
    round_edits r = {edits, ar_chains_new(arena, edits->list.count)};
    for (uint32_t i = edits->list.count; i-- > 0;) {
        ar_range range = edits->list.data[i].range;
        ar_chain_add(&r.pages, ar_key2(range.file, range.begin / PAGE), i);
    }
    return r;
}

static ar_edits edits_inside(ar_arena *arena, const round_edits *r,
                             ar_range range) {
    ar_edits own = {.arena = arena};
    for (uint32_t page = range.begin / PAGE; page <= range.end / PAGE; page++)
        for (uint32_t i = ar_chain(&r->pages, ar_key2(range.file, page)); i;
             i = r->pages.next[i])
            if (is_inside(r->edits->list.data[i - 1].range, range))
                AR_PUSH(arena, &own.list, r->edits->list.data[i - 1]);
    return own;
}

/* By how many bytes the line grows up to where the parameters begin. */
static int64_t growth(ar_plan *plan, const ar_edits *own, ar_range name,
                      const char *text) {
    const ar_file *file = ar_files_load(&plan->program->files, name.file);
    uint32_t line = ar_line_start(file, name.begin);
    int64_t sum = (int64_t)strlen(text) - (name.end - name.begin);
    for (uint32_t i = 0; i < own->list.count; i++) {
        ar_range range = own->list.data[i].range;
        if (range.begin >= line && range.end <= name.begin)
            sum += (int64_t)strlen(own->list.data[i].text) -
                   (range.end - range.begin);
    }
    return sum;
}

/* The declaration as the round has it, under another name. */
static const char *text_of(ar_plan *plan, const round_edits *edits,
                           const ar_decl *decl, const char *name) {
    ar_arena *arena = plan->arena;
    ar_range range = decl->range;
    ar_edits own = edits_inside(arena, edits, range);
    int64_t shift = growth(plan, &own, decl->name_range, name);
    ar_placer placer = ar_placer_new(arena, plan->program, &own);
    ar_range list = range;
    list.begin = decl->name_range.end;
    if (decl->body)
        list.end = decl->body->range.begin;
    if (shift > 0)
        ar_place_realign(&placer, list, (size_t)shift);
    ar_edit rename = {
        .range = decl->name_range, .text = name, .why = "half storage"};
    ar_edit_add(&own, rename);
    if (!ar_edits_finish(&own, &plan->program->files, plan->diags))
        return NULL;
    return ar_edits_apply_in(arena, &own, &plan->program->files, range).data;
}

static bool put_version(ar_plan *plan, const round_edits *edits,
                        const ar_function_versions *f,
                        const ar_function_version *v, const ar_decl *decl) {
    const char *text = text_of(plan, edits, decl, v->name);
    if (!text)
        return false;
    const ar_file *file =
        ar_files_load(&plan->program->files, decl->range.file);
    uint32_t at = decl->range.end;
    const char *indent = ar_indentation(plan->arena, file, decl->range.begin);
    if (decl->body) {
        text = ar_sprintf(plan->arena, "\n\n/* %s, %s */\n%s",
                          f->function->decl->name, v->about, text);
    } else {
        at = ar_skip_space(file, at) + 1; /* behind the semicolon */
        text = ar_sprintf(plan->arena, "\n%s%s;", indent, text);
    }
    ar_edit_add(plan->edits,
                (ar_edit){.range = {decl->range.file, at, at, false},
                          .text = text,
                          .why = "half storage"});
    return true;
}

static bool is_same_text(const ar_decl *a, const ar_decl *b) {
    return a->range.file == b->range.file && a->range.begin == b->range.begin;
}

bool ar_plan_version_texts(ar_plan *plan, const ar_edits *edits,
                           uint32_t round) {
    const ar_storage_versions *versions = plan->storage->versions;
    round_edits sorted = sort_edits(plan->arena, edits);
    bool ok = true;
    for (uint32_t i = 0; i < versions->functions.count; i++) {
        const ar_function_versions *f = versions->functions.data[i];
        if (round >= f->list.count)
            continue;
        for (uint32_t k = 0; k < f->function->all_count; k++) {
            const ar_decl *decl = f->function->all[k];
            bool is_known = false;
            for (uint32_t j = 0; j < k; j++)
                is_known |= is_same_text(f->function->all[j], decl);
            if (!is_known)
                ok =
                    put_version(plan, &sorted, f, &f->list.data[round], decl) &&
                    ok;
        }
    }
    return ok;
}
