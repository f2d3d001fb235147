/* A JSON writer: commas, escapes and numbers, straight to a stream. The caller nests correctly. */
#ifndef RAIL_JSON_H
#define RAIL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json {
    FILE *out;
    bool comma; /* the next element needs one before it */
};

void json_open(struct json *json, char bracket);
void json_close(struct json *json, char bracket);
void json_key(struct json *json, const char *key);
/* Bytes that are no valid UTF-8 become U+FFFD. */
void json_bytes(struct json *json, const char *bytes, size_t length);
void json_text(struct json *json, const char *text);
/* The shortest text that reads back as the same double; value must be finite. */
void json_number(struct json *json, double value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* Writes the shortest exact text of a finite number into out. */
#define NUMBER_LIMIT 32
void number_text(double value, char out[NUMBER_LIMIT]);

#endif
