/* Storage edits: initialisers of arrays.
 *
 * An array that lives as long as its block is given converted values. One that
 * is there from the start takes constants only, and those have no conversion in
 * C: `AMP_HALF_CONST(0.5f, 0x3800, 0x3f00)` says the bits of both half types
 * beside the number that it stands for. */
#include "core/layout.h"
#include "core/plan_storage_parts.h"

#include <ctype.h>

/* ---- numbers ------------------------------------------------------------- */

static bool is_floating(const ar_type *type) {
    return ar_is_float(type) || ar_is_kind(type, AR_TYPE_DOUBLE);
}

/* Without conversions that keep its value; (int)1.5 is another number. */
static const ar_node *without_casts(const ar_node *node) {
    while (node->kid_count &&
           ((node->kind == AR_IMPLICIT &&
             (is_floating(node->type) ||
              ar_is_kind(node->kids[0]->type, AR_TYPE_INT))) ||
            (node->kind == AR_CAST && is_floating(node->type))))
        node = node->kids[0];
    return node;
}

/* The sign is of the integer's own arithmetic: -0 is 0, and -1u is no small
 * number. */
static bool is_whole_number(const ar_node *node, bool is_negative,
                            float *value) {
    int64_t number = node->int_value;
    if (!ar_is_kind(node->type, AR_TYPE_INT) || number < 0 ||
        (is_negative && !node->type->is_signed))
        return false;
    *value = (float)(is_negative ? -number : number);
    return true;
}

/* A plain number, perhaps with a sign; its text is its own. */
static bool is_number(const ar_node *node, float *value) {
    bool is_negative = false;
    if (node->range.in_macro_body)
        return false;
    node = without_casts(node);
    if (node->kind == AR_UNARY && node->op == AR_OP_MINUS) {
        is_negative = true;
        node = without_casts(node->kids[0]);
    }
    if (node->range.in_macro_body)
        return false;
    if (node->kind == AR_INT_LIT)
        return is_whole_number(node, is_negative, value);
    if (node->kind != AR_FLOAT_LIT)
        return false;
    *value = (float)(is_negative ? -node->float_value : node->float_value);
    return true;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Without the last `count` bits, to nearest even. */
static uint32_t rounded(uint32_t bits, int count) {
    uint32_t below_half = (1u << (count - 1)) - 1;
    return (bits + below_half + (bits >> count & 1u)) >> count;
}

/* As amp_to_half. */
static unsigned fp16_bits(float x) {
    uint32_t sign = bits_of(x) >> 16 & 0x8000u;
    uint32_t size = bits_of(x) & 0x7fffffffu;
    if (size >= 0x477ff000u) /* 65520, half way to what is too much */
        return sign | 0x7c00u;
    if (size >= 0x38800000u) /* 2^-14: exponents move down by 112 */
        return sign | rounded(size - 0x38000000u, 13);
    /* a whole number of 2^-24, which float adds to 2^23 and rounds */
    float unit = 0x1p-24f, sum = 0x1p23f + (x < 0 ? -x : x) / unit;
    return sign | (bits_of(sum) & 0x7ffu);
}

static unsigned bf16_bits(float x) {
    return rounded(bits_of(x), 16);
}

/* ---- lists --------------------------------------------------------------- */

static bool holds(const ar_node *root, const ar_node *node) {
    if (!root || root == node)
        return root == node;
    for (uint32_t i = 0; i < root->kid_count; i++)
        if (holds(root->kids[i], node))
            return true;
    return false;
}

static const ar_decl *declared_with(const ar_node *root, const ar_node *list) {
    if (!root)
        return NULL;
    for (uint32_t i = 0; i < root->decl_count; i++)
        if (holds(root->decls[i]->init, list))
            return root->decls[i];
    const ar_decl *found = NULL;
    for (uint32_t i = 0; i < root->kid_count && !found; i++)
        found = declared_with(root->kids[i], list);
    return found;
}

static bool takes_constants(const ar_site *site) {
    if (!site->where.function)
        return true;
    const ar_decl *decl = declared_with(site->where.function->body, site->node);
    return decl && decl->storage != AR_STORAGE_AUTO;
}

static const ar_node *value_of(const ar_node *kid) {
    while (kid->kind == AR_DESIGNATED && kid->kid_count)
        kid = kid->kids[0];
    return kid;
}

/* { 0 } is zero in every type. */
static bool is_zero(const ar_rewriter *r, const ar_node *list) {
    if (list->kid_count != 1)
        return list->kid_count == 0;
    const ar_node *only = ar_skip_casts(list->kids[0]);
    return only->kind == AR_INT_LIT && only->int_value == 0 &&
           !ar_text_problem(r, only->range);
}

/* It lies in no other list: a compiler that asks for all the braces of a type
 * lets { 0 } pass there, and only there. */
static bool is_whole(const ar_rewriter *r, const ar_site *site) {
    const ar_unit *unit = site->where.unit;
    const ar_node *parent =
        ar_storage_parent(r->storage->index, unit, site->node);
    if (parent)
        return parent->kind != AR_INIT_LIST && parent->kind != AR_DESIGNATED;
    for (uint32_t i = 0; i < unit->decls.count; i++)
        if (unit->decls.data[i]->init == site->node)
            return true;
    return false;
}

static bool takes_numbers(const ar_node *list) {
    return ar_is_kind(list->type, AR_TYPE_ARRAY) &&
           ar_is_float(list->type->element);
}

/* One text that gives several values, or one in braces of its own. */
static const char *value_problem(const ar_rewriter *r, const ar_node *list,
                                 uint32_t i, bool is_constant) {
    const ar_node *value = value_of(list->kids[i]);
    ar_range range = value->range;
    float number;
    if (value->kind == AR_INIT_LIST || value->kind == AR_DESIGNATED)
        return "its initialiser has braces around one number";
    for (uint32_t k = 0; k < list->kid_count; k++)
        if (k != i && value_of(list->kids[k])->range.begin == range.begin)
            return "a macro gives several numbers of its initialiser";
    if (is_constant && !is_number(value, &number))
        return "its initialiser must be constant, and is more than plain "
               "numbers";
    range.in_macro_body = false;
    return ar_text_problem(r, range);
}

static uint32_t skip_blank_back(const ar_file *file, uint32_t at) {
    while (at > 0 && isspace((unsigned char)file->bytes[at - 1]))
        at--;
    return at;
}

/* With the brackets that a number has around it, not those of a macro:
 * AMP_HALF_CONST may give braces, and ({ is something else. */
static ar_range with_brackets(const ar_rewriter *r, ar_range range) {
    const ar_file *file = ar_files_load(&r->program->files, range.file);
    for (;;) {
        uint32_t begin = skip_blank_back(file, range.begin);
        uint32_t end = ar_skip_blank(file, range.end);
        if (begin == 0 || end >= file->size || file->bytes[begin - 1] != '(' ||
            file->bytes[end] != ')')
            return range;
        uint32_t before = skip_blank_back(file, begin - 1);
        if (before > 0 && ar_is_word(file->bytes[before - 1]))
            return range;
        range.begin = begin - 1;
        range.end = end + 1;
    }
}

static void put_value(ar_rewriter *r, const ar_node *value, bool is_constant) {
    float number;
    if (!is_constant || !is_number(value, &number)) {
        ar_put_around(r, value->range, AR_LAYER_CONVERT, "amp_to_half(", ")");
        return;
    }
    ar_put_around(r, with_brackets(r, value->range), AR_LAYER_CONVERT,
                  "AMP_HALF_CONST(",
                  ar_sprintf(r->arena, ", 0x%04x, 0x%04x)", fp16_bits(number),
                             bf16_bits(number)));
}

const char *ar_rewrite_initialiser(ar_rewriter *r, const ar_site *site) {
    const ar_node *list = site->node;
    if (is_zero(r, list) && (is_whole(r, site) || !takes_numbers(list)))
        return NULL;
    if (!takes_numbers(list))
        return "its initialiser leaves out the braces around its numbers";
    if (list->range.in_macro_body)
        return ar_text_problem(r, list->range);
    bool is_constant = takes_constants(site);
    for (uint32_t i = 0; i < list->kid_count; i++) {
        const char *problem = value_problem(r, list, i, is_constant);
        if (problem)
            return problem;
    }
    for (uint32_t i = 0; i < list->kid_count; i++)
        put_value(r, value_of(list->kids[i]), is_constant);
    return NULL;
}
