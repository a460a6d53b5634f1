#define _GNU_SOURCE /* dladdr */
#include "front/toolchain.h"

#include <clang-c/Index.h>

#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned ar_libclang_major(void) {
    CXString version = clang_getClangVersion();
    const char *text = clang_getCString(version);
    const char *at = text ? strstr(text, "version ") : NULL;
    unsigned long major = at ? strtoul(at + strlen("version "), NULL, 10) : 0;
    clang_disposeString(version);
    return (unsigned)major;
}

static bool has_header(ar_arena *arena, const char *dir, const char *name) {
    return access(ar_sprintf(arena, "%s/%s", dir, name), R_OK) == 0;
}

static const char *if_resource_dir(ar_arena *arena, const char *dir) {
    char *real = realpath(dir, NULL);
    if (!real)
        return NULL;
    const char *found = has_header(arena, real, "include/stddef.h")
                            ? ar_strdup(arena, real)
                            : NULL;
    free(real);
    return found;
}

/* Beside the shared object of libclang: PREFIX/lib/clang/N. */
static const char *beside_library(ar_arena *arena, const char *major) {
    Dl_info info;
    if (!dladdr((void *)(size_t)&clang_createIndex, &info) || !info.dli_fname)
        return NULL;
    const char *found = NULL;
    char *real = realpath(info.dli_fname, NULL);
    const char *names[] = {info.dli_fname, real};
    for (int i = 0; i < 2 && !found; i++) {
        if (!names[i])
            continue;
        char *copy = ar_strdup(arena, names[i]);
        found = if_resource_dir(
            arena, ar_sprintf(arena, "%s/clang/%s", dirname(copy), major));
    }
    free(real);
    return found;
}

/* The last resort, when libclang was moved away from its headers. */
static const char *ask_clang(ar_arena *arena, const char *major) {
    char command[64], line[4096];
    snprintf(command, sizeof command,
             "clang-%s -print-resource-dir 2>/dev/null", major);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return NULL;
    const char *found = NULL;
    if (fgets(line, sizeof line, pipe)) {
        line[strcspn(line, "\n")] = '\0';
        found = if_resource_dir(arena, line);
    }
    pclose(pipe);
    return found;
}

const char *ar_resource_dir(ar_arena *arena) {
    static char known[4096]; /* one parser a process: one answer */
    if (*known)
        return known;
    unsigned number = ar_libclang_major();
    if (!number)
        return NULL;
    const char *major = ar_sprintf(arena, "%u", number);
    const char *found = beside_library(arena, major);
    const char *const usual[] = {
        "/usr/lib/llvm-%s/lib/clang/%s", "/usr/lib64/llvm%s/lib/clang/%s",
        "/usr/local/lib/clang/%s", "/usr/lib/clang/%s"};
    for (size_t i = 0; !found && i < sizeof usual / sizeof *usual; i++) {
        char path[256];
        const char *hole = strstr(usual[i], "%s");
        int head = (int)(hole - usual[i]);
        const char *second = strstr(hole + 2, "%s");
        if (second)
            snprintf(path, sizeof path, "%.*s%s%.*s%s", head, usual[i], major,
                     (int)(second - hole - 2), hole + 2, major);
        else
            snprintf(path, sizeof path, "%.*s%s", head, usual[i], major);
        found = if_resource_dir(arena, path);
    }
    if (!found)
        found = ask_clang(arena, major);
    if (found)
        snprintf(known, sizeof known, "%s", found);
    return found;
}

bool ar_finds_headers(const char *const *flags, uint32_t count) {
    struct CXUnsavedFile probe = {"amp-probe.c", "#include <stddef.h>\n", 20};
    CXIndex index = clang_createIndex(0, 0);
    CXTranslationUnit unit =
        clang_parseTranslationUnit(index, probe.Filename, flags, (int)count,
                                   &probe, 1, CXTranslationUnit_None);
    bool found = unit && clang_getNumDiagnostics(unit) == 0;
    if (unit)
        clang_disposeTranslationUnit(unit);
    clang_disposeIndex(index);
    return found;
}

static const char *if_toolkit(ar_arena *arena, const char *dir) {
    return dir && has_header(arena, dir, "include/cuda_runtime.h") &&
                   has_header(arena, dir, "include/cuda.h")
               ? ar_strdup(arena, dir)
               : NULL;
}

/* PREFIX of PREFIX/bin/nvcc, links followed. */
static const char *beside_nvcc(ar_arena *arena) {
    const char *path = getenv("PATH");
    char *copy = path ? ar_strdup(arena, path) : NULL, *rest = NULL;
    for (char *dir = copy ? strtok_r(copy, ":", &rest) : NULL; dir;
         dir = strtok_r(NULL, ":", &rest)) {
        char *real = realpath(ar_sprintf(arena, "%s/nvcc", dir), NULL);
        if (!real)
            continue;
        char *bin = ar_strdup(arena, real);
        free(real);
        return if_toolkit(arena, dirname(dirname(bin)));
    }
    return NULL;
}

const char *ar_cuda_path(ar_arena *arena, const char *asked) {
    if (asked)
        return if_toolkit(arena, asked);
    const char *found = if_toolkit(arena, getenv("CUDA_PATH"));
    if (!found)
        found = if_toolkit(arena, getenv("CUDA_HOME"));
    if (!found)
        found = beside_nvcc(arena);
    if (!found)
        found = if_toolkit(arena, "/usr/local/cuda");
    return found ? found : if_toolkit(arena, "/usr/lib/cuda");
}
