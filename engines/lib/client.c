/* The client of a network engine: asks, measures, reports, once a replication. */
#include "control.h"
#include "failure.h"
#include "mark.h"
#include "network.h"
#include "parameters.h"
#include "place.h"
#include "report.h"
#include "series.h"
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLOCK_EXCHANGES 16
#define CLOCK_SLOWER 4 /* in a row: there is hardly a quicker one to come */
#define TRACE_BYTES_LIMIT 4e8 /* 30 bytes and more for each arrival that a trace may have */

static void greet(const struct launch *launch, int control)
{
    struct fields proof, welcome;
    fields_clear(&proof);
    fields_add(&proof, "engine", launch->engine->name);
    fields_add(&proof, "version", RAIL_VERSION);
    control_begin(control, launch->secret, ANSWER_SECONDS);
    control_request(control, PROOF, &proof, WELCOME, &welcome, ANSWER_SECONDS);
}

/* Sends every parameter, receives what the server's kernel granted. */
static void set_up(struct client *client, struct fields *settings)
{
    const struct engine *engine = client->launch->engine;
    struct fields setup;
    fields_clear(&setup);
    for (int i = 0; engine->parameters[i].name; i++) {
        char text[TEXT_LIMIT];
        value_text(&engine->parameters[i], &client->launch->values[i], text);
        fields_add(&setup, engine->parameters[i].name, text);
    }
    control_request(client->control, SETUP, &setup, SETTINGS, settings, ANSWER_SECONDS);
    client->server = peer_address(client->control);
    take_ports(settings, "ports", client->ports);
    if (client->ports[0] == 0)
        fail(BAD_PEER, "the server named no port to send to");
    address_set_port(&client->server, client->ports[0]);
}

/* How far the server's clock (now_ns) is ahead of ours: from the quickest of some exchanges, whose
 * middle is off by at most half of what it took (RFC 5905, section 8). */
static void compare_clocks(const struct client *client, struct fields *settings)
{
    uint64_t quickest = UINT64_MAX;
    int64_t ahead = 0;
    for (int i = 0, slower = 0; i < CLOCK_EXCHANGES && slower < CLOCK_SLOWER; i++) {
        struct fields reply;
        uint64_t asked_at = now_ns();
        control_request(client->control, CLOCK, NULL, TIME_IS, &reply, ANSWER_SECONDS);
        uint64_t took = now_ns() - asked_at;
        slower = took > quickest - quickest / 20 ? slower + 1 : 0;
        if (took >= quickest)
            continue;
        quickest = took;
        ahead = (int64_t)(fields_token(&reply, "now") - (asked_at + took / 2));
    }
    fields_add_number(settings, "clock_offset", (double)ahead / 1e9);
    fields_add_number(settings, "clock_offset_error", (double)quickest / 2e9);
    fields_add_number(settings, "control_rtt", (double)quickest / 1e9);
}

static void take_usage(struct result *result, const struct fields *reply)
{
    struct usage usage = {
        .elapsed = fields_number(reply, "elapsed", 0, 1e9),
        .user = fields_number(reply, "user_time", 0, 1e9),
        .system = fields_number(reply, "system_time", 0, 1e9),
    };
    result_set_usage(result, "server", &usage);
}

void add_ports(struct fields *fields, const char *name, const int ports[MAX_THREADS])
{
    char text[MAX_THREADS * 6 + 1] = "";
    for (size_t i = 0, at = 0; i < MAX_THREADS && ports[i]; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, i ? ",%d" : "%d", ports[i]);
    fields_add(fields, name, text);
}

void take_ports(const struct fields *fields, const char *name, int ports[MAX_THREADS])
{
    char text[VALUE_LIMIT] = "", *at = text;
    memset(ports, 0, MAX_THREADS * sizeof *ports);
    if (!fields_find(fields, name, text))
        fail(BAD_PEER, "the other end sent no %s: are both ends the same build?", name);
    for (size_t i = 0; *at; i++) {
        long port = strtol(at, &at, 10);
        if (port < 1 || port > 65535 || i == MAX_THREADS || (*at != ',' && *at != '\0'))
            fail(BAD_PEER, "the other end sent %s = %.64s, which cannot be", name, text);
        ports[i] = (int)port;
        at += *at == ',';
    }
}

void start_trial(struct client *client, struct trial *trial, struct fields *ready)
{
    struct fields start;
    int ports[MAX_THREADS] = {0};
    for (int i = 0; i < MAX_THREADS && client->fds[i] >= 0; i++) {
        struct address own = local_address(client->fds[i]);
        ports[i] = address_port(&own);
    }
    fields_clear(&start);
    fields_add_number(&start, "number", (double)trial->number);
    fields_add_number(&start, "duration", trial->duration);
    fields_add_number(&start, "count", (double)trial->count);
    add_ports(&start, "client_ports", ports);
    control_request(client->control, START, &start, READY, ready, ANSWER_SECONDS);
    trial->token = control_token();
}

unsigned char *receive_trace(struct client *client, const struct fields *reply, size_t *length)
{
    static struct fields part;
    struct fields request;
    *length = (size_t)fields_count(reply, "trace_bytes", TRACE_BYTES_LIMIT);
    if (*length == 0)
        return NULL;
    unsigned char *bytes = malloc(*length);
    if (bytes == NULL)
        fail(OUT_OF_MEMORY, "no memory for a trace of %zu bytes", *length);
    for (size_t received = 0; received < *length; received += part.length) {
        fields_clear(&request);
        fields_add_number(&request, "at", (double)received);
        control_request(client->control, TRACE, &request, PART, &part, ANSWER_SECONDS);
        if (part.length == 0 || part.length > *length - received)
            fail(BAD_PEER, "the other end sent a part of a trace of %zu bytes", part.length);
        memcpy(bytes + received, part.text, part.length);
    }
    return bytes;
}

static void replicate(struct client *client, const struct network *network, struct trial *trial)
{
    struct fields message, reply;
    struct result result;
    bool solo = client->control < 0;
    report_current(trial->number);
    result_clear(&result, client->launch->engine);
    result.warmup = trial->warmup;
    if (network->client_ready)
        network->client_ready(client);
    if (solo) {
        trial->token = random_token();
    } else {
        start_trial(client, trial, &reply);
        report_warnings("server", &reply);
    }

    mark_replication(client->launch, MARK_BEGIN, trial->number);
    double started_at = utc_now();
    fields_clear(&message);
    network->client_measure(client, trial, &message, &result);
    if (!solo) {
        control_request(client->control, END, &message, RESULT, &reply, RESULT_SECONDS);
        take_usage(&result, &reply);
        network->client_finish(client, &reply, &result);
    }
    mark_replication(client->launch, MARK_END, trial->number);
    if (!solo) {
        report_warnings("server", &reply);
        if (network->client_fetch)
            network->client_fetch(client, trial, &reply, &result);
    }
    report_replication(trial->number, started_at, &result);
    report_current(-1);
}

static void replicate_all(struct client *client, const struct network *network)
{
    const struct launch *launch = client->launch;
    if (number_of(launch, "warmup") > 0) {
        struct trial warmup = {.warmup = true, .duration = number_of(launch, "warmup")};
        replicate(client, network, &warmup);
    }
    for (long i = 1; i <= launch->replications; i++) {
        struct trial trial = {
            .number = i,
            .omit = number_in_effect(launch, "omit"),
            .duration = number_of(launch, "duration"),
            .count = (uint64_t)number_of(launch, "count"),
        };
        replicate(client, network, &trial);
    }
    report_done(launch->replications);
}

/* A mode that needs no server: only an address that we may send to. */
static void measure_alone(struct client *client, const struct network *network)
{
    const struct launch *launch = client->launch;
    struct fields own;
    client->control = -1;
    client->server = find_host(launch->host, int_of(launch, "data_port"), text_of(launch, "ip"));
    must_be_ours(launch, &client->server);
    fields_clear(&own);
    network->client_open(client, &own, NULL);
    add_cpus(launch, false, &own);
    report_settings(&own, NULL);
    report_idle_parameters(launch);
    replicate_all(client, network);
}

static void measure_with_server(struct client *client, const struct network *network)
{
    const struct launch *launch = client->launch;
    static struct fields server, own;
    client->control = connect_to_host(launch->host, launch->port, text_of(launch, "ip"));
    greet(launch, client->control);
    set_up(client, &server);
    fields_clear(&own);
    network->client_open(client, &own, &server);
    compare_clocks(client, &own);
    add_cpus(launch, false, &own);
    report_settings(&own, &server);
    report_idle_parameters(launch);
    replicate_all(client, network);
    control_send(client->control, BYE, NULL);
    close(client->control);
}

static void run_launch(const struct launch *launch, const void *context)
{
    const struct network *network = context;
    struct client client = {.launch = launch};
    for (int i = 0; i < MAX_THREADS; i++)
        client.fds[i] = -1;
    if (some_list_has(launch->engine->solo, mode_of(launch)))
        measure_alone(&client, network);
    else
        measure_with_server(&client, network);
    for (int i = 0; i < MAX_THREADS; i++)
        if (client.fds[i] >= 0)
            close(client.fds[i]);
}

int network_client(const struct launch *launch, const struct network *network)
{
    const struct series *series = series_of(launch);
    place_thread(launch, false, 0);
    if (series)
        run_series(launch, series, run_launch, network);
    else
        run_launch(launch, network);
    return 0;
}
