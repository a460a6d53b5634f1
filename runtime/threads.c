#include "threads.h"

#if defined(_OPENMP)

#include <omp.h>

int amp_thread_count(void) {
    return omp_in_parallel() ? 1 : omp_get_max_threads();
}

int amp_thread_limit(int count) {
    int before = omp_get_max_threads();
    if (before != count)
        omp_set_num_threads(count);
    return before;
}

void amp_parallel(size_t n,
                  void (*body)(void *context, size_t begin, size_t end),
                  void *context) {
    if (n == 0)
        return; /* pointers may be null */
    int threads = n < AMP_THREADS_FROM ? 1 : amp_thread_count();
    if (threads <= 1) {
        body(context, 0, n);
        return;
    }
    size_t share = (n / (size_t)threads + 64u) & ~(size_t)63u;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int i = 0; i < threads; i++) {
        size_t begin = (size_t)i * share;
        size_t end = begin + share < n ? begin + share : n;
        if (begin < end)
            body(context, begin, end);
    }
}

#else

int amp_thread_count(void) {
    return 1;
}

int amp_thread_limit(int count) {
    return count;
}

void amp_parallel(size_t n,
                  void (*body)(void *context, size_t begin, size_t end),
                  void *context) {
    if (n > 0)
        body(context, 0, n);
}

#endif
