#include "arrivals.h"

#include "findings.h"
#include "header.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"
#include "../lib/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_SECONDS 1e-3 /* two clocks of a host differ by more only if one was set... */
#define STEP_SHARE 1e-3   /* ...or slewed by more than any daemon does */

/* A session's; it has one launch. */
static struct trace trace;
static uint64_t began_real, began_raw;

void check_trace(const struct launch *launch)
{
    if (number_of(launch, "trace") == 0) {
        if (launch->trace_out)
            fail(BAD_PARAMETER, "--trace-out has nothing to write without --trace N in mode "
                                "stream, N being the arrivals to record");
        return;
    }
    if (!is_mode(launch, "stream"))
        return;
    if (int_of(launch, "threads") > 1)
        fail(BAD_PARAMETER, "trace: of one stream only: set threads to 1");
    if (number_of(launch, "gro") != 0)
        fail(BAD_PARAMETER, "trace: with gro, datagrams that the kernel held together come at one "
                            "time: leave gro off");
    if (header_of(size_of(launch, "datagram")) != FULL)
        fail(BAD_PARAMETER, "trace: datagrams of fewer than %d bytes have no room for the time "
                            "when they were sent", PACKET_HEADER);
}

static bool wanted(const struct launch *launch, const struct trial *trial)
{
    return is_mode(launch, "stream") && number_of(launch, "trace") > 0 && !trial->warmup;
}

void prepare_arrivals(struct receiving *receiving)
{
    const struct launch *launch = receiving->launch;
    receiving->trace = NULL;
    if (!wanted(launch, receiving->trial))
        return;
    check_trace(launch);
    receiving->trace_room = (uint64_t)number_of(launch, "trace");
    if (trace.arrivals == NULL)
        trace.arrivals = (struct arrival *)(void *)test_buffer(receiving->trace_room *
                                                               sizeof *trace.arrivals);
    trace.recorded = 0;
    trace.clock = strcmp(text_of(launch, "timestamp"), "user") == 0 ? MONOTONIC_RAW : REALTIME;
    receiving->trace = &trace;
    began_real = wall_ns();
    began_raw = now_ns();
}

/* By how many seconds the wall clock was moved during the replication; 0: it wasn't. */
static double clock_step(void)
{
    double raw = (double)(now_ns() - began_raw) / 1e9;
    double step = (double)(int64_t)(wall_ns() - began_real) / 1e9 - raw;
    return fabs(step) > STEP_SECONDS + STEP_SHARE * raw ? step : 0;
}

void offer_arrivals(struct session *session, const struct receiving *receiving,
                    const struct reception *reception, struct fields *reply)
{
    if (receiving->trace == NULL)
        return;
    if (trace.clock == REALTIME)
        fields_add_number(reply, "clock_step", clock_step());
    trace.sent = receiving->sent[0];
    trace.arrived = reception->arrived;
    size_t length = trace_length(&trace);
    unsigned char *bytes = malloc(length);
    if (bytes == NULL)
        fail(OUT_OF_MEMORY, "no memory for a trace of %zu bytes", length);
    trace_encode(&trace, bytes);
    offer_trace(session, reply, bytes, length);
}

/* The peer's trace has to be of this very replication. */
static void check(const struct launch *launch, const struct trace *got, uint64_t sent,
                  const struct reception *reception)
{
    uint64_t room = (uint64_t)number_of(launch, "trace");
    enum trace_clock clock =
        strcmp(text_of(launch, "timestamp"), "user") == 0 ? MONOTONIC_RAW : REALTIME;
    if (got->clock != clock || got->sent != sent || got->arrived < reception->arrived ||
        got->recorded != (got->arrived < room ? got->arrived : room))
        fail(BAD_PEER, "the trace does not agree with the result: %llu sent, %llu arrived, %llu "
                       "recorded", (unsigned long long)got->sent,
             (unsigned long long)got->arrived, (unsigned long long)got->recorded);
}

static void warn_of_step(const struct fields *reply)
{
    char message[MESSAGE_LIMIT];
    double step = fields_number(reply, "clock_step", -1e12, 1e12);
    if (step == 0)
        return;
    snprintf(message, sizeof message,
             "the clock was moved by %g s during the replication, and the arrival times with it: "
             "--timestamp user uses a clock that nothing moves", step);
    report_warning("clock-stepped", "server", message);
}

void finish_arrivals(struct client *client, const struct trial *trial, const struct fields *reply,
                     const struct reception *reception, struct result *result)
{
    const struct launch *launch = client->launch;
    struct trace got;
    size_t length;
    const char *problem;
    if (!wanted(launch, trial))
        return;
    unsigned char *bytes = receive_trace(client, reply, &length);
    if (bytes == NULL)
        fail(BAD_PEER, "the server has no trace, though it was asked for one");
    if (!trace_decode(bytes, length, &got, &problem))
        fail(BAD_PEER, "the server's trace is none: %s", problem);
    check(launch, &got, (uint64_t)result_get(result, "sent_packets"), reception);
    if (got.clock == REALTIME)
        warn_of_step(reply);
    report_trace(trial->number, bytes, length);
    set_findings(launch, &got, result);
    if (launch->trace_out)
        write_arrivals(launch->trace_out, trial->number, &got);
    free(got.arrivals);
    free(bytes);
}
