#include "out/edit.h"

#include "base/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINK_LIMIT = 40, NAME_TRIES = 1000 };

typedef enum target_kind {
    TARGET_ABSENT,
    TARGET_FILE,
    TARGET_STREAM /* device, pipe: nothing to rename */
} target_kind;

typedef struct job {
    const ar_output *output;
    const char *target;    /* the path with symbolic links followed */
    const char *temporary; /* NULL: none, or renamed already */
    const char *kept;      /* the old file, until all are renamed; or NULL */
    target_kind kind;
    struct stat old; /* TARGET_FILE */
} job;

typedef struct batch {
    ar_arena *arena;
    ar_diags *diags;
    job *jobs;
    uint32_t count;
    AR_VEC(const char *) made; /* directories, parents first */
} batch;

/* For a signal that ends the process while files are being written. */
static batch *under_way;

static bool fail(const batch *b, const char *path, int error) {
    ar_report(b->diags, AR_DIAG_CANNOT_WRITE, AR_NO_RANGE, path,
              strerror(error));
    return false;
}

static bool fail_exists(const batch *b, const char *path) {
    ar_report(b->diags, AR_DIAG_BACKUP_EXISTS, AR_NO_RANGE, path);
    return false;
}

/* The directory part with its slash; "" for a bare name. */
static const char *parent_of(ar_arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? ar_strndup(arena, path, (size_t)(slash + 1 - path)) : "";
}

/* Follows symbolic links by hand: realpath() fails on a link to a file that
 * is yet to be made. NULL and errno on a loop. */
static const char *follow_links(ar_arena *arena, const char *path) {
    for (int i = 0; i < LINK_LIMIT; i++) {
        char to[PATH_MAX];
        ssize_t length = readlink(path, to, sizeof to - 1);
        if (length < 0)
            return path;
        to[length] = '\0';
        path = to[0] == '/'
                   ? ar_strdup(arena, to)
                   : ar_sprintf(arena, "%s%s", parent_of(arena, path), to);
    }
    errno = ELOOP;
    return NULL;
}

/* Finds out what is there now. */
static bool inspect(batch *b, job *j) {
    const char *path = j->output->path;
    struct stat st;
    if (j->output->kind == AR_WRITE_BACKUP) {
        if (lstat(path, &st) == 0)
            return fail_exists(b, path);
        j->target = path;
        return true;
    }
    j->target = path;
    bool exists = stat(path, &st) == 0;
    if (!exists && errno != ENOENT)
        return fail(b, path, errno);
    if (exists && S_ISDIR(st.st_mode))
        return fail(b, path, EISDIR);
    if (exists && access(path, W_OK) != 0)
        return fail(b, path, errno);
    if (exists && !S_ISREG(st.st_mode)) {
        j->kind = TARGET_STREAM;
        return true;
    }
    j->target = follow_links(b->arena, path);
    if (!j->target)
        return fail(b, path, errno);
    if (!exists)
        return true;
    j->kind = TARGET_FILE;
    j->old = st;
    return true;
}

static bool make_parents(batch *b, const job *j) {
    char *path = ar_strdup(b->arena, j->target);
    for (char *slash = strchr(path + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) == 0)
            AR_PUSH(b->arena, &b->made, ar_strdup(b->arena, path));
        else if (errno != EEXIST && access(path, X_OK) != 0)
            return fail(b, j->output->path, errno);
        *slash = '/';
    }
    return true;
}

static bool write_all(int fd, ar_bytes bytes) {
    for (size_t done = 0; done < bytes.size;) {
        ssize_t n = write(fd, bytes.data + done, bytes.size - done);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            done += (size_t)n;
    }
    return true;
}

/* The i-th name beside the target that may be free. */
static const char *name_beside(const batch *b, const job *j, int i) {
    const char *slash = strrchr(j->target, '/');
    const char *name = slash ? slash + 1 : j->target;
    return ar_sprintf(b->arena, "%s.%.200s.%ld-%d.tmp",
                      parent_of(b->arena, j->target), name, (long)getpid(), i);
}

/* open() rather than mkstemp(): a new file gets what the umask allows. */
static int open_temporary(batch *b, job *j) {
    for (int i = 0; i < NAME_TRIES; i++) {
        const char *path = name_beside(b, j, i);
        ar_crash_hold_interrupts(); /* one that is there has its name here */
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        int error = errno;
        if (fd >= 0)
            j->temporary = path;
        ar_crash_take_interrupts();
        errno = error;
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static bool set_mode(const job *j, int fd) {
    struct stat like = j->old;
    if (j->output->like && stat(j->output->like, &like) != 0)
        return false;
    /* Without the right to give files away, somebody else's becomes ours. */
    if (j->kind == TARGET_FILE && j->old.st_uid != geteuid() &&
        fchown(fd, j->old.st_uid, j->old.st_gid) != 0 && errno != EPERM)
        return false;
    if (j->kind != TARGET_FILE && !j->output->like)
        return true;
    return fchmod(fd, like.st_mode & 0777) == 0;
}

static bool stage(batch *b, job *j) {
    if (!make_parents(b, j))
        return false;
    if (j->kind == TARGET_STREAM)
        return true;
    int fd = open_temporary(b, j);
    if (fd < 0)
        return fail(b, j->output->path, errno);
    bool ok =
        write_all(fd, j->output->bytes) && set_mode(j, fd) && fsync(fd) == 0;
    int error = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        error = errno;
    }
    return ok ? true : fail(b, j->output->path, error);
}

static bool write_stream(batch *b, const job *j) {
    int fd = open(j->target, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_all(fd, j->output->bytes);
    int error = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        error = errno;
    }
    return ok ? true : fail(b, j->output->path, error);
}

/* Gives the old file a second name, to come back by. Where the file system has
 * no hard links it loses the first one for a moment. */
static bool keep_old(batch *b, job *j) {
    struct stat now;
    if (lstat(j->target, &now) != 0)
        return fail(b, j->output->path, errno);
    if (now.st_dev != j->old.st_dev || now.st_ino != j->old.st_ino)
        return fail(b, j->output->path, ESTALE);
    for (int i = 0; i < NAME_TRIES; i++) {
        const char *path = name_beside(b, j, i);
        bool ok = link(j->target, path) == 0;
        if (!ok && errno == EEXIST)
            continue;
        if (!ok && rename(j->target, path) != 0)
            break;
        j->kept = path;
        return true;
    }
    return fail(b, j->output->path, errno);
}

static bool commit(batch *b, job *j) {
    if (j->kind == TARGET_FILE && !keep_old(b, j))
        return false;
    if (j->output->kind == AR_WRITE_BACKUP) {
        /* link() does not replace, whoever made the name meanwhile */
        if (link(j->temporary, j->target) != 0)
            return errno == EEXIST ? fail_exists(b, j->output->path)
                                   : fail(b, j->output->path, errno);
        unlink(j->temporary);
    } else if (rename(j->temporary, j->target) != 0) {
        return fail(b, j->output->path, errno);
    }
    j->temporary = NULL;
    return true;
}

static bool no_name_twice(const batch *b) {
    for (uint32_t i = 0; i < b->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(b->jobs[i].target, b->jobs[k].target) == 0) {
                ar_report(b->diags, AR_DIAG_CANNOT_WRITE, AR_NO_RANGE,
                          b->jobs[i].output->path, "two outputs go there");
                return false;
            }
    return true;
}

/* Puts back what was there. An old file that cannot get its name again stays
 * under the other one. */
static void take_back(batch *b, job *j) {
    if (j->kind == TARGET_STREAM)
        return;
    if (!j->kept) {
        if (!j->temporary)
            unlink(j->target);
        return;
    }
    if (rename(j->kept, j->target) != 0) {
        ar_report(b->diags, AR_DIAG_CANNOT_WRITE, AR_NO_RANGE, j->target,
                  ar_sprintf(b->arena, "%s; what it was is in '%s'",
                             strerror(errno), j->kept));
        return;
    }
    unlink(j->kept); /* rename() does nothing to two names of one file */
}

static bool commit_all(batch *b) {
    bool ok = true;
    uint32_t done = 0;
    ar_crash_hold_interrupts(); /* all files are the new ones, or none */
    ar_crash_written(AR_WRITTEN_PARTLY);
    for (; done < b->count && ok; done++)
        if (b->jobs[done].kind != TARGET_STREAM)
            ok = commit(b, &b->jobs[done]);
    if (ok) {
        for (uint32_t i = 0; i < b->count; i++)
            if (b->jobs[i].kept)
                unlink(b->jobs[i].kept);
    } else {
        while (done-- > 0)
            take_back(b, &b->jobs[done]);
    }
    ar_crash_written(ok ? AR_WRITTEN_ALL : AR_WRITTEN_NONE);
    ar_crash_take_interrupts();
    return ok;
}

static bool write_batch(batch *b) {
    bool ok = true;
    for (uint32_t i = 0; i < b->count; i++)
        ok &= inspect(b, &b->jobs[i]);
    ok = ok && no_name_twice(b);
    for (uint32_t i = 0; i < b->count && ok; i++)
        ok = stage(b, &b->jobs[i]);
    /* A pipe may keep us waiting for its reader, and fail. */
    for (uint32_t i = 0; i < b->count && ok; i++)
        if (b->jobs[i].kind == TARGET_STREAM)
            ok = write_stream(b, &b->jobs[i]);
    return ok && commit_all(b);
}

/* May be called from a signal handler. */
static void clean_up(void) {
    batch *b = under_way;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->jobs[i].temporary)
            unlink(b->jobs[i].temporary);
    /* Fails, as it should, on a directory that got a file. */
    for (uint32_t i = b->made.count; i-- > 0;)
        rmdir(b->made.data[i]);
}

bool ar_write_files(const ar_output *outputs, uint32_t count, ar_diags *diags) {
    batch b = {.arena = diags->arena,
               .diags = diags,
               .jobs = AR_NEW_ARRAY(diags->arena, job, count),
               .count = count};
    for (uint32_t i = 0; i < count; i++)
        b.jobs[i].output = &outputs[i];
    under_way = &b;
    ar_crash_clean_up(clean_up);
    bool ok = write_batch(&b);
    ar_crash_clean_up(NULL);
    if (!ok)
        clean_up();
    under_way = NULL;
    return ok;
}

bool ar_write_file(const char *path, ar_bytes bytes, const char *like,
                   ar_diags *diags) {
    ar_output output = {.path = path, .bytes = bytes, .like = like};
    return ar_write_files(&output, 1, diags);
}
