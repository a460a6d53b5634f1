/* amp.h - the runtime that programs rewritten by amp-rewrite link against.
 *
 * The half type is chosen when the including source is compiled:
 *
 *     -DAMP_HALF_FP16   IEEE binary16 (the default)
 *     -DAMP_HALF_BF16   bfloat16
 *     -DAMP_HALF_FP32   neutral: every op declines, so the caller's original
 *                       FP32 function runs; masters and casts vanish; the
 *                       loss scale is 1 unless AMP_LOSS_SCALE says otherwise
 *
 * All objects of one program must agree; amp_status AMP_ERR_MIXED_HALF is
 * logged once if they do not.
 *
 * Shapes are in elements, matrices are row-major unless a parameter says
 * otherwise, leading dimensions are the distance in elements between rows.
 * No function aborts. Functions that can fail return amp_status. All functions
 * may be called from several threads; the scaler's calls for one group must
 * not overlap each other.
 */
#ifndef AMP_AMP_H
#define AMP_AMP_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

#define AMP_VERSION_MAJOR 0
#define AMP_VERSION_MINOR 1
#define AMP_VERSION_PATCH 0

typedef enum amp_dtype { AMP_FP32 = 0, AMP_FP16 = 1, AMP_BF16 = 2 } amp_dtype;

#if defined(AMP_HALF_FP32)
#define AMP_HALF AMP_FP32
#elif defined(AMP_HALF_BF16)
#define AMP_HALF AMP_BF16
#elif defined(AMP_HALF_FP16) || !defined(AMP_HALF_DEFAULT)
#define AMP_HALF AMP_FP16
#else
#define AMP_HALF AMP_HALF_DEFAULT /* --half=bf16: AMP_BF16 */
#endif

/* The rewritten source has no loss scaling: fp16 gradients would underflow. */
#if defined(AMP_NO_LOSS_SCALING) && defined(AMP_HALF_FP16)
#error                                                                         \
    "rewritten without loss scaling: build with AMP_HALF_BF16 or rewrite again with --half=fp16"
#endif

/* ---- status ------------------------------------------------------------ */

/* AMP_DECLINED is not an error: the op would not gain in half (too small, no
 * unit for it, neutral build) and nothing was written; call the original. */
#define AMP_STATUS_LIST(X)                                                     \
    X(AMP_OK, 0, "success")                                                    \
    X(AMP_DECLINED, 1, "not worth half precision here; run the FP32 original") \
    X(AMP_ERR_ARGUMENT, -1, "invalid argument")                                \
    X(AMP_ERR_MEMORY, -2, "out of memory")                                     \
    X(AMP_ERR_BACKEND, -3, "the math library reported an error")               \
    X(AMP_ERR_STATE, -4, "call out of order")                                  \
    X(AMP_ERR_UNKNOWN_BUFFER, -5, "address is not in a registered buffer")     \
    X(AMP_ERR_OVERLAP, -6, "range overlaps another registered buffer")         \
    X(AMP_ERR_FORMAT, -7, "saved state is malformed or of another version")    \
    X(AMP_ERR_MIXED_HALF, -8, "objects built with different AMP_HALF_* types") \
    X(AMP_ERR_STALE_CAST, -9, "self-check found a stale cached cast")          \
    X(AMP_ERR_SCALE_FLOOR, -10,                                                \
      "loss scale is at its floor and still overflows")                        \
    X(AMP_ERR_FILE, -11, "a file cannot be read or written")

typedef enum amp_status {
#define AMP_STATUS_ENUM(name, value, text) name = value,
    AMP_STATUS_LIST(AMP_STATUS_ENUM)
#undef AMP_STATUS_ENUM
        AMP_STATUS_FORCE_INT = 0x7fffffff
} amp_status;

/* Static text, never NULL. */
const char *amp_status_string(amp_status status);

/* ---- ops --------------------------------------------------------------- */

/* Called through the macros below, which pass AMP_HALF. Accumulation is FP32
 * and the result is FP32. On AMP_DECLINED or an error nothing was written. */

/* C[m,n] = alpha * op(A)[m,k] * op(B)[k,n] + beta * C. trans != 0 transposes.
 * beta == 0 does not read C. */
amp_status amp_gemm_as(amp_dtype half, int transa, int transb, int64_t m,
                       int64_t n, int64_t k, float alpha, const float *a,
                       int64_t lda, const float *b, int64_t ldb, float beta,
                       float *c, int64_t ldc);
#define amp_gemm(...) amp_gemm_as(AMP_HALF, __VA_ARGS__)

/* The same for `batch` products whose operands lie stride elements apart. */
amp_status amp_gemm_strided_as(amp_dtype half, int transa, int transb,
                               int64_t m, int64_t n, int64_t k, float alpha,
                               const float *a, int64_t lda, int64_t stridea,
                               const float *b, int64_t ldb, int64_t strideb,
                               float beta, float *c, int64_t ldc,
                               int64_t stridec, int64_t batch);
#define amp_gemm_strided(...) amp_gemm_strided_as(AMP_HALF, __VA_ARGS__)

/* y[m] = alpha * op(A)[m,n] * x + beta * y; incx, incy as in BLAS. */
amp_status amp_gemv_as(amp_dtype half, int trans, int64_t m, int64_t n,
                       float alpha, const float *a, int64_t lda, const float *x,
                       int64_t incx, float beta, float *y, int64_t incy);
#define amp_gemv(...) amp_gemv_as(AMP_HALF, __VA_ARGS__)

/* A linear layer over `rows` rows, weight[out_features, in_features] as torch
 * stores it: out = inp * weight^T + bias. bias may be NULL. */
amp_status amp_linear_forward_as(amp_dtype half, float *out, const float *inp,
                                 const float *weight, const float *bias,
                                 int64_t rows, int64_t in_features,
                                 int64_t out_features);
#define amp_linear_forward(...) amp_linear_forward_as(AMP_HALF, __VA_ARGS__)

/* Accumulates: dinp += dout * weight; dweight += dout^T * inp;
 * dbias += column sums of dout (FP32). Any of dinp, dweight, dbias may be
 * NULL. */
amp_status amp_linear_backward_as(amp_dtype half, float *dinp, float *dweight,
                                  float *dbias, const float *dout,
                                  const float *inp, const float *weight,
                                  int64_t rows, int64_t in_features,
                                  int64_t out_features);
#define amp_linear_backward(...) amp_linear_backward_as(AMP_HALF, __VA_ARGS__)

/* ---- buffers ----------------------------------------------------------- */

typedef enum amp_role {
    AMP_TRACKED,   /* only its size is remembered, for a later amp_mark */
    AMP_PARAM,     /* parameter: its half copy is cached between steps */
    AMP_GRAD,      /* gradient: unscaled and checked at the step */
    AMP_GRAD_CARRY /* gradient that also carries momentum between steps */
} amp_role;

/* A group is one optimizer with its own loss scale, numbered from 0. */
#define AMP_MAX_GROUPS 16

/* Allocators that register what they return. `name` is kept by pointer and
 * appears in the overflow log; it must outlive the buffer (a literal). They
 * return what the C function would. A failed registration is logged; if it was
 * a gradient's, amp_scaler_status reports it from the next step on and steps
 * at a scale other than 1 are skipped, since that gradient is still scaled.
 * amp_free accepts any pointer that free accepts. */
void *amp_malloc(size_t bytes, amp_role role, int group, const char *name);
void *amp_calloc(size_t count, size_t size, amp_role role, int group,
                 const char *name);
void *amp_realloc(void *p, size_t bytes, amp_role role, int group,
                  const char *name);
void amp_free(void *p);

/* Registers memory that something else owns (arrays, other allocators).
 * Registering the same range again is AMP_OK and forgets marks inside it.
 * Gradients have to be aligned as floats are. */
amp_status amp_register(void *p, size_t bytes, amp_role role, int group,
                        const char *name);
amp_status amp_unregister(void *p);
/* Gives a role to the tracked buffer that holds p. If p is not its start the
 * role covers p up to the next marked address or the end of the buffer. */
amp_status amp_mark(void *p, amp_role role, int group, const char *name);

/* ---- loss scale -------------------------------------------------------- */

/* The factor that the loss gradient of `group` is multiplied by. */
float amp_loss_scale_as(amp_dtype half, int group);
#define amp_loss_scale(group) amp_loss_scale_as(AMP_HALF, group)

/* Multiplies n floats at x by the loss scale (a seed that is a whole buffer).
 * bytes, not elements, so that `sizeof` of an array can be passed. */
amp_status amp_scale_as(amp_dtype half, int group, float *x, size_t bytes);
#define amp_scale(group, x, bytes) amp_scale_as(AMP_HALF, group, x, bytes)
/* The same for the registered or tracked buffer that holds x. */
amp_status amp_scale_buffer_as(amp_dtype half, int group, float *x);
#define amp_scale_buffer(group, x) amp_scale_buffer_as(AMP_HALF, group, x)

/* Saves each AMP_GRAD_CARRY buffer of the group and multiplies it by the loss
 * scale: call at the head of the iteration. A skipped step restores it. */
amp_status amp_carry_in_as(amp_dtype half, int group);
#define amp_carry_in(group) amp_carry_in_as(AMP_HALF, group)

/* Divides every gradient of the group by the loss scale and looks for inf and
 * NaN, in one pass. Call before clipping; once per step. */
amp_status amp_unscale_as(amp_dtype half, int group);
#define amp_unscale(group) amp_unscale_as(AMP_HALF, group)

/* 1 if the step is to be taken, 0 if an overflow was found and the step must
 * be skipped. Unscales first unless amp_unscale was called since the last
 * step. When 0, the gradients of the group are zeroed (the skipped step may be
 * what clears them) and AMP_GRAD_CARRY buffers are as before the iteration. */
int amp_step_begin_as(amp_dtype half, int group);
#define amp_step_begin(group) amp_step_begin_as(AMP_HALF, group)
/* After the step, taken or skipped: moves the scale, drops the cached casts. */
void amp_step_end_as(amp_dtype half, int group);
#define amp_step_end(group) amp_step_end_as(AMP_HALF, group)
/* Was the last step of the group taken (in a step: is it)? 1 before the first.
 * For schedules and step counters. */
int amp_stepped(int group);

/* An update fused into the backward pass has no gradient buffer: returns
 * x / scale, or 0 and notes the overflow when x is not finite. The scale moves
 * at amp_step_end. */
float amp_unscale_value_as(amp_dtype half, int group, float x);
#define amp_unscale_value(group, x) amp_unscale_value_as(AMP_HALF, group, x)

/* Parameters were written outside a step (loaded, averaged, re-initialised). */
void amp_params_changed(void);

typedef struct amp_scaler_options {
    int dynamic;          /* 0: static scale init_scale */
    float init_scale;     /* 65536 */
    float growth_factor;  /* 2, > 1 */
    float backoff_factor; /* 0.5, in (0,1) */
    int growth_interval;  /* 2000 good steps */
    float min_scale;      /* 1; floor of the dynamic scale. 0: the least float
                             whose inverse is finite, 2^-126 */
    float max_scale;      /* 16777216 */
    int hysteresis;       /* 1; overflows in a row before backing off */
    int max_skips;        /* 0: never abort; else skips in a row at the floor
                             after which amp_scaler_status is
                             AMP_ERR_SCALE_FLOOR */
    int check_static;     /* 1: a static scale still checks and skips; 0 in
                             the neutral build */
} amp_scaler_options;

/* Fills in the defaults of this half type: dynamic for fp16, static 1 for bf16
 * and for the neutral build. AMP_LOSS_SCALE in the environment wins later. */
void amp_scaler_defaults(amp_dtype half, amp_scaler_options *options);
/* Before the first use of the group. group -1: every group. */
amp_status amp_scaler_configure(int group, const amp_scaler_options *options);
/* AMP_OK, or why training should stop. */
amp_status amp_scaler_status(int group);
/* {scale, growth tracker, ...} as text, versioned; returns the length needed
 * without the NUL, like snprintf. */
size_t amp_scaler_save(int group, char *buffer, size_t size);
/* May come before the first use of the group. A static scale stays what the
 * program or AMP_LOSS_SCALE says; a dynamic one comes within the floor and the
 * cap of the options. */
amp_status amp_scaler_load(int group, const char *text);
/* The state of all groups that were used, in a file beside a checkpoint: a
 * program that goes on from both goes on exactly. Outside of steps. A file is
 * replaced as a whole. AMP_ERR_FILE; loading also AMP_ERR_FORMAT, and the
 * groups before the bad line have their state then. */
amp_status amp_state_save(const char *path);
amp_status amp_state_load(const char *path);

/* ---- casts ------------------------------------------------------------- */

/* Round to nearest even; NaN stays NaN (quiet); overflow becomes inf;
 * subnormals are exact. bf16 to float is a shift. n elements; source and
 * target must not overlap. */
void amp_cast_to_fp16(uint16_t *dst, const float *src, size_t n);
void amp_cast_to_bf16(uint16_t *dst, const float *src, size_t n);
void amp_cast_from_fp16(float *dst, const uint16_t *src, size_t n);
void amp_cast_from_bf16(float *dst, const uint16_t *src, size_t n);
uint16_t amp_fp16_from_float(float x);
uint16_t amp_bf16_from_float(float x);
float amp_float_from_fp16(uint16_t x);
float amp_float_from_bf16(uint16_t x);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#endif
