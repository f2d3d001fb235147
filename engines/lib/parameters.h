/* Values of parameters: reading, checking, showing. One place for the command line and the wire. */
#ifndef RAIL_PARAMETERS_H
#define RAIL_PARAMETERS_H

#include "engine.h"
#include "json.h"

const char *parameter_type_name(enum parameter_type type);
const char *parameter_unit(enum parameter_type type);
bool parameter_is_number(enum parameter_type type);

/* Index of the parameter with that name (hyphens count as underscores), -1 if there is none. */
int parameter_find(const struct engine *engine, const char *name);

/* "24B to 65507B", "stream, latency", ... */
void parameter_range(const struct parameter *p, char *out, size_t size);

void parameter_default(const struct parameter *p, struct value *value);

/* Takes the next pair of a parameter's former choices; false if there is none. */
bool next_former(const char **list, char before[TEXT_LIMIT], char now[TEXT_LIMIT]);

/* Reads and checks text; false with a sentence in problem if it is no value of p. */
bool parameter_parse(const struct parameter *p, const char *text, struct value *value,
                     char *problem, size_t size);

/* The value in base units, as it travels between the ends. */
void value_text(const struct parameter *p, const struct value *value, char out[TEXT_LIMIT]);
void value_json(struct json *json, const struct parameter *p, const struct value *value);

/* The launch's value of a parameter that the engine has. */
double number_of(const struct launch *launch, const char *name);
/* Likewise, 0 if the engine has none or it has no effect in the launch's mode. */
double number_in_effect(const struct launch *launch, const char *name);
size_t size_of(const struct launch *launch, const char *name);
int int_of(const struct launch *launch, const char *name);
const char *text_of(const struct launch *launch, const char *name);
bool is_mode(const struct launch *launch, const char *mode);

/* True if list, "a|b" or NULL for everything, has the word. */
bool list_has(const char *list, const char *word);

/* Likewise, but NULL has none. */
bool some_list_has(const char *list, const char *word);

/* The launch's mode, "" for an engine without modes. */
const char *mode_of(const struct launch *launch);

/* The series that the launch's mode is, NULL if it is a mode proper. */
const struct series *series_of(const struct launch *launch);

/* Sets a parameter that the engine has; for series, whose launches differ in one. */
void set_number(struct launch *launch, const char *name, double number);
void set_text(struct launch *launch, const char *name, const char *text);

/* The name out of candidates that is closest to word, NULL if none is close. */
struct suggestion {
    const char *word;
    const char *best;
    size_t distance;
};
void suggest(struct suggestion *suggestion, const char *candidate);

#endif
