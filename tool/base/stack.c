#include "base/stack.h"

#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

enum { AR_GUARD = 1 << 16 };

typedef struct call {
    ar_stack_function *function;
    void *context;
} call;

static void *enter(void *argument) {
    call *c = argument;
    c->function(c->context);
    return NULL;
}

static int run_on(void *stack, size_t size, call *c) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return -1;
    pthread_t thread;
    int failed = pthread_attr_setstack(&attributes, stack, size);
    if (!failed)
        failed = pthread_create(&thread, &attributes, enter, c);
    pthread_attr_destroy(&attributes);
    if (!failed)
        pthread_join(thread, NULL);
    return failed;
}

void ar_run_on_big_stack(ar_stack_function *function, void *context) {
    call c = {function, context};
#ifdef M_ARENA_MAX
    /* The caller waits: one heap does for both threads. A second one would
     * grow in small steps. */
    mallopt(M_ARENA_MAX, 1);
#endif
    for (size_t size = (size_t)1 << 30; size >= (size_t)1 << 23; size /= 2) {
        void *stack = mmap(
            NULL, size, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (stack == MAP_FAILED)
            continue;
        /* Overflow must fault, not run into the next mapping. */
        mprotect(stack, AR_GUARD, PROT_NONE);
        int failed = run_on((char *)stack + AR_GUARD, size - AR_GUARD, &c);
        munmap(stack, size);
        if (!failed)
            return;
    }
    function(context);
}
