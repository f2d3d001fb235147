/* Time: intervals by a clock that nothing adjusts, CPU time of this thread. */
#ifndef RAIL_CLOCK_H
#define RAIL_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NANOSECONDS 1000000000ull /* in a second */

/* Nanoseconds since some moment in the past. */
static inline uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * NANOSECONDS + (uint64_t)t.tv_nsec;
}

/* Nanoseconds since 1970, by the clock that kernels stamp packets with; it may be set. */
static inline uint64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * NANOSECONDS + (uint64_t)t.tv_nsec;
}

static inline uint64_t seconds_ns(double seconds)
{
    return (uint64_t)(seconds * 1e9 + 0.5);
}

static inline double ns_seconds(uint64_t nanoseconds)
{
    return (double)nanoseconds / 1e9;
}

/* CPU time between two readings in a loop that does nothing else: what is longer than this the
 * thread spent without its CPU. */
#define PREEMPTED_NS 20000
static inline uint64_t spinning_ns(uint64_t before, uint64_t now)
{
    return now - before < PREEMPTED_NS ? now - before : 0;
}

/* One moment by both clocks. */
struct clock_readings {
    uint64_t wall, raw;
};
struct clock_readings read_clocks(void);

/* By how many seconds the wall clock was set since then; 0: it was not, as the two clocks differ by
 * no more than a daemon slews. */
double wall_clock_step(const struct clock_readings *since);

/* Has a signal end the calling thread's system calls from that moment of now_ns() on, again and
 * again until another moment is set; 0: never. A call that would block longer returns with what it
 * has done. Each thread has its own; it sets 0 before it ends. */
void interrupt_calls(uint64_t at);

/* Ends a call that another thread blocks in, if that thread has allowed it. */
void allow_interrupts(void);
void interrupt_thread(pthread_t thread);

/* UTC, seconds since 1970. */
double utc_now(void);

/* Wall and CPU time of a stretch of this thread's work, or of the process', in seconds. */
struct usage {
    uint64_t began;
    bool of_process;
    double elapsed, user, system;
    double ran; /* user and system together, exact: those two may be a timer tick behind */
};
void usage_begin(struct usage *usage);
void usage_begin_process(struct usage *usage); /* of all its threads */
void usage_end(struct usage *usage);

#endif
