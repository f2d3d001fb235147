/* Sends at an even pace: an absolute schedule, slept for until shortly before, then spun for. */
#ifndef RAIL_PACE_H
#define RAIL_PACE_H

#include "clock.h"

struct pace {
    double interval; /* ns from one send to the next; 0: no pause */
    uint64_t begin, number, last;
    uint64_t spun; /* ns of CPU time, so far */
};

void pace_begin(struct pace *pace, double interval_ns);

/* Waits for the next send's moment and returns now. What was missed is caught up with at no more
 * than twice the pace, so that a late thread makes no burst. stop: don't wait beyond it. */
uint64_t pace_next(struct pace *pace, uint64_t stop);

/* Likewise for a send that is due so many ns after the beginning and lasts so many. */
uint64_t pace_to(struct pace *pace, double offset_ns, double last_ns, uint64_t stop);

/* Waits until so many ns after the last send; UDPmon's wait between packets, which catches up with
 * nothing. */
uint64_t pace_after(struct pace *pace, uint64_t stop);

/* Sleeps, asking the kernel to wake this thread without slack, then spins, until that moment;
 * returns now. Adds the CPU time spent spinning, in ns. */
uint64_t wait_spinning(uint64_t due, uint64_t *spun);

/* Likewise, where nobody asks what it cost. */
uint64_t wait_until(uint64_t due);

#endif
