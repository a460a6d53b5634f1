/* Runs a function on a thread with a big stack: parsed programs nest as deep
 * as their authors (or generators) liked, and recursion follows them. */
#ifndef AR_STACK_H
#define AR_STACK_H

typedef void ar_stack_function(void *context);

/* Returns when the function has returned. Address space is only reserved; when
 * not even that can be had, smaller stacks are tried, at last the caller's. */
void ar_run_on_big_stack(ar_stack_function *function, void *context);

#endif
