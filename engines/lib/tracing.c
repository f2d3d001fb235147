#include "tracing.h"

#include "clock.h"
#include "failure.h"
#include "intervals_format.h"
#include "parameters.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct parameter *trace_parameter(const struct launch *launch)
{
    return &launch->engine->parameters[parameter_find(launch->engine, "trace")];
}

static bool is_asked(const struct launch *launch)
{
    return number_in_effect(launch, "trace") > 0;
}

void check_trace_asked(const struct launch *launch)
{
    check_intervals(launch);
    bool has_series = number_in_effect(launch, "series") > 0;
    if (launch->trace_out && !is_asked(launch) && !has_series)
        fail(BAD_PARAMETER, "--trace-out has nothing to write without --trace N in mode %s, N being "
                            "what to record, or --series TIME in mode stream",
             trace_parameter(launch)->modes);
    if (is_asked(launch) && has_series)
        fail(BAD_PARAMETER, "trace and series are two records of a replication: ask for one");
    if (is_asked(launch) && int_of(launch, "threads") > 1)
        fail(BAD_PARAMETER, "trace: of one stream only: set threads to 1");
}

bool is_traced(const struct launch *launch, const struct trial *trial)
{
    return is_asked(launch) && !trial->warmup;
}

/* The file, which is emptied before the first block of lines that is added to it. */
static FILE *open_block(const char *path, long replication)
{
    static bool appends;
    FILE *out = fopen(path, appends ? "a" : "w");
    if (out == NULL)
        fail(SYSTEM_ERROR, "cannot write '%.200s': %s", path, strerror(errno));
    fprintf(out, "%s# replication %ld: ", appends ? "\n\n" : "", replication);
    appends = true;
    return out;
}

static void close_block(FILE *out, const char *path)
{
    bool broken = ferror(out) != 0;
    if (fclose(out) != 0 || broken)
        fail(SYSTEM_ERROR, "cannot write '%.200s': %s", path, strerror(errno));
}

/* Adds a replication's arrivals to the file: a line each with sequence number, receive time and send
 * time, in seconds since the first arrival's; of round trips end and begin, both since the first's
 * begin. */
static void write_arrivals(const char *path, long replication, const struct trace *trace)
{
    const struct arrival *a = trace->arrivals;
    FILE *out = open_block(path, replication);
    bool of_round_trips = trace->clock == SENDER_RAW;
    fprintf(out, "sequence, %s\n", of_round_trips ? "end s, begin s" : "received s, sent s");
    for (uint64_t i = 0; i < trace->recorded; i++)
        fprintf(out, "%llu %.9f %.9f\n", (unsigned long long)a[i].number,
                (double)(int64_t)(a[i].received -
                                  (of_round_trips ? a[0].sent : a[0].received)) / 1e9,
                (double)(int64_t)(a[i].sent - a[0].sent) / 1e9);
    close_block(out, path);
}

/* Adds one end's intervals: a line each with its end in seconds and the readings then. */
static void write_intervals(const char *path, long replication, const struct intervals *end)
{
    static const char *const names[] = {"sent B", "retransmits", "congestion window B", "rtt ns",
                                        "received B", "sent packets", "received packets",
                                        "lost packets"};
    FILE *out = open_block(path, replication);
    fputs("end s", out);
    for (size_t column = 0; column < end->columns; column++)
        fprintf(out, ", %s", names[end->quantities[column]]);
    for (size_t i = 0; i < end->count; i++) {
        fprintf(out, "\n%.9f", ns_seconds(intervals_end(end, i)));
        for (size_t column = 0; column < end->columns; column++)
            fprintf(out, " %lld", (long long)end->readings[i * end->columns + column]);
    }
    fputc('\n', out);
    close_block(out, path);
}

void show_trace(const struct launch *launch, const struct trial *trial, const struct trace *trace,
                const unsigned char *bytes, size_t length)
{
    report_trace(trial->number, bytes, length);
    if (launch->trace_out)
        write_arrivals(launch->trace_out, trial->number, trace);
}

void show_intervals(const struct launch *launch, const struct trial *trial,
                    const struct intervals *const ends[], size_t count)
{
    size_t length;
    unsigned char *bytes = intervals_encode(ends, count, &length);
    report_trace(trial->number, bytes, length);
    free(bytes);
    for (size_t i = 0; launch->trace_out && i < count; i++)
        write_intervals(launch->trace_out, trial->number, ends[i]);
}
