#include "options_internal.h"

#include <errno.h>
#include <limits.h>

/* ---- response files ---------------------------------------------------- */

enum { RESPONSE_DEPTH = 10 };

static void add_argument(parser *p, const char *arg, int depth);

/* Words apart by blanks; quotes and backslashes as a shell reads them. */
static void split_words(parser *p, const char *text, int depth) {
    const char *blanks = " \t\r\n";
    while (*(text += strspn(text, blanks))) {
        ar_str word = {.arena = p->arena};
        char quote = '\0';
        for (; *text && (quote || !strchr(blanks, *text)); text++) {
            if (*text == '\\' && text[1] && quote != '\'')
                ar_str_addn(&word, ++text, 1);
            else if (*text == quote)
                quote = '\0';
            else if (!quote && (*text == '"' || *text == '\''))
                quote = *text;
            else
                ar_str_addn(&word, text, 1);
        }
        if (quote)
            ar_complain(p, "a quote (%c) is not closed in a response file",
                        quote);
        add_argument(p, ar_str_text(&word), depth);
    }
}

static void read_response(parser *p, const char *path, int depth) {
    FILE *file = depth < RESPONSE_DEPTH ? fopen(path, "rb") : NULL;
    if (!file) {
        ar_complain(p, "cannot read response file '%s': %s", path,
                    depth < RESPONSE_DEPTH
                        ? strerror(errno)
                        : "response files are nested too deep");
        return;
    }
    ar_str text = {.arena = p->arena};
    char buffer[4096];
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0)
        ar_str_addn(&text, buffer, got);
    if (ferror(file))
        ar_complain(p, "cannot read response file '%s': %s", path,
                    strerror(errno));
    fclose(file);
    if (strlen(ar_str_text(&text)) != text.length)
        ar_complain(p, "response file '%s' holds a NUL byte", path);
    split_words(p, ar_str_text(&text), depth + 1);
}

static void add_argument(parser *p, const char *arg, int depth) {
    if (arg[0] == '@' && arg[1])
        read_response(p, arg + 1, depth);
    else
        AR_PUSH(p->arena, &p->args, arg);
}

/* After "--" nothing is ours, not even an @file. */
void ar_gather_arguments(parser *p, int argc, char **argv) {
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++)
        add_argument(p, argv[i], 0);
    for (; i < argc; i++)
        AR_PUSH(p->arena, &p->args, argv[i]);
}

/* ---- words ------------------------------------------------------------- */

/* Edit distance, neighbours swapped counting one; rows of at most 63. */
static int distance(const char *a, const char *b) {
    enum { MOST = 63 };
    int rows[3][MOST + 1];
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > MOST || m > MOST)
        return INT_MAX;
    for (int k = 0; k <= m; k++)
        rows[0][k] = k;
    for (int i = 1; i <= n; i++) {
        int *row = rows[i % 3];
        const int *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (int k = 1; k <= m; k++) {
            int best = last[k - 1] + (a[i - 1] != b[k - 1]);
            if (last[k] + 1 < best)
                best = last[k] + 1;
            if (row[k - 1] + 1 < best)
                best = row[k - 1] + 1;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
                a[i - 2] == b[k - 1] && before[k - 2] + 1 < best)
                best = before[k - 2] + 1;
            row[k] = best;
        }
    }
    return rows[n % 3][m];
}

static const char *nearest(const char *word) {
    const char *best = NULL;
    int least = strlen(word) < 4 ? 2 : 2 + (int)strlen(word) / 6;
    for (int i = 0; i < OPT_COUNT; i++) {
        const char *names[] = {ar_option_table[i].short_name,
                               ar_option_table[i].long_name};
        for (int k = 0; k < 2; k++) {
            int d = names[k][0] ? distance(word, names[k]) : INT_MAX;
            if (d < least) {
                least = d;
                best = names[k];
            }
        }
    }
    return best;
}

static bool is_compiler_flag(const char *arg) {
    static const char *const starts[] = {"-I", "-D", "-U",      "-f", "-W",
                                         "-m", "-x", "-std",    "-L", "-isy",
                                         "-l", "-g", "-include"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(arg, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

void ar_unknown_option(const parser *p, const char *arg) {
    const char *name = ar_strndup(p->arena, arg, strcspn(arg, "="));
    const char *guess = nearest(name);
    if (arg[1] != '-' && is_compiler_flag(arg))
        ar_complain(p, "unknown option '%s'; compiler flags go after '--'",
                    arg);
    else if (guess)
        ar_complain(p, "unknown option '%s'; did you mean '%s'?", arg, guess);
    else
        ar_complain(p, "unknown option '%s'; see '--help'", arg);
}
