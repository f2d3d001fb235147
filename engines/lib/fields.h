/* What a control message says: lines of "name value". Bounded, and checked when they arrive. */
#ifndef RAIL_FIELDS_H
#define RAIL_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIELDS_LIMIT 65536 /* longest payload of a message */
#define NAME_LIMIT 64      /* longest name, with its final zero */
#define VALUE_LIMIT 2048   /* longest value, with its final zero */

struct fields {
    size_t length;
    char text[FIELDS_LIMIT];
};

void fields_clear(struct fields *fields);
/* Line breaks and other control characters in the value become spaces. */
void fields_add(struct fields *fields, const char *name, const char *value);
void fields_add_number(struct fields *fields, const char *name, double value);
void fields_add_token(struct fields *fields, const char *name, uint64_t token);

/* True if the text is nothing but well-formed lines; look up nothing before this said so. */
bool fields_valid(const struct fields *fields);

/* Steps through the lines, from *cursor = 0; false at the end. */
bool fields_next(const struct fields *fields, size_t *cursor, char name[NAME_LIMIT],
                 char value[VALUE_LIMIT]);

/* The first value of that name; false if there is none. */
bool fields_find(const struct fields *fields, const char *name, char value[VALUE_LIMIT]);

/* A number within min..max, or an integer in 0..max, or fail(BAD_PEER). */
double fields_number(const struct fields *fields, const char *name, double min, double max);
uint64_t fields_count(const struct fields *fields, const char *name, double max);
uint64_t fields_token(const struct fields *fields, const char *name);

#endif
