/* What the files of the command-line parser share; for options*.c only. */
#ifndef AR_OPTIONS_INTERNAL_H
#define AR_OPTIONS_INTERNAL_H

#include "options.h"

typedef enum argument { NONE, VALUE, OPTIONAL } argument;

typedef enum option_id {
#define AR_GROUP(title)
#define AR_OPTION(name, ...) OPT_##name,
#include "options.def"
#undef AR_GROUP
#undef AR_OPTION
    OPT_COUNT
} option_id;

typedef struct option {
    const char *short_name, *long_name;
    argument argument;
    const char *value;
} option;

extern const option ar_option_table[OPT_COUNT];

/* What a run of the parser knows besides the result. */
typedef struct parser {
    ar_arena *arena;
    ar_diags *diags;
    ar_options *options;
    ar_names args; /* response files expanded */
    uint32_t next;
    const char *given[OPT_COUNT]; /* as the user spelled it; NULL: not given */
    option_id level;              /* the last -O seen; OPT_COUNT: none */
    bool print_rules, check;
    const char *audit; /* NULL: no audit */
} parser;

/* A USAGE diagnostic. */
void ar_complain(const parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* argv into p->args, with @response files expanded (options_args.c). */
void ar_gather_arguments(parser *p, int argc, char **argv);
/* Says what is wrong with an option nobody knows (options_args.c). */
void ar_unknown_option(const parser *p, const char *arg);
/* Complains of combinations that make no sense (options_check.c). */
void ar_check_options(const parser *p);

#endif
