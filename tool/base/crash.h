/* crash: how the command ends when it breaks or is told to stop.
 *
 * A fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL, or the SIGABRT of AR_BUG) is an
 * internal error: a message says what was being done and what became of the
 * output, temporary files go, and the exit status is 70. A handler that is
 * there already, such as a sanitizer's, stays. SIGINT, SIGTERM and SIGHUP end
 * the process as they would anyhow, but not before temporary files are gone,
 * nor between two renames that belong together.
 *
 * One thread takes signals: the one that works (ar_run_on_big_stack). All state
 * is static; texts that are handed over must live until the end. */
#ifndef AR_CRASH_H
#define AR_CRASH_H

enum { AR_CRASH_STATUS = 70, AR_SIGNAL_STACK = 1 << 16 };

/* In the main process, once, before there is work. */
void ar_crash_catch(void);
/* In a forked worker: faults end it by their signal, which its parent sees. */
void ar_crash_leave_alone(void);

/* What is being done, and to which input; for the message. */
void ar_crash_stage(const char *stage);
void ar_crash_input(const char *name);

/* What is on disk, for the message. */
typedef enum ar_written {
    AR_WRITTEN_NONE,
    AR_WRITTEN_PARTLY, /* files are being replaced */
    AR_WRITTEN_ALL
} ar_written;
void ar_crash_written(ar_written written);

/* Called before the process ends by a signal; may only do what a signal
 * handler may. NULL: nothing is to be cleaned up. */
void ar_crash_clean_up(void (*clean_up)(void));

/* Between these two an interrupt waits. Not to be nested. */
void ar_crash_hold_interrupts(void);
void ar_crash_take_interrupts(void);

#endif
