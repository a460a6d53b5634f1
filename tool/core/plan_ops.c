/* Redirected calls, the wrappers around user functions, and the includes. */
#include "core/layout.h"
#include "core/plan.h"
#include "core/plan_storage.h"

#include <ctype.h>
#include <stdlib.h>

static bool is_mixed(const ar_plan *plan, const ar_op_site *site) {
    return plan->storage && ar_op_has_half_operand(plan->storage, site->node);
}

static const char *header_of(const ar_plan *plan, const ar_op_site *site) {
    return is_mixed(plan, site) ? ar_mixed_header(site->rule)
                                : site->rule->header;
}

static const char *replacement_name(ar_plan *plan, const ar_op_site *site) {
    bool mixed = is_mixed(plan, site);
    if (!site->rule->arguments)
        return mixed ? ar_mixed_target(plan->arena, site->rule)
                     : site->rule->target;
    return ar_sprintf(plan->arena, "%s_amp%s", site->callee->decl->name,
                      mixed ? "_mixed" : "");
}

/* ---- wrappers ----------------------------------------------------------- */

typedef struct wrapper {
    const ar_op_site *site;
    ar_file_id file;
    uint32_t at; /* insertion offset, after a declaration or the includes */
    bool after_includes;
    bool mixed; /* its matrices are passed as amp_buffer */
} wrapper;

typedef AR_VEC(wrapper) wrapper_list;

/* The rule's parameter names, which stand in the target's arguments, become
 * the function's own. */
static const char *rename_parameters(ar_plan *plan,
                                     const ar_function_rule *rule,
                                     const ar_decl *function,
                                     const char *text) {
    ar_str out = {.arena = plan->arena};
    while (*text) {
        if (!ar_is_word(*text) || isdigit((unsigned char)*text)) {
            do
                ar_str_addn(&out, text++, 1);
            while (*text && ar_is_word(text[-1]) && ar_is_word(*text));
            continue;
        }
        size_t length = 0;
        while (ar_is_word(text[length]))
            length++;
        const char *word = ar_strndup(plan->arena, text, length);
        for (uint32_t i = 0; i < rule->param_count; i++)
            if (strcmp(rule->params[i].name, word) == 0 &&
                i < function->member_count) {
                word = function->members[i]->name;
                break;
            }
        ar_str_add(&out, word);
        text += length;
    }
    return ar_str_text(&out);
}

/* As it is written. Of what K&R declares together, `const float *a, *b`, each
 * gets the words in front and its own part. */
static const char *parameter_text(ar_plan *plan, const ar_decl *function,
                                  uint32_t index) {
    const ar_decl *param = function->members[index], *first = param;
    for (uint32_t i = 0; i < function->member_count; i++) {
        const ar_decl *other = function->members[i];
        if (other->range.begin == first->range.begin &&
            other->range.end < first->range.end)
            first = other;
    }
    ar_files *files = &plan->program->files;
    const char *text = ar_text(plan->arena, files, param->range);
    const char *own = strrchr(text, ',');
    if (first == param || !own)
        return text;
    uint32_t words = first->name_range.begin - first->range.begin;
    const char *star = memchr(text, '*', words);
    int length = star ? (int)(star - text) : (int)words;
    own += 1 + strspn(own + 1, " \t\r\n");
    return ar_sprintf(plan->arena, "%.*s%s", length, text, own);
}

static bool is_matrix(const ar_function_rule *rule, const ar_decl *function,
                      uint32_t index) {
    return index < rule->param_count &&
           rule->params[index].direction != AR_DIR_VALUE &&
           ar_float_depth(function->members[index]->type) == 1;
}

/* What a wrapper is made of. */
typedef struct wrapper_parts {
    const char **params, **names; /* of the function */
    uint32_t count;
    const char **passed; /* to the target */
    uint32_t passed_count;
    const char *target;
} wrapper_parts;

static wrapper_parts parts_of(ar_plan *plan, const ar_op_site *site,
                              const ar_decl *function, bool mixed) {
    const ar_function_rule *rule = site->rule;
    ar_arena *arena = plan->arena;
    wrapper_parts parts = {
        .count = function->member_count,
        .params = AR_NEW_ARRAY(arena, const char *, function->member_count + 1),
        .names = AR_NEW_ARRAY(arena, const char *, function->member_count + 1),
        .passed = AR_NEW_ARRAY(arena, const char *, rule->argument_count + 1),
        .passed_count = rule->argument_count,
        .target = mixed ? ar_mixed_target(arena, rule) : rule->target};
    for (uint32_t i = 0; i < parts.count; i++) {
        const char *name = function->members[i]->name;
        bool buffer = mixed && is_matrix(rule, function, i);
        parts.params[i] = buffer ? ar_sprintf(arena, "amp_buffer %s", name)
                                 : parameter_text(plan, function, i);
        parts.names[i] = buffer ? ar_sprintf(arena, "%s.data", name) : name;
    }
    for (uint32_t i = 0; i < rule->argument_count; i++)
        parts.passed[i] =
            rename_parameters(plan, rule, function, rule->arguments[i]);
    return parts;
}

/* With half matrices the runtime declines in the neutral build only, where
 * all of them are float. */
static void add_body(ar_arena *arena, ar_str *out, const ar_decl *function,
                     const wrapper_parts *parts, bool mixed) {
    ar_str_add(out,
               ar_wrap_list(arena, "    ",
                            ar_sprintf(arena, "if (%s(", parts->target),
                            parts->passed, parts->passed_count,
                            mixed ? ") == AMP_DECLINED)" : ") != AMP_OK)"));
    ar_str_add(out, "\n");
    ar_str_add(out, ar_wrap_list(arena, "        ",
                                 ar_sprintf(arena, "%s(", function->name),
                                 parts->names, parts->count, ");"));
    ar_str_add(out, "\n");
}

static const char *wrapper_text(ar_plan *plan, const ar_op_site *site,
                                const ar_decl *function, bool mixed) {
    ar_arena *arena = plan->arena;
    wrapper_parts parts = parts_of(plan, site, function, mixed);
    ar_str out = {.arena = arena};
    ar_str_addf(&out,
                mixed ? "/* %s on matrices of either precision */\n"
                      : "/* %s in half precision where it pays, else as it was "
                        "*/\n",
                function->name);
    ar_str_add(&out,
               ar_wrap_list(arena, "",
                            ar_sprintf(arena, "static inline void %s_amp%s(",
                                       function->name, mixed ? "_mixed" : ""),
                            parts.params, parts.count, ")"));
    ar_str_add(&out, "\n{\n");
    add_body(arena, &out, function, &parts, mixed);
    ar_str_add(&out, "}\n");
    return ar_str_text(&out);
}

/* The end of the declaration, with the semicolon of a prototype. */
static uint32_t declaration_end(ar_plan *plan, const ar_decl *decl) {
    if (decl->body)
        return decl->range.end;
    ar_node fake = {.kind = AR_EXPR_STMT, .range = decl->range};
    return ar_statement_end(plan->program, &fake);
}

/* A blank line between the wrapper and what follows it. */
static const char *gap_after(ar_plan *plan, const wrapper *made) {
    const ar_file *file = ar_files_load(&plan->program->files, made->file);
    uint32_t next = ar_next_line(file, made->at);
    bool ends_line = ar_skip_space(file, made->at) >= next;
    return ends_line && next < file->size && ar_skip_space(file, next) == next
               ? "\n"
               : "";
}

/* The first declaration in this file, else in an editable header (one wrapper
 * then serves every file that includes it), else behind the includes. */
static wrapper wrapper_place(ar_plan *plan, const ar_op_site *site) {
    bool mixed = is_mixed(plan, site);
    ar_file_id here = site->node->range.file;
    const ar_decl *local = NULL, *header = NULL;
    for (uint32_t i = 0; i < site->callee->all_count; i++) {
        const ar_decl *decl = site->callee->all[i];
        if (decl->range.in_macro_body)
            continue;
        if (decl->range.file == here &&
            (!local || decl->range.begin < local->range.begin))
            local = decl;
        /* a header's prototype is seen before anything in the file */
        if (decl->range.file != here && !decl->body &&
            plan->program->editable[decl->range.file])
            header = decl;
    }
    bool is_main_file = false;
    if (header)
        for (uint32_t i = 0; i < plan->program->unit_count; i++)
            is_main_file |=
                plan->program->units[i]->main_file == header->range.file;
    if (header && !is_main_file)
        return (wrapper){site, header->range.file,
                         declaration_end(plan, header), false, mixed};
    if (local && local->range.begin < site->node->range.begin)
        return (wrapper){site, here, declaration_end(plan, local), false,
                         mixed};
    return (wrapper){site, here, 0, true, mixed};
}

static bool add_wrapper(ar_plan *plan, wrapper_list *wrappers,
                        const ar_op_site *site) {
    wrapper made = wrapper_place(plan, site);
    for (uint32_t i = 0; i < wrappers->count; i++)
        if (wrappers->data[i].site->callee == site->callee &&
            wrappers->data[i].file == made.file &&
            wrappers->data[i].mixed == made.mixed)
            return true;
    const ar_decl *function = ar_named_declaration(site->callee);
    const char *name = replacement_name(plan, site);
    ar_range taken = ar_find_name(plan->program, name);
    if (taken.file != AR_NO_FILE) {
        ar_report(plan->diags, AR_DIAG_OP_NAME_TAKEN, taken, name);
        return false;
    }
    AR_PUSH(plan->arena, wrappers, made);
    ar_plan_need_header(plan, made.file, header_of(plan, site));
    const char *text = wrapper_text(plan, site, function, made.mixed);
    if (made.after_includes)
        return true; /* written with the includes */
    ar_edit_add(plan->edits,
                (ar_edit){.range = {made.file, made.at, made.at, false},
                          .text = ar_sprintf(plan->arena, "\n\n%.*s%s",
                                             (int)strlen(text) - 1, text,
                                             gap_after(plan, &made)),
                          .why = "wrapper"});
    return true;
}

/* Each matrix goes with its type: a -> AMP_BUFFER(a). */
static void pass_buffers(ar_plan *plan, const ar_op_site *site) {
    const ar_node *call = site->node;
    for (uint32_t i = 0; i + 1 < call->kid_count; i++) {
        ar_node *matrix = call->kids[i + 1];
        if (i >= site->rule->param_count ||
            site->rule->params[i].direction == AR_DIR_VALUE)
            continue;
        ar_range null = matrix->range;
        null.in_macro_body = false; /* NULL is a macro */
        if (ar_is_null_pointer(matrix))
            ar_place_replace(&plan->placer, null, "AMP_NO_BUFFER",
                             "half operand");
        else
            ar_place_around(&plan->placer, matrix, "AMP_BUFFER(", ")",
                            "half operand");
    }
}

/* A call that stays FP32 at any level, but is given half. */
static bool convert_operands(ar_plan *plan, const ar_op_site *site) {
    if (site->form != AR_OP_CALL || !site->callee || !is_mixed(plan, site))
        return true;
    const ar_decl *callee = site->callee->decl;
    const char *name = ar_mixed_call(plan->arena, site->rule, callee->name);
    if (!name || ar_definition_of(plan->program, callee))
        return true;
    if (!ar_place_rename(&plan->placer, site->node, name, "half operand")) {
        ar_report(plan->diags, AR_DIAG_OP_IN_MACRO, site->node->range,
                  callee->name);
        return false;
    }
    pass_buffers(plan, site);
    ar_plan_need_header(plan, site->node->range.file,
                        "amp/amp_cblas_storage.h");
    return true;
}

bool ar_plan_ops(ar_plan *plan, const ar_ops *ops) {
    bool ok = true;
    wrapper_list wrappers = {0};
    for (uint32_t i = 0; i < ops->list.count; i++) {
        const ar_op_site *site = &ops->list.data[i];
        if (!site->half) {
            ok = convert_operands(plan, site) && ok;
            continue;
        }
        if (!ar_place_rename(&plan->placer, site->node,
                             replacement_name(plan, site), site->reason)) {
            ar_report(plan->diags, AR_DIAG_OP_IN_MACRO, site->node->range,
                      site->callee->decl->name);
            ok = false;
            continue;
        }
        if (is_mixed(plan, site))
            pass_buffers(plan, site);
        if (site->rule->arguments)
            ok = add_wrapper(plan, &wrappers, site) && ok;
        else
            ar_plan_need_header(plan, site->node->range.file,
                                header_of(plan, site));
    }
    /* Wrappers without a declaration to stand behind follow the includes. */
    for (uint32_t i = 0; i < wrappers.count; i++) {
        const wrapper *w = &wrappers.data[i];
        if (!w->after_includes)
            continue;
        const ar_decl *function = ar_named_declaration(w->site->callee);
        const char *text = wrapper_text(plan, w->site, function, w->mixed);
        ar_plan_need_header(plan, w->file,
                            ar_sprintf(plan->arena, "\n%s", text));
    }
    return ok;
}

/* ---- includes ----------------------------------------------------------- */

static bool has_code_before(ar_plan *plan, ar_file_id file, uint32_t offset) {
    for (uint32_t u = 0; u < plan->program->unit_count; u++) {
        const ar_unit *unit = plan->program->units[u];
        for (uint32_t i = 0; i < unit->decls.count; i++) {
            const ar_decl *decl = unit->decls.data[i];
            if (decl->kind == AR_DECL_FUNCTION && decl->body &&
                decl->range.file == file && decl->range.end <= offset)
                return true;
        }
    }
    return false;
}

/* Behind the last unconditional include before the first function. */
static uint32_t include_place(ar_plan *plan, ar_file_id file) {
    uint32_t place = UINT32_MAX;
    for (uint32_t u = 0; u < plan->program->unit_count; u++) {
        const ar_unit *unit = plan->program->units[u];
        for (uint32_t i = 0; i < unit->includes.count; i++) {
            const ar_include *include = &unit->includes.data[i];
            if (include->range.file == file && !include->in_conditional &&
                (place == UINT32_MAX || include->range.end > place) &&
                include->range.end <= plan->first_use[file] &&
                !has_code_before(plan, file, include->range.begin))
                place = include->range.end;
        }
    }
    return place;
}

static const char *include_lines(ar_plan *plan, ar_file_id file) {
    ar_str out = {.arena = plan->arena};
    if (plan->options.bf16)
        ar_str_add(&out, "#define AMP_HALF_DEFAULT AMP_BF16\n");
    if (plan->options.no_scaling)
        ar_str_add(&out, "#define AMP_NO_LOSS_SCALING\n");
    ar_str_add(&out, "#include <amp/amp.h>\n");
    for (uint32_t i = 0; i < plan->headers[file].count; i++) {
        const char *header = plan->headers[file].data[i];
        if (*header == '\n')
            ar_str_add(&out, header);
        else
            ar_str_addf(&out, "#include <%s>\n", header);
    }
    return ar_str_text(&out);
}

static bool starts_with(const ar_file *file, uint32_t at, const char *text) {
    size_t length = strlen(text);
    return file->size - at >= length &&
           memcmp(file->bytes + at, text, length) == 0;
}

/* Behind the lines of a comment, or of // comments in a row; `at` if there is
 * none. */
static uint32_t skip_comment(const ar_file *file, uint32_t at) {
    uint32_t p = ar_skip_space(file, at);
    if (starts_with(file, p, "/*")) {
        for (p += 2; p < file->size && !starts_with(file, p, "*/");)
            p++;
        return ar_next_line(file, p);
    }
    if (!starts_with(file, p, "//"))
        return at;
    while (starts_with(file, p, "//"))
        p = ar_next_line(file, p);
    return p;
}

/* The word behind a directive, or NULL: "#ifndef NAME", "# ifndef NAME". */
static const char *directive_word(ar_arena *arena, const ar_file *file,
                                  uint32_t at, const char *directive) {
    uint32_t end = ar_next_line(file, at);
    const char *line = ar_strndup(arena, file->bytes + at, end - at);
    char hash[2], name[16];
    char *word = ar_strdup(arena, line);
    if (sscanf(line, " %1[#] %15[a-z] %s", hash, name, word) != 3 ||
        strcmp(name, directive) != 0)
        return NULL;
    return word;
}

/* Where there is no include to stand behind: inside an include guard, else
 * after the comment that opens the file (and a BOM) unless that is about the
 * code right behind it. */
static uint32_t top_of_file(ar_plan *plan, ar_file_id id) {
    const ar_file *file = ar_files_load(&plan->program->files, id);
    uint32_t top = starts_with(file, 0, "\xef\xbb\xbf") ? 3 : 0;
    uint32_t guard = top, next;
    while ((next = skip_comment(file, guard)) != guard)
        guard = next;
    guard = ar_skip_space(file, guard);
    const char *once = directive_word(plan->arena, file, guard, "pragma");
    if (once && strcmp(once, "once") == 0)
        return ar_next_line(file, guard);
    const char *name = directive_word(plan->arena, file, guard, "ifndef");
    uint32_t second = ar_next_line(file, guard);
    const char *defined =
        name ? directive_word(plan->arena, file, second, "define") : NULL;
    if (defined && strcmp(name, defined) == 0)
        return ar_next_line(file, second);
    uint32_t behind = skip_comment(file, top);
    bool glued = behind < file->size && file->bytes[behind] != '#' &&
                 ar_skip_space(file, behind) == behind;
    return glued ? top : behind;
}

bool ar_plan_includes(ar_plan *plan) {
    for (uint32_t id = 0; id < plan->program->files.list.count; id++) {
        if (!plan->needs_amp[id])
            continue;
        const char *lines = include_lines(plan, id);
        uint32_t at = include_place(plan, id);
        const char *text;
        if (at == UINT32_MAX) {
            at = top_of_file(plan, id);
            text = lines;
        } else {
            text = ar_sprintf(plan->arena, "\n%.*s", (int)strlen(lines) - 1,
                              lines);
        }
        ar_edit_add(plan->placer.edits, (ar_edit){.range = {id, at, at, false},
                                                  .text = text,
                                                  .order = -1000,
                                                  .why = "include"});
    }
    return true;
}
