/* threads.h - splitting a loop over the OpenMP team that oneDNN uses too.
 *
 * Serial inside a parallel region of the caller, for small counts, and where
 * the library was built without OpenMP.
 */
#ifndef AMP_THREADS_H
#define AMP_THREADS_H

#include <stddef.h>

/* Starting a team costs about as much as this many elements of casting. */
#define AMP_THREADS_FROM ((size_t)64 << 10)

/* Calls body(context, begin, end) on disjoint ranges that cover 0..n; ranges
 * begin at multiples of 64. Returns when all are done. */
void amp_parallel(size_t n,
                  void (*body)(void *context, size_t begin, size_t end),
                  void *context);

/* The number of threads that amp_parallel would use for a large n. */
int amp_thread_count(void);

/* Sets the thread count of the calling thread's next regions, oneDNN's too;
 * returns the count before. */
int amp_thread_limit(int count);

#endif
