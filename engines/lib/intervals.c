#include "intervals.h"

#include "clock.h"
#include "failure.h"
#include "parameters.h"

#include <stdlib.h>
#include <string.h>

#define SHORTEST 1e-3 /* s */

void check_intervals(const struct launch *launch)
{
    double length = number_in_effect(launch, "series");
    double total = number_in_effect(launch, "omit") + number_of(launch, "duration");
    if (length <= 0)
        return;
    if (length < SHORTEST)
        fail(BAD_PARAMETER, "series: intervals of %g s are too short: use 1ms or more", length);
    if (total / length > INTERVALS_LIMIT - 2)
        fail(BAD_PARAMETER, "series: %g s have more than %d intervals of %g s: use longer ones",
             total, INTERVALS_LIMIT - 2, length);
}

size_t intervals_omitted_count(const struct intervals *intervals)
{
    uint64_t length = intervals->length;
    return length ? (size_t)((intervals->omit + length - 1) / length) : 0;
}

uint64_t intervals_end(const struct intervals *intervals, size_t index)
{
    uint64_t omitted = intervals_omitted_count(intervals), ended = index + 1;
    if (ended == intervals->count)
        return intervals->elapsed;
    if (ended > omitted)
        return intervals->omit + (ended - omitted) * intervals->length;
    uint64_t end = ended * intervals->length;
    return end < intervals->omit ? end : intervals->omit;
}

/* The moment when the interval ends that is under way. */
static uint64_t next_end(const struct intervals *intervals)
{
    if (intervals->count + 1 == INTERVALS_LIMIT)
        return UINT64_MAX;
    return intervals->origin + intervals_end(intervals, intervals->count);
}

void intervals_prepare(struct intervals *intervals, const struct launch *launch,
                       const struct trial *trial, const enum quantity *quantities, size_t columns)
{
    check_intervals(launch);
    intervals->length = trial->warmup ? 0 : seconds_ns(number_in_effect(launch, "series"));
    intervals->omit = seconds_ns(trial->omit);
    intervals->quantities = quantities;
    intervals->columns = columns;
    intervals->origin = intervals->elapsed = intervals->count = 0;
    intervals->next = UINT64_MAX;
}

void intervals_begin(struct intervals *intervals, uint64_t origin)
{
    intervals->origin = origin;
    if (intervals->length)
        intervals->next = next_end(intervals);
}

void intervals_append(struct intervals *intervals, const uint64_t readings[])
{
    size_t row = intervals->columns * sizeof *readings;
    if (intervals->count == intervals->room) {
        intervals->room = intervals->room ? 2 * intervals->room : 1024;
        intervals->readings = realloc(intervals->readings, intervals->room * row);
        if (intervals->readings == NULL)
            fail(OUT_OF_MEMORY, "no memory for %zu intervals", intervals->room);
    }
    memcpy(intervals->readings + intervals->count * intervals->columns, readings, row);
    intervals->count++;
}

void intervals_close(struct intervals *intervals, uint64_t now, const uint64_t readings[])
{
    while (intervals->next <= now) {
        intervals_append(intervals, readings);
        intervals->next = next_end(intervals);
    }
}

void intervals_divide(struct intervals *intervals, uint64_t now, const uint64_t readings[])
{
    uint64_t *end = intervals_omitted(intervals);
    if (end)
        memcpy(end, readings, intervals->columns * sizeof *readings);
    intervals_close(intervals, now, readings);
}

void intervals_finish(struct intervals *intervals, uint64_t now, const uint64_t readings[])
{
    if (intervals->length == 0)
        return;
    intervals_close(intervals, now, readings);
    do
        intervals_append(intervals, readings);
    while (intervals->count <= intervals_omitted_count(intervals));
    /* What ended the one before may have counted for nothing. */
    uint64_t least = intervals->count > 1 ? intervals_end(intervals, intervals->count - 2) : 0;
    uint64_t elapsed = now > intervals->origin ? now - intervals->origin : 0;
    intervals->elapsed = elapsed < least ? least : elapsed;
}

void intervals_add(struct intervals *sum, const struct intervals *flow)
{
    uint64_t row[MOST_COLUMNS] = {0};
    size_t columns = sum->columns;
    if (flow->count == 0)
        return;
    if (sum->count)
        memcpy(row, intervals_last(sum), columns * sizeof *row);
    while (sum->count < flow->count)
        intervals_append(sum, row);
    for (size_t i = 0; i < sum->count; i++) {
        size_t from = i < flow->count ? i : flow->count - 1;
        for (size_t column = 0; column < columns; column++)
            sum->readings[i * columns + column] += flow->readings[from * columns + column];
    }
    sum->elapsed = flow->elapsed > sum->elapsed ? flow->elapsed : sum->elapsed;
}

uint64_t *intervals_last(const struct intervals *intervals)
{
    return intervals->readings + (intervals->count - 1) * intervals->columns;
}

uint64_t *intervals_omitted(const struct intervals *intervals)
{
    size_t omitted = intervals_omitted_count(intervals);
    return omitted ? intervals->readings + (omitted - 1) * intervals->columns : NULL;
}

void intervals_raise(struct intervals *intervals, bool from_end, size_t column, uint64_t amount)
{
    size_t omitted = intervals_omitted_count(intervals);
    for (size_t i = omitted - (from_end && omitted > 0); i < intervals->count; i++)
        intervals->readings[i * intervals->columns + column] += amount;
}
