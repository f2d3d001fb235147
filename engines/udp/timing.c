#include "timing.h"

void timing_arrival(struct timing *timing, uint64_t now, uint64_t count, bool emptied)
{
    timing->last_at = now;
    if (timing->latest.at)
        timing->last = timing->latest;
    timing->latest = (struct catch_up){0};
    if (emptied)
        timing->latest = (struct catch_up){now, count, timing->last_sent};
}

/* From the first arrival to the last one. */
static struct span whole_span(const struct timing *const streams[], size_t count)
{
    struct span span = {.begin = UINT64_MAX, .first_sent = UINT64_MAX};
    for (size_t i = 0; i < count; i++) {
        const struct timing *stream = streams[i];
        if (stream->first_at == 0)
            continue;
        if (stream->first_at < span.begin) {
            span.begin = stream->first_at;
            span.before = stream->with_first;
        }
        if (stream->last_at > span.end)
            span.end = stream->last_at;
        if (stream->first_sent < span.first_sent)
            span.first_sent = stream->first_sent;
        if (stream->last_sent > span.last_sent)
            span.last_sent = stream->last_sent;
    }
    return span;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Begins where the first of all receivers had caught up. Of another stream, which was looked at
 * later, as many datagrams may have come before as of that one, or none if they were sent later
 * than those. False if a receiver that has datagrams never had. */
static bool begin_later(const struct timing *const streams[], size_t count, struct span *span)
{
    const struct timing *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (streams[i]->first_at && streams[i]->first.at == 0)
            return false;
        if (streams[i]->first_at && (first == NULL || streams[i]->first.at < first->first.at))
            first = streams[i];
    }
    if (first == NULL)
        return false;
    span->begin = first->first.at;
    span->first_sent = first->first.sent;
    span->before = 0;
    for (size_t i = 0; i < count; i++) {
        const struct timing *stream = streams[i];
        if (stream->first_at <= span->begin || stream->first_sent < first->first.sent)
            span->before += least(stream->first.count, first->first.count);
    }
    return true;
}

/* Ends where the last of all receivers had caught up before its last datagrams. Of another stream,
 * which was looked at earlier, as many may have come after as of that one, or none if they were
 * taken or sent by then. False if a receiver that has datagrams never had. */
static bool end_earlier(const struct timing *const streams[], const uint64_t received[],
                        size_t count, struct span *span)
{
    size_t last = count;
    for (size_t i = 0; i < count; i++) {
        if (streams[i]->first_at && streams[i]->last.at == 0)
            return false;
        if (streams[i]->first_at && (last == count || streams[i]->last.at > streams[last]->last.at))
            last = i;
    }
    if (last == count)
        return false;
    span->end = streams[last]->last.at;
    span->last_sent = streams[last]->last.sent;
    for (size_t i = 0; i < count; i++) {
        const struct timing *stream = streams[i];
        if (stream->last_at > span->end && stream->last_sent > span->last_sent)
            span->after += least(received[i] - stream->last.count,
                                 received[last] - streams[last]->last.count);
    }
    return true;
}

/* Were the last datagrams taken late, by far more than they were sent? Senders may have been late,
 * too: those that don't say so aren't asked. */
static bool ends_late(const struct span *whole, const struct span *inner)
{
    uint64_t arriving = whole->end - inner->end, sending = whole->last_sent - inner->last_sent;
    return whole->last_sent != 0 && arriving / 2 > sending;
}

/* The whole one where less than half of all came in what is left of it. */
struct span timed_span(const struct timing *const streams[], const uint64_t received[],
                       size_t count)
{
    struct span whole = whole_span(streams, count), later = whole;
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all += received[i];
    if (!begin_later(streams, count, &later) || later.before > all / 2)
        return whole;
    struct span inner = later;
    if (!end_earlier(streams, received, count, &inner) || inner.end <= inner.begin ||
        !ends_late(&whole, &inner) || inner.before + inner.after > all / 2)
        return later;
    return inner;
}

/* A receiver that gets its CPU late finds a full buffer, and would time how fast it empties it: but
 * datagrams don't come faster than they were sent. */
uint64_t span_elapsed(const struct span *span, bool stamped, uint64_t prepared_at)
{
    uint64_t sending = span->last_sent - span->first_sent, arriving = span->end - span->begin;
    bool believed = !stamped && sending < span->end - prepared_at;
    return believed && sending > arriving ? sending : arriving;
}
