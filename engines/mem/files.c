#include "files.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool read_line(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool is_read = fgets(out, (int)size, file) != NULL;
    fclose(file);
    if (is_read)
        out[strcspn(out, "\n")] = '\0';
    return is_read;
}

double read_number(const char *path)
{
    char text[64];
    return read_line(path, text, sizeof text) && isdigit((unsigned char)*text) ? strtod(text, NULL)
                                                                               : -1;
}

double read_key(const char *path, const char *key)
{
    char line[256];
    double value = -1;
    size_t length = strlen(key);
    FILE *file = fopen(path, "re");
    while (file && value < 0 && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, key);
        if (at && (at == line || at[-1] == ' ') && isspace((unsigned char)at[length]))
            value = strtod(at + length, NULL);
    }
    if (file)
        fclose(file);
    return value;
}
