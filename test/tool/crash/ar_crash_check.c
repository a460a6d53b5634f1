/* Breaks on purpose, on the thread that works.
 *
 *     ar-crash-check overflow          recursion without an end
 *     ar-crash-check bug               a broken invariant
 *     ar-crash-check raise NUMBER      the signal NUMBER
 *     ar-crash-check held NUMBER       the same while interrupts are held
 *     ar-crash-check worker NUMBER     the same in a worker */
#include "base/arena.h"
#include "base/crash.h"
#include "base/stack.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    const char *what;
    int number;
} request;

static int sink(volatile int *from, int depth) {
    volatile int here[64] = {depth};
    int more = depth < 0 ? 0 : sink(here, depth + 1);
    return more + here[0] + *from;
}

static void clean_up(void) {
    remove("temporary");
}

static void break_it(void *context) {
    const request *r = context;
    volatile int start = 0;
    ar_crash_stage("testing");
    ar_crash_input("some input");
    ar_crash_clean_up(clean_up);
    if (strcmp(r->what, "overflow") == 0)
        sink(&start, 0);
    if (strcmp(r->what, "bug") == 0)
        AR_BUG("%d is %s", 1, "two");
    if (strcmp(r->what, "held") == 0) {
        ar_crash_hold_interrupts();
        raise(r->number);
        puts("held");
        fflush(stdout);
        ar_crash_take_interrupts();
    } else {
        if (strcmp(r->what, "worker") == 0)
            ar_crash_leave_alone();
        raise(r->number);
    }
    puts("nothing happened");
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    request r = {argv[1], argc > 2 ? atoi(argv[2]) : 0};
    ar_crash_catch();
    ar_run_on_big_stack(break_it, &r);
    return 0;
}
