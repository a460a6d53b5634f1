#define _DEFAULT_SOURCE /* sbrk, madvise */
#include "front/workers.h"
#include "front/collect.h"
#include "base/crash.h"
#include "base/stack.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Address space for the facts of one unit; only touched pages cost memory. */
#define AR_UNIT_RESERVE ((size_t)4 << 30)
/* A worker's heap: at its start, how it grows, what goes elsewhere. */
enum {
    AR_HEAP_START = 128 << 20,
    AR_HEAP_STEP = 1 << 20,
    AR_HEAP_LARGEST = 16 << 20,
    AR_HUGE_PAGE = 2 << 20
};
enum {
    AR_PROGRESS_AFTER_SECONDS = 1,
    AR_NO_DIRECTORY = 71, /* exit status of a worker */
    AR_HANGS_AFTER_SECONDS = 600
};

typedef struct worker {
    pid_t pid; /* 0: not running */
    const ar_job *job;
    ar_arena *arena;
    ar_unit **result; /* in the shared arena: set by the worker at its end */
} worker;

static void collect_on_stack(void *context) {
    worker *w = context;
    *w->result = ar_collect(w->arena, w->job);
}

/* The parser takes tens of megabytes in small pieces and gives few back. One
 * heap that starts with huge pages saves most of its page faults; where memory
 * is short, or the kernel has no such pages, it is an ordinary heap. */
static void prepare_heap(void) {
#ifdef M_TOP_PAD
    char *begin = sbrk(0);
    mallopt(M_MMAP_THRESHOLD, AR_HEAP_LARGEST);
    mallopt(M_TRIM_THRESHOLD, AR_HEAP_START);
    mallopt(M_TOP_PAD, AR_HEAP_START);
    void *volatile piece = malloc(AR_HEAP_STEP); /* takes it, if it is there */
    free(piece);
    mallopt(M_TOP_PAD, AR_HEAP_STEP);
#ifdef MADV_HUGEPAGE
    char *end = sbrk(0);
    begin += -(uintptr_t)begin % AR_HUGE_PAGE;
    if (end > begin)
        madvise(begin, (size_t)(end - begin), MADV_HUGEPAGE);
#endif
#endif
}

static _Noreturn void run_worker(worker *w) {
    ar_crash_leave_alone();
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody else would want the result */
    /* The process is ours alone, so relative names are simply right. */
    if (chdir(w->job->directory) != 0)
        _exit(AR_NO_DIRECTORY);
    alarm(AR_HANGS_AFTER_SECONDS); /* ends a parser that hangs */
    prepare_heap();
    ar_run_on_big_stack(collect_on_stack, w);
    _exit(0);
}

/* False and errno: there is no process for it. */
static bool start_worker(worker *w, const ar_job *job) {
    w->job = job;
    w->arena = ar_arena_new_shared(AR_UNIT_RESERVE);
    w->result = AR_NEW(w->arena, ar_unit *);
    w->pid = fork();
    if (w->pid == 0)
        run_worker(w);
    if (w->pid > 0)
        return true;
    int error = errno;
    w->pid = 0;
    ar_arena_free(w->arena);
    errno = error;
    return false;
}

/* A unit for a worker that left none behind. */
static ar_unit *empty_unit(const ar_job *job) {
    ar_arena *arena = ar_arena_new();
    ar_unit *unit = AR_NEW(arena, ar_unit);
    unit->arena = arena;
    unit->main_name = ar_strdup(arena, job->main_name);
    unit->main_file = AR_NO_FILE;
    unit->language = job->language;
    unit->directory = ar_strdup(arena, job->directory);
    unit->files.arena = arena;
    unit->diags.arena = arena;
    return unit;
}

static ar_unit *unstarted_unit(const worker *w, int error) {
    ar_unit *unit = empty_unit(w->job);
    ar_report(&unit->diags, AR_DIAG_CANNOT_READ, AR_NO_RANGE, unit->main_name,
              ar_sprintf(unit->arena, "there is no process to parse it: %s",
                         strerror(error)));
    return unit;
}

static ar_unit *failed_unit(const worker *w, int status) {
    /* What the worker wrote is of unknown shape: start afresh. */
    ar_arena_free(w->arena);
    ar_unit *unit = empty_unit(w->job);
    if (WIFEXITED(status) && WEXITSTATUS(status) == AR_NO_DIRECTORY)
        ar_report(&unit->diags, AR_DIAG_CANNOT_READ, AR_NO_RANGE,
                  unit->directory, "no such directory");
    else
        ar_report(&unit->diags, AR_DIAG_WORKER_CRASHED, AR_NO_RANGE,
                  unit->main_name,
                  WIFSIGNALED(status) ? "signal" : "exit status",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return unit;
}

static ar_unit *take_result(worker *w, int status) {
    w->pid = 0;
    bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!ended_well || !*w->result)
        return failed_unit(w, status);
    ar_arena_end_sharing(w->arena);
    return *w->result;
}

static worker *worker_of(worker *workers, uint32_t count, pid_t pid) {
    for (uint32_t i = 0; i < count; i++)
        if (workers[i].pid == pid)
            return &workers[i];
    return NULL;
}

static void show_progress(time_t started, uint32_t done, uint32_t count) {
    if (time(NULL) - started >= AR_PROGRESS_AFTER_SECONDS)
        fprintf(stderr, "\r\033[Kparsing %u/%u", done, count);
}

ar_unit **ar_collect_all(ar_arena *arena, const ar_jobs *jobs,
                         uint32_t parallel, ar_progress progress) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (parallel == 0)
        parallel = processors > 0 ? (uint32_t)processors : 1;
    ar_unit **units = AR_NEW_ARRAY(arena, ar_unit *, jobs->count);
    worker *workers = AR_NEW_ARRAY(arena, worker, jobs->count);
    time_t started = time(NULL);
    uint32_t next = 0, running = 0, done = 0;
    fflush(NULL); /* or workers would write what is buffered once more */
    while (done < jobs->count) {
        while (next < jobs->count && running < parallel) {
            worker *w = &workers[next];
            if (start_worker(w, &jobs->data[next])) {
                running++;
            } else if (running) {
                break; /* again when another one has ended */
            } else {
                units[next] = unstarted_unit(w, errno);
                done++;
            }
            next++;
        }
        if (!running)
            continue;
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        worker *w = pid > 0 ? worker_of(workers, next, pid) : NULL;
        if (!w)
            continue;
        units[w - workers] = take_result(w, status);
        running--;
        done++;
        if (progress == AR_PROGRESS_TERMINAL)
            show_progress(started, done, jobs->count);
    }
    if (progress == AR_PROGRESS_TERMINAL)
        fputs("\r\033[K", stderr);
    return units;
}
