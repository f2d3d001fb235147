/* Which packets are lost: a rule over their numbers, so that the same ones are lost every time. */
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
    enum { LOSE_NOTHING, LOSE_EVERY, LOSE_LISTED, LOSE_RANDOM } kind;
    uint64_t period, offset;   /* LOSE_EVERY: offset, offset + period ... */
    struct range *ranges;      /* LOSE_LISTED: in rising order, apart from one another */
    size_t count;
    double rate; /* LOSE_RANDOM: the share that gets lost */
    uint64_t seed;
};

/* Reads "every:N[:OFFSET]", "list:5,17,20-29" or "random:RATE:SEED"; anything else ends in
 * fail(BAD_PARAMETER). */
void pattern_parse(struct pattern *pattern, const char *text);

/* True if the packet with that number, from 1, is lost. stream: 0 or 1, the direction; a random
 * pattern loses others in one than in the other. */
bool pattern_loses(const struct pattern *pattern, unsigned stream, uint64_t number);

#endif
