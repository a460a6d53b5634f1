#include "base/stack.h"
#include "base/crash.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

enum { AR_GUARD = 1 << 16 };

typedef struct call {
    ar_stack_function *function;
    void *context;
    sigset_t signals; /* the caller's mask */
} call;

/* A handler for the overflow of this stack needs another one. The sanitizers
 * bring theirs, and want to find it at the end. */
static void *enter(void *argument) {
    call *c = argument;
    _Alignas(16) char bytes[AR_SIGNAL_STACK];
    stack_t mine = {.ss_sp = bytes, .ss_size = sizeof bytes}, old;
    bool is_ours = sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE);
    if (is_ours)
        sigaltstack(&mine, NULL);
    pthread_sigmask(SIG_SETMASK, &c->signals, NULL);
    c->function(c->context);
    if (is_ours)
        sigaltstack(&old, NULL);
    return NULL;
}

static int run_on(void *stack, size_t size, call *c) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return -1;
    pthread_t thread;
    /* The thread that works takes the signals, not the one that waits. */
    sigset_t every;
    sigfillset(&every);
    pthread_sigmask(SIG_BLOCK, &every, &c->signals);
    int failed = pthread_attr_setstack(&attributes, stack, size);
    if (!failed)
        failed = pthread_create(&thread, &attributes, enter, c);
    pthread_attr_destroy(&attributes);
    if (!failed)
        pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &c->signals, NULL);
    return failed;
}

void ar_run_on_big_stack(ar_stack_function *function, void *context) {
    call c = {.function = function, .context = context};
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
