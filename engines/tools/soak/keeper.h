/* The soakers' parent: it starts them and ends with all of them when its leash is let go. */
#ifndef RAIL_SOAK_KEEPER_H
#define RAIL_SOAK_KEEPER_H

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define WORKING_SET (128 << 10) /* bytes that a soaker reads and writes, round and round */

/* One soaker, in memory that it shares with who reads it; far from the next one's, as the
 * processor also fetches the cache line next to the one it needs. */
struct soaker {
    _Alignas(256) _Atomic uint64_t loops;
    _Alignas(256) pid_t pid;
};

/* All of them, as their owner has them. */
struct soakers {
    size_t count;
    int cpus[CPU_SETSIZE]; /* rising */
    clockid_t clocks[CPU_SETSIZE];
    struct soaker *shared; /* count of them */
    pid_t keeper;          /* their parent */
    int stop_pipe;         /* closed, it ends them */
    int over;              /* readable once they have ended, which they shouldn't */
};

/* What the keeper says first: errno, 0 if all soakers run, and of which CPU. */
struct keeper_report {
    int error, cpu;
};

/* Never returns. over: an end of a pipe, which is closed when the soakers are no more, after that
 * many seconds at the latest. */
_Noreturn void keep_soakers(struct soakers *soakers, int stop_pipe, int over, unsigned longest);

#endif
