#include "core/facts.h"

const char *ar_node_kind_name(ar_node_kind kind) {
    static const char *const names[] = {
#define X(name) #name,
        AR_NODE_KINDS(X)
#undef X
    };
    if ((unsigned)kind >= AR_NODE_KIND_COUNT)
        AR_BUG("node kind %d", (int)kind);
    return names[kind];
}

const char *ar_op_spelling(ar_op op) {
    switch (op) {
    case AR_OP_NONE:
        return "";
    case AR_OP_ADD:
    case AR_OP_PLUS:
        return "+";
    case AR_OP_SUB:
    case AR_OP_MINUS:
        return "-";
    case AR_OP_MUL:
        return "*";
    case AR_OP_DIV:
        return "/";
    case AR_OP_REM:
        return "%";
    case AR_OP_SHL:
        return "<<";
    case AR_OP_SHR:
        return ">>";
    case AR_OP_AND:
        return "&";
    case AR_OP_OR:
        return "|";
    case AR_OP_XOR:
        return "^";
    case AR_OP_LT:
        return "<";
    case AR_OP_GT:
        return ">";
    case AR_OP_LE:
        return "<=";
    case AR_OP_GE:
        return ">=";
    case AR_OP_EQ:
        return "==";
    case AR_OP_NE:
        return "!=";
    case AR_OP_LOGICAL_AND:
        return "&&";
    case AR_OP_LOGICAL_OR:
        return "||";
    case AR_OP_BIT_NOT:
        return "~";
    case AR_OP_NOT:
        return "!";
    case AR_OP_PRE_INC:
    case AR_OP_POST_INC:
        return "++";
    case AR_OP_PRE_DEC:
    case AR_OP_POST_DEC:
        return "--";
    }
    AR_BUG("op %d", (int)op);
}

bool ar_is_float_vector(const ar_type *type) {
    if (!ar_is_kind(type, AR_TYPE_RECORD) || !type->record)
        return false;
    const char *name = type->record->name;
    return strcmp(name, "float2") == 0 || strcmp(name, "float3") == 0 ||
           strcmp(name, "float4") == 0;
}

bool ar_is_record(const ar_type *type) {
    return ar_is_kind(type, AR_TYPE_RECORD) && !ar_is_float_vector(type);
}

bool ar_is_floating(const ar_type *type) {
    return type && (ar_is_float_vector(type) || type->kind == AR_TYPE_FLOAT ||
                    type->kind == AR_TYPE_DOUBLE ||
                    type->kind == AR_TYPE_HALF || type->kind == AR_TYPE_VECTOR);
}

const ar_type *ar_array_bottom(const ar_type *type) {
    while (ar_is_kind(type, AR_TYPE_ARRAY))
        type = type->element;
    return type;
}

const ar_type *ar_address_bottom(const ar_type *type) {
    while (ar_is_address(type))
        type = type->element;
    return type;
}

int ar_float_depth(const ar_type *type) {
    int depth = 0;
    for (; ar_is_address(type); type = type->element)
        depth++;
    return ar_is_float(type) ? depth : -1;
}

ar_node *ar_skip_casts(const ar_node *node) {
    while (node && (node->kind == AR_IMPLICIT || node->kind == AR_CAST) &&
           node->kid_count == 1)
        node = node->kids[0];
    return (ar_node *)node;
}

const ar_node *ar_root_node(const ar_node *node) {
    while ((node = ar_skip_casts(node))) {
        switch ((int)node->kind) {
        case AR_REF:
        case AR_MEMBER:
            return node;
        case AR_INDEX:
        case AR_DEREF:
        case AR_ADDRESS:
        case AR_UNARY:
            node = node->kids[0];
            break;
        case AR_BINARY:
            node = node->kids[!ar_is_address(node->kids[0]->type)];
            break;
        default:
            return NULL;
        }
    }
    return NULL;
}

ar_decl *ar_root_decl(const ar_node *node) {
    node = ar_root_node(node);
    return node ? node->decl : NULL;
}

ar_decl *ar_direct_callee(const ar_node *callee) {
    callee = ar_skip_casts(callee);
    while (callee && (callee->kind == AR_DEREF || callee->kind == AR_ADDRESS))
        callee = ar_skip_casts(callee->kids[0]);
    return callee && callee->kind == AR_REF && callee->decl &&
                   callee->decl->kind == AR_DECL_FUNCTION
               ? callee->decl
               : NULL;
}

/* ---- dump -----------------------------------------------------------------
 */

typedef struct dumper {
    FILE *out;
    ar_unit *unit;
} dumper;

static void indent(dumper *d, int depth) {
    fprintf(d->out, "%*s", depth * 2, "");
}

/* line:column-line:column; other files than the main one by name. */
static void range(dumper *d, const char *label, ar_range r) {
    if (r.file == AR_NO_FILE)
        return;
    ar_files *files = &d->unit->files;
    ar_line_col b = ar_line_col_at(files, r.file, r.begin);
    ar_line_col e = ar_line_col_at(files, r.file, r.end);
    const char *name = "";
    if (r.file != d->unit->main_file) {
        const char *path = files->list.data[r.file].real;
        const char *slash = strrchr(path, '/');
        name = slash ? slash + 1 : path;
    }
    fprintf(d->out, " %s%s%s%u:%u-", label, name, *name ? ":" : "", b.line,
            b.column);
    if (e.line != b.line)
        fprintf(d->out, "%u:", e.line);
    fprintf(d->out, "%u%s", e.column, r.in_macro_body ? " (macro)" : "");
}

static void type(dumper *d, const ar_type *t) {
    if (t)
        fprintf(d->out, " <%s>", t->spelling);
}

static void float_place(dumper *d, ar_range r, bool is_alias) {
    range(d, is_alias ? "alias@" : "float@", r);
}

static void node(dumper *d, const ar_node *n, int depth);

static const char *decl_kind_name(ar_decl_kind kind) {
    switch (kind) {
    case AR_DECL_VAR:
        return "VAR";
    case AR_DECL_PARAM:
        return "PARAM";
    case AR_DECL_FIELD:
        return "FIELD";
    case AR_DECL_FUNCTION:
        return "FUNCTION";
    case AR_DECL_RECORD:
        return "RECORD";
    case AR_DECL_TYPEDEF:
        return "TYPEDEF";
    case AR_DECL_ENUMERATOR:
        return "ENUMERATOR";
    }
    AR_BUG("decl kind %d", (int)kind);
}

static const char *storage_name(ar_storage storage) {
    switch (storage) {
    case AR_STORAGE_NONE:
        return "";
    case AR_STORAGE_AUTO:
        return " auto";
    case AR_STORAGE_STATIC:
        return " static";
    case AR_STORAGE_EXTERN:
        return " extern";
    }
    AR_BUG("storage %d", (int)storage);
}

static void flags(dumper *d, const ar_decl *decl) {
    const struct {
        bool on;
        const char *name;
    } all[] = {{decl->is_definition, "def"},
               {decl->is_system, "system"},
               {decl->is_union, "union"},
               {decl->is_const, "const"},
               {decl->is_volatile, "volatile"},
               {decl->is_inline, "inline"},
               {decl->has_errors, "errors"},
               {decl->is_cuda_global, "__global__"},
               {decl->is_cuda_device, "__device__"},
               {decl->is_cuda_host, "__host__"},
               {decl->is_cuda_shared, "__shared__"},
               {decl->is_cuda_constant, "__constant__"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].on)
            fprintf(d->out, " %s", all[i].name);
}

static void decl_line(dumper *d, const ar_decl *decl, int depth) {
    indent(d, depth);
    fprintf(d->out, "%s '%s'%s", decl_kind_name(decl->kind), decl->name,
            storage_name(decl->storage));
    flags(d, decl);
    type(d, decl->type);
    if (decl->kind == AR_DECL_ENUMERATOR)
        fprintf(d->out, " = %lld", (long long)decl->value);
    if (!decl->is_system) {
        range(d, "", decl->range);
        if (decl->name_range.end > decl->name_range.begin)
            range(d, "name@", decl->name_range);
        float_place(d, decl->float_token, decl->float_is_alias);
    }
    fputc('\n', d->out);
}

static void decl_tree(dumper *d, const ar_decl *decl, int depth) {
    decl_line(d, decl, depth);
    for (uint32_t i = 0; i < decl->member_count; i++)
        decl_line(d, decl->members[i], depth + 1);
    if (decl->init)
        node(d, decl->init, depth + 1);
    if (decl->body)
        node(d, decl->body, depth + 1);
}

static void node_line(dumper *d, const ar_node *n) {
    fprintf(d->out, "%s", ar_node_kind_name(n->kind));
    if (n->op != AR_OP_NONE)
        fprintf(d->out, " '%s'", ar_op_spelling(n->op));
    if (n->op == AR_OP_POST_INC || n->op == AR_OP_POST_DEC)
        fputs(" post", d->out);
    if (n->decl)
        fprintf(d->out, " '%s'", n->decl->name);
    if (n->text)
        fprintf(d->out, " \"%s\"", n->text);
    if (n->kind == AR_INT_LIT || (n->kind == AR_DESIGNATED && !n->decl))
        fprintf(d->out, " %lld", (long long)n->int_value);
    if (n->kind == AR_FLOAT_LIT)
        fprintf(d->out, " %.9g", n->float_value);
    if (n->is_arrow)
        fputs(" arrow", d->out);
    if (n->is_lvalue_read)
        fputs(" read", d->out);
    type(d, n->type);
    if (n->type_operand) {
        fputs(" of", d->out);
        type(d, n->type_operand);
    }
    range(d, "", n->range);
    range(d, "op@", n->op_range);
    float_place(d, n->float_token, n->float_is_alias);
    fputc('\n', d->out);
}

static void node(dumper *d, const ar_node *n, int depth) {
    indent(d, depth);
    if (!n) {
        fputs("-\n", d->out);
        return;
    }
    node_line(d, n);
    for (uint32_t i = 0; i < n->decl_count; i++)
        decl_tree(d, n->decls[i], depth + 1);
    for (uint32_t i = 0; i < n->kid_count; i++)
        node(d, n->kids[i], depth + 1);
}

static const char *pragma_name(ar_pragma_kind kind) {
    switch (kind) {
    case AR_PRAGMA_AMP:
        return "amp";
    case AR_PRAGMA_OMP:
        return "omp";
    case AR_PRAGMA_LOOP:
        return "loop";
    case AR_PRAGMA_ONCE:
        return "once";
    }
    AR_BUG("pragma %d", (int)kind);
}

static void preprocessing(dumper *d) {
    ar_unit *u = d->unit;
    for (uint32_t i = 0; i < u->includes.count; i++) {
        const ar_include *include = &u->includes.data[i];
        fputs("INCLUDE", d->out);
        if (include->target != AR_NO_FILE)
            fprintf(d->out, " '%s'", u->files.list.data[include->target].name);
        range(d, "", include->range);
        fprintf(d->out, "%s\n", include->in_conditional ? " conditional" : "");
    }
    for (uint32_t i = 0; i < u->macros.count; i++) {
        const ar_macro *macro = &u->macros.data[i];
        fprintf(d->out, "MACRO '%s'%s", macro->name,
                macro->is_function_like ? " function-like" : "");
        range(d, "", macro->range);
        fputc('\n', d->out);
    }
    for (uint32_t i = 0; i < u->pragmas.count; i++) {
        const ar_pragma *pragma = &u->pragmas.data[i];
        fprintf(d->out, "PRAGMA %s \"%s\"", pragma_name(pragma->kind),
                pragma->text);
        range(d, "", pragma->range);
        if (pragma->next_stmt)
            fprintf(d->out, " before %s",
                    ar_node_kind_name(pragma->next_stmt->kind));
        if (pragma->next_decl)
            fprintf(d->out, " before '%s'", pragma->next_decl->name);
        fputc('\n', d->out);
    }
    for (uint32_t i = 0; i < u->skipped.count; i++) {
        fputs("SKIPPED", d->out);
        range(d, "", u->skipped.data[i]);
        fputc('\n', d->out);
    }
}

static const char *language_name(ar_language language) {
    switch (language) {
    case AR_LANG_C:
        return "C";
    case AR_LANG_CUDA_HOST:
        return "CUDA host";
    case AR_LANG_CUDA_DEVICE:
        return "CUDA device";
    }
    AR_BUG("language %d", (int)language);
}

/* Members are shown below their owner, locals below their statement. */
static bool is_shown_elsewhere(const ar_decl *decl) {
    return decl->kind == AR_DECL_PARAM || decl->kind == AR_DECL_FIELD ||
           (decl->kind == AR_DECL_VAR && !decl->is_file_scope);
}

void ar_facts_dump(FILE *out, ar_unit *unit) {
    dumper d = {out, unit};
    fprintf(out, "UNIT '%s' %s%s\n", unit->main_name,
            language_name(unit->language), unit->parsed ? "" : " not parsed");
    if (!unit->parsed)
        return;
    preprocessing(&d);
    for (uint32_t i = 0; i < unit->decls.count; i++)
        if (!is_shown_elsewhere(unit->decls.data[i]))
            decl_tree(&d, unit->decls.data[i], 0);
}
