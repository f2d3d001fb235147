#include "round_trips.h"

#include "failure.h"
#include "memory.h"
#include "pace.h"
#include "parameters.h"
#include "sockopts.h"
#include "team.h"
#include "tracing.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

uint64_t round_trips_begin(struct round_trips *trips, const struct launch *launch,
                           const struct trial *trial, size_t thread)
{
    memset(trips, 0, offsetof(struct round_trips, times));
    histogram_clear(&trips->times);
    trips->interval = seconds_ns(number_of(launch, "interval"));
    trips->count = share_of_count(launch, trial, thread);
    trips->begin = now_ns();
    trips->stop = trips->begin + seconds_ns(trial->duration);
    if (trial->count > 0 && trips->count == 0)
        trips->stop = trips->begin; /* more threads than round trips: nothing to do here */
    return trips->begin;
}

bool round_trips_paced(struct round_trips *trips, uint64_t now)
{
    uint64_t due = trips->begin + trips->started * trips->interval;
    if (trips->count ? trips->started >= trips->count : due >= trips->stop)
        return false;
    if (now > due + TOO_LATE_SECONDS * NANOSECONDS)
        fail(OVERLOADED,
             "the round trips take longer than the interval of %g s: after %llu of them the next "
             "is %d s late; ask for a longer interval",
             ns_seconds(trips->interval), (unsigned long long)trips->started, TOO_LATE_SECONDS);
    if (now > due)
        trips->late += trips->started > 0;
    else
        now = wait_until(due);
    trips->started++;
    trips->due = due;
    trips->sent_at = now;
    return true;
}

void trace_round_trips(struct round_trips *trips, const struct launch *launch,
                       const struct trial *trial)
{
    static struct trace trace; /* kept: a launch has one size */
    trips->trace = NULL;
    if (!is_traced(launch, trial))
        return;
    trips->trace_room = (uint64_t)number_of(launch, "trace");
    if (trace.arrivals == NULL)
        trace.arrivals =
            (struct arrival *)(void *)test_buffer(trips->trace_room * sizeof *trace.arrivals);
    trace.clock = SENDER_RAW;
    trace.recorded = 0;
    trips->trace = &trace;
}

void report_round_trips(const struct round_trips *trips, const struct launch *launch,
                        const struct trial *trial)
{
    if (trips->trace == NULL)
        return;
    trips->trace->sent = trips->started;
    trips->trace->arrived = trips->times.count;
    size_t length = trace_length(trips->trace);
    unsigned char *bytes = malloc(length);
    if (bytes == NULL)
        fail(OUT_OF_MEMORY, "no memory for a trace of %zu bytes", length);
    trace_encode(trips->trace, bytes);
    show_trace(launch, trial, trips->trace, bytes, length);
    free(bytes);
}

void result_set_round_trips(struct result *result, const struct launch *launch,
                            const struct round_trips *const streams[], size_t count)
{
    static struct histogram times;
    uint64_t late = 0, lost = 0;
    histogram_clear(&times);
    for (size_t i = 0; i < count; i++) {
        histogram_merge(&times, &streams[i]->times);
        late += streams[i]->late;
        lost += streams[i]->lost;
    }
    result_set(result, "round_trips", (double)times.count);
    result_set_times_and_losses(result, "rtt", &times, lost);
    if (number_of(launch, "interval") > 0)
        result_set(result, "late_sends", (double)late);
}

void set_busy_poll(int fd, const struct launch *launch, struct fields *settings)
{
    int microseconds = (int)lround(number_of(launch, "busy_poll") * 1e6);
    if (microseconds > 0 &&
        setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &microseconds, sizeof microseconds) != 0)
        fail(errno == EPERM ? NOT_PERMITTED : SYSTEM_ERROR,
             "cannot set busy_poll to %d us: %s; run as root, allow it with CAP_NET_ADMIN, or set "
             "it for the host with 'sysctl -w net.core.busy_read=%d'",
             microseconds, strerror(errno), microseconds);
    fields_add_number(settings, "busy_poll", get_option(fd, SOL_SOCKET, SO_BUSY_POLL) / 1e6);
}
