#include "front/args.h"

typedef enum arg_action {
    ARG_KEEP,      /* as it is */
    ARG_DROP,      /* alone */
    ARG_DROP_NEXT, /* with the next word, when nothing is joined to it */
    ARG_KEEP_NEXT  /* with the next word, when nothing is joined to it */
} arg_action;

typedef struct arg_rule {
    const char *prefix;
    bool is_exact;
    arg_action action;
} arg_rule;

/* The first rule that matches counts. What no rule knows is dropped. */
static const arg_rule rules[] = {
    {"-I", false, ARG_KEEP_NEXT},
    {"-D", false, ARG_KEEP_NEXT},
    {"-U", false, ARG_KEEP_NEXT},
    {"-isystem", false, ARG_KEEP_NEXT},
    {"-iquote", false, ARG_KEEP_NEXT},
    {"-idirafter", false, ARG_KEEP_NEXT},
    {"-include", true, ARG_KEEP_NEXT},
    {"-imacros", true, ARG_KEEP_NEXT},
    {"-isysroot", false, ARG_KEEP_NEXT},
    {"-resource-dir", false, ARG_KEEP_NEXT},
    {"--sysroot=", false, ARG_KEEP},
    {"-std=", false, ARG_KEEP},
    {"--std=", false, ARG_KEEP},
    {"-ansi", true, ARG_KEEP},
    {"-nostdinc", false, ARG_KEEP},
    {"-pthread", true, ARG_KEEP},
    {"-undef", true, ARG_KEEP},
    {"-m32", true, ARG_KEEP},
    {"-m64", true, ARG_KEEP},
    {"-march=", false, ARG_KEEP},
    {"-mcpu=", false, ARG_KEEP},
    {"-msse", false, ARG_KEEP},
    {"-mavx", false, ARG_KEEP},
    {"-mf16c", true, ARG_KEEP},
    {"-mfma", true, ARG_KEEP},
    {"-mamx", false, ARG_KEEP},
    {"-funsigned-char", true, ARG_KEEP},
    {"-fsigned-char", true, ARG_KEEP},
    {"-fshort-enums", true, ARG_KEEP},
    {"-fms-extensions", true, ARG_KEEP},
    {"-fgnu89-inline", true, ARG_KEEP},
    {"-ffast-math", true, ARG_KEEP},
    {"-ffreestanding", true, ARG_KEEP},
    {"-fno-builtin", false, ARG_KEEP},
    {"-O", false, ARG_KEEP}, /* defines __OPTIMIZE__ */
    /* two words, neither of any use here */
    {"-o", false, ARG_DROP_NEXT},
    {"-MF", true, ARG_DROP_NEXT},
    {"-MT", true, ARG_DROP_NEXT},
    {"-MQ", true, ARG_DROP_NEXT},
    {"-Xlinker", true, ARG_DROP_NEXT},
    {"-Xassembler", true, ARG_DROP_NEXT},
    {"-l", true, ARG_DROP_NEXT},
    {"-L", true, ARG_DROP_NEXT},
    {"-T", true, ARG_DROP_NEXT},
    {"-u", true, ARG_DROP_NEXT},
    {"-z", true, ARG_DROP_NEXT},
    {"-aux-info", true, ARG_DROP_NEXT},
    {"-G", true, ARG_DROP},
    /* nvcc, two words */
    {"-ccbin", true, ARG_DROP_NEXT},
    {"--compiler-bindir", true, ARG_DROP_NEXT},
    {"-Xptxas", true, ARG_DROP_NEXT},
    {"--ptxas-options", true, ARG_DROP_NEXT},
    {"-Xcudafe", true, ARG_DROP_NEXT},
    {"-Xnvlink", true, ARG_DROP_NEXT},
    {"-Xfatbin", true, ARG_DROP_NEXT},
    {"-Xarchive", true, ARG_DROP_NEXT},
    {"-maxrregcount", true, ARG_DROP_NEXT},
    {"--maxrregcount", true, ARG_DROP_NEXT},
    {"-diag-suppress", true, ARG_DROP_NEXT},
    {"--diag-suppress", true, ARG_DROP_NEXT},
    {"-threads", true, ARG_DROP_NEXT},
    {"--threads", true, ARG_DROP_NEXT},
    {"-t", true, ARG_DROP_NEXT},
    {"-odir", true, ARG_DROP_NEXT},
    {"-optf", true, ARG_DROP_NEXT},
};

static bool starts_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const arg_rule *rule_for(const char *arg) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool hit = rules[i].is_exact ? strcmp(arg, rules[i].prefix) == 0
                                     : starts_with(arg, rules[i].prefix);
        if (hit)
            return &rules[i];
    }
    return NULL;
}

static void add(ar_args *args, const char *arg) {
    AR_PUSH(args->arena, &args->list, ar_strdup(args->arena, arg));
}

/* The value of `--name value`, `--name=value`; moves *i to its last word. */
static const char *value_of(const char *const *argv, uint32_t count,
                            uint32_t *i, const char *name) {
    const char *arg = argv[*i];
    size_t length = strlen(name);
    if (strncmp(arg, name, length) != 0)
        return NULL;
    if (arg[length] == '=')
        return arg + length + 1;
    return !arg[length] && *i + 1 < count ? argv[++*i] : NULL;
}

/* The last sm_ or compute_ number named: `arch=compute_80,code=sm_80`. */
static void take_gpu(ar_args *args, const char *value) {
    for (const char *at = value; *at; at++) {
        size_t skip = starts_with(at, "sm_")        ? 3
                      : starts_with(at, "compute_") ? 8
                                                    : 0;
        size_t digits = skip ? strspn(at + skip, "0123456789a") : 0;
        if (digits)
            args->gpu =
                ar_sprintf(args->arena, "sm_%.*s", (int)digits, at + skip);
    }
}

/* -Xcompiler a,b: what nvcc hands to the host compiler. */
static void take_host_args(ar_args *args, const char *value) {
    const char *words[64];
    uint32_t count = 0;
    char *copy = ar_strdup(args->arena, value);
    for (char *word = copy; word && count < 64;) {
        char *comma = strchr(word, ',');
        if (comma)
            *comma++ = '\0';
        if (*word)
            words[count++] = word;
        word = comma;
    }
    ar_translate_args(args, words, count);
}

static bool take_nvcc(ar_args *args, const char *const *argv, uint32_t count,
                      uint32_t *i) {
    static const char *const archs[] = {
        "-gencode", "--generate-code", "-arch",           "--gpu-architecture",
        "-code",    "--gpu-code",      "--cuda-gpu-arch", "--offload-arch"};
    const char *value;
    for (size_t k = 0; k < sizeof archs / sizeof *archs; k++)
        if ((value = value_of(argv, count, i, archs[k]))) {
            take_gpu(args, value);
            return true;
        }
    if ((value = value_of(argv, count, i, "--cuda-path"))) {
        args->cuda_path = ar_strdup(args->arena, value);
        return true;
    }
    if ((value = value_of(argv, count, i, "-Xcompiler")) ||
        (value = value_of(argv, count, i, "--compiler-options"))) {
        take_host_args(args, value);
        return true;
    }
    if ((value = value_of(argv, count, i, "--define-macro")))
        add(args, ar_sprintf(args->arena, "-D%s", value));
    else if ((value = value_of(argv, count, i, "--include-path")))
        add(args, ar_sprintf(args->arena, "-I%s", value));
    else if ((value = value_of(argv, count, i, "--undefine-macro")))
        add(args, ar_sprintf(args->arena, "-U%s", value));
    else if ((value = value_of(argv, count, i, "--system-include")))
        add(args, ar_sprintf(args->arena, "-isystem%s", value));
    else if ((value = value_of(argv, count, i, "--pre-include")))
        add(args, ar_sprintf(args->arena, "-include%s", value));
    else
        return false;
    return true;
}

static void take_language(ar_args *args, const char *language) {
    if (strcmp(language, "cu") == 0 || strcmp(language, "cuda") == 0)
        args->is_cuda = true;
}

void ar_translate_args(ar_args *args, const char *const *argv, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--") == 0)
            return; /* only the input follows */
        if (*arg != '-' || take_nvcc(args, argv, count, &i))
            continue;
        if (starts_with(arg, "-fopenmp") || strcmp(arg, "-qopenmp") == 0) {
            args->has_openmp = true;
            continue;
        }
        if (starts_with(arg, "-x")) {
            const char *language =
                arg[2] ? arg + 2 : (i + 1 < count ? argv[++i] : "");
            take_language(args, language);
            continue;
        }
        const arg_rule *rule = rule_for(arg);
        if (!rule || rule->action == ARG_DROP)
            continue;
        bool two =
            (rule->action == ARG_DROP_NEXT || rule->action == ARG_KEEP_NEXT) &&
            strcmp(arg, rule->prefix) == 0 && i + 1 < count;
        bool keep = rule->action == ARG_KEEP || rule->action == ARG_KEEP_NEXT;
        if (keep)
            add(args, arg);
        if (two) {
            i++;
            if (keep)
                add(args, argv[i]);
        }
    }
}
