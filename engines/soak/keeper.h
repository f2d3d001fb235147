/* The soakers' parent: it starts them and ends with all of them when its leash is let go. */
#ifndef RAIL_SOAK_KEEPER_H
#define RAIL_SOAK_KEEPER_H

#include "soakers.h"

#include <stdatomic.h>

/* One soaker, in memory that it shares with who looks at it; far from the next one's, as the
 * processor also fetches the cache line beside the one it needs. */
struct soaker {
    _Alignas(256) _Atomic uint64_t loops;
    _Alignas(256) pid_t pid;
};

/* What the keeper says first: errno, 0 if all soakers run, and of which CPU. */
struct keeper_report {
    int error, cpu;
};

/* Never returns. over: an end of a pipe, which is closed when the soakers are no more, after that
 * many seconds at the latest. */
_Noreturn void keep_soakers(struct soakers *soakers, int leash, int over, unsigned longest);

#endif
