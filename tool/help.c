/* --help, from the option table. */
#include "options_internal.h"

typedef enum audience { COMMON, RARE } audience;

enum { COLUMN = 30 };

static void print_option(FILE *out, const char *short_name,
                         const char *long_name, argument how, const char *value,
                         const char *brief) {
    char left[128];
    const char *both = short_name[0] && long_name[0] ? ", " : "";
    const char *open = how == OPTIONAL ? "[="
                       : how == NONE   ? ""
                       : long_name[0]  ? "="
                                       : " ";
    snprintf(left, sizeof left, "%s%s%s%s%s%s", short_name, both, long_name,
             open, value, how == OPTIONAL ? "]" : "");
    if (strlen(left) >= COLUMN)
        fprintf(out, "  %s\n  %*s%s\n", left, COLUMN, "", brief);
    else
        fprintf(out, "  %-*s%s\n", COLUMN, left, brief);
}

void ar_options_help(FILE *out, ar_help_kind kind) {
    const char *title = NULL;
    fputs("usage: amp-rewrite [options] FILE... [-- compiler flags]\n"
          "       amp-rewrite -p DIR [options] [FILE...]\n\n"
          "Turns FP32 C and CUDA training code into mixed precision. Prints a "
          "diff unless\nan output option is given.\n",
          out);
#define AR_GROUP(text) title = text;
#define AR_OPTION(name, short_name, long_name, argument, value, audience,      \
                  brief, more)                                                 \
    if (audience == COMMON || kind == AR_HELP_ALL) {                           \
        if (title)                                                             \
            fprintf(out, "\n%s:\n", title);                                    \
        title = NULL;                                                          \
        print_option(out, short_name, long_name, argument, value, brief);      \
    }
#include "options.def"
#undef AR_GROUP
#undef AR_OPTION
    fputs("\nExit codes: 0 done, 1 changes needed (--check), 2 usage or rule "
          "error,\nor no exact place for fp16's loss scale, 3 input cannot be "
          "read or parsed,\n4 conflicting edits or write failure, 70 internal "
          "error.\n",
          out);
    if (kind == AR_HELP_SHORT)
        fputs("'--help=all' lists all options.\n", out);
}
