/* The scalers' state as a file beside a checkpoint. */
#include <amp/amp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = "amp-state 1\n";

enum { MAX_LINE = 512 };

static bool write_groups(FILE *file) {
    char line[MAX_LINE];
    bool ok = fputs(head, file) >= 0;
    for (int group = 0; group < AMP_MAX_GROUPS && ok; group++) {
        size_t length = amp_scaler_save(group, line, sizeof line);
        if (length >= sizeof line)
            return false;
        if (length)
            ok = fprintf(file, "%d %s", group, line) > 0;
    }
    return ok;
}

amp_status amp_state_save(const char *path) {
    if (!path)
        return AMP_ERR_ARGUMENT;
    char *temporary = malloc(strlen(path) + sizeof ".tmp");
    if (!temporary)
        return AMP_ERR_MEMORY;
    strcpy(temporary, path);
    strcat(temporary, ".tmp");
    FILE *file = fopen(temporary, "w");
    bool ok = file && write_groups(file);
    if (file)
        ok = fclose(file) == 0 && ok;
    ok = ok && rename(temporary, path) == 0;
    if (file && !ok)
        remove(temporary);
    free(temporary);
    return ok ? AMP_OK : AMP_ERR_FILE;
}

static amp_status read_groups(FILE *file) {
    char line[MAX_LINE];
    if (!fgets(line, sizeof line, file) || strcmp(line, head) != 0)
        return AMP_ERR_FORMAT;
    while (fgets(line, sizeof line, file)) {
        char *text;
        long group = strtol(line, &text, 10);
        if (text == line || *text != ' ' || group < 0 ||
            group >= AMP_MAX_GROUPS)
            return AMP_ERR_FORMAT;
        amp_status status = amp_scaler_load((int)group, text + 1);
        if (status != AMP_OK)
            return status;
    }
    return ferror(file) ? AMP_ERR_FILE : AMP_OK;
}

amp_status amp_state_load(const char *path) {
    if (!path)
        return AMP_ERR_ARGUMENT;
    FILE *file = fopen(path, "r");
    if (!file)
        return AMP_ERR_FILE;
    amp_status status = read_groups(file);
    fclose(file);
    return status;
}
