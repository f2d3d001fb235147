/* The client of a network engine: asks, measures, reports, as often as it was told. */
#include "control.h"
#include "failure.h"
#include "network.h"
#include "parameters.h"
#include "report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void greet(const struct launch *launch, int control)
{
    struct fields hello, welcome;
    fields_clear(&hello);
    fields_add(&hello, "engine", launch->engine->name);
    fields_add(&hello, "version", RAIL_VERSION);
    fields_add(&hello, "secret", launch->secret);
    control_request(control, HELLO, &hello, WELCOME, &welcome, ANSWER_SECONDS);
}

/* A setting that does nothing in this mode is no mistake in a grid, but nobody should think that
 * it did something. */
static void warn_of_idle_parameters(const struct launch *launch)
{
    for (int i = 0; launch->engine->parameters[i].name; i++) {
        const struct parameter *p = &launch->engine->parameters[i];
        char text[TEXT_LIMIT], initial[TEXT_LIMIT], message[MESSAGE_LIMIT];
        struct value unset;
        parameter_default(p, &unset);
        value_text(p, &unset, initial);
        value_text(p, &launch->values[i], text);
        if (list_has(p->modes, mode_of(launch)) || strcmp(text, initial) == 0)
            continue;
        snprintf(message, sizeof message, "%s has no effect in mode %s", p->name, mode_of(launch));
        report_warning("no-effect", "client", message);
    }
}

/* Sends every parameter, gets to know what the server's kernel granted. */
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
    address_set_port(&client->server, (int)fields_count(settings, "port", 65535));
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

static int test_port(const struct client *client)
{
    if (client->fd < 0)
        return 0;
    struct address own = local_address(client->fd);
    return address_port(&own);
}

void start_trial(struct client *client, const struct trial *trial)
{
    struct fields start, reply;
    fields_clear(&start);
    fields_add_number(&start, "number", (double)trial->number);
    fields_add_number(&start, "duration", trial->duration);
    fields_add_number(&start, "count", (double)trial->count);
    fields_add_number(&start, "client_port", test_port(client));
    fields_add_token(&start, "token", trial->token);
    control_request(client->control, START, &start, READY, &reply, ANSWER_SECONDS);
}

static void replicate(struct client *client, const struct network *network, struct trial *trial)
{
    struct fields message, reply;
    struct result result;
    report_current(trial->number);
    result_clear(&result, client->launch->engine);
    trial->token = random_token();
    start_trial(client, trial);

    double started_at = utc_now();
    fields_clear(&message);
    network->client_measure(client, trial, &message, &result);
    control_request(client->control, END, &message, RESULT, &reply, RESULT_SECONDS);
    take_usage(&result, &reply);
    network->client_finish(client, &reply, &result);
    report_replication(trial->number, trial->warmup, started_at, &result);
    report_current(-1);
}

int network_client(const struct launch *launch, const struct network *network)
{
    struct client client = {.launch = launch, .fd = -1};
    struct fields server, own;
    client.control = connect_to_host(launch->host, launch->port, text_of(launch, "ip"));
    greet(launch, client.control);
    set_up(&client, &server);
    fields_clear(&own);
    network->client_open(&client, &own, &server);
    report_settings(&own, &server);
    warn_of_idle_parameters(launch);

    if (number_of(launch, "warmup") > 0) {
        struct trial warmup = {.warmup = true, .duration = number_of(launch, "warmup")};
        replicate(&client, network, &warmup);
    }
    for (long i = 1; i <= launch->replications; i++) {
        struct trial trial = {
            .number = i,
            .duration = number_of(launch, "duration"),
            .count = (uint64_t)number_of(launch, "count"),
        };
        replicate(&client, network, &trial);
    }
    control_send(client.control, BYE, NULL);
    if (client.fd >= 0)
        close(client.fd);
    close(client.control);
    report_done(launch->replications);
    return 0;
}
