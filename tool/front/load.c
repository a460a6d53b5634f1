#include "front/load.h"
#include "front/args.h"
#include "front/shims.h"
#include "front/toolchain.h"

#include <clang-c/CXCompilationDatabase.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char *text, const char *suffix) {
    size_t length = strlen(text), n = strlen(suffix);
    return length >= n && strcmp(text + length - n, suffix) == 0;
}

/* NULL: it can be read. A pipe or device would be read twice. */
static const char *why_unreadable(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0 || access(path, R_OK) != 0)
        return strerror(errno);
    if (S_ISDIR(st.st_mode))
        return strerror(EISDIR);
    return S_ISREG(st.st_mode) ? NULL : "it is no regular file";
}

static void push(ar_args *args, const char *arg) {
    AR_PUSH(args->arena, &args->list, arg);
}

/* What every parse gets. Defects that gcc 12 only warns about must not refuse
 * a program; the user's compiler is the judge of warnings. */
static void common_args(ar_args *args) {
    static const char *const common[] = {
        "-w",
        "-Wno-error",
        "-Wno-error=implicit-function-declaration",
        "-Wno-error=implicit-int",
        "-Wno-error=int-conversion",
        "-Wno-error=return-mismatch",
        "-Wno-error=incompatible-pointer-types",
        "-Wno-error=incompatible-function-pointer-types",
        "-ferror-limit=0",
        "-fbracket-depth=1000000",
        "-Qunused-arguments"};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        push(args, common[i]);
    const char *resources = ar_resource_dir(args->arena);
    if (resources) {
        push(args, "-resource-dir");
        push(args, resources);
    }
    push(args, "-isystem");
    push(args, AR_SHIM_DIR);
    /* With -fopenmp libclang hides loops below directives; the directives are
     * read from the tokens instead. */
    if (args->has_openmp)
        push(args, "-D_OPENMP=201811");
}

/* ---- CUDA -------------------------------------------------------------- */

enum { AR_NEWEST_GPU = 90 }; /* known to every libclang from 17 on */

static const char *gpu_arch(ar_arena *arena, const char *gpu) {
    if (!gpu)
        return "--cuda-gpu-arch=sm_80";
    if (atoi(gpu + 3) > AR_NEWEST_GPU)
        return "--cuda-gpu-arch=sm_90";
    return ar_sprintf(arena, "--cuda-gpu-arch=%s", gpu);
}

static void cuda_args(ar_args *args, const char *sdk, ar_language pass) {
    push(args, "-x");
    push(args, "cuda");
    if (pass == AR_LANG_CUDA_HOST) {
        push(args, "--cuda-host-only");
    } else {
        push(args, "--cuda-device-only");
        push(args, gpu_arch(args->arena, args->gpu));
    }
    push(args, ar_sprintf(args->arena, "--cuda-path=%s", sdk));
    push(args, "-Wno-unknown-cuda-version");
    push(args, "-iquote");
    push(args, AR_SHIM_DIR "/cuda");
    push(args, "-isystem"); /* nvcc adds it by itself since CUDA 13 */
    push(args, ar_sprintf(args->arena, "%s/include/cccl", sdk));
    push(args, "-include");
    push(args, AR_SHIM_CUDA);
}

/* Clang takes a file for what its name says: an object file, when it says
 * nothing. */
static bool names_a_language(const char *name) {
    static const char *const endings[] = {".c",   ".h",   ".i",  ".cc",
                                          ".cpp", ".cxx", ".C",  ".hh",
                                          ".hpp", ".hxx", ".ii", ".cu"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(name, endings[i]))
            return true;
    return false;
}

/* The user's flags come after ours: the quote path must be the first. */
static void add_job(ar_arena *arena, const char *name, const char *directory,
                    const ar_args *given, const char *sdk, ar_language language,
                    ar_jobs *jobs) {
    ar_args args = *given;
    args.list.data = NULL;
    args.list.count = args.list.capacity = 0;
    common_args(&args);
    if (language != AR_LANG_C) {
        cuda_args(&args, sdk, language);
    } else if (!names_a_language(name)) {
        push(&args, "-x");
        push(&args, "c");
    }
    for (uint32_t i = 0; i < given->list.count; i++)
        push(&args, given->list.data[i]);
    ar_job job = {.main_name = ar_strdup(arena, name),
                  .directory = directory,
                  .args = args.list.data,
                  .arg_count = args.list.count,
                  .language = language,
                  .cuda_path = sdk};
    AR_PUSH(arena, jobs, job);
}

static void add_jobs(ar_arena *arena, const char *name, const char *directory,
                     const char *const *flags, uint32_t count, ar_jobs *jobs,
                     ar_diags *diags) {
    ar_args args = {.arena = arena};
    ar_translate_args(&args, flags, count);
    if (!ends_with(name, ".cu") && !args.is_cuda) {
        add_job(arena, name, directory, &args, NULL, AR_LANG_C, jobs);
        return;
    }
    const char *sdk = ar_cuda_path(arena, args.cuda_path);
    if (!sdk) {
        ar_report(diags, AR_DIAG_NO_CUDA, AR_NO_RANGE, name);
        return;
    }
    add_job(arena, name, directory, &args, sdk, AR_LANG_CUDA_HOST, jobs);
    add_job(arena, name, directory, &args, sdk, AR_LANG_CUDA_DEVICE, jobs);
}

/* ---- clang's own headers ----------------------------------------------- */

static bool leads_to_headers(ar_arena *arena, const ar_job *job) {
    static const char *const search[] = {"-I",         "-isystem",
                                         "-idirafter", "-isysroot",
                                         "--sysroot=", "-resource-dir"};
    ar_args kept = {.arena = arena};
    for (uint32_t i = 0; i < job->arg_count; i++) {
        const char *arg = job->args[i];
        if (strcmp(arg, "-nostdinc") == 0)
            push(&kept, arg);
        for (size_t k = 0; k < sizeof search / sizeof *search; k++) {
            if (strncmp(arg, search[k], strlen(search[k])) != 0)
                continue;
            push(&kept, arg);
            if (strcmp(arg, search[k]) == 0 && i + 1 < job->arg_count)
                push(&kept, job->args[++i]);
            break;
        }
    }
    return ar_finds_headers(kept.list.data, kept.list.count);
}

/* The folder that was found counts until the user names another. */
static bool has_found_headers(ar_arena *arena, const ar_job *job) {
    uint32_t named = 0;
    for (uint32_t i = 0; i < job->arg_count; i++)
        named += strncmp(job->args[i], "-resource-dir", 13) == 0;
    return ar_resource_dir(arena) && named == 1;
}

/* Without them every file would have the same hundred errors. */
static void check_clang_headers(ar_arena *arena, ar_jobs *jobs,
                                ar_diags *diags) {
    if (!jobs->count || has_found_headers(arena, &jobs->data[0]) ||
        leads_to_headers(arena, &jobs->data[0]))
        return;
    unsigned major = ar_libclang_major();
    ar_report(diags, AR_DIAG_NO_CLANG_HEADERS, AR_NO_RANGE, major, major);
    jobs->count = 0;
}

static const char *current_directory(ar_arena *arena) {
    char *path = getcwd(NULL, 0);
    const char *copy = ar_strdup(arena, path ? path : "/");
    free(path);
    return copy;
}

void ar_load_files(ar_arena *arena, const char *const *names, uint32_t count,
                   const char *const *flags, uint32_t flag_count, ar_jobs *jobs,
                   ar_diags *diags) {
    const char *directory = current_directory(arena);
    for (uint32_t i = 0; i < count; i++) {
        const char *why = why_unreadable(names[i]);
        if (why)
            ar_report(diags, AR_DIAG_CANNOT_READ, AR_NO_RANGE, names[i], why);
        else
            add_jobs(arena, names[i], directory, flags, flag_count, jobs,
                     diags);
    }
    check_clang_headers(arena, jobs, diags);
}

/* ---- compile database -------------------------------------------------- */

typedef struct entry {
    const char *name; /* as the database spells it */
    const char *directory;
    const char *real; /* NULL: not there */
    const char *const *argv;
    uint32_t argc;
    uint32_t commands; /* how many the database has for this file */
} entry;

typedef AR_VEC(entry) entries;

static const char *take(ar_arena *arena, CXString text) {
    const char *s = clang_getCString(text);
    const char *copy = ar_strdup(arena, s ? s : "");
    clang_disposeString(text);
    return copy;
}

static const char *real_path(ar_arena *arena, const char *directory,
                             const char *name) {
    const char *path =
        *name == '/' ? name : ar_sprintf(arena, "%s/%s", directory, name);
    char *real = realpath(path, NULL);
    const char *copy = real ? ar_strdup(arena, real) : NULL;
    free(real);
    return copy;
}

static void add_entry(ar_arena *arena, entries *list, CXCompileCommand cmd) {
    entry e = {.commands = 1};
    e.directory = take(arena, clang_CompileCommand_getDirectory(cmd));
    e.name = take(arena, clang_CompileCommand_getFilename(cmd));
    e.real = real_path(arena, e.directory, e.name);
    for (uint32_t i = 0; i < list->count; i++) {
        const entry *old = &list->data[i];
        if (strcmp(old->real ? old->real : old->name,
                   e.real ? e.real : e.name) == 0) {
            list->data[i].commands++;
            return;
        }
    }
    unsigned count = clang_CompileCommand_getNumArgs(cmd);
    const char **argv = AR_NEW_ARRAY(arena, const char *, count + 1);
    for (unsigned i = 1; i < count; i++) /* argv[0] is the compiler */
        argv[e.argc++] = take(arena, clang_CompileCommand_getArg(cmd, i));
    e.argv = argv;
    AR_PUSH(arena, list, e);
}

/* libclang writes its own complaint to stderr; ours follows. */
static bool read_database(ar_arena *arena, const char *build_dir,
                          entries *list) {
    CXCompilationDatabase_Error error;
    CXCompilationDatabase database =
        clang_CompilationDatabase_fromDirectory(build_dir, &error);
    if (error != CXCompilationDatabase_NoError)
        return false;
    CXCompileCommands all =
        clang_CompilationDatabase_getAllCompileCommands(database);
    unsigned count = clang_CompileCommands_getSize(all);
    for (unsigned i = 0; i < count; i++)
        add_entry(arena, list, clang_CompileCommands_getCommand(all, i));
    clang_CompileCommands_dispose(all);
    clang_CompilationDatabase_dispose(database);
    return true;
}

static bool is_source(const char *name) {
    return ends_with(name, ".c") || ends_with(name, ".cu");
}

static void add_entry_jobs(ar_arena *arena, const entry *e,
                           const char *const *extra, uint32_t extra_count,
                           ar_jobs *jobs, ar_diags *diags) {
    if (e->commands > 1)
        ar_report(diags, AR_DIAG_DUPLICATE_COMMAND, AR_NO_RANGE, e->name,
                  e->commands);
    const char *why = e->real ? why_unreadable(e->real) : strerror(ENOENT);
    if (why) {
        ar_report(diags, AR_DIAG_CANNOT_READ, AR_NO_RANGE, e->name, why);
        return;
    }
    uint32_t count = e->argc + extra_count;
    const char **flags = AR_NEW_ARRAY(arena, const char *, count + 1);
    uint32_t used = 0;
    for (uint32_t i = 0; i < e->argc; i++)
        if (strcmp(e->argv[i], "--") != 0)
            flags[used++] = e->argv[i];
    for (uint32_t i = 0; i < extra_count; i++)
        flags[used++] = extra[i];
    add_jobs(arena, e->name, e->directory, flags, used, jobs, diags);
}

void ar_load_database(ar_arena *arena, const char *build_dir,
                      const char *const *names, uint32_t count,
                      const char *const *extra, uint32_t extra_count,
                      ar_jobs *jobs, ar_diags *diags) {
    const char *path = ar_sprintf(arena, "%s/compile_commands.json", build_dir);
    if (access(path, R_OK) != 0) {
        ar_report(diags, AR_DIAG_BAD_DATABASE, AR_NO_RANGE, build_dir,
                  strerror(errno));
        return;
    }
    entries list = {0};
    if (!read_database(arena, build_dir, &list)) {
        ar_report(diags, AR_DIAG_BAD_DATABASE, AR_NO_RANGE, build_dir,
                  "it cannot be parsed");
        return;
    }
    for (uint32_t i = 0; count == 0 && i < list.count; i++)
        if (is_source(list.data[i].name))
            add_entry_jobs(arena, &list.data[i], extra, extra_count, jobs,
                           diags);
    if (count == 0 && !jobs->count && !diags->errors)
        ar_report(diags, AR_DIAG_BAD_DATABASE, AR_NO_RANGE, build_dir,
                  "it names no C or CUDA source");
    const char *here = current_directory(arena);
    for (uint32_t n = 0; n < count; n++) {
        const char *real = real_path(arena, here, names[n]);
        const entry *found = NULL;
        for (uint32_t i = 0; real && !found && i < list.count; i++)
            if (list.data[i].real && strcmp(list.data[i].real, real) == 0)
                found = &list.data[i];
        if (!real)
            ar_report(diags, AR_DIAG_CANNOT_READ, AR_NO_RANGE, names[n],
                      "no such file");
        else if (!found)
            ar_report(diags, AR_DIAG_NO_COMMAND, AR_NO_RANGE, names[n]);
        else
            add_entry_jobs(arena, found, extra, extra_count, jobs, diags);
    }
    check_clang_headers(arena, jobs, diags);
}
