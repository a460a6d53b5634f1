#include "bench.h"

#include "kernels.h"
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_ROUNDS 401

/* Long enough for the clock to be exact. */
#define SHORTEST 2e-4

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, by_value);
    return x[n / 2];
}

static double time_of(bench_work w, int repeats) {
    double start = now();
    for (int i = 0; i < repeats; i++)
        w.run(w.context);
    return (now() - start) / repeats;
}

static int repeats_of(bench_work w) {
    int repeats = 1;
    w.run(w.context);
    while (time_of(w, repeats) * repeats < SHORTEST)
        repeats *= 2;
    return repeats;
}

bench_result bench_compare(bench_work first, bench_work second,
                           double seconds) {
    static double x[MAX_ROUNDS], y[MAX_ROUNDS], ratios[MAX_ROUNDS];
    int repeats_x = repeats_of(first);
    int repeats_y = repeats_of(second);
    double end = now() + seconds;
    int n = 0;
    while (n < MAX_ROUNDS && (n < 5 || now() < end)) {
        x[n] = time_of(first, repeats_x);
        y[n] = time_of(second, repeats_y);
        ratios[n] = x[n] / y[n];
        n++;
    }
    return (bench_result){.first = median(x, n),
                          .second = median(y, n),
                          .ratio = median(ratios, n)};
}

void *bench_alloc(size_t bytes) {
    void *p = aligned_alloc(64, (bytes + 63u) & ~(size_t)63u);
    if (!p) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    memset(p, 0, bytes);
    return p;
}

/* The rest of the first line of /proc/cpuinfo that starts with `key`. */
static const char *cpu_line(const char *key) {
    static char line[8192];
    const char *rest = "";
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, key, strlen(key)) == 0) {
            line[strcspn(line, "\n")] = ' ';
            rest = colon + 1;
            break;
        }
    }
    if (f)
        fclose(f);
    return rest;
}

bool bench_cpu_has(const char *flag) {
    char word[32];
    snprintf(word, sizeof word, " %s ", flag);
    return strstr(cpu_line("flags"), word) != NULL;
}

static void print_cpu(void) {
    static const char *const flags[] = {"avx2", "f16c", "avx512f",
                                        "avx512_bf16", "amx_bf16"};
    printf("%s\n", cpu_line("model name"));
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        printf("%s: %s, ", flags[i], bench_cpu_has(flags[i]) ? "yes" : "no");
    printf("kernels: %s, threads: %d\n", amp_kernels_get()->name,
           amp_thread_count());
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0); /* a long run is watched */
    print_cpu();
    if (!*only || strcmp(only, "kernels") == 0)
        bench_kernels();
    if (!*only || strcmp(only, "gemm") == 0)
        bench_gemm();
    if (!*only || strcmp(only, "storage") == 0)
        bench_storage();
    return 0;
}
