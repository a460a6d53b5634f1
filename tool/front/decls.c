/* Declarations. A declaration is made when it is first met, by the walk or by
 * a reference; its body and initialiser are filled in by the walk alone, which
 * leaves those of system headers out. */
#include "front/internal.h"

/* ---- the map from cursors ---------------------------------------------- */

static void grow_map(ar_collector *c) {
    ar_cursor_map *map = &c->decls;
    struct ar_cursor_slot *old = map->slots;
    uint32_t old_capacity = map->capacity;
    map->capacity = old_capacity ? old_capacity * 2 : 1024;
    map->slots = AR_NEW_ARRAY(c->scratch, struct ar_cursor_slot, map->capacity);
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (!old[i].value)
            continue;
        uint32_t at = clang_hashCursor(old[i].cursor) & (map->capacity - 1);
        while (map->slots[at].value)
            at = (at + 1) & (map->capacity - 1);
        map->slots[at] = old[i];
    }
}

static struct ar_cursor_slot *slot_of(ar_collector *c, CXCursor cursor) {
    ar_cursor_map *map = &c->decls;
    if ((map->count + 1) * 2 > map->capacity)
        grow_map(c);
    uint32_t at = clang_hashCursor(cursor) & (map->capacity - 1);
    while (map->slots[at].value &&
           !clang_equalCursors(map->slots[at].cursor, cursor))
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

/* ---- names ------------------------------------------------------------- */

static uint32_t text_hash(const char *text) {
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

/* False when the name was there already. */
static bool add_local_name(ar_collector *c, const char *name) {
    if ((c->local_count + 1) * 2 > c->local_capacity) {
        struct ar_name_slot *old = c->local_names;
        uint32_t n = c->local_capacity;
        c->local_capacity = n ? n * 2 : 512;
        c->local_names =
            AR_NEW_ARRAY(c->scratch, struct ar_name_slot, c->local_capacity);
        c->local_count = 0;
        for (uint32_t i = 0; i < n; i++)
            if (old[i].name)
                add_local_name(c, old[i].name);
    }
    uint32_t mask = c->local_capacity - 1, at = text_hash(name) & mask;
    for (; c->local_names[at].name; at = (at + 1) & mask)
        if (strcmp(c->local_names[at].name, name) == 0)
            return false;
    c->local_names[at].name = name;
    c->local_count++;
    return true;
}

/* Locals of one macro use share a place, hence libclang's name for them. */
static const char *local_usr(ar_collector *c, const char *usr,
                             const char *name) {
    if (*usr && add_local_name(c, usr))
        return usr;
    return ar_sprintf(c->arena, "%s#%u%s", *usr ? usr : name, c->next_local++,
                      *usr ? "" : "@local");
}

static ar_range name_range(ar_collector *c, CXCursor cursor, const char *name) {
    ar_point at = ar_point_of(c, clang_getCursorLocation(cursor));
    ar_range range = {at.file, at.offset, at.offset, at.in_body};
    if (at.file == AR_NO_FILE || !*name)
        return range;
    if (at.in_body) {
        ar_tokens *tokens = ar_tokens_of(c, at.file);
        uint32_t i = tokens ? ar_token_at(tokens, at.offset) : 0;
        if (tokens && i < tokens->list.count)
            range.end = tokens->list.data[i].end;
        return range;
    }
    range.end = at.offset + (uint32_t)strlen(name);
    return range;
}

/* ---- filling in -------------------------------------------------------- */

static ar_decl_kind decl_kind(enum CXCursorKind kind, bool *known) {
    *known = true;
    switch ((int)kind) {
    case CXCursor_VarDecl:
        return AR_DECL_VAR;
    case CXCursor_ParmDecl:
        return AR_DECL_PARAM;
    case CXCursor_FieldDecl:
        return AR_DECL_FIELD;
    case CXCursor_FunctionDecl:
    case CXCursor_CXXMethod:
    case CXCursor_Constructor:
    case CXCursor_Destructor:
    case CXCursor_ConversionFunction:
    case CXCursor_FunctionTemplate:
        return AR_DECL_FUNCTION;
    case CXCursor_StructDecl:
    case CXCursor_UnionDecl:
    case CXCursor_ClassDecl:
        return AR_DECL_RECORD;
    case CXCursor_TypedefDecl:
    case CXCursor_TypeAliasDecl:
        return AR_DECL_TYPEDEF;
    case CXCursor_EnumConstantDecl:
        return AR_DECL_ENUMERATOR;
    default:
        *known = false;
        return AR_DECL_VAR;
    }
}

static ar_storage storage_of(CXCursor cursor, ar_decl_kind kind) {
    switch (kind) {
    case AR_DECL_FIELD:
    case AR_DECL_RECORD:
    case AR_DECL_TYPEDEF:
    case AR_DECL_ENUMERATOR:
        return AR_STORAGE_NONE;
    case AR_DECL_PARAM:
        return AR_STORAGE_AUTO;
    case AR_DECL_VAR:
    case AR_DECL_FUNCTION:
        break;
    }
    enum CXLinkageKind linkage = clang_getCursorLinkage(cursor);
    if (linkage == CXLinkage_External || linkage == CXLinkage_UniqueExternal)
        return AR_STORAGE_EXTERN;
    if (linkage == CXLinkage_Internal ||
        clang_Cursor_getStorageClass(cursor) == CX_SC_Static)
        return AR_STORAGE_STATIC;
    return AR_STORAGE_AUTO;
}

static bool is_const_object(CXType type) {
    type = clang_getCanonicalType(type);
    for (;;) {
        if (clang_isConstQualifiedType(type))
            return true;
        CXType element = clang_getArrayElementType(type);
        if (element.kind == CXType_Invalid)
            return false;
        type = element;
    }
}

static enum CXVisitorResult push_field(CXCursor field, CXClientData data) {
    ar_collector *c = data;
    if (c->kid_count == c->kid_capacity)
        AR_BUG("no room for a field");
    c->kids[c->kid_count++] = field;
    return CXVisit_Continue;
}

static enum CXVisitorResult count_field(CXCursor field, CXClientData data) {
    (void)field;
    ++*(uint32_t *)data;
    return CXVisit_Continue;
}

static void record_members(ar_collector *c, ar_decl *decl, CXCursor cursor) {
    CXType type = clang_getCursorType(cursor);
    uint32_t count = 0;
    clang_Type_visitFields(type, count_field, &count);
    ar_kids kids = ar_reserve_kids(c, count);
    clang_Type_visitFields(type, push_field, c);
    kids.count = count;
    decl->members = AR_NEW_ARRAY(c->arena, ar_decl *, count);
    for (uint32_t i = 0; i < count; i++) {
        ar_decl *field = ar_decl_of(c, ar_kid(c, kids, i));
        if (!field)
            continue;
        field->parent = decl;
        field->index = decl->member_count;
        decl->members[decl->member_count++] = field;
    }
    ar_pop_kids(c, kids);
}

/* A template has no argument list of its own, only children. */
static void template_members(ar_collector *c, ar_decl *decl, CXCursor cursor) {
    ar_kids kids = ar_push_kids(c, cursor);
    decl->members = AR_NEW_ARRAY(c->arena, ar_decl *, kids.count);
    for (uint32_t i = 0; i < kids.count; i++) {
        CXCursor kid = ar_kid(c, kids, i);
        if (clang_getCursorKind(kid) != CXCursor_ParmDecl)
            continue;
        ar_decl *param = ar_decl_of(c, kid);
        param->parent = decl;
        param->index = decl->member_count;
        decl->members[decl->member_count++] = param;
    }
    ar_pop_kids(c, kids);
}

static void function_members(ar_collector *c, ar_decl *decl, CXCursor cursor) {
    int count = clang_Cursor_getNumArguments(cursor);
    if (count < 0)
        template_members(c, decl, cursor);
    if (count <= 0)
        return;
    decl->members = AR_NEW_ARRAY(c->arena, ar_decl *, (size_t)count);
    for (int i = 0; i < count; i++) {
        CXCursor argument = clang_Cursor_getArgument(cursor, (unsigned)i);
        ar_decl *param = ar_decl_of(c, argument);
        if (!param)
            continue;
        param->parent = decl;
        param->index = decl->member_count;
        decl->members[decl->member_count++] = param;
    }
}

static void cuda_attributes(ar_collector *c, ar_decl *decl, CXCursor cursor) {
    ar_kids kids = ar_push_kids(c, cursor);
    for (uint32_t i = 0; i < kids.count; i++) {
        switch ((int)clang_getCursorKind(ar_kid(c, kids, i))) {
        case CXCursor_CUDAConstantAttr:
            decl->is_cuda_constant = true;
            break;
        case CXCursor_CUDADeviceAttr:
            decl->is_cuda_device = true;
            break;
        case CXCursor_CUDAGlobalAttr:
            decl->is_cuda_global = true;
            break;
        case CXCursor_CUDAHostAttr:
            decl->is_cuda_host = true;
            break;
        case CXCursor_CUDASharedAttr:
            decl->is_cuda_shared = true;
            break;
        default:
            break;
        }
    }
    ar_pop_kids(c, kids);
}

static bool is_definition(CXCursor cursor, const ar_decl *decl) {
    if (decl->kind == AR_DECL_VAR) /* a tentative definition counts */
        return clang_Cursor_getStorageClass(cursor) != CX_SC_Extern ||
               !clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(cursor));
    return decl->kind == AR_DECL_PARAM || decl->kind == AR_DECL_FIELD ||
           clang_isCursorDefinition(cursor) != 0;
}

/* The function a local belongs to; NULL at file scope. */
static ar_decl *enclosing_function(ar_collector *c, CXCursor cursor) {
    CXCursor parent = clang_getCursorSemanticParent(cursor);
    bool known;
    if (clang_Cursor_isNull(parent) ||
        decl_kind(clang_getCursorKind(parent), &known) != AR_DECL_FUNCTION ||
        !known)
        return NULL;
    return ar_decl_of(c, parent);
}

static void fill_kind(ar_collector *c, ar_decl *decl, CXCursor cursor) {
    switch (decl->kind) {
    case AR_DECL_VAR:
        decl->parent = enclosing_function(c, cursor);
        decl->is_file_scope = decl->parent == NULL;
        break;
    case AR_DECL_PARAM:
        decl->type = ar_decay(c, decl->type);
        break;
    case AR_DECL_FIELD:
        break;
    case AR_DECL_FUNCTION:
        decl->is_file_scope = true;
        decl->is_inline = clang_Cursor_isFunctionInlined(cursor) != 0;
        function_members(c, decl, cursor);
        if (!decl->is_system) {
            CXCursor definition = clang_getCursorDefinition(cursor);
            if (!clang_Cursor_isNull(definition))
                decl->definition = ar_decl_of(c, definition);
        }
        break;
    case AR_DECL_RECORD:
        record_members(c, decl, cursor);
        break;
    case AR_DECL_TYPEDEF:
        decl->type = decl->aliased =
            ar_type_of(c, clang_getTypedefDeclUnderlyingType(cursor));
        break;
    case AR_DECL_ENUMERATOR:
        decl->value = clang_getEnumConstantDeclValue(cursor);
        break;
    }
}

/* The record's type must exist before its fields, which may point to it. */
static const ar_type *type_of_record(ar_collector *c, ar_decl *decl,
                                     CXCursor cursor) {
    CXType type = clang_getCursorType(cursor);
    CXString spelling = clang_getTypeSpelling(clang_getCanonicalType(type));
    long long size = clang_Type_getSizeOf(type);
    ar_type *record = AR_NEW(c->arena, ar_type);
    record->kind = AR_TYPE_RECORD;
    record->record = decl;
    record->bytes = size > 0 && size < UINT32_MAX ? (uint32_t)size : 0;
    record->spelling = ar_take(c, spelling);
    return record;
}

static bool is_local_usr(const ar_decl *decl) {
    return decl->kind == AR_DECL_PARAM ||
           (decl->kind == AR_DECL_VAR && !decl->is_file_scope);
}

static ar_range float_search_range(const ar_decl *decl, ar_range group) {
    ar_range range = group.file == AR_NO_FILE ? decl->range : group;
    range.end = decl->range.end;
    if (decl->name_range.begin < decl->name_range.end &&
        !decl->name_range.in_macro_body)
        range.end = decl->name_range.begin;
    return range;
}

static void find_decl_float(ar_collector *c, ar_decl *decl, ar_range group) {
    if (!decl->type || decl->is_system || decl->kind == AR_DECL_RECORD)
        return;
    ar_range where = float_search_range(decl, group);
    ar_float_place place =
        ar_find_float(c, where.file, where.begin, where.end, decl->type);
    decl->float_token = place.range;
    decl->float_is_alias = place.is_alias;
    place = ar_find_record(c, where.file, where.begin, where.end, decl->type);
    decl->record_token = place.range;
    decl->record_is_alias = place.is_alias;
}

static void fill(ar_collector *c, ar_decl *decl, CXCursor cursor) {
    decl->name = ar_take(c, clang_getCursorSpelling(cursor));
    bool may_be_unnamed =
        decl->kind == AR_DECL_RECORD || decl->kind == AR_DECL_FIELD;
    if (may_be_unnamed &&
        strstr(decl->name, " at ")) /* (anonymous at x.c:1:2) */
        decl->name = "";
    CXSourceLocation at = clang_getCursorLocation(cursor);
    decl->range = ar_extent(c, cursor);
    decl->is_system = decl->range.file == AR_NO_FILE ||
                      clang_Location_isInSystemHeader(at) != 0;
    decl->name_range = name_range(c, cursor, decl->name);
    /* A function that is nothing but its name was declared by the parser for
     * a call: a builtin, or one without a prototype. */
    CXSourceLocation begin = clang_getRangeStart(clang_getCursorExtent(cursor));
    if (decl->kind == AR_DECL_FUNCTION &&
        decl->range.begin == decl->name_range.begin &&
        clang_equalLocations(begin, at))
        decl->is_system = true;
    /* A macro among the specifiers does not make the rest uneditable. */
    if (decl->name_range.end > decl->name_range.begin &&
        !decl->name_range.in_macro_body && !ar_use_around(c, decl->name_range))
        decl->range.in_macro_body = false;
    decl->float_token = AR_NO_RANGE;
    decl->record_token = AR_NO_RANGE;
    decl->storage = storage_of(cursor, decl->kind);
    CXType type = clang_getCursorType(cursor);
    if (decl->kind == AR_DECL_RECORD) {
        decl->is_union = clang_getCursorKind(cursor) == CXCursor_UnionDecl;
        decl->type = type_of_record(c, decl, cursor);
    } else {
        decl->type = ar_type_of(c, type);
    }
    if (decl->kind == AR_DECL_VAR || decl->kind == AR_DECL_PARAM ||
        decl->kind == AR_DECL_TYPEDEF) {
        decl->is_const = is_const_object(type);
        decl->is_volatile =
            clang_isVolatileQualifiedType(clang_getCanonicalType(type)) != 0;
    }
    decl->is_definition = is_definition(cursor, decl);
    if (c->unit->language != AR_LANG_C)
        cuda_attributes(c, decl, cursor);
    if (decl->kind == AR_DECL_VAR || decl->kind == AR_DECL_FUNCTION)
        ar_collect_attributes(c, decl, cursor);
    fill_kind(c, decl, cursor);
    decl->usr = ar_take(c, clang_getCursorUSR(cursor));
    if (is_local_usr(decl))
        decl->usr = local_usr(c, decl->usr, decl->name);
}

/* An instance of a template is its pattern: the text both share. An explicit
 * specialisation has a text of its own. */
static CXCursor pattern_of(CXCursor cursor) {
    CXCursor pattern = clang_getSpecializedCursorTemplate(cursor);
    if (clang_Cursor_isNull(pattern))
        return cursor;
    bool same = clang_equalLocations(clang_getCursorLocation(pattern),
                                     clang_getCursorLocation(cursor)) != 0;
    return same ? pattern : cursor;
}

ar_decl *ar_decl_of(ar_collector *c, CXCursor cursor) {
    if (clang_Cursor_isNull(cursor))
        return NULL;
    bool known;
    ar_decl_kind kind = decl_kind(clang_getCursorKind(cursor), &known);
    if (!known)
        return NULL;
    if (kind == AR_DECL_RECORD) { /* one decl for all its redeclarations */
        CXCursor definition = clang_getCursorDefinition(cursor);
        cursor = clang_Cursor_isNull(definition)
                     ? clang_getCanonicalCursor(cursor)
                     : definition;
    }
    if (kind == AR_DECL_FUNCTION && c->unit->language != AR_LANG_C)
        cursor = pattern_of(cursor);
    struct ar_cursor_slot *slot = slot_of(c, cursor);
    if (slot->value)
        return slot->value;
    ar_decl *decl = AR_NEW(c->arena, ar_decl);
    decl->kind = kind;
    *slot = (struct ar_cursor_slot){cursor, decl};
    c->decls.count++;
    decl->id = c->unit->decls.count;
    AR_PUSH(c->arena, &c->unit->decls, decl);
    fill(c, decl, cursor);
    if (kind != AR_DECL_PARAM && kind != AR_DECL_VAR)
        find_decl_float(c, decl, AR_NO_RANGE);
    return decl;
}

/* ---- the walk ---------------------------------------------------------- */

static void note_start(ar_collector *c, ar_decl *decl) {
    ar_start start = {decl->range.file, decl->range.begin, NULL, decl};
    if (start.file != AR_NO_FILE)
        AR_PUSH(c->scratch, &c->starts, start);
}

static void collect_body(ar_collector *c, ar_decl *decl, CXCursor cursor) {
    for (uint32_t i = 0; i < decl->member_count; i++)
        find_decl_float(c, decl->members[i], AR_NO_RANGE);
    if (!decl->is_definition || decl->body || decl->has_errors)
        return;
    if (ar_has_error_in(c, decl->range)) {
        decl->has_errors = true;
        ar_report(&c->unit->diags, AR_DIAG_FUNCTION_HAS_ERRORS,
                  decl->name_range, decl->name);
        return;
    }
    ar_kids kids = ar_push_kids(c, cursor);
    for (uint32_t i = 0; i < kids.count; i++) {
        CXCursor kid = ar_kid(c, kids, i);
        if (clang_getCursorKind(kid) == CXCursor_CompoundStmt)
            decl->body = ar_stmt(c, kid);
    }
    ar_pop_kids(c, kids);
}

/* Declarations inside a declaration: records in records, enumerators, and
 * what a record of C++ may hold. */
static void collect_inner(ar_collector *c, CXCursor cursor) {
    ar_kids kids = ar_push_kids(c, cursor);
    for (uint32_t i = 0; i < kids.count; i++)
        if (clang_isDeclaration(clang_getCursorKind(ar_kid(c, kids, i))))
            ar_collect_decl(c, ar_kid(c, kids, i), AR_NO_RANGE);
    ar_pop_kids(c, kids);
}

/* `T x;` in C++ calls a constructor that nobody wrote: it stands where the name
 * does. That is no initialiser. */
static bool is_written(const ar_decl *decl, const ar_node *init) {
    return init->kind != AR_INIT_LIST || init->kid_count ||
           init->range.begin != decl->name_range.begin ||
           init->range.end != decl->name_range.end;
}

ar_decl *ar_collect_decl(ar_collector *c, CXCursor cursor, ar_range group) {
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind == CXCursor_EnumDecl || kind == CXCursor_ClassTemplate) {
        collect_inner(c, cursor);
        return NULL;
    }
    ar_decl *decl = ar_decl_of(c, cursor);
    if (!decl)
        return NULL;
    note_start(c, decl);
    switch (decl->kind) {
    case AR_DECL_VAR: {
        find_decl_float(c, decl, group);
        CXCursor init = clang_Cursor_getVarDeclInitializer(cursor);
        if (!decl->init && !clang_Cursor_isNull(init))
            decl->init = ar_expr(c, init);
        if (decl->init && !is_written(decl, decl->init))
            decl->init = NULL;
        break;
    }
    case AR_DECL_FUNCTION:
        collect_body(c, decl, cursor);
        break;
    case AR_DECL_RECORD:
        if (clang_isCursorDefinition(cursor))
            collect_inner(c, cursor);
        break;
    case AR_DECL_PARAM:
        find_decl_float(c, decl, AR_NO_RANGE);
        break;
    case AR_DECL_FIELD:
    case AR_DECL_TYPEDEF:
    case AR_DECL_ENUMERATOR:
        break;
    }
    return decl;
}

void ar_collect_top(ar_collector *c, CXCursor cursor) {
    /* A linkage specification has no place of its own; what is in it has. */
    if (clang_Location_isInSystemHeader(clang_getCursorLocation(cursor)))
        return;
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind == CXCursor_UnexposedDecl &&
        c->unit->language == AR_LANG_C) /* an asm */
        ar_collect_asm(c, ar_extent(c, cursor));
    if (kind == CXCursor_LinkageSpec || kind == CXCursor_Namespace ||
        kind == CXCursor_UnexposedDecl) {
        ar_kids kids = ar_push_kids(c, cursor);
        for (uint32_t i = 0; i < kids.count; i++)
            if (clang_isDeclaration(clang_getCursorKind(ar_kid(c, kids, i))))
                ar_collect_top(c, ar_kid(c, kids, i));
        ar_pop_kids(c, kids);
        return;
    }
    if (clang_isDeclaration(kind))
        ar_collect_decl(c, cursor, AR_NO_RANGE);
}
