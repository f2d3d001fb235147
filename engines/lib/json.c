#include "json.h"

#include <stdlib.h>
#include <string.h>

static void separate(struct json *json)
{
    if (json->comma)
        fputc(',', json->out);
    json->comma = true;
}

void json_open(struct json *json, char bracket)
{
    separate(json);
    fputc(bracket, json->out);
    json->comma = false;
}

void json_close(struct json *json, char bracket)
{
    fputc(bracket, json->out);
    json->comma = true;
}

void json_key(struct json *json, const char *key)
{
    json_text(json, key);
    fputc(':', json->out);
    json->comma = false;
}

/* Length of the UTF-8 sequence at p (at most left bytes), 0 if it is none. Overlong forms,
 * surrogates and values past U+10FFFF are refused, as RFC 3629 wants. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    size_t length = *p < 0x80 ? 1 : *p >= 0xC2 && *p < 0xE0 ? 2 : *p >= 0xE0 && *p < 0xF0 ? 3
                  : *p >= 0xF0 && *p < 0xF5                 ? 4
                                                            : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) ||
        (*p == 0xF0 && p[1] < 0x90) || (*p == 0xF4 && p[1] > 0x8F))
        return 0;
    return length;
}

void json_bytes(struct json *json, const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *)bytes;
    const unsigned char *end = p + length;
    separate(json);
    fputc('"', json->out);
    while (p < end) {
        size_t step = utf8_length(p, (size_t)(end - p));
        if (step == 0) {
            fputs("\\ufffd", json->out);
            step = 1;
        } else if (*p == '"' || *p == '\\') {
            fprintf(json->out, "\\%c", *p);
        } else if (*p < 0x20) {
            fprintf(json->out, "\\u%04x", *p);
        } else {
            fwrite(p, 1, step, json->out);
        }
        p += step;
    }
    fputc('"', json->out);
}

void json_text(struct json *json, const char *text)
{
    json_bytes(json, text, strlen(text));
}

void number_text(double value, char out[NUMBER_LIMIT])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, NUMBER_LIMIT, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

void json_number(struct json *json, double value)
{
    char text[NUMBER_LIMIT];
    number_text(value, text);
    separate(json);
    fputs(text, json->out);
}

void json_bool(struct json *json, bool value)
{
    separate(json);
    fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json)
{
    separate(json);
    fputs("null", json->out);
}
