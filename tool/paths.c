#include "paths.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *beside_command(ar_arena *arena, const char *relative,
                                  const char *probe, const char *fallback) {
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        self[n] = '\0';
        const char *path = ar_sprintf(arena, "%s/../%s",
                                      ar_directory_of(arena, self), relative);
        if (access(ar_sprintf(arena, "%s/%s", path, probe), R_OK) == 0)
            return ar_real_path(arena, path);
    }
    return fallback;
}

const char *ar_pack_directory(ar_arena *arena) {
    return beside_command(arena, "share/amp-rewrite/rules", "libm.amp",
                          AMP_SOURCE_DIR "/rules/packs");
}

const char *ar_include_directory(ar_arena *arena) {
    return beside_command(arena, "include", "amp/amp.h",
                          AMP_SOURCE_DIR "/runtime/include");
}

const char *ar_real_path(ar_arena *arena, const char *path) {
    char real[PATH_MAX];
    return realpath(path, real) ? ar_strdup(arena, real)
                                : ar_strdup(arena, path);
}

const char *ar_directory_of(ar_arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    if (slash == path)
        return "/";
    return ar_strndup(arena, path, (size_t)(slash - path));
}

bool ar_path_is_below(const char *path, const char *directory) {
    size_t length = strlen(directory);
    if (length && directory[length - 1] == '/')
        return strncmp(path, directory, length) == 0;
    return strncmp(path, directory, length) == 0 && path[length] == '/';
}

const char *ar_path_from(const char *directory, const char *path) {
    if (!ar_path_is_below(path, directory))
        return path;
    size_t length = strlen(directory);
    return path + length + (directory[length - 1] != '/');
}

const char *ar_common_directory(ar_arena *arena, const char *directory,
                                const char *path) {
    while (!ar_path_is_below(path, directory) && strcmp(directory, "/") != 0)
        directory = ar_directory_of(arena, directory);
    return directory;
}

bool ar_path_ends_with(const char *path, const char *tail) {
    size_t a = strlen(path), b = strlen(tail);
    return a > b && path[a - b - 1] == '/' && strcmp(path + a - b, tail) == 0;
}
