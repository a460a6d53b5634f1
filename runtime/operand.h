/* operand.h - matrices in FP32 or half, and the form in which a product reads
 * them. */
#ifndef AMP_OPERAND_H
#define AMP_OPERAND_H

#include <amp/amp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How an operand is handed to the product. */
typedef enum amp_operand_kind {
    AMP_OPERAND_BF16,         /* bf16 values, for a unit that takes them */
    AMP_OPERAND_ROUNDED_BF16, /* bf16 values kept in FP32 */
    AMP_OPERAND_ROUNDED_FP16, /* fp16 values kept in FP32 */
    AMP_OPERAND_FP32          /* any values: the product is not in half */
} amp_operand_kind;

/* `batch` row-major matrices, rows x cols, ld elements between rows, stride
 * elements between matrices. */
typedef struct amp_matrix {
    const void *data;
    amp_dtype type;
    int64_t rows;
    int64_t cols;
    int64_t ld;
    int64_t batch;
    int64_t stride;
} amp_matrix;

size_t amp_element_bytes(amp_dtype type);

/* Do the sizes below, as they are told, fit the address space? The functions
 * take nothing else. */
bool amp_matrix_fits(const amp_matrix *m);

/* Bytes from the first element to the end of the last. */
size_t amp_matrix_extent(const amp_matrix *m);

/* Does a product read it where it lies, because it already has the form? The
 * cast form, which the other functions are about, is contiguous. Matrices in
 * half are of the kind's half type. */
bool amp_operand_in_place(const amp_matrix *m, amp_operand_kind kind);

/* Bytes of its cast form. */
size_t amp_operand_bytes(const amp_matrix *m, amp_operand_kind kind);

/* Casts m to dst over a team of threads. */
void amp_operand_cast(void *dst, const amp_matrix *m, amp_operand_kind kind);

/* The way back, for a result: rounds contiguous src into the half matrix m,
 * whose memory is dst. */
void amp_result_store(void *dst, const amp_matrix *m, const float *src);

#endif
