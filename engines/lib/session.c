/* The server's side of one client, in a process of its own: whatever goes wrong here, with the
 * client or with us, ends with this process, and the server takes the next client. */
#include "control.h"
#include "failure.h"
#include "network.h"
#include "parameters.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define IDLE_SECONDS 60.0 /* between two replications */

static int client_connection = -1;

static void tell_client(enum failure failure, const char *message)
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

static struct trial take_trial(const struct fields *start)
{
    struct trial trial = {
        .number = (long)fields_count(start, "number", 1e9),
        .duration = fields_number(start, "duration", 0, 86400),
        .count = fields_count(start, "count", 1e12),
        .client_port = (int)fields_count(start, "client_port", 65535),
        .token = fields_token(start, "token"),
    };
    trial.warmup = trial.number == 0;
    return trial;
}

uint64_t trial_limit(const struct trial *trial, double grace)
{
    /* By count, only silence ends it early. */
    return trial->count ? UINT64_MAX : now_ns() + seconds_ns(trial->duration + grace);
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

void serve_session(const struct launch *launch, const struct network *network, int control)
{
    static struct session session;
    static struct fields message, reply;
    client_connection = control;
    failures_go_to(tell_client);
    session.launch = *launch;
    session.control = control;
    session.local = local_address(control);
    session.peer = peer_address(control);
    session.fd = -1;
    tune_control(control);

    control_send(control, WELCOME, NULL);
    control_receive(control, SETUP, &message, ANSWER_SECONDS);
    take_parameters(&session.launch, &message);
    fields_clear(&reply);
    network->session_open(&session, &reply);
    control_send(control, SETTINGS, &reply);

    while (control_receive_any(control, &message, IDLE_SECONDS) == START) {
        struct trial trial = take_trial(&message);
        session.ended = false;
        if (network->session_ready)
            network->session_ready(&session, &trial);
        control_send(control, READY, NULL);
        fields_clear(&reply);
        network->session_measure(&session, &trial, &reply);
        control_send(control, RESULT, &reply);
    }
    _exit(0);
}
