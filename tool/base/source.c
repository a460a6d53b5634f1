#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

ar_file_id ar_files_add(ar_files *files, const char *name, const char *real,
                        bool is_system) {
    /* A unit has some hundred files; link adds each unit's once. */
    for (uint32_t i = 0; i < files->list.count; i++)
        if (strcmp(files->list.data[i].real, real) == 0)
            return i;
    ar_file file = {.name = ar_strdup(files->arena, name),
                    .real = ar_strdup(files->arena, real),
                    .is_system = is_system};
    AR_PUSH(files->arena, &files->list, file);
    return files->list.count - 1;
}

static bool read_all(ar_arena *arena, int fd, ar_file *file) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return false;
    }
    if (st.st_size >= INT32_MAX) {
        errno = EFBIG;
        return false;
    }
    size_t size = (size_t)st.st_size;
    char *bytes = ar_alloc(arena, size + 1);
    size_t got = 0;
    while (got < size) {
        ssize_t n = read(fd, bytes + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    file->bytes = bytes;
    file->size = (uint32_t)got;
    file->loaded = true;
    return true;
}

const char *ar_file_name(const ar_files *files, ar_file_id id) {
    return id == AR_NO_FILE ? "" : files->list.data[id].name;
}

const ar_file *ar_files_load(ar_files *files, ar_file_id id) {
    if (id >= files->list.count)
        AR_BUG("file id %u of %u", id, files->list.count);
    ar_file *file = &files->list.data[id];
    if (file->loaded)
        return file;
    /* O_NONBLOCK: a pipe is refused, not waited for */
    int fd = open(file->real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    bool ok = read_all(files->arena, fd, file);
    int saved = errno;
    close(fd);
    errno = saved;
    return ok ? file : NULL;
}

static void find_lines(ar_arena *arena, ar_file *file) {
    uint32_t count = 1;
    for (uint32_t i = 0; i < file->size; i++)
        count += file->bytes[i] == '\n';
    file->line_starts = AR_NEW_ARRAY(arena, uint32_t, count);
    file->line_count = count;
    uint32_t line = 1;
    for (uint32_t i = 0; i < file->size; i++)
        if (file->bytes[i] == '\n')
            file->line_starts[line++] = i + 1;
}

/* Index of the line that holds offset. */
static uint32_t line_index(const ar_file *file, uint32_t offset) {
    uint32_t low = 0, high = file->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (file->line_starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static ar_file *with_lines(ar_files *files, ar_file_id id) {
    if (id == AR_NO_FILE || !ar_files_load(files, id))
        return NULL;
    ar_file *file = &files->list.data[id];
    if (!file->line_starts)
        find_lines(files->arena, file);
    return file;
}

ar_line_col ar_line_col_at(ar_files *files, ar_file_id id, uint32_t offset) {
    const ar_file *file = with_lines(files, id);
    if (!file)
        return (ar_line_col){0, 0};
    uint32_t line = line_index(file, offset);
    return (ar_line_col){line + 1, offset - file->line_starts[line] + 1};
}

ar_range ar_line_range(ar_files *files, ar_file_id id, uint32_t offset) {
    const ar_file *file = with_lines(files, id);
    if (!file)
        return (ar_range){AR_NO_FILE, 0, 0, false};
    uint32_t line = line_index(file, offset);
    uint32_t begin = file->line_starts[line];
    uint32_t end = begin;
    while (end < file->size && file->bytes[end] != '\n' &&
           file->bytes[end] != '\r')
        end++;
    return (ar_range){id, begin, end, false};
}

const char *ar_place(ar_arena *arena, ar_files *files, ar_range range) {
    if (range.file == AR_NO_FILE)
        return "<built in>";
    ar_line_col at = ar_line_col_at(files, range.file, range.begin);
    return ar_sprintf(arena, "%s:%u:%u", files->list.data[range.file].name,
                      at.line, at.column);
}

const char *ar_text(ar_arena *arena, ar_files *files, ar_range range) {
    if (range.file == AR_NO_FILE)
        return "";
    const ar_file *file = ar_files_load(files, range.file);
    if (!file || range.begin > range.end || range.end > file->size)
        return "";
    return ar_strndup(arena, file->bytes + range.begin,
                      range.end - range.begin);
}
