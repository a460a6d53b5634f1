/* How C text is laid out: lines, indentation, comments, and what fits into a
 * line. Offsets are bytes of a file; nothing here is edited. */
#ifndef AR_LAYOUT_H
#define AR_LAYOUT_H

#include "base/source.h"

enum { AR_LINE_WIDTH = 80 };

/* Part of an identifier. */
static inline bool ar_is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}
uint32_t ar_line_start(const ar_file *file, uint32_t at);
/* The start of the line after the one that holds `at`, or the end. */
uint32_t ar_next_line(const ar_file *file, uint32_t at);
/* Without its line end. */
uint32_t ar_line_length(const ar_file *file, uint32_t at);
uint32_t ar_skip_space(const ar_file *file, uint32_t at);
/* Spaces, line ends and comments. */
uint32_t ar_skip_blank(const ar_file *file, uint32_t at);
/* Behind a comment that ends the line of `at`; else `at`. */
uint32_t ar_skip_line_comment(const ar_file *file, uint32_t at);
/* Spaces and tabs only. */
bool ar_is_blank(const ar_file *file, uint32_t begin, uint32_t end);

/* The white space that the line of `at` starts with, up to `at`. */
const char *ar_indentation(ar_arena *arena, const ar_file *file, uint32_t at);
/* White space that ends below the byte at `at`. */
const char *ar_align_below(ar_arena *arena, const ar_file *file, uint32_t at);
/* One level more than this. */
const char *ar_indentation_step(const char *indent);
/* Every line but the first is indented. */
const char *ar_indent_lines(ar_arena *arena, const char *text,
                            const char *indent);
/* head item, item, ... tail: broken before an item that would pass the width,
 * and aligned behind the head. indent goes in front of the first line. */
const char *ar_wrap_list(ar_arena *arena, const char *indent, const char *head,
                         const char *const *items, uint32_t count,
                         const char *tail);
/* A call with places to break it at, \v, which become spaces if all of it fits
 * behind the indentation (or that has tabs, whose width is not known), and line
 * ends aligned with the first argument if not. */
const char *ar_break_call(ar_arena *arena, const char *text,
                          const char *indent);

#endif
