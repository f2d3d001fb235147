#include "fields.h"

#include "failure.h"
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fields_clear(struct fields *fields)
{
    fields->length = 0;
}

void fields_add(struct fields *fields, const char *name, const char *value)
{
    size_t room = FIELDS_LIMIT - fields->length;
    size_t needed = strlen(name) + 1 + strlen(value) + 1;
    if (needed >= room || strlen(name) >= NAME_LIMIT || strlen(value) >= VALUE_LIMIT)
        abort(); /* ours to prevent: everything we send is short */
    char *out = fields->text + fields->length;
    fields->length += (size_t)sprintf(out, "%s %s\n", name, value);
    for (char *c = out + strlen(name); c < fields->text + fields->length - 1; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

void fields_add_number(struct fields *fields, const char *name, double value)
{
    char text[NUMBER_LIMIT];
    number_text(value, text);
    fields_add(fields, name, text);
}

void fields_add_token(struct fields *fields, const char *name, uint64_t token)
{
    char text[NUMBER_LIMIT];
    snprintf(text, sizeof text, "%016" PRIx64, token);
    fields_add(fields, name, text);
}

static bool name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Length of the well-formed line at p, its line feed included; 0 if it is none. */
static size_t line_length(const char *p, size_t left)
{
    const char *end = memchr(p, '\n', left);
    const char *space = end ? memchr(p, ' ', (size_t)(end - p)) : NULL;
    if (space == NULL || space == p || space - p >= NAME_LIMIT || end - space > VALUE_LIMIT)
        return 0;
    for (const char *c = p; c < space; c++)
        if (!name_character(*c))
            return 0;
    for (const char *c = space; c < end; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return 0;
    return (size_t)(end - p) + 1;
}

bool fields_valid(const struct fields *fields)
{
    size_t at = 0;
    while (at < fields->length) {
        size_t step = line_length(fields->text + at, fields->length - at);
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

bool fields_next(const struct fields *fields, size_t *cursor, char name[NAME_LIMIT],
                 char value[VALUE_LIMIT])
{
    if (*cursor >= fields->length)
        return false;
    const char *line = fields->text + *cursor;
    const char *end = memchr(line, '\n', fields->length - *cursor);
    const char *space = memchr(line, ' ', (size_t)(end - line));
    size_t name_length = (size_t)(space - line);
    size_t value_length = (size_t)(end - space) - 1;
    memcpy(name, line, name_length);
    name[name_length] = '\0';
    memcpy(value, space + 1, value_length);
    value[value_length] = '\0';
    *cursor += (size_t)(end - line) + 1;
    return true;
}

bool fields_find(const struct fields *fields, const char *name, char value[VALUE_LIMIT])
{
    char candidate[NAME_LIMIT];
    size_t cursor = 0;
    while (fields_next(fields, &cursor, candidate, value))
        if (strcmp(candidate, name) == 0)
            return true;
    return false;
}

static void must_find(const struct fields *fields, const char *name, char value[VALUE_LIMIT])
{
    if (!fields_find(fields, name, value))
        fail(BAD_PEER, "the other end sent no %s: are both ends the same build?", name);
}

double fields_number(const struct fields *fields, const char *name, double min, double max)
{
    char value[VALUE_LIMIT], *end;
    must_find(fields, name, value);
    double number = strtod(value, &end);
    if (end == value || *end || !isfinite(number) || number < min || number > max)
        fail(BAD_PEER, "the other end sent %s = %.64s, which cannot be", name, value);
    return number;
}

uint64_t fields_count(const struct fields *fields, const char *name, double max)
{
    double number = fields_number(fields, name, 0, max);
    if (number != floor(number))
        fail(BAD_PEER, "the other end sent %s = %g, which is no count", name, number);
    return (uint64_t)number;
}

uint64_t fields_token(const struct fields *fields, const char *name)
{
    char value[VALUE_LIMIT];
    must_find(fields, name, value);
    if (strlen(value) != 16 || strspn(value, "0123456789abcdef") != 16)
        fail(BAD_PEER, "the other end sent a %s that is none", name);
    return strtoull(value, NULL, 16);
}
