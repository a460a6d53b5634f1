// The name of an array is a pointer to it, wherever it decays.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s

float *kept(void) {
    static float own[4];
    own[0] = 1;
    return own;
}
// CHECK: class kept:own/1 global
// CHECK-NEXT: slot kept:result/1
// CHECK-NEXT: slot kept:own/1
// CHECK-NEXT: slot main:p/1

float left[4], right[4];
float *either(int which) { return which ? left : right; }
// CHECK: class left/1 global
// CHECK-NEXT: slot left/1
// CHECK-NEXT: slot right/1
// CHECK-NEXT: slot either:result/1

struct box {
    float in[4];
};
float *inside(struct box *b) { return b->in; }
// CHECK: class box.in/1 global
// CHECK-NEXT: slot box.in/1
// CHECK-NEXT: slot inside:result/1
// CHECK-NEXT: slot main:q/1

float rows[3][4];
float *row(int i) { return rows[i]; }
// CHECK: class rows/2 global
// CHECK-NEXT: slot rows/2
// CHECK-NEXT: slot row:result/1

int main(void) {
    struct box b = {{0}};
    float *p = kept(), *q = inside(&b);
    return (int)(p[0] + q[0] + either(1)[0] + row(1)[0]);
}

/* An index of an array stays within it. */
float grid[3][4], sums[3];
void once(int n, int m) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            grid[i][j] += 1;
}
// CHECK: class grid/2 global
// CHECK-NEXT: slot grid/2
// CHECK-NEXT: sites
enum { ROWS = 3, COLUMNS = 4 };
void flat(float *x) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] += 1;
}
void twice(float *y) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            y[i + j] += 1;
}
// CHECK: class flat:x/1
// CHECK-NEXT: slot flat:x/1
// CHECK-NEXT: sites
// CHECK: class twice:y/1
// CHECK-NEXT: slot twice:y/1
// CHECK-NEXT: accumulates overlap
