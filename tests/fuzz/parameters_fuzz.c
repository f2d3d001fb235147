/* A value as people write it: the first byte chooses the parameter, the rest is the text. What is
 * accepted lies within the range and reaches the other end as the same value. */
#include "attempt.h"
#include "parameters.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct parameter parameters[] = {
    {"datagram", SIZE, "1460", 24, 65507, NULL, NULL, NULL, ""},
    {"sockbuf", SIZE, "0", 0, 1 << 29, NULL, NULL, NULL, ""},
    {"duration", TIME, "5", 0.01, 86400, NULL, NULL, NULL, ""},
    {"wait", TIME, "0", 0, 1, NULL, NULL, NULL, ""},
    {"rate", RATE, "0", 0, 1e15, NULL, NULL, NULL, ""},
    {"count", INT, "0", 0, 1e12, NULL, NULL, NULL, ""},
    {"mode", CHOICE, "stream", 0, 0, "stream|latency", NULL, NULL, ""},
    {"poll", BOOL, "false", 0, 0, NULL, NULL, NULL, ""},
    {"congestion", TEXT, "", 0, 0, NULL, NULL, NULL, ""},
    {0},
};
#define PARAMETERS (sizeof parameters / sizeof *parameters - 1)

static void check_number(const struct parameter *p, double number)
{
    char text[64];
    double again;
    must(number >= p->min && number <= p->max);
    if (p->type == SIZE || p->type == INT)
        must(number == floor(number));
    quantity_text(p->type, number, text, sizeof text);
    must(strlen(text) + 1 < sizeof text);
    must(parse_quantity(p->type, text, &again));
    must(fabs(again - number) <= 1e-12 * fabs(number)); /* what people read is a rounded quotient */
}

static void check_value(const struct parameter *p, const struct value *value)
{
    struct value again = {0};
    char text[TEXT_LIMIT], problem[MESSAGE_LIMIT];
    if (parameter_is_number(p->type))
        check_number(p, value->number);
    value_text(p, value, text);
    must(parameter_parse(p, text, &again, problem, sizeof problem));
    must(again.number == value->number && strcmp(again.text, value->text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const struct parameter *p = &parameters[*data % PARAMETERS];
    char *text = strndup((const char *)data + 1, size - 1), problem[MESSAGE_LIMIT] = "";
    struct value value = {0};
    if (parameter_parse(p, text, &value, problem, sizeof problem))
        check_value(p, &value);
    else
        must(*problem && strlen(problem) < sizeof problem);
    const struct engine engine = {.name = "any", .parameters = parameters};
    must(parameter_find(&engine, text) < (int)PARAMETERS);
    struct suggestion suggestion = {.word = text};
    for (p = parameters; p->name; p++)
        suggest(&suggestion, p->name);
    free(text);
    return 0;
}
