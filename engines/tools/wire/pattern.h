/* Which packets are lost, duplicated or overtaken: a rule over their numbers, so that it is the
 * same ones every time. */
#ifndef RAIL_WIRE_PATTERN_H
#define RAIL_WIRE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers from the first to the last. */
struct range {
    uint64_t first, last;
};

struct pattern {
    const char *option; /* that gave it */
    enum { PICK_NOTHING, PICK_EVERY, PICK_LISTED, PICK_RANDOM } kind;
    uint64_t period, offset;   /* PICK_EVERY: offset, offset + period ... */
    struct range *ranges;      /* PICK_LISTED: in rising order, apart from one another */
    size_t count;
    double rate; /* PICK_RANDOM: the share that it picks */
    uint64_t seed;
};

/* Reads "every:N[:OFFSET]", "list:5,17,20-29" or "random:RATE:SEED"; anything else ends in
 * fail(BAD_PARAMETER). option: for its message. */
void pattern_parse(struct pattern *pattern, const char *option, const char *text);

/* True if it picks the packet with that number, from 1. stream: 0 or 1, the direction; a random
 * pattern picks others in one than in the other. */
bool pattern_picks(const struct pattern *pattern, unsigned stream, uint64_t number);

#endif
