/* The server's side of one client, in a process of its own unless the server takes no other:
 * whatever goes wrong here, with the client or with us, ends with this process. */
#include "control.h"
#include "failure.h"
#include "limits.h"
#include "mark.h"
#include "network.h"
#include "parameters.h"
#include "place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IDLE_SECONDS 60.0 /* between two replications */

static int client_connection = -1;

static void send_failure(enum failure failure, const char *message)
{
    control_send_failure(client_connection, failure_code(failure), message);
}

/* What comes from the network passes the same checks as what comes from a command line. */
static void take_parameters(struct launch *launch, const struct fields *setup)
{
    char name[NAME_LIMIT], value[VALUE_LIMIT], problem[MESSAGE_LIMIT];
    for (size_t cursor = 0; fields_next(setup, &cursor, name, value);) {
        int i = parameter_find(launch->engine, name);
        if (i < 0)
            fail(VERSION_MISMATCH, "the server does not know the parameter %s: build both ends "
                 "from the same sources", name);
        if (!parameter_parse(&launch->engine->parameters[i], value, &launch->values[i], problem,
                             sizeof problem))
            fail(BAD_PARAMETER, "%s", problem);
    }
}

/* A mode that needs no server, or stands for others, is the client's own affair. */
static void must_be_served(const struct launch *launch)
{
    if (some_list_has(launch->engine->solo, mode_of(launch)) || series_of(launch))
        fail(BAD_PARAMETER, "mode %s has no part for a server", mode_of(launch));
}

static struct trial take_trial(const struct launch *launch, const struct fields *start)
{
    struct trial trial = {
        .number = (long)fields_count(start, "number", 1e9),
        .duration = fields_number(start, "duration", 0, 86400),
        .count = fields_count(start, "count", 1e12),
        .longest = launch->limits[LIMIT_DURATION],
        .token = control_token(),
    };
    trial.warmup = trial.number == 0;
    if (!trial.warmup)
        trial.omit = number_in_effect(launch, "omit");
    check_duration(launch, trial.omit + trial.duration);
    take_ports(start, "client_ports", trial.ports);
    return trial;
}

uint64_t trial_limit(const struct trial *trial, double grace)
{
    /* A client's by count is ended by silence alone. */
    if (trial->count && trial->longest <= 0)
        return UINT64_MAX;
    double longest = trial->count ? trial->longest : trial->duration;
    return now_ns() + seconds_ns(trial->omit + longest + grace);
}

bool session_end_arrived(struct session *session)
{
    if (!session->ended && control_pending(session->control)) {
        control_receive(session->control, END, &session->end, ANSWER_SECONDS);
        session->ended = true;
    }
    return session->ended;
}

void add_usage(struct fields *fields, const struct usage *usage)
{
    fields_add_number(fields, "elapsed", usage->elapsed);
    fields_add_number(fields, "user_time", usage->user);
    fields_add_number(fields, "system_time", usage->system);
}

/* The client reports a problem. */
static void mark(const struct session *session, const char *label, const struct trial *trial,
                 struct fields *reply)
{
    char problem[MESSAGE_LIMIT], warning[MESSAGE_LIMIT + sizeof MARK_WARNING + 1];
    if (is_probe(trial) ||
        mark_watchers(&session->launch, 0, label, trial->number, problem))
        return;
    snprintf(warning, sizeof warning, "%s %s", MARK_WARNING, problem);
    fields_add(reply, "warning", warning);
}

/* The server's part of one replication. */
static void replicate(struct session *session, const struct network *network,
                      const struct fields *start)
{
    static struct fields reply;
    struct trial trial = take_trial(&session->launch, start);
    session->ended = false;
    offer_trace(session, NULL, NULL, 0);
    fields_clear(&reply);
    mark(session, MARK_BEGIN, &trial, &reply); /* before threads that answer begin to be timed */
    if (network->session_ready)
        network->session_ready(session, &trial);
    control_send(session->control, READY, &reply);
    fields_clear(&reply);
    network->session_measure(session, &trial, &reply);
    mark(session, MARK_END, &trial, &reply);
    control_send(session->control, RESULT, &reply);
}

static void send_time(int control)
{
    struct fields reply;
    fields_clear(&reply);
    fields_add_token(&reply, "now", now_ns());
    control_send(control, TIME_IS, &reply);
}

void offer_trace(struct session *session, struct fields *reply, unsigned char *trace,
                 size_t length)
{
    free(session->trace);
    session->trace = trace;
    session->trace_length = length;
    if (reply)
        fields_add_number(reply, "trace_bytes", (double)length);
}

static void send_trace_part(const struct session *session, const struct fields *request)
{
    static struct fields part;
    size_t at = (size_t)fields_count(request, "at", (double)session->trace_length);
    size_t left = session->trace_length - at;
    part.length = left < sizeof part.text ? left : sizeof part.text;
    if (part.length > 0)
        memcpy(part.text, session->trace + at, part.length);
    control_send(session->control, PART, &part);
}

/* Answers the client's requests until it has none. */
static void answer_requests(struct session *session, const struct network *network)
{
    static struct fields message;
    for (;;) {
        switch (control_receive_any(session->control, &message, IDLE_SECONDS)) {
        case START:
            replicate(session, network, &message);
            break;
        case CLOCK:
            send_time(session->control);
            break;
        case TRACE:
            send_trace_part(session, &message);
            break;
        default:
            return;
        }
    }
}

void serve_session(const struct launch *launch, const struct network *network, int control,
                   const struct seal *seal)
{
    static struct session session;
    static struct fields message;
    static struct fields settings;
    client_connection = control;
    control_resume(seal);
    failures_go_to(send_failure);
    session.launch = *launch;
    session.control = control;
    session.local = local_address(control);
    session.peer = peer_address(control);
    for (int i = 0; i < MAX_THREADS; i++)
        session.fds[i] = -1;
    tune_control(control);

    control_send(control, WELCOME, NULL);
    control_receive(control, SETUP, &message, ANSWER_SECONDS);
    take_parameters(&session.launch, &message);
    must_be_served(&session.launch);
    check_limits(&session.launch);
    place_thread(&session.launch, true, 0);
    fields_clear(&settings);
    network->session_open(&session, &settings);
    add_cpus(&session.launch, true, &settings);
    control_send(control, SETTINGS, &settings);
    answer_requests(&session, network);
    _exit(0);
}
