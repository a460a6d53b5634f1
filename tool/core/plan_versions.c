/* Further versions of functions: copies of their text with the edits of a
 * round, and the calls that mean them. */
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

/* The declaration as the round has it, under another name. */
static const char *text_of(ar_plan *plan, const ar_edits *edits,
                           const ar_decl *decl, const char *name) {
    ar_arena *arena = plan->arena;
    ar_range range = decl->range;
    ar_edits own = {.arena = arena};
    for (uint32_t i = 0; i < edits->list.count; i++)
        if (is_inside(edits->list.data[i].range, range))
            AR_PUSH(arena, &own.list, edits->list.data[i]);
    ar_edit rename = {
        .range = decl->name_range, .text = name, .why = "half storage"};
    ar_edit_add(&own, rename);
    if (!ar_edits_finish(&own, &plan->program->files, plan->diags))
        return NULL;
    const ar_file *file = ar_files_load(&plan->program->files, range.file);
    ar_bytes all =
        ar_edits_apply(arena, &own, &plan->program->files, range.file);
    size_t behind = file->size - range.end;
    return ar_strndup(arena, all.data + range.begin,
                      all.size - behind - range.begin);
}

static bool put_version(ar_plan *plan, const ar_edits *edits,
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
                ok = put_version(plan, edits, f, &f->list.data[round], decl) &&
                     ok;
        }
    }
    return ok;
}
