// Pointers and counters that walk: where they start anew in every round of a
// loop from the same place, the rounds add to the same elements.
// RUN: %amp-rewrite --dump-after=flows %s | %FileCheck %s

float anew[8], by_count[8], in_call[8], goes_on[64], own_rows[64], twice[8];
float lost[8];

void again(const float *w, int n, int m) {
    for (int i = 0; i < m; i++) {
        float *e = anew;
        for (int k = 0; k < n; k++)
            *e++ += *w++;
    }
}
// CHECK: class anew/1
// CHECK: accumulates invariant walks.c:[[#@LINE-4]]:13 in loop walks.c:[[#@LINE-7]]:5

void counts(const float *w, int n, int m) {
    int k;
    for (int i = 0; i < m; i++) {
        k = 0;
        while (k < n) {
            by_count[k] += w[i];
            k += 2;
        }
    }
}
// CHECK: class by_count/1
// CHECK: accumulates invariant walks.c:[[#@LINE-6]]:13 in loop walks.c:[[#@LINE-9]]:5

static void add(float *to, float x) {
    *to += x;
}

void calls(const float *w, int n, int m) {
    for (int i = 0; i < m; i++) {
        float *e = in_call;
        for (int k = 0; k < n; k++)
            add(e++, w[i]);
    }
}
// CHECK: class in_call/1
// CHECK: accumulates call walks.c:[[#@LINE-4]]:13 in loop walks.c:[[#@LINE-7]]:5

// Each element once.
void all_of_it(const float *w, int n, int m) {
    float *e = goes_on, *row;
    for (int i = 0; i < m; i++)
        for (int k = 0; k < n; k++)
            *e++ += *w++;
    for (int i = 0; i < m; i++) {
        row = own_rows + i * n;
        for (int k = 0; k < n; k++)
            *row++ += *w++;
    }
}
// CHECK: class goes_on/1
// CHECK-NOT: accumulates
// CHECK: class own_rows/1
// CHECK-NOT: accumulates

// Two places to start from, or somebody else's: not known to be the same.
void unknown(float **set, const float *w, int n, int m) {
    for (int i = 0; i < m; i++) {
        float *e = twice;
        if (i % 2)
            e = twice + i;
        for (int k = 0; k < n; k++)
            *e++ += *w++;
        float *f = lost;
        *set = (float *)&f;
        for (int k = 0; k < n; k++)
            *f++ += *w++;
    }
}
// CHECK: class twice/1
// CHECK-NOT: accumulates
