#include "units.h"

#include "json.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A unit below the base one has its divisor, negative: 1e-6 is no exact number. */
struct unit {
    const char *name;
    double factor;
};

/* Beyond a double's digits, or 1.001 kB were a little less than 1001 bytes. */
static double to_base(long double number, const struct unit *unit)
{
    return (double)(unit->factor < 0 ? number / -unit->factor : number * unit->factor);
}

/* Bare k, M and G count by 1024 on a size and by 1000 on a rate, as they did in Hpcbench. */
static const struct unit sizes[] = {
    {"", 1},        {"B", 1},      {"KiB", 1024},   {"MiB", 1 << 20}, {"GiB", 1 << 30},
    {"kB", 1e3},    {"MB", 1e6},   {"GB", 1e9},     {"k", 1024},      {"K", 1024},
    {"M", 1 << 20}, {"m", 1 << 20}, {"G", 1 << 30}, {0},
};
static const struct unit times[] = {
    {"", 1}, {"s", 1}, {"ms", -1e3}, {"us", -1e6}, {"ns", -1e9}, {"min", 60}, {"h", 3600}, {0},
};
static const struct unit rates[] = {
    {"", 1},    {"bit/s", 1}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9},
    {"k", 1e3}, {"K", 1e3},   {"M", 1e6},      {"G", 1e9},      {0},
};
static const struct unit counts[] = {{"", 1}, {0}};

static const struct unit *units_of(enum parameter_type type)
{
    return type == SIZE ? sizes : type == TIME ? times : type == RATE ? rates : counts;
}

bool parse_quantity(enum parameter_type type, const char *text, double *value)
{
    /* strtold also takes "inf", "nan", hexadecimal and leading spaces: only digits begin here, and
     * the sign of what may be negative, a whole number. */
    const char *digits = text + (type == INT && *text == '-');
    if (!isdigit((unsigned char)*digits) ||
        (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')))
        return false;
    char *end;
    long double number = strtold(text, &end);
    if (*end == ' ')
        end++;
    for (const struct unit *unit = units_of(type); unit->name; unit++) {
        if (strcmp(end, unit->name) != 0)
            continue;
        *value = to_base(number, unit);
        if (!isfinite(*value))
            return false;
        return (type != SIZE && type != INT) || *value == floor(*value);
    }
    return false;
}

void quantity_text(enum parameter_type type, double value, char *out, size_t size)
{
    static const struct unit size_steps[] = {
        {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1024}, {0}};
    static const struct unit time_steps[] = {{"s", 1}, {"ms", -1e3}, {"us", -1e6}, {0}};
    static const struct unit rate_steps[] = {
        {"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3}, {0}};
    static const struct unit none[] = {{0}};
    const struct unit *step = type == SIZE   ? size_steps
                              : type == TIME ? time_steps
                              : type == RATE ? rate_steps
                                             : none;
    char number[NUMBER_LIMIT];
    for (; step->name; step++) {
        /* Whole bytes only: 1460 is 1460 B, not 1.42578125 KiB. */
        if (value < to_base(1, step) || (type == SIZE && fmod(value, step->factor) != 0))
            continue;
        double scaled = step->factor < 0 ? value * -step->factor : value / step->factor;
        snprintf(out, size, "%.15g%s", scaled, step->name); /* 2.9 us, not what it is in binary */
        return;
    }
    number_text(value, number);
    snprintf(out, size, "%s%s", number, type == SIZE ? "B" : type == TIME ? "s" : "");
}
