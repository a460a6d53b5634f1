/* The mixed products against products in double, every mixture of FP32 and
 * half, on each of their ways: run with AMP_MIN_MNK=0 in half, with a huge one
 * in FP32, and in loops by calling those. Numbers are half numbers to begin
 * with, so that all ways have one answer. */
#include "check.h"
#include "gemm.h"

#include <sys/resource.h>

static const amp_dtype halves[] = {AMP_FP16, AMP_BF16};

/* Of one rounding to half, relative; and the FP32 sums' own error. */
static double rounding_of(amp_dtype type) {
    return type == AMP_FP32 ? 0.0 : type == AMP_FP16 ? 0x1p-11 : 0x1p-8;
}

#define SUM_ERROR 2e-5

static float float_of_half(amp_dtype type, uint16_t h) {
    return type == AMP_FP16 ? amp_float_from_fp16(h) : amp_float_from_bf16(h);
}

static uint16_t half_of_float(amp_dtype type, float x) {
    return type == AMP_FP16 ? amp_fp16_from_float(x) : amp_bf16_from_float(x);
}

/* A buffer and the same numbers as floats. */
typedef struct numbers {
    amp_buffer buffer;
    float *floats;
    size_t n;
} numbers;

static numbers numbers_of(float *floats, size_t n, amp_dtype type) {
    numbers x = {.floats = floats, .n = n};
    x.buffer.type = type;
    x.buffer.data = malloc(n * sizeof(float)); /* enough for either */
    assert_non_null(x.buffer.data);
    amp_copy(x.buffer, amp_buffer_of_floats(floats), n);
    return x;
}

static numbers make(size_t n, amp_dtype type, amp_dtype half, uint64_t seed) {
    float *x = random_floats(n, seed);
    for (size_t i = 0; i < n; i++)
        x[i] = float_of_half(half, half_of_float(half, x[i]));
    return numbers_of(x, n, type);
}

static void drop(numbers *x) {
    free(x->buffer.data);
    free(x->floats);
}

static float element(const numbers *x, int64_t i) {
    return x->buffer.type == AMP_FP32
               ? ((float *)x->buffer.data)[i]
               : float_of_half(x->buffer.type, ((uint16_t *)x->buffer.data)[i]);
}

/* Is it `want`, rounded once? */
static void check_element(const numbers *x, int64_t i, double want) {
    double got = (double)element(x, i);
    double off = fabs(got - want);
    if (!(off <= fabs(want) * rounding_of(x->buffer.type) * 1.001 + SUM_ERROR))
        fail_msg("element %lld is %.9g, not %.9g", (long long)i, got, want);
}

/* ---- one product -------------------------------------------------------- */

typedef enum way { PUBLIC, LOOPS } way;

typedef struct mixture {
    amp_dtype half;
    amp_dtype a;
    amp_dtype b;
    amp_dtype c;
} mixture;

static mixture mixture_of(amp_dtype half, unsigned bits) {
    return (mixture){.half = half,
                     .a = bits & 1u ? half : AMP_FP32,
                     .b = bits & 2u ? half : AMP_FP32,
                     .c = bits & 4u ? half : AMP_FP32};
}

static void multiply(way how, amp_dtype half, const product *p, amp_buffer a,
                     amp_buffer b, amp_buffer c) {
    if (how == PUBLIC) {
        assert_int_equal(amp_gemm_mixed_as(half, p->transa, p->transb, p->m,
                                           p->n, p->k, p->alpha, a, p->lda, b,
                                           p->ldb, p->beta, c, p->ldc),
                         AMP_OK);
        return;
    }
    amp_gemm g = amp_gemm_of(p->m, p->n, p->k, p->alpha,
                             (amp_plane){a, p->lda, 0, p->transa != 0},
                             (amp_plane){b, p->ldb, 0, p->transb != 0}, p->beta,
                             (amp_plane){c, p->ldc, 0, false});
    amp_gemm_plain(&g);
}

/* The result, and that the padding of c is left alone. */
static void check_result(const product *p, const numbers *before,
                         const numbers *c) {
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->ldc; j++) {
            int64_t at = i * p->ldc + j;
            double want = (double)p->alpha;
            if (j >= p->n) {
                assert_true(element(c, at) == before->floats[at]);
                continue;
            }
            want *= exact_element(p, i, j);
            if (p->beta != 0.0f)
                want += (double)p->beta * (double)before->floats[at];
            check_element(c, at, want);
        }
    }
}

static void check_product(way how, mixture types, const product *like) {
    const int64_t pad = 3;
    product p = *like;
    p.lda = (p.transa ? p.m : p.k) + pad;
    p.ldb = (p.transb ? p.k : p.n) + pad;
    p.ldc = p.n + pad;
    size_t na = (size_t)((p.transa ? p.k : p.m) * p.lda);
    size_t nb = (size_t)((p.transb ? p.n : p.k) * p.ldb);
    numbers a = make(na, types.a, types.half, 1);
    numbers b = make(nb, types.b, types.half, 2);
    numbers c = make((size_t)(p.m * p.ldc), types.c, types.half, 3);
    if (p.beta == 0.0f) { /* must not be read */
        for (int64_t i = 0; i < p.m * p.ldc; i++)
            if (i % p.ldc < p.n)
                c.floats[i] = NAN;
        amp_copy(c.buffer, amp_buffer_of_floats(c.floats), c.n);
    }
    p.a = a.floats;
    p.b = b.floats;
    multiply(how, types.half, &p, a.buffer, b.buffer, c.buffer);
    check_result(&p, &c, &c);
    drop(&a);
    drop(&b);
    drop(&c);
}

static void check_all_mixtures(const product *p) {
    for (size_t h = 0; h < 2; h++) {
        for (unsigned bits = 0; bits < 8; bits++) {
            check_product(PUBLIC, mixture_of(halves[h], bits), p);
            check_product(LOOPS, mixture_of(halves[h], bits), p);
        }
    }
}

static void shapes_and_layouts(void **state) {
    (void)state;
    const int64_t shapes[][3] = {{1, 1, 1},    {1, 64, 64},  {64, 1, 33},
                                 {17, 31, 5},  {64, 64, 64}, {20, 70, 128},
                                 {33, 129, 40}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (int t = 0; t < 4; t++) {
            product p = {.transa = t & 1,
                         .transb = t >> 1,
                         .m = shapes[s][0],
                         .n = shapes[s][1],
                         .k = shapes[s][2],
                         .alpha = 1.0f};
            check_all_mixtures(&p);
        }
    }
}

static void alpha_and_beta(void **state) {
    (void)state;
    const float alphas[] = {1.0f, -1.0f, 0.3f, 0.0f};
    const float betas[] = {0.0f, -0.0f, 1.0f, 0.5f, -2.0f};
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 5; j++) {
            product p = {.transb = 1,
                         .m = 20,
                         .n = 24,
                         .k = 40,
                         .alpha = alphas[i],
                         .beta = betas[j]};
            check_all_mixtures(&p);
        }
    }
}

/* A team of threads casts and stores. */
static void large_product(void **state) {
    (void)state;
    product p = {.m = 300, .n = 310, .k = 280, .alpha = 1.0f, .beta = 1.0f};
    check_product(PUBLIC, mixture_of(AMP_FP16, 7), &p);
    p.transb = 1;
    check_product(PUBLIC, mixture_of(AMP_BF16, 7), &p);
}

/* FP32 operands are rounded when the product runs in half, and only then. */
static void fp32_operands(void **state) {
    (void)state;
    const char *limit = getenv("AMP_MIN_MNK");
    bool in_half = limit && strcmp(limit, "0") == 0;
    enum { N = 48 };
    for (size_t h = 0; h < 2; h++) {
        float *a = random_floats(N * N, 1);
        numbers b = make(N * N, halves[h], halves[h], 2);
        float c[N * N];
        assert_int_equal(amp_gemm_mixed_as(halves[h], 0, 0, N, N, N, 1.0f,
                                           amp_buffer_of_floats(a), N, b.buffer,
                                           N, 0.0f, amp_buffer_of_floats(c), N),
                         AMP_OK);
        product p = {.m = N,
                     .n = N,
                     .k = N,
                     .alpha = 1.0f,
                     .a = a,
                     .lda = N,
                     .b = b.floats,
                     .ldb = N,
                     .ldc = N};
        double error = product_error(&p, NULL, c);
        assert_true(error < (in_half ? bound_of(halves[h]) : FP32_BOUND));
        assert_int_equal(error > FP32_BOUND, in_half);
        free(a);
        drop(&b);
    }
}

/* ---- arguments ----------------------------------------------------------- */

static void nothing_to_sum(void **state) {
    (void)state;
    uint16_t c[4] = {0x3c00, 0x4000, 0x4200, 0x4400}; /* 1 2 3 4 */
    amp_buffer half_c = {c, AMP_FP16};
    amp_buffer none = amp_buffer_of_floats(NULL);
    assert_int_equal(amp_gemm_mixed_as(AMP_FP16, 0, 0, 2, 2, 0, 1, none, 0,
                                       none, 2, 0.5f, half_c, 2),
                     AMP_OK);
    assert_int_equal(c[0], 0x3800);
    assert_int_equal(c[3], 0x4000);
    assert_int_equal(amp_gemm_mixed_as(AMP_FP16, 0, 0, 0, 2, 5, 1, none, 5,
                                       none, 2, 0, half_c, 2),
                     AMP_OK);
    assert_int_equal(c[0], 0x3800);
    /* alpha 0 must not read them either. */
    float nan[4] = {NAN, NAN, NAN, NAN};
    assert_int_equal(
        amp_gemm_mixed_as(AMP_FP16, 0, 0, 2, 2, 2, 0, amp_buffer_of_floats(nan),
                          2, amp_buffer_of_floats(nan), 2, 1, half_c, 2),
        AMP_OK);
    assert_int_equal(c[0], 0x3800);
    assert_int_equal(c[3], 0x4000);
}

static void errors_write_nothing(void **state) {
    (void)state;
    float a[16] = {1};
    uint16_t c[16];
    memset(c, 0x3c, sizeof c);
    amp_buffer x = amp_buffer_of_floats(a);
    amp_buffer y = {c, AMP_FP16};
    amp_buffer other = {c, AMP_BF16};
    amp_buffer null = {NULL, AMP_FP16};
    const int64_t huge = INT64_C(1) << 40;
#define REFUSED(call) assert_int_equal(call, AMP_ERR_ARGUMENT)
    REFUSED(amp_gemm_mixed_as(AMP_FP16, 0, 0, 4, 4, 4, 1, x, 3, x, 4, 0, y, 4));
    REFUSED(amp_gemm_mixed_as(AMP_FP16, 0, 0, 4, 4, 4, 1, x, 4, x, 4, 0, y, 3));
    REFUSED(
        amp_gemm_mixed_as(AMP_FP16, 0, 0, -1, 4, 4, 1, x, 4, x, 4, 0, y, 4));
    REFUSED(
        amp_gemm_mixed_as(AMP_FP16, 0, 0, 4, 4, 4, 1, null, 4, x, 4, 0, y, 4));
    REFUSED(
        amp_gemm_mixed_as(AMP_FP16, 0, 0, 4, 4, 4, 1, x, 4, x, 4, 0, null, 4));
    /* The half type of another build. */
    REFUSED(
        amp_gemm_mixed_as(AMP_FP16, 0, 0, 4, 4, 4, 1, x, 4, x, 4, 0, other, 4));
    REFUSED(
        amp_gemm_mixed_as(AMP_BF16, 0, 0, 4, 4, 4, 1, y, 4, x, 4, 0, other, 4));
    REFUSED(
        amp_gemm_mixed_as((amp_dtype)9, 0, 0, 4, 4, 4, 1, x, 4, x, 4, 0, x, 4));
    REFUSED(amp_gemm_mixed_as(AMP_FP16, 0, 0, huge, 1, huge, 1, y, huge, x, 1,
                              0, y, 1));
    REFUSED(amp_gemv_mixed_as(AMP_FP16, 0, 4, 4, 1, x, 4, x, 0, 0, y, 1));
    REFUSED(
        amp_gemv_mixed_as(AMP_FP16, 0, 4, 4, 1, x, 4, x, 1, 0, y, INT64_MIN));
    REFUSED(amp_linear_backward_mixed_as(AMP_FP16, null, null, y, null, x, x, 2,
                                         2, 2));
    REFUSED(amp_linear_backward_mixed_as(AMP_FP16, y, other, null, x, x, x, 2,
                                         2, 2));
    REFUSED(amp_linear_forward_mixed_as(AMP_FP16, y, x, x, other, 2, 2, 2));
#undef REFUSED
    for (int i = 0; i < 16; i++)
        assert_int_equal(c[i], 0x3c3c);
    for (int i = 1; i < 16; i++)
        assert_true(a[i] == 0);
}

static void neutral_declines(void **state) {
    (void)state;
    float x[4] = {1, 2, 3, 4};
    amp_buffer b = amp_buffer_of_floats(x);
    assert_int_equal(
        amp_gemm_mixed_as(AMP_FP32, 0, 0, 2, 2, 2, 1, b, 2, b, 2, 0, b, 2),
        AMP_DECLINED);
    assert_int_equal(amp_gemm_strided_mixed_as(AMP_FP32, 0, 0, 1, 1, 1, 1, b, 1,
                                               1, b, 1, 1, 0, b, 1, 1, 4),
                     AMP_DECLINED);
    assert_int_equal(
        amp_gemv_mixed_as(AMP_FP32, 0, 2, 2, 1, b, 2, b, 1, 0, b, 1),
        AMP_DECLINED);
    assert_int_equal(amp_linear_forward_mixed_as(AMP_FP32, b, b, b, b, 1, 1, 1),
                     AMP_DECLINED);
    assert_int_equal(
        amp_linear_backward_mixed_as(AMP_FP32, b, b, b, b, b, b, 1, 1, 1),
        AMP_DECLINED);
    assert_true(x[0] == 1 && x[3] == 4);
}

/* ---- batches --------------------------------------------------------------
 */

typedef struct batch {
    int64_t stridea;
    int64_t strideb;
    int64_t stridec;
    int64_t lda;
    int64_t ldc;
    int64_t count;
} batch;

/* 12x9 * 9x10 for each of them, in order: results may overlap. */
static void check_batch(amp_dtype half, unsigned bits, const batch *s) {
    enum { M = 12, N = 10, K = 9, SIZE = 2000 };
    mixture types = mixture_of(half, bits);
    numbers a = make(SIZE, types.a, half, 1);
    numbers b = make(SIZE, types.b, half, 2);
    numbers c = make(SIZE, types.c, half, 3);
    assert_int_equal(
        amp_gemm_strided_mixed_as(half, 0, 0, M, N, K, 0.5f, a.buffer, s->lda,
                                  s->stridea, b.buffer, N, s->strideb, 1.0f,
                                  c.buffer, s->ldc, s->stridec, s->count),
        AMP_OK);
    double want[SIZE];
    for (int i = 0; i < SIZE; i++)
        want[i] = (double)c.floats[i];
    for (int64_t l = 0; l < s->count; l++) {
        product p = {.m = M,
                     .n = N,
                     .k = K,
                     .a = a.floats + l * s->stridea,
                     .lda = s->lda,
                     .b = b.floats + l * s->strideb,
                     .ldb = N};
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++)
                want[l * s->stridec + i * s->ldc + j] +=
                    0.5 * exact_element(&p, i, j);
    }
    for (int i = 0; i < SIZE; i++)
        check_element(&c, i, want[i]);
    drop(&a);
    drop(&b);
    drop(&c);
}

static void batches(void **state) {
    (void)state;
    const batch all[] = {
        {108, 90, 120, 9, 10, 5}, /* stacked */
        {9, 90, 10, 45, 50, 5},   /* heads side by side in a row */
        {108, 0, 120, 9, 10, 5},  /* shared */
        {0, 90, 120, 9, 10, 5},
        {0, 0, 120, 9, 10, 5}, /* one product many times */
        {108, 90, 120, 9, 10, 1},
    };
    for (size_t h = 0; h < 2; h++)
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            for (unsigned bits = 0; bits < 8; bits++)
                check_batch(halves[h], bits, &all[i]);
    /* Results that overlap add up; in FP32, or each sum is rounded. */
    const batch overlapping = {108, 90, 0, 9, 10, 5};
    check_batch(AMP_FP16, 3, &overlapping);
    check_batch(AMP_BF16, 3, &overlapping);
}

/* ---- vectors --------------------------------------------------------------
 */

static int64_t vector_at(int64_t i, int64_t n, int64_t inc) {
    return inc < 0 ? (i - n + 1) * inc : i * inc;
}

static void check_gemv(mixture types, int trans, int64_t incx, int64_t incy) {
    enum { M = 40, N = 25 };
    int64_t lda = (trans ? M : N) + 2;
    numbers a = make((size_t)((trans ? N : M) * lda), types.a, types.half, 1);
    numbers x = make((size_t)(N * llabs(incx)), types.b, types.half, 2);
    numbers y = make((size_t)(M * llabs(incy)), types.c, types.half, 3);
    assert_int_equal(amp_gemv_mixed_as(types.half, trans, M, N, 0.5f, a.buffer,
                                       lda, x.buffer, incx, -1.0f, y.buffer,
                                       incy),
                     AMP_OK);
    for (int64_t i = 0; i < M; i++) {
        int64_t at = vector_at(i, M, incy);
        double want = -(double)y.floats[at];
        for (int64_t j = 0; j < N; j++)
            want += 0.5 * (double)a.floats[trans ? j * lda + i : i * lda + j] *
                    (double)x.floats[vector_at(j, N, incx)];
        check_element(&y, at, want);
    }
    for (int64_t i = 0; i < (int64_t)y.n; i++)
        if (i % llabs(incy) != 0)
            assert_true(element(&y, i) == y.floats[i]);
    drop(&a);
    drop(&x);
    drop(&y);
}

static void vectors(void **state) {
    (void)state;
    const int64_t incs[] = {1, 3, -1, -2};
    for (size_t h = 0; h < 2; h++)
        for (unsigned bits = 0; bits < 8; bits++)
            for (int t = 0; t < 2; t++)
                for (int i = 0; i < 16; i++)
                    check_gemv(mixture_of(halves[h], bits), t, incs[i & 3],
                               incs[i >> 2]);
}

/* ---- linear layers ------------------------------------------------------- */

enum { ROWS = 20, IN = 35, OUT = 45 };

static void check_forward(amp_dtype half, unsigned bits) {
    mixture types = mixture_of(half, bits);
    numbers inp = make(ROWS * IN, types.a, half, 1);
    numbers weight = make(OUT * IN, types.b, half, 2);
    numbers out = make(ROWS * OUT, types.c, half, 3);
    numbers bias = make(OUT, bits & 8u ? half : AMP_FP32, half, 4);
    bool wanted = (bits & 16u) != 0;
    assert_int_equal(amp_linear_forward_mixed_as(
                         half, out.buffer, inp.buffer, weight.buffer,
                         wanted ? bias.buffer : amp_buffer_of_floats(NULL),
                         ROWS, IN, OUT),
                     AMP_OK);
    product p = {.transb = 1,
                 .k = IN,
                 .a = inp.floats,
                 .lda = IN,
                 .b = weight.floats,
                 .ldb = IN};
    for (int64_t r = 0; r < ROWS; r++)
        for (int64_t o = 0; o < OUT; o++)
            check_element(&out, r * OUT + o,
                          exact_element(&p, r, o) +
                              (wanted ? (double)bias.floats[o] : 0.0));
    drop(&inp);
    drop(&weight);
    drop(&out);
    drop(&bias);
}

static void forward(void **state) {
    (void)state;
    for (size_t h = 0; h < 2; h++)
        for (unsigned bits = 0; bits < 32; bits++)
            check_forward(halves[h], bits);
}

/* Which of the results a call asks for. */
typedef enum wanted { DINP = 1, DWEIGHT = 2, DBIAS = 4 } wanted;

static amp_buffer if_wanted(int want, wanted which, const numbers *x) {
    return want & (int)which ? x->buffer : amp_buffer_of_floats(NULL);
}

static void check_backward(amp_dtype half, unsigned types, int want) {
    numbers x[6];
    const size_t sizes[] = {ROWS * IN,  OUT * IN,  OUT,
                            ROWS * OUT, ROWS * IN, OUT * IN};
    enum { GOT_INP, GOT_WEIGHT, GOT_BIAS, DOUT, INP, WEIGHT };
    for (unsigned i = 0; i < 6; i++)
        x[i] = make(sizes[i], types >> i & 1u ? half : AMP_FP32, half, i + 1);
    assert_int_equal(amp_linear_backward_mixed_as(
                         half, if_wanted(want, DINP, &x[GOT_INP]),
                         if_wanted(want, DWEIGHT, &x[GOT_WEIGHT]),
                         if_wanted(want, DBIAS, &x[GOT_BIAS]), x[DOUT].buffer,
                         x[INP].buffer, x[WEIGHT].buffer, ROWS, IN, OUT),
                     AMP_OK);
    product to_inp = {.k = OUT,
                      .a = x[DOUT].floats,
                      .lda = OUT,
                      .b = x[WEIGHT].floats,
                      .ldb = IN};
    product to_weight = {.transa = 1,
                         .k = ROWS,
                         .a = x[DOUT].floats,
                         .lda = OUT,
                         .b = x[INP].floats,
                         .ldb = IN};
    for (int64_t i = 0; i < ROWS * IN; i++)
        check_element(
            &x[GOT_INP], i,
            (double)x[GOT_INP].floats[i] +
                (want & DINP ? exact_element(&to_inp, i / IN, i % IN) : 0.0));
    for (int64_t i = 0; i < OUT * IN; i++)
        check_element(&x[GOT_WEIGHT], i,
                      (double)x[GOT_WEIGHT].floats[i] +
                          (want & DWEIGHT
                               ? exact_element(&to_weight, i / IN, i % IN)
                               : 0.0));
    for (int64_t o = 0; o < OUT; o++) {
        double sum = (double)x[GOT_BIAS].floats[o];
        for (int64_t r = 0; r < ROWS && want & DBIAS; r++)
            sum += (double)x[DOUT].floats[r * OUT + o];
        check_element(&x[GOT_BIAS], o, sum);
    }
    for (unsigned i = 0; i < 6; i++)
        drop(&x[i]);
}

static void backward(void **state) {
    (void)state;
    for (size_t h = 0; h < 2; h++) {
        for (unsigned types = 0; types < 64; types++)
            check_backward(halves[h], types, DINP | DWEIGHT | DBIAS);
        for (int want = 0; want < 8; want++)
            check_backward(halves[h], 9, want);
    }
}

/* The casts of parameters are kept, whatever the other operands are. */
static void parameters_are_cast_once(void **state) {
    (void)state;
    enum { N = 64 };
    const char *limit = getenv("AMP_MIN_MNK");
    if (!limit || strcmp(limit, "0") != 0)
        skip(); /* FP32 operands are not cast at all */
    numbers a = make(N * N, AMP_FP16, AMP_FP16, 1);
    numbers b = make(N * N, AMP_FP32, AMP_FP16, 2);
    numbers c = make(N * N, AMP_FP16, AMP_FP16, 3);
    assert_int_equal(
        amp_register(b.buffer.data, N * N * sizeof(float), AMP_PARAM, 0, "b"),
        AMP_OK);
    amp_params_changed();
    uint64_t casts = amp_cast_cache_stats().casts;
    for (int i = 0; i < 3; i++)
        assert_int_equal(amp_gemm_mixed_as(AMP_FP16, 0, 0, N, N, N, 1, a.buffer,
                                           N, b.buffer, N, 0, c.buffer, N),
                         AMP_OK);
    assert_int_equal(amp_cast_cache_stats().casts, casts + 1);
    assert_int_equal(amp_unregister(b.buffer.data), AMP_OK);
    drop(&a);
    drop(&b);
    drop(&c);
}

/* Without memory for FP32 copies of the operands: in loops. */
static void no_memory(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* reserves more than any limit */
#endif
    enum { M = 2, N = 40, K = 1 << 18 };
    float *a = random_floats((size_t)M * K, 1); /* no half numbers */
    numbers b = make((size_t)N * K, AMP_FP16, AMP_FP16, 2);
    numbers c = make(M * N, AMP_FP32, AMP_FP16, 3);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    struct rlimit none = {.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    amp_status status = amp_gemm_mixed_as(AMP_FP16, 0, 1, M, N, K, 1.0f,
                                          amp_buffer_of_floats(a), K, b.buffer,
                                          K, 0.0f, c.buffer, N);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, AMP_OK);
    product p = {.m = M,
                 .n = N,
                 .k = K,
                 .alpha = 1.0f,
                 .a = a,
                 .lda = K,
                 .b = b.floats,
                 .ldb = K,
                 .transb = 1,
                 .ldc = N};
    assert_true(product_error(&p, NULL, c.buffer.data) < 5e-5);
    free(a);
    drop(&b);
    drop(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_layouts),
        cmocka_unit_test(alpha_and_beta),
        cmocka_unit_test(large_product),
        cmocka_unit_test(fp32_operands),
        cmocka_unit_test(nothing_to_sum),
        cmocka_unit_test(errors_write_nothing),
        cmocka_unit_test(neutral_declines),
        cmocka_unit_test(batches),
        cmocka_unit_test(vectors),
        cmocka_unit_test(forward),
        cmocka_unit_test(backward),
        cmocka_unit_test(parameters_are_cast_once),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
