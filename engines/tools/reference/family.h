/* The CPU time of a process and of those that it started, and they. */
#ifndef RAIL_REFERENCE_FAMILY_H
#define RAIL_REFERENCE_FAMILY_H

#include <stddef.h>
#include <sys/types.h>

#define MOST_PROCESSES 65536

struct member {
    pid_t pid;
    double seconds;
};

struct family {
    struct member members[MOST_PROCESSES + 1];
    size_t count;
};

/* `root` and what it started, and they, but for soakers, and the CPU seconds of each; not this process.
 * By the scheduler's clocks, as ticks are longer than what these take meanwhile. */
void look_at_family(pid_t root, struct family *family);

/* CPU seconds that those that are there took since the look before: not those that ended. */
double family_seconds(const struct family *before, const struct family *now);

#endif
