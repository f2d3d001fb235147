/* The round trips of one stream: when each is due, and what it took. One clock reading a round
 * trip: the end of one is the beginning of the next, unless a pace is asked for. */
#ifndef RAIL_ROUND_TRIPS_H
#define RAIL_ROUND_TRIPS_H

#include "histogram.h"
#include "network.h"
#include "trace.h"

#define TOO_LATE_SECONDS 10 /* a paced stream that is so far behind has failed */
#define INTERVAL_LIMIT 10   /* seconds; an echo takes a longer silence for a lost client */

/* What both engines' mode latency can be asked. */
#define ROUND_TRIP_PARAMETERS                                                                     \
    {"poll", CHOICE, "block", 0, 0, "block|busy", "latency", "sockperf --nonblocked",             \
     "how both ends wait for data: block: in the kernel, which wakes the thread up; busy: asking " \
     "again and again without sleeping, which takes a CPU on each end"},                          \
    {"busy_poll", TIME, "0", 0, 1, NULL, "latency", NULL,                                         \
     "how long the kernel itself polls the network device in a blocking call (SO_BUSY_POLL), to " \
     "the microsecond, on both ends; 0: as the host is set; loopback has no device to poll"},     \
    {"interval", TIME, "0", 0, INTERVAL_LIMIT, NULL, "latency", NULL,                             \
     "time from the moment one round trip is due to the moment the next one is, in each thread; " \
     "each is timed from when it was due, even if it left late because the one before was still " \
     "out; 0: the next leaves when the one before is back"}

#define LATE_METRIC                                                                               \
    {"late_sends", "", "lower", "latency",                                                        \
     "with interval: round trips that left later than due, the one before being still out",       \
     "late", 1, 0, .kind = KIND_COUNT}

struct round_trips {
    uint64_t interval, begin, stop; /* ns; interval 0: none */
    uint64_t count;                 /* to do; 0: until stop */
    uint64_t started;
    uint64_t due;  /* when the present one was to leave: what it is timed from */
    uint64_t sent_at; /* when it left */
    struct arrival last; /* the one before; not yet in times */
    bool has_last;
    uint64_t late; /* left later than due */
    uint64_t lost; /* had no answer */
    struct histogram times; /* what stands before it begins anew in each replication */
    struct trace *trace;    /* where each is recorded; NULL: nowhere */
    uint64_t trace_room;
};

/* The first is due now; returns now. trips: all zero, or of an earlier replication. */
uint64_t round_trips_begin(struct round_trips *trips, const struct launch *launch,
                           const struct trial *trial, size_t thread);

/* Waits until the next one is due; false: there is none. now: when the one before ended. */
bool round_trips_paced(struct round_trips *trips, uint64_t now);

static inline bool round_trips_next(struct round_trips *trips, uint64_t now)
{
    if (trips->interval)
        return round_trips_paced(trips, now);
    if (trips->count ? trips->started >= trips->count : now >= trips->stop)
        return false;
    trips->started++;
    trips->due = trips->sent_at = now;
    return true;
}

/* The present one is on its way: time to write down the one before, which costs it nothing. */
static inline void round_trips_sent(struct round_trips *trips)
{
    if (!trips->has_last)
        return;
    trips->has_last = false;
    histogram_add(&trips->times, trips->last.received - trips->last.sent);
    if (trips->trace && trips->trace->recorded < trips->trace_room)
        trips->trace->arrivals[trips->trace->recorded++] = trips->last;
}

/* The present one's answer came at that time. */
static inline void round_trips_back(struct round_trips *trips, uint64_t now)
{
    trips->last =
        (struct arrival){.number = trips->started - 1, .received = now, .sent = trips->due};
    trips->has_last = true;
}

/* Client, before it begins: where its round trips are recorded, if a trace is asked for, which is
 * of one stream. */
void trace_round_trips(struct round_trips *trips, const struct launch *launch,
                       const struct trial *trial);

/* Client: reports that trace. */
void report_round_trips(const struct round_trips *trips, const struct launch *launch,
                        const struct trial *trial);

/* Sums up what the streams measured; of lost round trips percentiles alone know. late_sends is set
 * only if they were paced. */
void result_set_round_trips(struct result *result, const struct launch *launch,
                            const struct round_trips *const streams[], size_t count);

/* SO_BUSY_POLL, and what the kernel granted. */
void set_busy_poll(int fd, const struct launch *launch, struct fields *settings);

#endif
