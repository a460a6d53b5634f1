#include "explain.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

static const ar_diag_doc docs[AR_DIAG_COUNT] = {
#define D(name, meaning, remedy) [AR_DIAG_##name] = {meaning, remedy},
#include "base/diag_docs.def"
#undef D
};

enum { WIDTH = 78 };

ar_diag_doc ar_diag_doc_of(ar_diag_id id) {
    return docs[ar_diag_info_of(id) ? id : 0];
}

static void print_wrapped(FILE *out, const char *text) {
    size_t column = 0;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column && column + 1 + word > WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%.*s", column ? " " : "", (int)word, text);
        column += word + (column != 0);
        text += word + strspn(text + word, " ");
    }
    fputc('\n', out);
}

/* The message as a reader meets it: "%s" and "%u" as dots. */
static void print_pattern(FILE *out, const char *format) {
    for (const char *p = format; *p; p++) {
        if (*p != '%') {
            fputc(*p, out);
            continue;
        }
        p++;
        fputs(*p == '%' ? "%" : "...", out);
    }
}

/* AMP402, 402, no-seed, AMP402-no-seed. */
static bool names(const char *code, const ar_diag_info *info) {
    const char *p = code;
    if (strncasecmp(p, "AMP", 3) == 0)
        p += 3;
    if (!isdigit((unsigned char)*p))
        return strcasecmp(code, info->option) == 0;
    char *end;
    unsigned long number = strtoul(p, &end, 10);
    return number == info->number &&
           (*end == '\0' ||
            (*end == '-' && strcasecmp(end + 1, info->option) == 0));
}

static void print_one(FILE *out, ar_diag_id id) {
    const ar_diag_info *info = ar_diag_info_of(id);
    fprintf(out, "AMP%03u-%s (%s): ", info->number, info->option,
            ar_severity_name(info->severity));
    print_pattern(out, info->text);
    fputs("\n\n", out);
    ar_diag_doc doc = ar_diag_doc_of(id);
    if (!doc.meaning)
        return;
    print_wrapped(out, doc.meaning);
    fputc('\n', out);
    print_wrapped(out, doc.remedy);
}

bool ar_explain(FILE *out, const char *code, ar_diags *diags) {
    bool found = false;
    for (int i = 0; i < AR_DIAG_COUNT; i++) {
        if (!names(code, ar_diag_info_of((ar_diag_id)i)))
            continue;
        if (found)
            fputc('\n', out);
        print_one(out, (ar_diag_id)i);
        found = true;
    }
    if (!found) {
        const char *text = ar_sprintf(
            diags->arena, "'%s' is no diagnostic of amp-rewrite", code);
        ar_report(diags, AR_DIAG_USAGE, AR_NO_RANGE, text);
    }
    return found;
}

static const char *heading_of(unsigned number) {
    static const char *const headings[] = {
        "Command line and files", "Parsing", "Rule files", "Ops",
        "Loss scaling",           "Storage", "Output",     "Numbers"};
    size_t hundred = number / 100;
    if (hundred >= sizeof headings / sizeof *headings)
        AR_BUG("diagnostic number %u has no heading", number);
    return headings[hundred];
}

void ar_explain_markdown(FILE *out) {
    fputs("# Diagnostics\n\n"
          "Every message of amp-rewrite ends in a code; `amp-rewrite --explain "
          "CODE`\nprints what is said here. This page is written from\n"
          "`tool/base/diag.def` and `tool/base/diag_docs.def` by "
          "`cmake --build BUILD --target docs`.\n"
          "In the patterns `...` stands for what varies.\n",
          out);
    const char *heading = NULL;
    for (int i = 0; i < AR_DIAG_COUNT; i++) {
        const ar_diag_info *info = ar_diag_info_of((ar_diag_id)i);
        const char *wanted = heading_of(info->number);
        if (heading != wanted)
            fprintf(out, "\n## %s\n", wanted);
        heading = wanted;
        fprintf(out, "\n### AMP%03u-%s\n\n%s: `", info->number, info->option,
                ar_severity_name(info->severity));
        print_pattern(out, info->text);
        fputs("`\n\n", out);
        ar_diag_doc doc = ar_diag_doc_of((ar_diag_id)i);
        if (!doc.meaning)
            continue;
        print_wrapped(out, doc.meaning);
        fputc('\n', out);
        print_wrapped(out, doc.remedy);
    }
}
