#include "core/layout.h"

#include <ctype.h>

/* ---- lines --------------------------------------------------------------- */

uint32_t ar_line_start(const ar_file *file, uint32_t at) {
    while (at > 0 && file->bytes[at - 1] != '\n')
        at--;
    return at;
}

uint32_t ar_next_line(const ar_file *file, uint32_t at) {
    while (at < file->size && file->bytes[at] != '\n')
        at++;
    return at + (at < file->size);
}

uint32_t ar_line_length(const ar_file *file, uint32_t at) {
    uint32_t begin = ar_line_start(file, at), end = at;
    while (end < file->size && file->bytes[end] != '\n' &&
           file->bytes[end] != '\r')
        end++;
    return end - begin;
}

uint32_t ar_skip_space(const ar_file *file, uint32_t at) {
    while (at < file->size && isspace((unsigned char)file->bytes[at]))
        at++;
    return at;
}

uint32_t ar_skip_blank(const ar_file *file, uint32_t at) {
    while (at < file->size) {
        const char *p = file->bytes + at;
        if (isspace((unsigned char)*p)) {
            at++;
        } else if (at + 1 < file->size && p[0] == '/' && p[1] == '*') {
            at += 2;
            while (at + 1 < file->size &&
                   !(file->bytes[at] == '*' && file->bytes[at + 1] == '/'))
                at++;
            at += 2;
        } else if (at + 1 < file->size && p[0] == '/' && p[1] == '/') {
            while (at < file->size && file->bytes[at] != '\n')
                at++;
        } else {
            break;
        }
    }
    return at < file->size ? at : file->size;
}

uint32_t ar_skip_line_comment(const ar_file *file, uint32_t at) {
    uint32_t end = at;
    while (end < file->size && file->bytes[end] != '\n' &&
           file->bytes[end] != '\r')
        end++;
    uint32_t next = at;
    while (next < end &&
           (file->bytes[next] == ' ' || file->bytes[next] == '\t'))
        next++;
    if (next + 1 >= end || file->bytes[next] != '/')
        return at;
    if (file->bytes[next + 1] == '/')
        return end;
    if (file->bytes[next + 1] == '*' && ar_skip_blank(file, next) >= end &&
        memchr(file->bytes + next, '*', end - next) && end >= 2 &&
        file->bytes[end - 1] == '/' && file->bytes[end - 2] == '*')
        return end;
    return at;
}

bool ar_is_blank(const ar_file *file, uint32_t begin, uint32_t end) {
    for (; begin < end; begin++)
        if (file->bytes[begin] != ' ' && file->bytes[begin] != '\t')
            return false;
    return true;
}

/* ---- indentation --------------------------------------------------------- */

const char *ar_indentation(ar_arena *arena, const ar_file *file, uint32_t at) {
    uint32_t begin = ar_line_start(file, at), end = begin;
    while (end < at && (file->bytes[end] == ' ' || file->bytes[end] == '\t'))
        end++;
    return ar_strndup(arena, file->bytes + begin, end - begin);
}

const char *ar_align_below(ar_arena *arena, const ar_file *file, uint32_t at) {
    uint32_t begin = ar_line_start(file, at);
    char *text = ar_strndup(arena, file->bytes + begin, at - begin);
    for (char *c = text; *c; c++)
        if (*c != '\t')
            *c = ' ';
    return text;
}

const char *ar_indentation_step(const char *indent) {
    size_t length = strlen(indent);
    return length && indent[length - 1] == '\t' ? "\t" : "    ";
}

const char *ar_indent_lines(ar_arena *arena, const char *text,
                            const char *indent) {
    ar_str out = {.arena = arena};
    for (const char *p = text; *p; p++) {
        ar_str_addn(&out, p, 1);
        if (*p == '\n')
            ar_str_add(&out, indent);
    }
    return ar_str_text(&out);
}

const char *ar_wrap_list(ar_arena *arena, const char *indent, const char *head,
                         const char *const *items, uint32_t count,
                         const char *tail) {
    ar_str out = {.arena = arena};
    size_t column = strlen(indent) + strlen(head);
    size_t align = column < AR_LINE_WIDTH / 2 ? column : strlen(indent) + 8;
    ar_str_addf(&out, "%s%s", indent, head);
    for (uint32_t i = 0; i < count; i++) {
        const char *end = i + 1 < count ? "," : tail;
        size_t width = strlen(items[i]) + strlen(end);
        if (i && column + 1 + width > AR_LINE_WIDTH) {
            ar_str_addf(&out, "\n%*s", (int)align, "");
            column = align;
        } else if (i) {
            ar_str_add(&out, " ");
            column++;
        }
        ar_str_addf(&out, "%s%s", items[i], end);
        column += width;
    }
    if (!count)
        ar_str_add(&out, tail);
    return ar_str_text(&out);
}

const char *ar_break_call(ar_arena *arena, const char *text,
                          const char *indent) {
    const char *bracket = strchr(text, '(');
    bool fits = !bracket || strchr(indent, '\t') ||
                strlen(indent) + strlen(text) <= AR_LINE_WIDTH;
    ar_str out = {.arena = arena};
    for (const char *p = text; *p; p++) {
        if (*p != '\v')
            ar_str_addn(&out, p, 1);
        else if (fits)
            ar_str_add(&out, " ");
        else
            ar_str_addf(&out, "\n%*s", (int)(bracket + 1 - text), "");
    }
    return ar_str_text(&out);
}
