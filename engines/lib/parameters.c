#include "parameters.h"

#include "units.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *unit;
    bool number;
} types[] = {
    [SIZE] = {"size", "B", true},    [TIME] = {"time", "s", true},
    [RATE] = {"rate", "bit/s", true},
    [INT] = {"int", "", true},       [CHOICE] = {"choice", "", false},
    [BOOL] = {"bool", "", false},    [TEXT] = {"text", "", false},
};

const char *parameter_type_name(enum parameter_type type)
{
    return types[type].name;
}

const char *parameter_unit(enum parameter_type type)
{
    return types[type].unit;
}

bool parameter_is_number(enum parameter_type type)
{
    return types[type].number;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
            return false;
    return *a == *b;
}

int parameter_find(const struct engine *engine, const char *name)
{
    for (int i = 0; engine->parameters[i].name; i++)
        if (same_name(engine->parameters[i].name, name))
            return i;
    return -1;
}

bool list_has(const char *list, const char *word)
{
    if (list == NULL)
        return true;
    size_t word_length = strlen(word);
    while (*list) {
        size_t length = strcspn(list, "|");
        if (length == word_length && memcmp(list, word, length) == 0)
            return true;
        list += length + (list[length] == '|');
    }
    return false;
}

bool some_list_has(const char *list, const char *word)
{
    return list && list_has(list, word);
}

void parameter_range(const struct parameter *p, char *out, size_t size)
{
    if (p->type == CHOICE) {
        snprintf(out, size, "%s", p->choices);
    } else if (p->type == BOOL) {
        snprintf(out, size, "true or false");
    } else if (p->type == TEXT) {
        snprintf(out, size, "text of less than %d visible characters", TEXT_LIMIT);
    } else {
        char low[64], high[64];
        quantity_text(p->type, p->min, low, sizeof low);
        quantity_text(p->type, p->max, high, sizeof high);
        snprintf(out, size, "%s to %s", low, high);
    }
}

static bool parse_bool(const char *text, double *number)
{
    static const char *const words[] = {"0", "1", "false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i]) == 0) {
            *number = (double)(i % 2);
            return true;
        }
    }
    return false;
}

/* Text, a path for one, travels as the rest of a line and ends in messages. */
static bool parse_text(const char *text, char out[TEXT_LIMIT])
{
    size_t length = strlen(text);
    if (length >= TEXT_LIMIT || *text == ' ' || (length && text[length - 1] == ' '))
        return false;
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return false;
    memcpy(out, text, length + 1);
    return true;
}

static bool parse_value(const struct parameter *p, const char *text, struct value *value)
{
    switch (p->type) {
    case BOOL:
        return parse_bool(text, &value->number);
    case CHOICE:
        return list_has(p->choices, text) && parse_text(text, value->text);
    case TEXT:
        return parse_text(text, value->text);
    default:
        return parse_quantity(p->type, text, &value->number) && value->number >= p->min &&
               value->number <= p->max;
    }
}

bool next_former(const char **list, char before[TEXT_LIMIT], char now[TEXT_LIMIT])
{
    int length = 0;
    if (*list == NULL || sscanf(*list, "%255[^=]=%255[^|]%n", before, now, &length) != 2)
        return false;
    *list += length + ((*list)[length] == '|');
    return true;
}

bool parameter_parse(const struct parameter *p, const char *text, struct value *value,
                     char *problem, size_t size)
{
    char before[TEXT_LIMIT], now[TEXT_LIMIT];
    if (parse_value(p, text, value))
        return true;
    for (const char *at = p->former; next_former(&at, before, now);)
        if (strcmp(text, before) == 0) {
            snprintf(problem, size, "%s: '%s' has another name: write '%s'", p->name, before, now);
            return false;
        }
    char range[256];
    parameter_range(p, range, sizeof range);
    snprintf(problem, size, "%s must be %s%s%s%s; it was given '%.64s'", p->name, range,
             *p->initial ? ", such as " : "", p->initial, parameter_unit(p->type), text);
    return false;
}

void parameter_default(const struct parameter *p, struct value *value)
{
    memset(value, 0, sizeof *value);
    if (!parse_value(p, p->initial, value))
        abort(); /* the table is wrong; every --describe would show it */
}

void value_text(const struct parameter *p, const struct value *value, char out[TEXT_LIMIT])
{
    if (p->type == CHOICE || p->type == TEXT)
        snprintf(out, TEXT_LIMIT, "%s", value->text);
    else if (p->type == BOOL)
        snprintf(out, TEXT_LIMIT, value->number != 0 ? "true" : "false");
    else
        number_text(value->number, out);
}

void value_json(struct json *json, const struct parameter *p, const struct value *value)
{
    if (p->type == BOOL)
        json_bool(json, value->number != 0);
    else if (parameter_is_number(p->type))
        json_number(json, value->number);
    else
        json_text(json, value->text);
}

static int index_of(const struct launch *launch, const char *name)
{
    int index = parameter_find(launch->engine, name);
    if (index < 0)
        abort(); /* an engine asked for a parameter that isn't in its own table */
    return index;
}

static const struct value *value_of(const struct launch *launch, const char *name)
{
    return &launch->values[index_of(launch, name)];
}

void set_number(struct launch *launch, const char *name, double number)
{
    launch->values[index_of(launch, name)].number = number;
}

void set_text(struct launch *launch, const char *name, const char *text)
{
    struct value *value = &launch->values[index_of(launch, name)];
    snprintf(value->text, sizeof value->text, "%s", text);
}

double number_of(const struct launch *launch, const char *name)
{
    return value_of(launch, name)->number;
}

double number_in_effect(const struct launch *launch, const char *name)
{
    int i = parameter_find(launch->engine, name);
    if (i < 0 || !list_has(launch->engine->parameters[i].modes, mode_of(launch)))
        return 0;
    return launch->values[i].number;
}

size_t size_of(const struct launch *launch, const char *name)
{
    return (size_t)number_of(launch, name);
}

int int_of(const struct launch *launch, const char *name)
{
    return (int)number_of(launch, name);
}

const char *text_of(const struct launch *launch, const char *name)
{
    return value_of(launch, name)->text;
}

const char *mode_of(const struct launch *launch)
{
    return parameter_find(launch->engine, "mode") < 0 ? "" : text_of(launch, "mode");
}

const struct series *series_of(const struct launch *launch)
{
    for (const struct series *s = launch->engine->series; s && s->mode; s++)
        if (strcmp(s->mode, mode_of(launch)) == 0)
            return s;
    return NULL;
}

bool is_mode(const struct launch *launch, const char *mode)
{
    return strcmp(mode_of(launch), mode) == 0;
}

/* Levenshtein's distance between two short words; long ones are never alike. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[TEXT_LIMIT];
    size_t length = strlen(b);
    if (length >= TEXT_LIMIT)
        return SIZE_MAX;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t change = diagonal + !same_name((char[]){a[i - 1], 0}, (char[]){b[j - 1], 0});
            diagonal = row[j];
            size_t skip = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = change < skip ? change : skip;
        }
    }
    return row[length];
}

void suggest(struct suggestion *suggestion, const char *candidate)
{
    size_t distance = edit_distance(suggestion->word, candidate);
    size_t limit = strlen(suggestion->word) / 3 + 1;
    if (distance <= limit && (suggestion->best == NULL || distance < suggestion->distance)) {
        suggestion->best = candidate;
        suggestion->distance = distance;
    }
}
