/* The children of the cursors being worked on: one growing stack, so that a
 * cursor's children are an array without an allocation each. */
#include "front/internal.h"

#include <stdlib.h>

static void need_kids(ar_collector *c, uint32_t count) {
    if (c->kid_capacity - c->kid_count >= count)
        return;
    uint32_t capacity = c->kid_capacity ? c->kid_capacity : 256;
    while (capacity - c->kid_count < count)
        capacity *= 2;
    CXCursor *kids = realloc(c->kids, capacity * sizeof *kids);
    if (!kids)
        AR_BUG("out of memory");
    c->kids = kids;
    c->kid_capacity = capacity;
}

static enum CXChildVisitResult push_kid(CXCursor kid, CXCursor parent,
                                        CXClientData data) {
    (void)parent;
    ar_collector *c = data;
    need_kids(c, 1);
    c->kids[c->kid_count++] = kid;
    return CXChildVisit_Continue;
}

ar_kids ar_push_kids(ar_collector *c, CXCursor cursor) {
    ar_kids kids = {.base = c->kid_count};
    clang_visitChildren(cursor, push_kid, c);
    kids.count = c->kid_count - kids.base;
    return kids;
}

ar_kids ar_reserve_kids(ar_collector *c, uint32_t count) {
    need_kids(c, count);
    return (ar_kids){.base = c->kid_count};
}

void ar_pop_kids(ar_collector *c, ar_kids kids) {
    c->kid_count = kids.base;
}

CXCursor ar_kid(const ar_collector *c, ar_kids kids, uint32_t i) {
    return c->kids[kids.base + i];
}

/* Leaves only expressions (and statements, for statement expressions). */
ar_kids ar_push_exprs(ar_collector *c, CXCursor cursor) {
    ar_kids kids = ar_push_kids(c, cursor);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < kids.count; i++) {
        CXCursor kid = ar_kid(c, kids, i);
        enum CXCursorKind kind = clang_getCursorKind(kid);
        if (clang_isExpression(kind) || clang_isStatement(kind))
            c->kids[kids.base + kept++] = kid;
    }
    kids.count = kept;
    c->kid_count = kids.base + kept;
    return kids;
}
