// What cannot be half whatever a rule says, each for one cause.
// RUN: echo 'keep half variable "*"; keep half field "*";' > %t.amp
// RUN: echo 'op sum all_sum(inout x, n) infer x = x; pure log_values;' >> %t.amp
// RUN: %amp-rewrite -O2 --loss-scale=none --dump-after=solve --rules %t.amp \
// RUN:   %s 2>/dev/null | %FileCheck %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

union both {
    float as_float[4];
    int as_int[4];
};
union both u;
// CHECK-DAG: storage fp32 union both.as_float/1 {{.*}}: reinterpreted as int [

float sorted[4];
int by_value(const void *a, const void *b) {
    return *(const float *)a > *(const float *)b;
}
// CHECK-DAG: storage fp32 sorted/1 {{.*}}: its address is passed to 'qsort' [

float printed[4];
// CHECK-DAG: storage fp32 printed/1 {{.*}}: its address is passed to a function that takes any arguments [

float scanned[4];
// CHECK-DAG: storage fp32 scanned/1 {{.*}}: 'scanf' gets it as no float pointer [

float counted[4], numbered[4];
// CHECK-DAG: storage half counted/1 {{.*}}: rule keep half variable
// CHECK-DAG: storage fp32 numbered/1 {{.*}}: the byte count of memset does not come from a sizeof [{{.*}}] to unlock: count bytes with sizeof

struct pair {
    float in[4];
};
struct pair saved;
// CHECK-DAG: storage fp32 pair.in/1 {{.*}}: its struct goes through 'fwrite' as bytes [

// Described by a rule, and still a stranger to half.
void all_sum(void *buffer, int count);
float summed[4], logged[4];
void log_values(const void *values);
// CHECK-DAG: storage fp32 summed/1 {{.*}}: 'all_sum' takes float [{{.*}}] to unlock: give it a copy
// CHECK-DAG: storage fp32 logged/1 {{.*}}: 'log_values' takes float [

extern float elsewhere[4];
// CHECK-DAG: storage fp32 elsewhere/1 {{.*}}: defined outside the program

float plain[4];
// CHECK-DAG: storage half plain/1 {{.*}}: rule keep half variable

int main(void) {
    for (int i = 0; i < 4; i++) {
        u.as_float[i] = sorted[i] = printed[i] = counted[i] = (float)i;
        plain[i] = saved.in[i] = elsewhere[i] + scanned[i] + u.as_int[i];
    }
    qsort(sorted, 4, sizeof *sorted, by_value);
    printf("%p\n", (void *)printed);
    scanf("%f", (void *)&scanned[1]);
    all_sum(summed, 4);
    log_values(logged);
    memset(counted, 0, 4 * sizeof(float));
    memset(numbered, 0, 16);
    fwrite(&saved, sizeof saved, 1, stdout);
    return (int)(plain[0] + sorted[0] + numbered[0] + summed[0] + logged[0]);
}
