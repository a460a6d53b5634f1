#include "core/constant.h"

#include <math.h>

enum { MAX_DEPTH = 16 };

static bool is_integer(const ar_node *node) {
    return ar_is_kind(node->type, AR_TYPE_INT);
}

static bool arithmetic(const ar_node *node, double a, double b, double *value) {
    switch ((int)node->op) {
    case AR_OP_ADD:
        *value = a + b;
        return true;
    case AR_OP_SUB:
        *value = a - b;
        return true;
    case AR_OP_MUL:
        *value = a * b;
        return true;
    case AR_OP_DIV:
        *value = is_integer(node) ? trunc(a / b) : a / b;
        return !isnan(*value);
    default:
        return false;
    }
}

bool ar_constant_with(const ar_node *node, ar_resolve *resolve,
                      const void *context, uint32_t depth, double *value) {
    double a, b;
    if (!node || depth >= MAX_DEPTH)
        return false;
    switch ((int)node->kind) {
    case AR_FLOAT_LIT:
        *value = node->float_value;
        return true;
    case AR_INT_LIT:
        *value = (double)node->int_value;
        return true;
    case AR_CAST:
    case AR_IMPLICIT:
        if (!node->kid_count ||
            !ar_constant_with(node->kids[0], resolve, context, depth, &a))
            return false;
        *value = is_integer(node) ? trunc(a) : a;
        return true;
    case AR_REF:
        if (node->decl && node->decl->kind == AR_DECL_ENUMERATOR) {
            *value = (double)node->decl->value;
            return true;
        }
        if (node->decl && node->decl->is_const && node->decl->init &&
            ar_constant_with(node->decl->init, resolve, context, depth + 1,
                             value))
            return true;
        return node->decl && resolve &&
               resolve(context, node->decl, depth + 1, value);
    case AR_UNARY:
        if (node->op != AR_OP_MINUS ||
            !ar_constant_with(node->kids[0], resolve, context, depth + 1, &a))
            return false;
        *value = -a;
        return true;
    case AR_BINARY:
        return ar_constant_with(node->kids[0], resolve, context, depth + 1,
                                &a) &&
               ar_constant_with(node->kids[1], resolve, context, depth + 1,
                                &b) &&
               arithmetic(node, a, b, value);
    default:
        return false;
    }
}

bool ar_constant(const ar_node *node, double *value) {
    return ar_constant_with(node, NULL, NULL, 0, value);
}
