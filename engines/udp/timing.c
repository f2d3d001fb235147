#include "timing.h"

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

/* The stream whose receiver had caught up first; NULL if one that has datagrams never had. */
static const struct timing *first_to_catch_up(const struct timing *const streams[], size_t count)
{
    const struct timing *first = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct timing *stream = streams[i];
        if (stream->first_at == 0)
            continue;
        if (stream->caught_up_at == 0)
            return NULL;
        if (first == NULL || stream->caught_up_at < first->caught_up_at)
            first = stream;
    }
    return first;
}

/* From where the first of them had caught up. Of another stream, which was looked at later, as many
 * datagrams may have come before as of that one, or none if they were sent later than those. The
 * whole span if not half of all came after it. */
struct span timed_span(const struct timing *const streams[], size_t count, uint64_t received)
{
    struct span whole = whole_span(streams, count), span = whole;
    const struct timing *first = first_to_catch_up(streams, count);
    if (first == NULL)
        return whole;
    span.begin = first->caught_up_at;
    span.first_sent = first->catch_up_sent;
    span.before = 0;
    for (size_t i = 0; i < count; i++) {
        const struct timing *stream = streams[i];
        if (stream->first_at > span.begin && stream->first_sent >= first->catch_up_sent)
            continue;
        span.before +=
            stream->at_catch_up < first->at_catch_up ? stream->at_catch_up : first->at_catch_up;
    }
    return span.before <= received / 2 ? span : whole;
}

/* A receiver that gets its CPU late finds a full buffer, and would time how fast it empties it: but
 * datagrams don't come faster than they were sent. */
uint64_t span_elapsed(const struct span *span, bool stamped, uint64_t prepared_at)
{
    uint64_t sending = span->last_sent - span->first_sent, arriving = span->end - span->begin;
    bool believed = !stamped && sending < span->end - prepared_at;
    return believed && sending > arriving ? sending : arriving;
}
