#include "pattern.h"

#include "../../lib/failure.h"
#include "../../lib/splitmix.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void refuse(const struct pattern *pattern, const char *text,
                              const char *reason)
{
    fail(BAD_PARAMETER,
         "--%s: %s in '%.64s'; it must be every:N[:OFFSET], list:5,17,20-29 or random:RATE:SEED",
         pattern->option, reason, text);
}

/* Reads a whole number and moves on behind it. */
static uint64_t take_number(const struct pattern *pattern, const char **at, const char *text)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        refuse(pattern, text, "no number where one is due");
    errno = 0;
    uint64_t number = strtoull(*at, &end, 10);
    if (errno)
        refuse(pattern, text, "a number too large");
    *at = end;
    return number;
}

static void parse_every(struct pattern *pattern, const char *text, const char *at)
{
    pattern->kind = PICK_EVERY;
    pattern->period = pattern->offset = take_number(pattern, &at, text);
    if (*at == ':') {
        at++;
        pattern->offset = take_number(pattern, &at, text);
    }
    if (*at)
        refuse(pattern, text, "something left over");
    if (pattern->period == 0 || pattern->offset == 0)
        refuse(pattern, text, "a 0 (packets count from 1)");
}

static void parse_list(struct pattern *pattern, const char *text, const char *at)
{
    size_t commas = 0;
    for (const char *c = at; *c; c++)
        commas += *c == ',';
    pattern->kind = PICK_LISTED;
    pattern->ranges = malloc((commas + 1) * sizeof *pattern->ranges);
    if (pattern->ranges == NULL)
        fail(OUT_OF_MEMORY, "no memory for the list of packets");
    for (uint64_t before = 0;; at++) {
        struct range *range = &pattern->ranges[pattern->count++];
        range->first = range->last = take_number(pattern, &at, text);
        if (*at == '-') {
            at++;
            range->last = take_number(pattern, &at, text);
        }
        if (range->first <= before || range->last < range->first)
            refuse(pattern, text, "numbers that do not rise from 1 up");
        before = range->last;
        if (*at != ',')
            break;
    }
    if (*at)
        refuse(pattern, text, "something left over");
}

static void parse_random(struct pattern *pattern, const char *text, const char *at)
{
    char *end;
    pattern->kind = PICK_RANDOM;
    pattern->rate = isdigit((unsigned char)*at) ? strtod(at, &end) : -1;
    if (!(pattern->rate >= 0 && pattern->rate <= 1))
        refuse(pattern, text, "a rate that is not from 0 to 1");
    if (*end != ':')
        refuse(pattern, text, "no seed");
    at = end + 1;
    pattern->seed = take_number(pattern, &at, text);
    if (*at)
        refuse(pattern, text, "something left over");
}

void pattern_parse(struct pattern *pattern, const char *option, const char *text)
{
    static const struct {
        const char *word;
        void (*parse)(struct pattern *, const char *, const char *);
    } kinds[] = {{"every:", parse_every}, {"list:", parse_list}, {"random:", parse_random}};
    *pattern = (struct pattern){.option = option, .kind = PICK_NOTHING};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].word);
        if (strncmp(text, kinds[i].word, length) == 0) {
            kinds[i].parse(pattern, text, text + length);
            return;
        }
    }
    refuse(pattern, text, "no known pattern");
}

static bool listed(const struct pattern *pattern, uint64_t number)
{
    size_t low = 0, high = pattern->count; /* the first range that ends at number or later */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pattern->ranges[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < pattern->count && pattern->ranges[low].first <= number;
}

bool pattern_picks(const struct pattern *pattern, unsigned stream, uint64_t number)
{
    switch (pattern->kind) {
    case PICK_EVERY:
        return number >= pattern->offset && (number - pattern->offset) % pattern->period == 0;
    case PICK_LISTED:
        return listed(pattern, number);
    case PICK_RANDOM: {
        uint64_t seed = stream ? ~pattern->seed : pattern->seed;
        return (double)(splitmix_at(seed, number) >> 11) / 0x1p53 < pattern->rate;
    }
    default:
        return false;
    }
}
