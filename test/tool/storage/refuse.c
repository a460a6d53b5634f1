// What cannot be rewritten stays in FP32, with one reason and its place. A
// program that is left as it was is the price; a silent half of a buffer is not.
// RUN: %amp-rewrite %s --rules %S/Inputs/half.amp -O2 --loss-scale=none --dump-after=solve 2>/dev/null | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef float vector[4];
typedef volatile float shared;
typedef const float fixed;
#define GET(p, i) ((p)[i] + 1)
#define PAIR 1, 2
#define GETTER(type, name)                                                     \
    static type get_##name(made_by *a) {                                       \
        return a->name;                                                        \
    }
#define TAIL(p) p[1]
#define VARIES h_x[1]
#define SET(p, i, v) ((p)[i] = (v))
#define NEW(type, n) ((type *)calloc((n), sizeof(type)))
#define NAMED(e) printf(#e " %g\n", (double)(e))
#define SHOW(e) NAMED(e)
#define BOTH(a) (is_there(&(a)) ? (a) : 0)

// CHECK-DAG: fp32 h_typedef/1 {{.*}}: its type is a typedef of more than a float [{{.*}}:[[#@LINE+1]]:
static vector h_typedef;

// CHECK-DAG: fp32 h_shared/1 {{.*}}: its type is a typedef of more than a float [{{.*}}:[[#@LINE+1]]:
static shared h_shared[4];

// CHECK-DAG: fp32 h_fixed/1 {{.*}}: its type is a typedef of more than a float [{{.*}}:[[#@LINE+1]]:
static fixed *h_fixed;

// CHECK-DAG: fp32 h_list/1 {{.*}}: its initialiser must be constant, and is more than plain numbers [{{.*}}:[[#@LINE+1]]:
static float h_list[3] = {1, 2 + 1, 3};

// CHECK-DAG: fp32 h_wrapped/1 {{.*}}: its initialiser must be constant, and is more than plain numbers [{{.*}}:[[#@LINE+1]]:
static float h_wrapped[2] = {-1u, 2}, h_cut[2] = {(int)1.5, 2};
// CHECK-DAG: fp32 h_cut/1 {{.*}}: its initialiser must be constant, and is more than plain numbers [

// CHECK-DAG: fp32 h_rows/2 {{.*}}: its initialiser leaves out the braces around its numbers [{{.*}}:[[#@LINE+1]]:
static float h_rows[2][2] = {1, 2, 3, 4};

// CHECK-DAG: fp32 row.h_v/1 {{.*}}: its initialiser leaves out the braces around its numbers [{{.*}}:[[#@LINE+5]]:
typedef struct row {
    int n;
    float h_v[2];
} row;
static row rows[2] = {{1, 2, 3}, {2}};

// CHECK-DAG: fp32 far.h_v/1 {{.*}}: its initialiser leaves out the braces around its numbers [{{.*}}:[[#@LINE+4]]:
typedef struct far {
    float h_v[2];
} far;
static far distant = {.h_v[1] = 3};

// CHECK-DAG: fp32 h_pair/1 {{.*}}: a macro gives several numbers of its initialiser [{{.*}}:[[#@LINE+1]]:
static float h_pair[2] = {PAIR};

static float h_scalar;
static void set(float *p) {
    *p = 1;
}

static int *spare(void) {
    static int number;
    return &number;
}

// The macro makes up the name, too.
// CHECK-DAG: fp32 made_by.h_by_macro/1 {{.*}}: the text comes from a macro body [{{.*}}:[[#@LINE+4]]:
typedef struct made_by {
    float *h_by_macro;
} made_by;
GETTER(float *, h_by_macro)

// A function that is called through a pointer keeps its type.
// CHECK-DAG: fp32 through:h_x/1 {{.*}}: 'through' is called through a pointer [{{.*}}:[[#@LINE+1]]:
static void through(float *h_x) {
    h_x[0] = 1;
}
static void (*const table[])(float *) = {through};

// CHECK-DAG: fp32 to_scanf:h_x/1 {{.*}}: it is passed to 'scanf' beside what is not plain [{{.*}}:[[#@LINE+2]]:
static void to_scanf(float *h_x) {
    if (scanf("%f %d", &h_x[1], spare()) != 1)
        exit(1);
}

// CHECK-DAG: fp32 in_macro:h_x/1 {{.*}}: the text comes from a macro body [{{.*}}:[[#@LINE+2]]:
static float in_macro(const float *h_x) {
    return GET(h_x, 1);
}

// CHECK-DAG: fp32 set_in_macro:h_x/1 {{.*}}: the text comes from a macro body [{{.*}}:[[#@LINE+2]]:
static void set_in_macro(float *h_x) {
    SET(h_x, 1, 2);
}

// The macro gives the element and something before it.
// CHECK-DAG: fp32 in_front:h_x/1 {{.*}}: the text comes from a macro body [{{.*}}:[[#@LINE+2]]:
static float in_front(const float *h_x) {
    return TAIL(1 + h_x);
}

// CHECK-DAG: fp32 defined_twice:h_x/1 {{.*}}: the text comes from a macro body [{{.*}}:[[#@LINE+2]]:
static float defined_twice(const float *h_x) {
    return VARIES;
}
#undef VARIES
#define VARIES 0

// CHECK-DAG: fp32 shown_use:h_x/1 {{.*}}: a macro turns the text into a string [{{.*}}:[[#@LINE+2]]:
static void shown_use(const float *h_x) {
    SHOW(TAIL(h_x));
}

static int is_there(const void *p) {
    return p != NULL;
}

// CHECK-DAG: fp32 twice:h_x/1 {{.*}}: a macro uses the text both as a value and as memory [{{.*}}:[[#@LINE+2]]:
static float twice(const float *h_x) {
    return BOTH(h_x[1]);
}

// CHECK-DAG: fp32 made:h_x/1 {{.*}}: the text comes from a macro body [{{.*}}:[[#@LINE+2]]:
static float made(void) {
    float *h_x = NEW(float, 4);
    float first = h_x[0];
    free(h_x);
    return first;
}

// What is printed must not change.
// CHECK-DAG: fp32 shown:h_x/1 {{.*}}: a macro turns the text into a string [{{.*}}:[[#@LINE+2]]:
static void shown(const float *h_x) {
    SHOW(1 + (h_x[1]));
}

// A loop to bytes / sizeof(float) would end early.
// CHECK-DAG: fp32 count:h_x/1 {{.*}}: a number that comes from its sizeof is used for more than the size of memory [{{.*}}:[[#@LINE+2]]:
static void count(void) {
    size_t bytes = 8 * sizeof(float);
    float *h_x = malloc(bytes);
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        h_x[i] = 1;
    free(h_x);
}

// CHECK-DAG: fp32 ratio:h_x/1 {{.*}}: a number that comes from its sizeof is used for more than the size of memory [{{.*}}:[[#@LINE+3]]:
static void ratio(void) {
    float h_x[8];
    for (size_t i = 0; i < sizeof(h_x) / sizeof(float); i++)
        h_x[i] = 1;
    printf("%g\n", h_x[7]);
}

// CHECK-DAG: fp32 one_size:h_x/1 {{.*}}: one sizeof counts bytes for it and for memory that stays FP32 [{{.*}}:[[#@LINE+2]]:
static void one_size(void) {
    size_t bytes = 8 * sizeof(float);
    float *h_x = calloc(1, bytes), *y = calloc(1, bytes);
    h_x[0] = y[0];
    free(h_x), free(y);
}

// CHECK-DAG: fp32 both_sizes:h_x/1 {{.*}}: one sizeof counts the bytes of memory and of a file or copy [{{.*}}:[[#@LINE+2]]:
static void both_sizes(FILE *file) {
    size_t bytes = 8 * sizeof(float);
    float *h_x = calloc(1, bytes);
    fwrite(h_x, 1, bytes, file);
    free(h_x);
}

// CHECK-DAG: fp32 ones:h_x/1 {{.*}}: it is passed to 'memset', which sets its bytes to no zero [{{.*}}:[[#@LINE+2]]:
static void ones(float *h_x, int n) {
    memset(h_x, 0xff, n * sizeof(float));
}

// CHECK-DAG: fp32 result:h_x/1 {{.*}}: it is passed to 'memcpy', whose result is used [{{.*}}:[[#@LINE+2]]:
static float *result(float *y, const float *h_x) {
    return memcpy(y, h_x, 4 * sizeof(float));
}

// CHECK-DAG: fp32 atomic:h_x/1 {{.*}}: the update is atomic [{{.*}}:[[#@LINE+5]]:
static void atomic(float *h_x) {
#pragma omp parallel for
    for (int i = 0; i < 8; i++) {
#pragma omp atomic
        h_x[i / 2] += 1;
    }
}

// CHECK-DAG: fp32 reduced:h_x/1 {{.*}}: it is in the reduction clause of a pragma [{{.*}}:[[#@LINE+2]]:
static float reduced(void) {
    float h_x[4] = {0};
#pragma omp parallel for reduction(+ : h_x[:4])
    for (int i = 0; i < 8; i++)
        h_x[i / 2] += 1;
    return h_x[3];
}

// CHECK-DAG: fp32 in_for:h_p/1 {{.*}}: it is declared in a for loop together with memory that stays FP32 [{{.*}}:[[#@LINE+2]]:
static float in_for(float *x, float *h_y) {
    for (float *h_p = h_y, *q = x; h_p < h_y + 4; h_p++, q++)
        *h_p = *q;
    return h_y[0];
}

// Expressions in declarators are no part of what is analysed.
// CHECK-DAG: fp32 h_extent/1 {{.*}}: a declaration counts something by its sizeof [{{.*}}:[[#@LINE+1]]:
static float h_extent[8];
static float as_long[sizeof(h_extent) / sizeof(float)];
// CHECK-DAG: fp32 h_counted/1 {{.*}}: a declaration counts something by its sizeof [{{.*}}:[[#@LINE+1]]:
static float h_counted[8];
enum { COUNT = sizeof h_counted / sizeof(float) };

// Values of the type of an element are floats.
// CHECK-DAG: fp32 h_typed/1 {{.*}}: a typeof takes its type [{{.*}}:[[#@LINE+1]]:
static float h_typed[4], h_compared[4];
static float typed(void) {
    __typeof__(*h_typed) x = 1;
    return x + h_typed[1];
}

// CHECK-DAG: fp32 h_chosen/1 {{.*}}: used in an expression that is not modelled [{{.*}}:[[#@LINE+3]]:
static float h_chosen[4];
static int chosen(void) {
    return _Generic(h_chosen, float *: 1, default: 0) + (h_chosen[1] > 0);
}

// Addresses that are compared have one type.
// CHECK-DAG: fp32 compared_to:h_p/1 {{.*}}: all that it is called with is FP32
static int compared_to(const float *h_p, const float *q) {
    return h_p < q;
}

// CHECK-DAG: fp32 distance:h_x/1 {{.*}}: the distance of two addresses in it is taken in bytes [{{.*}}:[[#@LINE+2]]:
static size_t distance(const float *h_x) {
    return (size_t)((const char *)&h_x[4] - (const char *)h_x) / sizeof(float);
}

// Helpers that see bytes: what they do is not seen where floats are.
static size_t save(const void *data, size_t size, size_t n) {
    return fwrite(data, size, n, stdout);
}
static int equal(const void *a, const void *b, size_t bytes) {
    return memcmp(a, b, bytes) == 0;
}
static void set_bytes(void *to, int byte, size_t bytes) {
    memset(to, byte, bytes);
}

// CHECK-DAG: fp32 helped:h_x/1 {{.*}}: 'fwrite' gets its bytes through an untyped pointer [
// CHECK-DAG: fp32 helped:h_y/1 {{.*}}: 'memcmp' gets its bytes through an untyped pointer [
// CHECK-DAG: fp32 helped:h_z/1 {{.*}}: 'memset' gets its bytes through an untyped pointer [
static int helped(float *h_x, float *h_y, float *h_z) {
    set_bytes(h_z, 1, 4 * sizeof(float));
    return save(h_x, sizeof(float), 4) == 4 &&
           equal(h_y, as_long, 4 * sizeof(float));
}

// CHECK-DAG: fp32 compared:p/1 {{.*}}: 'memcmp' gets its bytes through an untyped pointer [{{.*}}:[[#@LINE+3]]:
static int compared(const float *h_x) {
    const void *p = h_x;
    return memcmp(p, as_long, 3 * sizeof(float));
}

// CHECK-DAG: fp32 ordered:h_x/1 {{.*}}: it is passed to 'memcmp', whose result is more than equal or not [{{.*}}:[[#@LINE+2]]:
static int ordered(const float *h_x, const float *h_y) {
    return memcmp(h_x, h_y, 3 * sizeof(float)) < 0;
}

static float h_a[8], h_b[8], h_c[8], h_d[8], h_e[8], h_f[8], h_g[8], h_i[8];
static float h_q[8], h_r[8], h_j[8], h_k[8], h_m[8], h_n[8], h_o[8], h_s[8];

int main(void) {
    float y[8] = {0};
    set(&h_scalar);
    through(h_a);
    table[0](h_a);
    shown(h_s), made();
    to_scanf(h_b), set_in_macro(h_c), count(), ratio(), one_size();
    both_sizes(stdout), ones(h_d, 8), result(y, h_e), atomic(h_f);
    made_by by = {NULL};
    if (get_h_by_macro(&by))
        by.h_by_macro[0] = 1;
    h_rows[0][1] = rows[1].h_v[0] + distant.h_v[1] + h_pair[0];
    h_extent[0] = as_long[0] + h_counted[COUNT - 1];
    printf("%zu %d %d\n", distance(h_j), compared(h_k) + ordered(h_q, h_r), helped(h_m, h_n, h_o));
    printf("%g %d\n", typed(), chosen() + compared_to(h_compared, as_long));
    printf("%g %g %g %g %g\n", in_macro(h_i), twice(h_g), reduced(),
           in_for(y, h_a), h_typedef[0]);
    return 0;
}
