#include "front/internal.h"
#include "front/shims.h"
#include "front/toolchain.h"

#include <stdlib.h>

static bool is_preprocessing(CXCursor cursor) {
    return clang_isPreprocessing(clang_getCursorKind(cursor)) != 0;
}

static enum CXChildVisitResult
visit_preprocessing(CXCursor cursor, CXCursor parent, CXClientData data) {
    (void)parent;
    if (!is_preprocessing(cursor))
        return CXChildVisit_Break; /* declarations come after them */
    ar_collect_preprocessing(data, cursor);
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_top(CXCursor cursor, CXCursor parent,
                                         CXClientData data) {
    (void)parent;
    if (is_preprocessing(cursor))
        return CXChildVisit_Continue;
    ar_collect_top(data, cursor);
    return CXChildVisit_Continue;
}

/* Generated files say so with #line: the presumed place differs. Editing them
 * would be lost at the next build. */
static bool is_generated(ar_collector *c) {
    const ar_file *file = &c->unit->files.list.data[c->unit->main_file];
    ar_tokens *tokens = ar_tokens_of(c, c->unit->main_file);
    for (uint32_t i = 0; tokens && i + 2 < tokens->list.count; i++) {
        if (!tokens->list.data[i].is_hash)
            continue;
        uint32_t name = i + 2;
        if (ar_token_is(tokens, i + 1, "line"))
            name++;
        else if (tokens->list.data[i + 1].kind != AR_TOKEN_NUMBER)
            continue;
        if (name >= tokens->list.count ||
            tokens->list.data[name].kind != AR_TOKEN_STRING)
            continue;
        ar_token token = tokens->list.data[name];
        ar_range range = {c->unit->main_file, tokens->list.data[i].begin,
                          token.end, false};
        const char *source =
            ar_strndup(c->arena, tokens->bytes + token.begin + 1,
                       token.end - token.begin - 2);
        ar_report(&c->unit->diags, AR_DIAG_GENERATED_SOURCE, range, file->name,
                  source);
        return true;
    }
    return false;
}

static void collect_all(ar_collector *c) {
    CXCursor top = clang_getTranslationUnitCursor(c->tu);
    c->unit->parsed = ar_collect_errors(c);
    if (!c->unit->parsed)
        return;
    c->unit->is_generated = is_generated(c);
    clang_visitChildren(top, visit_preprocessing, c);
    ar_finish_macro_uses(c);
    clang_visitChildren(top, visit_top, c);
    ar_finish_preprocessing(c);
}

static ar_unit *new_unit(ar_arena *arena, const ar_job *job) {
    ar_unit *unit = AR_NEW(arena, ar_unit);
    unit->arena = arena;
    unit->main_name = ar_strdup(arena, job->main_name);
    unit->language = job->language;
    unit->directory = ar_strdup(arena, job->directory);
    unit->files.arena = arena;
    unit->diags.arena = arena;
    unit->main_file = AR_NO_FILE;
    return unit;
}

/* The parser says no more when the flags contradict each other, or the file. */
static void parse_failed(ar_unit *unit) {
    ar_report(&unit->diags, AR_DIAG_PARSE_ERROR, AR_NO_RANGE,
              ar_sprintf(unit->arena,
                         "'%s' cannot be parsed with its compile flags; clang "
                         "with the same flags and -fsyntax-only may say why",
                         unit->main_name));
}

/* The main file must be known even when nothing could be parsed. */
static bool add_main_file(ar_unit *unit, const ar_job *job) {
    char *real = realpath(job->main_name, NULL);
    if (!real)
        return false;
    unit->main_file = ar_files_add(&unit->files, job->main_name, real, false);
    free(real);
    return true;
}

ar_unit *ar_collect(ar_arena *arena, const ar_job *job) {
    ar_unit *unit = new_unit(arena, job);
    if (!add_main_file(unit, job)) {
        ar_report(&unit->diags, AR_DIAG_CANNOT_READ, AR_NO_RANGE,
                  job->main_name, "no such file");
        return unit;
    }
    /* The parser must run on this thread's big stack, and its crash must end
     * the worker rather than be swallowed half way. */
    setenv("LIBCLANG_NOTHREADS", "1", 1);
    setenv("LIBCLANG_DISABLE_CRASH_RECOVERY", "1", 1);
    ar_collector c = {.unit = unit,
                      .arena = arena,
                      .scratch = ar_arena_new(),
                      .job = job,
                      .spells_bodies = ar_libclang_major() >= 19,
                      .last_id = AR_NO_FILE};
    CXIndex index = clang_createIndex(0, 0);
    struct CXUnsavedFile shims[AR_SHIM_COUNT];
    ar_shims(c.scratch, job->cuda_path, shims);
    enum CXErrorCode code = clang_parseTranslationUnit2(
        index, job->main_name, job->args, (int)job->arg_count, shims,
        AR_SHIM_COUNT,
        CXTranslationUnit_DetailedPreprocessingRecord |
            CXTranslationUnit_KeepGoing,
        &c.tu);
    if (code != CXError_Success || !c.tu) {
        parse_failed(unit);
    } else {
        collect_all(&c);
    }
    /* The worker ends here: the parser's own memory goes with it, freeing it
     * piece by piece would cost more than collecting. */
    free(c.kids);
    ar_arena_free(c.scratch);
    return unit;
}
