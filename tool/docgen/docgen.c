/* Writes what is documented in tables: the manual page, the shell completion
 * and the diagnostics reference. Runs while building.
 *
 *     docgen man TEMPLATE VERSION     @OPTIONS@ and @VERSION@ replaced
 *     docgen completion
 *     docgen diagnostics
 *     docgen check FILE               is FILE the diagnostics reference? */
#include "explain.h"
#include "options_internal.h"

#include <errno.h>
#include <stdlib.h>

static int die(const char *what, const char *path) {
    fprintf(stderr, "docgen: %s '%s': %s\n", what, path, strerror(errno));
    return 1;
}

/* ---- manual ------------------------------------------------------------ */

/* Hyphens of options must not become typographic ones. */
static void put_roff(FILE *out, const char *text) {
    for (const char *p = text; *p; p++) {
        if (*p == '-')
            fputs("\\-", out);
        else if (*p == '\\')
            fputs("\\e", out);
        else if (*p == '\'')
            fputs("\\(aq", out);
        else
            fputc(*p, out);
    }
}

/* Choices are typed as they stand, placeholders are not. */
static void put_value(FILE *out, const char *value) {
    for (const char *p = value; *p;) {
        size_t word = strcspn(p, "|");
        bool placeholder = *p >= 'A' && *p <= 'Z';
        fprintf(out, "\\f%c%.*s\\fR", placeholder ? 'I' : 'B', (int)word, p);
        p += word;
        if (*p)
            fputc(*p++, out);
    }
}

static void put_name(FILE *out, const char *name, argument how,
                     const char *value, const char *joint) {
    fputs("\\fB", out);
    put_roff(out, name);
    fputs("\\fR", out);
    if (how == NONE)
        return;
    fprintf(out, "%s%s", how == OPTIONAL ? "[" : "", joint);
    put_value(out, value);
    fputs(how == OPTIONAL ? "]" : "", out);
}

static void put_stages(FILE *out) {
    fputs("The stages, in their order:", out);
#define X(name, text) fputs(" " text, out);
    AR_STAGES(X)
#undef X
    fputs(".\n", out);
}

static void put_option(FILE *out, const char *short_name, const char *long_name,
                       argument how, const char *value, const char *brief,
                       const char *more) {
    fputs(".TP\n", out);
    if (short_name[0])
        put_name(out, short_name, long_name[0] ? NONE : how, value, " ");
    if (short_name[0] && long_name[0])
        fputs(", ", out);
    if (long_name[0])
        put_name(out, long_name, how, value, "=");
    fputc('\n', out);
    if (brief[0] >= 'a' && brief[0] <= 'z')
        fputc(brief[0] - 'a' + 'A', out);
    put_roff(out, brief + 1);
    fputs(".\n", out);
    if (more[0]) {
        put_roff(out, more);
        fputc('\n', out);
    }
    if (strcmp(value, "STAGE") == 0)
        put_stages(out);
}

static void put_options(FILE *out) {
#define AR_GROUP(title) fprintf(out, ".SS %s\n", title);
#define AR_OPTION(name, short_name, long_name, argument, value, audience,      \
                  brief, more)                                                 \
    put_option(out, short_name, long_name, argument, value, brief, more);
#include "options.def"
#undef AR_GROUP
#undef AR_OPTION
}

static int write_manual(const char *template, const char *version) {
    FILE *in = fopen(template, "r");
    if (!in)
        return die("cannot read", template);
    char line[512];
    while (fgets(line, sizeof line, in)) {
        char *at = strstr(line, "@VERSION@");
        if (strcmp(line, "@OPTIONS@\n") == 0)
            put_options(stdout);
        else if (at)
            printf("%.*s%s%s", (int)(at - line), line, version,
                   at + strlen("@VERSION@"));
        else
            fputs(line, stdout);
    }
    fclose(in);
    return 0;
}

/* ---- completion -------------------------------------------------------- */

static void put_words(const char *choices) {
    for (const char *p = choices; *p;) {
        size_t word = strcspn(p, "|");
        if (!(*p >= 'A' && *p <= 'Z'))
            printf(" %.*s", (int)word, p);
        p += word + (p[word] == '|');
    }
}

static void put_case(const char *short_name, const char *long_name,
                     argument how, const char *value) {
    if (how == NONE)
        return;
    const char *both = short_name[0] && long_name[0] ? "|" : "";
    printf("        %s%s%s)", short_name, both, long_name);
    if (strcmp(value, "FILE") == 0) {
        fputs(" COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n", stdout);
    } else if (strcmp(value, "DIR") == 0) {
        fputs(" COMPREPLY=($(compgen -d -- \"$cur\")) ;;\n", stdout);
    } else {
        fputs(" COMPREPLY=($(compgen -W \"", stdout);
        if (strcmp(value, "STAGE") == 0) {
#define X(name, text) printf(" %s", text);
            AR_STAGES(X)
#undef X
        } else {
            put_words(value);
        }
        fputs("\" -- \"$cur\")) ;;\n", stdout);
    }
}

static int write_completion(void) {
    fputs("# bash completion of amp-rewrite\n"
          "_amp_rewrite() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]}\n"
          "    local prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    COMPREPLY=()\n"
          "    # bash breaks words at the equals sign\n"
          "    if [[ $cur == = ]]; then\n"
          "        cur=\n"
          "    elif [[ $prev == = ]]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    fi\n"
          "    case $prev in\n",
          stdout);
#define AR_GROUP(title)
#define AR_OPTION(name, short_name, long_name, argument, value, audience,      \
                  brief, more)                                                 \
    put_case(short_name, long_name, argument, value);
#include "options.def"
#undef AR_OPTION
    fputs("    esac\n"
          "    if [[ ${#COMPREPLY[@]} -gt 0 ]]; then\n"
          "        return\n"
          "    fi\n"
          "    if [[ $cur == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          stdout);
#define AR_OPTION(name, short_name, long_name, ...)                            \
    printf("%s %s ", short_name, long_name);
#include "options.def"
#undef AR_GROUP
#undef AR_OPTION
    fputs("\" -- \"$cur\"))\n"
          "    else\n"
          "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
          "    fi\n"
          "}\n"
          "complete -o filenames -F _amp_rewrite amp-rewrite\n",
          stdout);
    return 0;
}

/* ---- diagnostics ------------------------------------------------------- */

static int check_entries(void) {
    int missing = 0;
    for (int i = 0; i < AR_DIAG_COUNT; i++) {
        if (ar_diag_doc_of((ar_diag_id)i).meaning)
            continue;
        fprintf(stderr, "docgen: %s has no entry in base/diag_docs.def\n",
                ar_diag_info_of((ar_diag_id)i)->name);
        missing++;
    }
    return missing > 0;
}

static int check_reference(const char *path) {
    if (check_entries() != 0)
        return 1;
    char *wanted = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&wanted, &size);
    FILE *file = fopen(path, "r");
    if (!memory || !file)
        return die("cannot read", path);
    ar_explain_markdown(memory);
    fclose(memory);
    int same = 1;
    for (size_t i = 0; i < size && same; i++)
        same = fgetc(file) == (unsigned char)wanted[i];
    same = same && fgetc(file) == EOF;
    fclose(file);
    free(wanted);
    if (!same)
        fprintf(stderr,
                "docgen: '%s' is not what the tables say; run "
                "'cmake --build BUILD --target docs'\n",
                path);
    return !same;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "man") == 0 && argc == 4)
        return write_manual(argv[2], argv[3]);
    if (strcmp(what, "completion") == 0 && argc == 2)
        return write_completion();
    if (strcmp(what, "diagnostics") == 0 && argc == 2) {
        ar_explain_markdown(stdout);
        return 0;
    }
    if (strcmp(what, "check") == 0 && argc == 3)
        return check_reference(argv[2]);
    fputs("usage: docgen man TEMPLATE VERSION | completion | diagnostics | "
          "check FILE\n",
          stderr);
    return 2;
}
