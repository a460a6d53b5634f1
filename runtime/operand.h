/* operand.h - FP32 matrices and the form in which a product reads them. */
#ifndef AMP_OPERAND_H
#define AMP_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How an operand is handed to the product. */
typedef enum amp_operand_kind {
    AMP_OPERAND_BF16,         /* bf16 values, for a unit that takes them */
    AMP_OPERAND_ROUNDED_BF16, /* bf16 values kept in FP32 */
    AMP_OPERAND_ROUNDED_FP16  /* fp16 values kept in FP32 */
} amp_operand_kind;

/* `batch` row-major matrices, rows x cols, ld elements between rows, stride
 * elements between matrices. */
typedef struct amp_matrix {
    const float *data;
    int64_t rows;
    int64_t cols;
    int64_t ld;
    int64_t batch;
    int64_t stride;
} amp_matrix;

/* Do the sizes below, as they are told, fit the address space? The functions
 * take nothing else. */
bool amp_matrix_fits(const amp_matrix *m);

/* Bytes from the first element to the end of the last. */
size_t amp_matrix_extent(const amp_matrix *m);

/* Bytes of its cast form, which is contiguous. */
size_t amp_operand_bytes(const amp_matrix *m, amp_operand_kind kind);

/* Casts m to dst, contiguous, over a team of threads. */
void amp_operand_cast(void *dst, const amp_matrix *m, amp_operand_kind kind);

#endif
