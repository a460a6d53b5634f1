#include "base/crash.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

typedef struct fault {
    int number;
    const char *name;
} fault;

static const fault faults[] = {{SIGSEGV, "SIGSEGV"},
                               {SIGBUS, "SIGBUS"},
                               {SIGFPE, "SIGFPE"},
                               {SIGILL, "SIGILL"},
                               {SIGABRT, "SIGABRT"}};
static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};

enum {
    FAULTS = sizeof faults / sizeof *faults,
    INTERRUPTS = sizeof interrupts / sizeof *interrupts
};

static const char *volatile stage;
static const char *volatile input;
static volatile ar_written written;
static void (*volatile clean_up)(void);
static volatile sig_atomic_t is_held, waiting;

void ar_crash_stage(const char *name) {
    stage = name;
}

void ar_crash_input(const char *name) {
    input = name;
}

void ar_crash_written(ar_written what) {
    written = what;
}

void ar_crash_clean_up(void (*function)(void)) {
    clean_up = function;
}

/* ---- the end ------------------------------------------------------------ */

static const char *name_of(int number) {
    for (int i = 0; i < FAULTS; i++)
        if (faults[i].number == number)
            return faults[i].name;
    return "a signal";
}

static const char *outcome(void) {
    switch (written) {
    case AR_WRITTEN_NONE:
        return "no file was written";
    case AR_WRITTEN_PARTLY:
        return "some files may have been written";
    case AR_WRITTEN_ALL:
        return "the output was written completely";
    }
    return "";
}

/* A handler may call write(), but not printf(). */
static void say(const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (write(STDERR_FILENO, words[i], strlen(words[i])) < 0)
            return;
}

static void say_all(int number) {
    const char *words[] = {"amp-rewrite: internal error: ",
                           name_of(number),
                           stage ? " in stage " : "",
                           stage ? stage : "",
                           input ? " of '" : "",
                           input ? input : "",
                           input ? "'" : "",
                           "\namp-rewrite: ",
                           outcome(),
                           "; please report this, with the command and its "
                           "input\n"};
    say(words, sizeof words / sizeof *words);
}

static void on_fault(int number) {
    if (clean_up)
        clean_up();
    say_all(number);
    _exit(AR_CRASH_STATUS);
}

static void on_interrupt(int number) {
    if (is_held) {
        waiting = number;
        return;
    }
    if (clean_up)
        clean_up();
    signal(number, SIG_DFL);
    raise(number); /* comes when this handler returns */
}

void ar_crash_hold_interrupts(void) {
    is_held = 1;
}

void ar_crash_take_interrupts(void) {
    is_held = 0;
    if (waiting)
        raise(waiting);
}

/* ---- handlers ----------------------------------------------------------- */

/* Only where nobody else decided what happens. */
static void handle(int number, void (*handler)(int), int flags) {
    struct sigaction old, new = {.sa_handler = handler, .sa_flags = flags};
    if (sigaction(number, NULL, &old) != 0 || (old.sa_flags & SA_SIGINFO) ||
        old.sa_handler != SIG_DFL)
        return;
    sigfillset(&new.sa_mask);
    sigaction(number, &new, NULL);
}

static void leave(int number, void (*handler)(int)) {
    struct sigaction old;
    if (sigaction(number, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
        old.sa_handler == handler)
        signal(number, SIG_DFL);
}

void ar_crash_catch(void) {
    for (int i = 0; i < FAULTS; i++)
        handle(faults[i].number, on_fault, SA_ONSTACK | (int)SA_RESETHAND);
    for (int i = 0; i < INTERRUPTS; i++)
        handle(interrupts[i], on_interrupt, SA_ONSTACK | SA_RESTART);
    /* A limit on file sizes is an error of write(), as a full disk is. */
    signal(SIGXFSZ, SIG_IGN);
}

void ar_crash_leave_alone(void) {
    for (int i = 0; i < FAULTS; i++)
        leave(faults[i].number, on_fault);
    for (int i = 0; i < INTERRUPTS; i++)
        leave(interrupts[i], on_interrupt);
}
