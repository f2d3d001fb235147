/* One direction of the wire: a thread that reads frames from one device and, in their order and
 * when they are due, writes them to the other. */
#ifndef RAIL_WIRE_RELAY_H
#define RAIL_WIRE_RELAY_H

#include "options.h"

#include "../../lib/histogram.h"

/* What happened to every frame that was read, and to the copies of them: read + duplicated =
 * passed + lost + overflowed + refused + queued. */
struct counts {
    uint64_t read;
    uint64_t counted; /* of those, the ones that --loss-of names */
    uint64_t passed, passed_bytes;
    uint64_t lost;       /* by the pattern */
    uint64_t loss_runs;  /* stretches of them that were counted one after the other */
    uint64_t duplicated; /* sent on twice */
    uint64_t reordered;  /* sent on after some that came later */
    uint64_t overflowed; /* there was no room for them */
    uint64_t refused;    /* cannot be passed on: the other device is down, or they are not whole */
    uint64_t queued;     /* under way */
    uint64_t late;       /* written more than LATE_NS after they were due */
    uint64_t unread;     /* never seen: the kernel dropped them before they could be read */
    struct histogram lateness; /* ns from due to written, of those passed; last */
};
#define LATE_NS 50000

struct relay;

/* Makes and starts one. number: 0 for left to right, 1 for right to left. gone: an eventfd that is
 * written to when the device has been removed. */
struct relay *relay_start(const struct options *options, unsigned number, struct device *from,
                          const struct device *to, int ended);

/* Ends it; what is under way stays queued. */
void relay_stop(struct relay *relay);

/* All counts of one moment. counts: all zero, or of an earlier one. */
void relay_counts(struct relay *relay, struct counts *counts);

/* After relay_stop. */
void relay_free(struct relay *relay);

const char *relay_direction(unsigned number);

#endif
