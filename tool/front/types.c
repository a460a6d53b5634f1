/* Types: libclang's canonical types to ar_type, interned by structure.
 *
 * Qualifiers are dropped at every level, so that `const float *` and `float *`
 * are one type; what is const is a matter of the declaration. */
#include "front/internal.h"

#include <stdlib.h>

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    return hash;
}

static uint64_t hash_text(const char *text) {
    uint64_t hash = 1469598103934665603u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

static uint64_t hash_type(const ar_type *t) {
    uint64_t hash = mix((uint64_t)t->kind, (uint64_t)(uintptr_t)t->element);
    hash = mix(hash, t->count);
    hash = mix(hash, (uint64_t)(uintptr_t)t->record);
    for (uint32_t i = 0; i < t->param_count; i++)
        hash = mix(hash, (uint64_t)(uintptr_t)t->params[i]);
    return t->element || t->record ? hash : mix(hash, hash_text(t->spelling));
}

static bool same_type(const ar_type *a, const ar_type *b) {
    if (a->kind != b->kind || a->element != b->element ||
        a->count != b->count || a->record != b->record ||
        a->bytes != b->bytes || a->param_count != b->param_count ||
        a->is_variadic != b->is_variadic || a->is_reference != b->is_reference)
        return false;
    for (uint32_t i = 0; i < a->param_count; i++)
        if (a->params[i] != b->params[i])
            return false;
    return a->element || a->record || strcmp(a->spelling, b->spelling) == 0;
}

static void grow_interned(ar_collector *c) {
    uint32_t capacity = c->interned_capacity ? c->interned_capacity * 2 : 256;
    const ar_type **slots = AR_NEW_ARRAY(c->scratch, const ar_type *, capacity);
    for (uint32_t i = 0; i < c->interned_capacity; i++) {
        const ar_type *type = c->interned[i];
        if (!type)
            continue;
        uint64_t at = hash_type(type) & (capacity - 1);
        while (slots[at])
            at = (at + 1) & (capacity - 1);
        slots[at] = type;
    }
    c->interned = slots;
    c->interned_capacity = capacity;
}

/* The one type equal to `wanted`, or NULL. */
static const ar_type *find_interned(ar_collector *c, const ar_type *wanted) {
    if ((c->interned_count + 1) * 2 > c->interned_capacity)
        grow_interned(c);
    uint64_t mask = c->interned_capacity - 1, at = hash_type(wanted) & mask;
    for (; c->interned[at]; at = (at + 1) & mask)
        if (same_type(c->interned[at], wanted))
            return c->interned[at];
    return NULL;
}

/* The same, but copies it when it is new. */
static const ar_type *intern(ar_collector *c, const ar_type *wanted) {
    const ar_type *known = find_interned(c, wanted);
    if (known)
        return known;
    uint64_t mask = c->interned_capacity - 1, at = hash_type(wanted) & mask;
    while (c->interned[at])
        at = (at + 1) & mask;
    ar_type *type = AR_NEW(c->arena, ar_type);
    *type = *wanted;
    type->spelling = ar_strdup(c->arena, wanted->spelling);
    c->interned[at] = type;
    c->interned_count++;
    return type;
}

/* Inserts `middle` where a declarator's name would stand. */
static const char *spell_around(ar_collector *c, const ar_type *element,
                                const char *middle, const char *suffix) {
    const char *inner = element->spelling;
    const char *star =
        element->kind == AR_TYPE_POINTER ? strstr(inner, "(*") : NULL;
    if (star) /* a pointer to a pointer to a function or array */
        return ar_sprintf(c->scratch, "%.*s%s%s%s", (int)(star + 2 - inner),
                          inner, middle, suffix, star + 2);
    size_t split = strlen(inner);
    const ar_type *t = element;
    while (t->kind == AR_TYPE_ARRAY && t->element)
        t = t->element;
    if (element->kind == AR_TYPE_ARRAY)
        split = strlen(t->spelling);
    if (element->kind == AR_TYPE_FUNCTION)
        split = strlen(element->element->spelling) + 1;
    bool wrap = *middle == '*' && (element->kind == AR_TYPE_ARRAY ||
                                   element->kind == AR_TYPE_FUNCTION);
    bool space = wrap ? element->kind == AR_TYPE_ARRAY
                      : *middle && split && inner[split - 1] != '*';
    return ar_sprintf(c->scratch, "%.*s%s%s%s%s%s%s", (int)split, inner,
                      space ? " " : "", wrap ? "(" : "", middle,
                      wrap ? ")" : "", suffix, inner + split);
}

const ar_type *ar_pointer_to(ar_collector *c, const ar_type *element) {
    ar_type t = {.kind = AR_TYPE_POINTER, .bytes = 8, .element = element};
    const ar_type *known = find_interned(c, &t);
    if (known)
        return known;
    t.spelling = spell_around(c, element, "*", "");
    return intern(c, &t);
}

const ar_type *ar_array_of(ar_collector *c, const ar_type *element,
                           uint64_t count) {
    ar_type t = {.kind = AR_TYPE_ARRAY, .element = element, .count = count};
    t.bytes = (uint32_t)(element->bytes * count);
    const ar_type *known = find_interned(c, &t);
    if (known)
        return known;
    const char *suffix =
        count ? ar_sprintf(c->scratch, "[%llu]", (unsigned long long)count)
              : "[]";
    t.spelling = spell_around(c, element, "", suffix);
    return intern(c, &t);
}

const ar_type *ar_decay(ar_collector *c, const ar_type *type) {
    if (type->kind == AR_TYPE_ARRAY)
        return ar_pointer_to(c, type->element);
    if (type->kind == AR_TYPE_FUNCTION)
        return ar_pointer_to(c, type);
    return type;
}

const ar_type *ar_bottom(const ar_type *type) {
    while (type->kind == AR_TYPE_POINTER || type->kind == AR_TYPE_ARRAY ||
           type->kind == AR_TYPE_FUNCTION)
        type = type->element;
    return type;
}

static const ar_type *function_type(ar_collector *c, CXType type) {
    ar_type t = {.kind = AR_TYPE_FUNCTION,
                 .is_variadic = clang_isFunctionTypeVariadic(type) != 0};
    t.element = ar_type_of(c, clang_getResultType(type));
    int count = clang_getNumArgTypes(type);
    t.param_count = count > 0 ? (uint32_t)count : 0;
    const ar_type **params =
        AR_NEW_ARRAY(c->arena, const ar_type *, t.param_count + 1);
    ar_str suffix = {.arena = c->scratch};
    ar_str_add(&suffix, " (");
    for (uint32_t i = 0; i < t.param_count; i++) {
        params[i] = ar_decay(c, ar_type_of(c, clang_getArgType(type, i)));
        ar_str_addf(&suffix, "%s%s", i ? ", " : "", params[i]->spelling);
    }
    if (t.is_variadic)
        ar_str_add(&suffix, t.param_count ? ", ..." : "...");
    else if (t.param_count == 0)
        ar_str_add(&suffix, "void");
    ar_str_add(&suffix, ")");
    t.params = params;
    t.spelling = spell_around(c, t.element, "", ar_str_text(&suffix));
    return intern(c, &t);
}

static bool is_half_record(const char *name) {
    return strcmp(name, "__half") == 0 || strcmp(name, "__nv_bfloat16") == 0;
}

static const ar_type *record_type(ar_collector *c, CXType type,
                                  const char *spelling, uint32_t bytes) {
    if (is_half_record(spelling)) {
        ar_type half = {.kind = AR_TYPE_HALF, .bytes = bytes};
        half.spelling = spelling;
        return intern(c, &half);
    }
    CXCursor cursor = clang_getTypeDeclaration(type);
    ar_decl *record = ar_decl_of(c, cursor);
    if (record && record->type)
        return record->type;
    ar_type t = {.kind = AR_TYPE_OTHER, .bytes = bytes, .spelling = spelling};
    return intern(c, &t);
}

static ar_type_kind leaf_kind(enum CXTypeKind kind, bool *is_signed) {
    *is_signed = false;
    switch ((int)kind) {
    case CXType_Void:
        return AR_TYPE_VOID;
    case CXType_Bool:
        return AR_TYPE_BOOL;
    case CXType_Char_S:
    case CXType_SChar:
    case CXType_WChar:
    case CXType_Short:
    case CXType_Int:
    case CXType_Long:
    case CXType_LongLong:
    case CXType_Int128:
        *is_signed = true;
        return AR_TYPE_INT;
    case CXType_Char_U:
    case CXType_UChar:
    case CXType_Char16:
    case CXType_Char32:
    case CXType_UShort:
    case CXType_UInt:
    case CXType_ULong:
    case CXType_ULongLong:
    case CXType_UInt128:
        return AR_TYPE_INT;
    case CXType_Enum:
        return AR_TYPE_ENUM;
    case CXType_Float:
        return AR_TYPE_FLOAT;
    case CXType_Double:
    case CXType_LongDouble:
    case CXType_Float128:
        return AR_TYPE_DOUBLE;
    case CXType_Half:
    case CXType_Float16:
    case CXType_BFloat16:
        return AR_TYPE_HALF;
    default:
        return AR_TYPE_OTHER;
    }
}

static const ar_type *leaf_type(ar_collector *c, CXType type,
                                const char *spelling, uint32_t bytes) {
    ar_type t = {.bytes = bytes, .spelling = spelling};
    t.kind = leaf_kind(type.kind, &t.is_signed);
    if (t.kind == AR_TYPE_ENUM)
        t.is_signed = true;
    return intern(c, &t);
}

static const ar_type *vector_type(ar_collector *c, CXType type,
                                  const char *spelling, uint32_t bytes) {
    ar_type t = {.kind = AR_TYPE_VECTOR,
                 .bytes = bytes,
                 .element = ar_type_of(c, clang_getElementType(type)),
                 .spelling = spelling};
    long long count = clang_getNumElements(type);
    t.count = count > 0 ? (uint64_t)count : 0;
    return intern(c, &t);
}

static const ar_type *array_type(ar_collector *c, CXType type) {
    long long count =
        type.kind == CXType_ConstantArray ? clang_getArraySize(type) : 0;
    return ar_array_of(c, ar_type_of(c, clang_getArrayElementType(type)),
                       count > 0 ? (uint64_t)count : 0);
}

static const ar_type *reference_type(ar_collector *c, CXType type) {
    const ar_type *element = ar_type_of(c, clang_getPointeeType(type));
    ar_type t = {.kind = AR_TYPE_POINTER,
                 .bytes = 8,
                 .is_reference = true,
                 .element = element};
    t.spelling = ar_sprintf(c->scratch, "%s &", element->spelling);
    return intern(c, &t);
}

static const ar_type *make_type(ar_collector *c, CXType type) {
    CXType plain = clang_getUnqualifiedType(type);
    switch ((int)type.kind) {
    case CXType_Pointer:
        return ar_pointer_to(c, ar_type_of(c, clang_getPointeeType(type)));
    case CXType_LValueReference:
    case CXType_RValueReference:
        return reference_type(c, type);
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
    case CXType_VariableArray:
    case CXType_DependentSizedArray:
        return array_type(c, type);
    case CXType_FunctionProto:
    case CXType_FunctionNoProto:
        return function_type(c, type);
    default:
        break;
    }
    CXString text = clang_getTypeSpelling(plain);
    const char *spelling = ar_strdup(c->scratch, clang_getCString(text));
    clang_disposeString(text);
    /* libclang crashes on the size of a placeholder, `<builtin fn type>` */
    long long size = *spelling == '<' ? 0 : clang_Type_getSizeOf(plain);
    uint32_t bytes = size > 0 && size < UINT32_MAX ? (uint32_t)size : 0;
    if (type.kind == CXType_Record)
        return record_type(c, plain, spelling, bytes);
    if (type.kind == CXType_Vector || type.kind == CXType_ExtVector)
        return vector_type(c, type, spelling, bytes);
    return leaf_type(c, plain, spelling, bytes);
}

static void remember(ar_collector *c, CXType key, const ar_type *value);

static void grow_memo(ar_collector *c) {
    uint32_t old = c->type_capacity;
    ar_type_slot *slots = c->type_slots;
    c->type_capacity = old ? old * 2 : 256;
    c->type_slots = AR_NEW_ARRAY(c->scratch, ar_type_slot, c->type_capacity);
    c->type_count = 0;
    for (uint32_t i = 0; i < old; i++)
        if (slots[i].value)
            remember(c, slots[i].key, slots[i].value);
}

/* libclang has no hash for types. One type as written has one data[0]; the
 * memo holds types as written and their canonical ones. */
static uint64_t type_hash(CXType key) {
    return mix((uint64_t)key.kind, (uint64_t)(uintptr_t)key.data[0] >> 3);
}

static void remember(ar_collector *c, CXType key, const ar_type *value) {
    if ((c->type_count + 1) * 2 > c->type_capacity)
        grow_memo(c);
    uint64_t mask = c->type_capacity - 1, at = type_hash(key) & mask;
    while (c->type_slots[at].value)
        at = (at + 1) & mask;
    c->type_slots[at] = (ar_type_slot){key, value};
    c->type_count++;
}

static const ar_type *recall(const ar_collector *c, CXType key) {
    if (!c->type_capacity)
        return NULL;
    uint64_t mask = c->type_capacity - 1, at = type_hash(key) & mask;
    for (; c->type_slots[at].value; at = (at + 1) & mask)
        if (c->type_slots[at].key.kind == key.kind &&
            clang_equalTypes(c->type_slots[at].key, key))
            return c->type_slots[at].value;
    return NULL;
}

const ar_type *ar_type_of(ar_collector *c, CXType type) {
    if (type.kind == CXType_Invalid)
        return ar_builtin(c, "<unknown>");
    const ar_type *known = recall(c, type);
    if (known)
        return known;
    CXType canonical = clang_getCanonicalType(type);
    known = recall(c, canonical);
    if (!known) {
        known = make_type(c, canonical);
        /* A recursive record may have come here first. */
        if (!recall(c, canonical))
            remember(c, canonical, known);
    }
    if (!recall(c, type))
        remember(c, type, known);
    return known;
}

const ar_type *ar_builtin(ar_collector *c, const char *spelling) {
    static const struct {
        const char *spelling;
        ar_type_kind kind;
        uint32_t bytes;
        bool is_signed;
    } builtins[] = {
        {"void", AR_TYPE_VOID, 0, false},
        {"_Bool", AR_TYPE_BOOL, 1, false},
        {"char", AR_TYPE_INT, 1, true},
        {"signed char", AR_TYPE_INT, 1, true},
        {"unsigned char", AR_TYPE_INT, 1, false},
        {"short", AR_TYPE_INT, 2, true},
        {"unsigned short", AR_TYPE_INT, 2, false},
        {"int", AR_TYPE_INT, 4, true},
        {"unsigned int", AR_TYPE_INT, 4, false},
        {"long", AR_TYPE_INT, 8, true},
        {"unsigned long", AR_TYPE_INT, 8, false},
        {"long long", AR_TYPE_INT, 8, true},
        {"unsigned long long", AR_TYPE_INT, 8, false},
        {"float", AR_TYPE_FLOAT, 4, false},
        {"double", AR_TYPE_DOUBLE, 8, false},
        {"long double", AR_TYPE_DOUBLE, 16, false},
        {"_Float16", AR_TYPE_HALF, 2, false},
        {"__bf16", AR_TYPE_HALF, 2, false},
    };
    ar_type t = {.kind = AR_TYPE_OTHER, .spelling = spelling};
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (strcmp(builtins[i].spelling, spelling) != 0)
            continue;
        t.kind = builtins[i].kind;
        t.bytes = builtins[i].bytes;
        t.is_signed = builtins[i].is_signed;
    }
    return intern(c, &t);
}
