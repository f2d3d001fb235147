#include "intervals_format.h"

#include "failure.h"
#include "varints.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_NS (1ull << 60) /* 36 years */

static const unsigned char magic[4] = {'R', 'G', 'I', '1'};

static void put_columns(struct byte_sink *sink, const struct intervals *intervals)
{
    for (size_t column = 0; column < intervals->columns; column++) {
        uint64_t before = 0;
        for (size_t i = 0; i < intervals->count; i++) {
            uint64_t reading = intervals->readings[i * intervals->columns + column];
            put_zigzag(sink, reading - before);
            before = reading;
        }
    }
}

static void put_intervals(struct byte_sink *sink, const struct intervals *const ends[],
                          size_t count)
{
    size_t columns = 0;
    for (size_t i = 0; i < count; i++)
        columns += ends[i]->columns;
    for (size_t i = 0; i < sizeof magic; i++)
        put_byte(sink, magic[i]);
    put_varint(sink, ends[0]->length);
    put_varint(sink, ends[0]->omit);
    put_varint(sink, columns);
    for (size_t i = 0; i < count; i++)
        for (size_t column = 0; column < ends[i]->columns; column++) {
            put_varint(sink, ends[i]->quantities[column]);
            put_varint(sink, ends[i]->count);
            put_varint(sink, ends[i]->elapsed);
        }
    for (size_t i = 0; i < count; i++)
        put_columns(sink, ends[i]);
}

unsigned char *intervals_encode(const struct intervals *const ends[], size_t count, size_t *length)
{
    struct byte_sink sink = {0};
    put_intervals(&sink, ends, count);
    *length = sink.length;
    sink = (struct byte_sink){.out = malloc(*length)};
    if (sink.out == NULL)
        fail(OUT_OF_MEMORY, "no memory for a series of %zu bytes", *length);
    put_intervals(&sink, ends, count);
    return sink.out;
}

bool intervals_decode(const unsigned char *bytes, size_t size, struct intervals *intervals)
{
    struct byte_source source = {.at = bytes + sizeof magic, .end = bytes + size};
    uint64_t rows = 0, elapsed = 0, row[MOST_COLUMNS] = {0};
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0 ||
        get_varint(&source) != intervals->length || get_varint(&source) != intervals->omit ||
        get_varint(&source) != intervals->columns)
        return false;
    for (size_t column = 0; column < intervals->columns; column++) {
        bool other = get_varint(&source) != intervals->quantities[column];
        uint64_t before[] = {rows, elapsed};
        rows = get_varint(&source);
        elapsed = get_varint(&source);
        if (other || (column > 0 && (rows != before[0] || elapsed != before[1])))
            return false;
    }
    if (source.broken || rows > INTERVALS_LIMIT || rows <= intervals_omitted_count(intervals) ||
        elapsed > LONGEST_NS || rows * intervals->columns > (uint64_t)(source.end - source.at))
        return false;
    while (intervals->count < rows)
        intervals_append(intervals, row);
    for (size_t column = 0; column < intervals->columns; column++) {
        uint64_t reading = 0;
        for (size_t i = 0; i < rows; i++)
            intervals->readings[i * intervals->columns + column] = reading += get_zigzag(&source);
    }
    intervals->elapsed = elapsed;
    bool ordered = rows == 1 || elapsed >= intervals_end(intervals, rows - 2);
    return ordered && !source.broken && source.at == source.end;
}

void offer_intervals(struct session *session, const struct intervals *intervals,
                     struct fields *reply)
{
    size_t length;
    if (intervals->length == 0)
        return;
    unsigned char *bytes = intervals_encode(&intervals, 1, &length);
    offer_trace(session, reply, bytes, length);
}

void receive_intervals(struct client *client, const struct fields *reply,
                       struct intervals *intervals)
{
    size_t length;
    unsigned char *bytes = receive_trace(client, reply, &length);
    if (bytes == NULL || !intervals_decode(bytes, length, intervals))
        fail(BAD_PEER, "the server has no series of this replication, though it was asked for one");
    free(bytes);
}
