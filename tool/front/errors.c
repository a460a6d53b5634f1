/* What the parser complained about. An error inside a function body costs that
 * function (libclang drops broken statements without a trace); any other
 * leaves declarations in doubt and costs the unit. */
#include "front/internal.h"

static bool covers(ar_range outer, ar_range inner) {
    return outer.file == inner.file && outer.begin <= inner.begin &&
           inner.begin < outer.end;
}

bool ar_has_error_in(const ar_collector *c, ar_range range) {
    for (uint32_t i = 0; i < c->errors.count; i++)
        if (covers(range, c->errors.data[i]))
            return true;
    return false;
}

typedef struct body_search {
    ar_collector *c;
    ar_range place;
    bool found;
} body_search;

static enum CXChildVisitResult
look_in_function(CXCursor cursor, CXCursor parent, CXClientData data) {
    (void)parent;
    body_search *search = data;
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind == CXCursor_LinkageSpec || kind == CXCursor_Namespace ||
        kind == CXCursor_UnexposedDecl)
        return CXChildVisit_Recurse;
    bool is_function = kind == CXCursor_FunctionDecl ||
                       kind == CXCursor_FunctionTemplate ||
                       kind == CXCursor_CXXMethod;
    if (!is_function || !clang_isCursorDefinition(cursor))
        return CXChildVisit_Continue;
    if (!covers(ar_extent(search->c, cursor), search->place))
        return CXChildVisit_Continue;
    search->found = true;
    return CXChildVisit_Break;
}

static bool is_in_function(ar_collector *c, ar_range place) {
    body_search search = {c, place, false};
    clang_visitChildren(clang_getTranslationUnitCursor(c->tu), look_in_function,
                        &search);
    return search.found;
}

bool ar_collect_errors(ar_collector *c) {
    bool usable = true;
    unsigned count = clang_getNumDiagnostics(c->tu);
    for (unsigned i = 0; i < count; i++) {
        CXDiagnostic diagnostic = clang_getDiagnostic(c->tu, i);
        enum CXDiagnosticSeverity severity =
            clang_getDiagnosticSeverity(diagnostic);
        if (severity < CXDiagnostic_Error) {
            clang_disposeDiagnostic(diagnostic);
            continue;
        }
        ar_point at = ar_point_of(c, clang_getDiagnosticLocation(diagnostic));
        ar_range range = {at.file, at.offset, at.offset, false};
        CXString text = clang_getDiagnosticSpelling(diagnostic);
        ar_report(&c->unit->diags, AR_DIAG_PARSE_ERROR, range,
                  clang_getCString(text));
        clang_disposeString(text);
        clang_disposeDiagnostic(diagnostic);
        c->unit->error_count++;
        if (severity == CXDiagnostic_Fatal || at.file == AR_NO_FILE ||
            !is_in_function(c, range))
            usable = false;
        else
            AR_PUSH(c->scratch, &c->errors, range);
    }
    return usable;
}
