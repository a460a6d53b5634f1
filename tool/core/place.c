#include "core/place.h"

#include "core/layout.h"

enum { BRACE_ORDER = 100 };

ar_placer ar_placer_new(ar_arena *arena, ar_program *program, ar_edits *edits) {
    return (ar_placer){.arena = arena,
                       .program = program,
                       .edits = edits,
                       .parents = ar_parents_new(arena)};
}

ar_node *ar_placer_parent(ar_placer *placer, const ar_unit *unit,
                          const ar_node *node) {
    return ar_parent_of(&placer->parents, unit, node);
}

static bool is_statement(const ar_node *node) {
    return node->kind >= AR_COMPOUND;
}

ar_node *ar_statement_of(ar_placer *placer, const ar_unit *unit,
                         ar_node *node) {
    while (node && !is_statement(node))
        node = ar_placer_parent(placer, unit, node);
    if (!node)
        return NULL;
    /* for (init; ...): the init is not a place for statements */
    ar_node *parent = ar_placer_parent(placer, unit, node);
    if (parent && parent->kind == AR_FOR && parent->kids[0] == node)
        return parent;
    return node;
}

/* ---- text around statements --------------------------------------------- */

static const ar_file *file_of(ar_program *program, const ar_node *node) {
    return ar_files_load(&program->files, node->range.file);
}

/* The parser's range of most simple statements ends before the semicolon. */
uint32_t ar_statement_end(ar_program *program, const ar_node *statement) {
    const ar_file *file = file_of(program, statement);
    uint32_t end = statement->range.end;
    if (!file || end > file->size || end == 0)
        return end;
    char last = file->bytes[end - 1];
    if (last == ';' || statement->kind == AR_COMPOUND || last == '}')
        return end;
    uint32_t at = ar_skip_blank(file, end);
    return at < file->size && file->bytes[at] == ';' ? at + 1 : end;
}

/* A pragma belongs to the statement after it: text goes before the pragma. */
static uint32_t statement_begin(const ar_unit *unit, const ar_node *statement) {
    uint32_t begin = statement->range.begin;
    for (uint32_t i = unit->pragmas.count; i-- > 0;) {
        const ar_pragma *pragma = &unit->pragmas.data[i];
        if (pragma->next_stmt == statement && pragma->range.begin < begin)
            begin = pragma->range.begin;
    }
    return begin;
}

static void insert(ar_placer *placer, ar_file_id file, uint32_t at,
                   const char *text, int order, const char *why) {
    ar_edit_add(placer->edits, (ar_edit){.range = {file, at, at, false},
                                         .text = text,
                                         .order = order,
                                         .why = why});
}

static bool can_edit(ar_placer *placer, const ar_range *range) {
    return range->file != AR_NO_FILE && !range->in_macro_body &&
           placer->program->editable[range->file];
}

/* A statement that is the whole of a macro's use has text around it like any
 * other; one of several that a use makes has not. */
static bool can_edit_statement(ar_placer *placer, ar_unit *unit,
                               ar_node *statement) {
    ar_range range = statement->range;
    const ar_node *parent = ar_placer_parent(placer, unit, statement);
    if (!range.in_macro_body)
        return can_edit(placer, &range);
    if (!parent || parent->range.in_macro_body)
        return false;
    for (uint32_t i = 0; i < parent->kid_count; i++)
        if (parent->kids[i] && parent->kids[i] != statement &&
            parent->kids[i]->range.file == range.file &&
            parent->kids[i]->range.begin == range.begin)
            return false;
    range.in_macro_body = false;
    return can_edit(placer, &range);
}

/* Where text before a statement goes. A pragma stays at the start of its line:
 * the text gets a line of its own above it. */
typedef struct front {
    uint32_t at;
    bool above_pragma, own_line;
    const char *indent; /* of the statement */
} front;

static front front_of(ar_placer *placer, const ar_unit *unit,
                      const ar_node *statement) {
    const ar_file *file = file_of(placer->program, statement);
    uint32_t begin = statement_begin(unit, statement);
    uint32_t line = ar_line_start(file, begin);
    front place = {
        .at = begin,
        .own_line = ar_is_blank(file, line, begin),
        .indent = ar_indentation(placer->arena, file, statement->range.begin)};
    /* _Pragma("...") may stand behind something on its line */
    place.above_pragma = begin != statement->range.begin && place.own_line;
    if (place.above_pragma)
        place.at = line;
    return place;
}

/* Who jumps to a label comes to what is behind it, so text that belongs to the
 * statement goes there. */
static ar_node *behind_labels(ar_node *statement) {
    while ((statement->kind == AR_LABEL || statement->kind == AR_CASE ||
            statement->kind == AR_DEFAULT) &&
           statement->kid_count && statement->kids[statement->kid_count - 1])
        statement = statement->kids[statement->kid_count - 1];
    return statement;
}

/* What a statement needs before it can have siblings. */
typedef enum room {
    ROOM_THERE,   /* it stands in a block */
    ROOM_IN_LINE, /* braces beside it: `if (c) { a; }` */
    ROOM_BY_LINES /* a brace on the line before and one on a line after it */
} room;

/* Where an opening brace goes on the line before the statement; 0: nowhere. */
static uint32_t brace_place(const ar_file *file, const front *place) {
    if (place->above_pragma || !place->own_line)
        return 0;
    uint32_t at = place->at;
    while (at > 0 && strchr(" \t\r\n", file->bytes[at - 1]))
        at--;
    /* not into a comment or a directive; a backslash continues a macro */
    uint32_t line = ar_line_start(file, at);
    if (file->bytes[ar_skip_space(file, line)] == '#' ||
        strchr("\\/", file->bytes[at - 1]))
        return 0;
    for (uint32_t i = line; i + 1 < at; i++)
        if (file->bytes[i] == '/' && file->bytes[i + 1] == '/')
            return 0;
    return at;
}

static room room_of(ar_placer *placer, ar_unit *unit, ar_node *statement) {
    const ar_node *parent = ar_placer_parent(placer, unit, statement);
    if (!parent || parent->kind == AR_COMPOUND)
        return ROOM_THERE;
    front place = front_of(placer, unit, statement);
    return brace_place(file_of(placer->program, statement), &place)
               ? ROOM_BY_LINES
               : ROOM_IN_LINE;
}

/* Where text after the statement goes: behind a comment about it. */
static uint32_t end_of(ar_placer *placer, ar_unit *unit, ar_node *statement) {
    uint32_t end = ar_statement_end(placer->program, statement);
    return room_of(placer, unit, statement) == ROOM_IN_LINE
               ? end
               : ar_skip_line_comment(file_of(placer->program, statement), end);
}

/* The whole body of an if or a loop gets braces, once. */
static void make_room(ar_placer *placer, ar_unit *unit, ar_node *statement) {
    room kind = room_of(placer, unit, statement);
    if (kind == ROOM_THERE)
        return;
    for (uint32_t i = 0; i < placer->braced.count; i++)
        if (placer->braced.data[i] == statement)
            return;
    AR_PUSH(placer->arena, &placer->braced, statement);
    const ar_file *file = file_of(placer->program, statement);
    ar_file_id id = statement->range.file;
    uint32_t end = end_of(placer, unit, statement);
    front place = front_of(placer, unit, statement);
    if (kind == ROOM_BY_LINES) {
        uint32_t open = brace_place(file, &place);
        insert(placer, id, open, " {", -BRACE_ORDER, "braces");
        insert(placer, id, end,
               ar_sprintf(placer->arena, "\n%s}",
                          ar_indentation(placer->arena, file, open)),
               BRACE_ORDER, "braces");
        return;
    }
    insert(placer, id, place.at,
           place.above_pragma ? ar_sprintf(placer->arena, "%s{\n", place.indent)
                              : "{ ",
           -BRACE_ORDER, "braces");
    insert(placer, id, end, " }", BRACE_ORDER, "braces");
}

bool ar_place_before(ar_placer *placer, ar_unit *unit, ar_node *statement,
                     const char *text, const char *why) {
    statement = behind_labels(statement);
    if (!can_edit_statement(placer, unit, statement))
        return false;
    make_room(placer, unit, statement);
    front place = front_of(placer, unit, statement);
    text = ar_break_call(placer->arena, text, place.indent);
    text = ar_indent_lines(placer->arena, text, place.indent);
    if (place.above_pragma)
        text = ar_sprintf(placer->arena, "%s%s\n", place.indent, text);
    else if (place.own_line)
        text = ar_sprintf(placer->arena, "%s\n%s", text, place.indent);
    else
        text = ar_sprintf(placer->arena, "%s ", text);
    insert(placer, statement->range.file, place.at, text, 0, why);
    return true;
}

bool ar_place_after(ar_placer *placer, ar_unit *unit, ar_node *statement,
                    const char *text, const char *why) {
    if (!can_edit_statement(placer, unit, statement))
        return false;
    make_room(placer, unit, statement);
    const char *indent =
        ar_indentation(placer->arena, file_of(placer->program, statement),
                       statement->range.begin);
    text = ar_break_call(placer->arena, text, indent);
    text = ar_indent_lines(placer->arena, text, indent);
    bool in_line = room_of(placer, unit, statement) == ROOM_IN_LINE;
    insert(placer, statement->range.file, end_of(placer, unit, statement),
           in_line ? ar_sprintf(placer->arena, " %s", text)
                   : ar_sprintf(placer->arena, "\n%s%s", indent, text),
           0, why);
    return true;
}

bool ar_place_replace(ar_placer *placer, ar_range range, const char *text,
                      const char *why) {
    if (!can_edit(placer, &range))
        return false;
    ar_edit_add(placer->edits,
                (ar_edit){.range = range, .text = text, .why = why});
    return true;
}

/* A macro or a string goes on from the line before. */
static bool is_continued(const ar_file *file, uint32_t line) {
    uint32_t end = line > 0 ? line - 1 : 0;
    if (end > 0 && file->bytes[end - 1] == '\r')
        end--;
    return end > 0 && file->bytes[end - 1] == '\\';
}

void ar_place_realign(ar_placer *placer, ar_range list, size_t shift) {
    const ar_file *file = ar_files_load(&placer->program->files, list.file);
    uint32_t open = ar_skip_blank(file, list.begin);
    if (open >= list.end || file->bytes[open] != '(')
        return;
    const char *below = ar_align_below(placer->arena, file, open + 1);
    size_t column = strlen(below);
    if (strchr(below, '\t'))
        return;
    const char *step = ar_sprintf(placer->arena, "%*s", (int)shift, "");
    uint32_t at = ar_next_line(file, open);
    for (; at < list.end; at = ar_next_line(file, at)) {
        uint32_t text = at;
        while (text < file->size && file->bytes[text] == ' ')
            text++;
        if (text - at >= column && !is_continued(file, at))
            insert(placer, list.file, at, step, -BRACE_ORDER - 2, "alignment");
    }
}

bool ar_place_rename(ar_placer *placer, const ar_node *call, const char *name,
                     const char *why) {
    if (!ar_place_replace(placer, call->op_range, name, why))
        return false;
    size_t before = call->op_range.end - call->op_range.begin;
    if (strlen(name) > before)
        ar_place_realign(placer,
                         (ar_range){call->range.file, call->op_range.end,
                                    call->range.end, false},
                         strlen(name) - before);
    return true;
}

/* The call is all that its line is about: nothing but the end of a statement
 * follows, and no declarator or statement precedes it. */
static bool has_own_line(const ar_file *file, uint32_t begin, uint32_t end) {
    for (uint32_t at = ar_line_start(file, begin); at < begin; at++)
        if (file->bytes[at] == ',' || file->bytes[at] == ';')
            return false;
    while (end < file->size && strchr(" \t);", file->bytes[end]))
        end++;
    return end == file->size || strchr("\r\n", file->bytes[end]);
}

bool ar_place_argument(ar_placer *placer, const ar_node *call, const char *text,
                       size_t longer, const char *why) {
    if (!can_edit(placer, &call->range))
        return false;
    const ar_file *file = file_of(placer->program, call);
    uint32_t open = ar_skip_blank(file, call->op_range.end);
    uint32_t at = call->range.end - 1; /* before the closing bracket */
    bool same_line = ar_line_start(file, open) == ar_line_start(file, at);
    uint32_t length = ar_line_length(file, at);
    const char *below = ar_align_below(placer->arena, file, open + 1);
    bool fits = length + longer + strlen(text) + 2 <= AR_LINE_WIDTH;
    if (fits || length > AR_LINE_WIDTH || !same_line || strchr(below, '\t') ||
        !has_own_line(file, call->op_range.begin, call->range.end))
        text = ar_sprintf(placer->arena, ", %s", text);
    else
        text = ar_sprintf(placer->arena, ",\n%s%*s%s", below, (int)longer, "",
                          text);
    insert(placer, call->range.file, at, text, 0, why);
    return true;
}

/* ---- blocks ------------------------------------------------------------- */

/* A jump out of the block would skip the tail. in_loop, in_switch: constructs
 * inside the block that a break or continue may belong to. */
static bool jumps_out(const ar_node *node, bool in_loop, bool in_switch) {
    if (!node)
        return false;
    switch ((int)node->kind) {
    case AR_RETURN:
    case AR_GOTO:
        return true;
    case AR_BREAK:
        return !in_loop && !in_switch;
    case AR_CONTINUE:
        return !in_loop;
    case AR_FOR:
    case AR_WHILE:
    case AR_DO:
        in_loop = true;
        break;
    case AR_SWITCH:
        in_switch = true;
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (jumps_out(node->kids[i], in_loop, in_switch))
            return true;
    return false;
}

/* A jump to a label in the block would skip the head. Its goto is outside: one
 * inside jumps_out. */
static bool jumps_in(const ar_node *node, bool in_switch) {
    if (!node)
        return false;
    if (node->kind == AR_LABEL ||
        (!in_switch && (node->kind == AR_CASE || node->kind == AR_DEFAULT)))
        return true;
    in_switch |= node->kind == AR_SWITCH;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (jumps_in(node->kids[i], in_switch))
            return true;
    return false;
}

static bool mentions(const ar_node *node, const ar_decl *decl) {
    if (!node)
        return false;
    if (node->kind == AR_REF && node->decl == decl)
        return true;
    for (uint32_t i = 0; i < node->kid_count; i++)
        if (mentions(node->kids[i], decl))
            return true;
    for (uint32_t i = 0; i < node->decl_count; i++)
        if (mentions(node->decls[i]->init, decl))
            return true;
    return false;
}

static const char *block_problem(ar_placer *placer, ar_node **list,
                                 uint32_t from, uint32_t to, uint32_t count) {
    for (uint32_t i = from; i <= to; i++) {
        if (jumps_out(list[i], false, false))
            return "a jump leaves it";
        if (jumps_in(i == from ? behind_labels(list[i]) : list[i], false))
            return "a jump leads into it";
        for (uint32_t d = 0; d < list[i]->decl_count; d++)
            for (uint32_t k = to + 1; k < count; k++)
                if (mentions(list[k], list[i]->decls[d]))
                    return ar_sprintf(placer->arena,
                                      "'%s', declared in it, is used after it",
                                      list[i]->decls[d]->name);
    }
    return NULL;
}

/* One step more for every line inside; continuation lines of macros and
 * strings keep their text. */
static void indent_block(ar_placer *placer, ar_file_id id, uint32_t begin,
                         uint32_t end, const char *step) {
    const ar_file *file = ar_files_load(&placer->program->files, id);
    for (uint32_t at = begin; at < end; at++) {
        if (file->bytes[at] != '\n' || at + 1 >= end)
            continue;
        char next = file->bytes[at + 1];
        if (is_continued(file, at + 1) || next == '\n' || next == '\r' ||
            next == '#')
            continue;
        insert(placer, id, at + 1, step, -BRACE_ORDER - 1, "indentation");
    }
}

bool ar_place_block(ar_placer *placer, ar_unit *unit, ar_node *first,
                    ar_node *last, const char *head, const char *tail,
                    const char *why, const char **problem) {
    *problem = "it comes from a macro body or a file outside the rewrite set";
    if (!can_edit_statement(placer, unit, first) ||
        !can_edit_statement(placer, unit, last))
        return false;
    ar_node *parent = ar_placer_parent(placer, unit, first);
    ar_node *alone[1] = {first};
    ar_node **list = alone;
    uint32_t count = 1, from = 0, to = 0;
    if (parent && parent->kind == AR_COMPOUND) {
        list = parent->kids;
        count = parent->kid_count;
        while (from < count && list[from] != first)
            from++;
        to = from;
        while (to < count && list[to] != last)
            to++;
        if (to >= count)
            AR_BUG("step region is not a run of siblings");
    } else if (first != last) {
        AR_BUG("step region of several statements without a block");
    }
    *problem = block_problem(placer, list, from, to, count);
    if (*problem)
        return false;

    const ar_file *file = file_of(placer->program, first);
    make_room(placer, unit, first);
    front place = front_of(placer, unit, behind_labels(first));
    uint32_t end = end_of(placer, unit, last);
    const char *indent = place.indent;
    const char *step = ar_indentation_step(indent);
    ar_file_id id = first->range.file;
    char next = file->bytes[place.at];
    bool at_margin = place.above_pragma && next != ' ' && next != '\t';
    /* order 1: the unscale that may precede the step comes first */
    insert(placer, id, place.at,
           ar_sprintf(placer->arena, "%s%s {\n%s%s",
                      place.above_pragma ? indent : "", head,
                      place.above_pragma ? "" : indent, at_margin ? "" : step),
           1, why);
    indent_block(placer, id, place.at, end, step);
    insert(placer, id, end,
           ar_sprintf(placer->arena, "\n%s}\n%s%s", indent, indent, tail), -1,
           why);
    return true;
}

/* ---- expressions -------------------------------------------------------- */

static const ar_node *without_implicit(const ar_node *node) {
    while (node->kind == AR_IMPLICIT && node->kid_count)
        node = node->kids[0];
    return node;
}

/* Binds at least as tightly as a multiplication, so `e * f` is (e) * f. */
static bool binds_tightly(const ar_node *node) {
    node = without_implicit(node);
    switch ((int)node->kind) {
    case AR_BINARY:
        return node->op == AR_OP_MUL || node->op == AR_OP_DIV;
    case AR_ASSIGN:
    case AR_COMPOUND_ASSIGN:
    case AR_CONDITIONAL:
    case AR_COMMA:
        return false;
    default:
        return true;
    }
}

/* Does the surrounding construct end the expression by itself? */
static bool is_delimited(ar_placer *placer, const ar_unit *unit,
                         const ar_node *node) {
    const ar_node *parent = ar_placer_parent(placer, unit, node);
    while (parent && parent->kind == AR_IMPLICIT) {
        node = parent;
        parent = ar_placer_parent(placer, unit, parent);
    }
    if (!parent)
        return true;
    switch ((int)parent->kind) {
    case AR_ASSIGN:
    case AR_COMPOUND_ASSIGN:
        return parent->kids[1] == node;
    case AR_CALL:
    case AR_LAUNCH:
        return parent->kids[0] != node;
    case AR_INDEX:
        return parent->kids[1] == node;
    case AR_INIT_LIST:
    case AR_DECL_STMT:
    case AR_RETURN:
        return true;
    default:
        return false;
    }
}

static bool wrap(ar_placer *placer, const ar_node *expression,
                 ar_place_layer layer, const char *head, const char *tail,
                 const char *why) {
    if (!can_edit(placer, &expression->range))
        return false;
    ar_edit_wrap(placer->edits,
                 (ar_wrap){expression->range, (int)layer, head, tail, why});
    return true;
}

bool ar_place_around(ar_placer *placer, ar_node *expression, const char *head,
                     const char *tail, const char *why) {
    return wrap(placer, expression, AR_LAYER_CALL, head, tail, why);
}

bool ar_place_factor(ar_placer *placer, ar_unit *unit, ar_node *expression,
                     const char *factor, const char *why) {
    bool inner = !binds_tightly(expression);
    bool outer = !is_delimited(placer, unit, expression);
    const char *head =
        ar_sprintf(placer->arena, "%s%s", outer ? "(" : "", inner ? "(" : "");
    const char *tail = ar_sprintf(placer->arena, "%s * %s%s", inner ? ")" : "",
                                  factor, outer ? ")" : "");
    return wrap(placer, expression, AR_LAYER_FACTOR, head, tail, why);
}
