#include "tracing.h"

#include "failure.h"
#include "parameters.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
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
    if (launch->trace_out && !is_asked(launch))
        fail(BAD_PARAMETER, "--trace-out has nothing to write without --trace N in mode %s, N being "
                            "what to record", trace_parameter(launch)->modes);
    if (is_asked(launch) && int_of(launch, "threads") > 1)
        fail(BAD_PARAMETER, "trace: of one stream only: set threads to 1");
}

bool is_traced(const struct launch *launch, const struct trial *trial)
{
    return is_asked(launch) && !trial->warmup;
}

/* Adds a replication's arrivals to the file, which is emptied before the first: a line each with
 * sequence number, receive time and send time, in seconds since the first arrival's; of round trips
 * end and begin, both since the first's begin. */
static void write_arrivals(const char *path, long replication, const struct trace *trace)
{
    static bool appends;
    const struct arrival *a = trace->arrivals;
    FILE *out = fopen(path, appends ? "a" : "w");
    if (out == NULL)
        fail(SYSTEM_ERROR, "cannot write '%.200s': %s", path, strerror(errno));
    bool of_round_trips = trace->clock == SENDER_RAW;
    fprintf(out, "%s# replication %ld: sequence, %s\n", appends ? "\n\n" : "", replication,
            of_round_trips ? "end s, begin s" : "received s, sent s");
    appends = true;
    for (uint64_t i = 0; i < trace->recorded; i++)
        fprintf(out, "%llu %.9f %.9f\n", (unsigned long long)a[i].number,
                (double)(int64_t)(a[i].received -
                                  (of_round_trips ? a[0].sent : a[0].received)) / 1e9,
                (double)(int64_t)(a[i].sent - a[0].sent) / 1e9);
    bool broken = ferror(out) != 0;
    if (fclose(out) != 0 || broken)
        fail(SYSTEM_ERROR, "cannot write '%.200s': %s", path, strerror(errno));
}

void show_trace(const struct launch *launch, const struct trial *trial, const struct trace *trace,
                const unsigned char *bytes, size_t length)
{
    report_trace(trial->number, bytes, length);
    if (launch->trace_out)
        write_arrivals(launch->trace_out, trial->number, trace);
}
