#include "report.h"

#include "json.h"
#include "parameters.h"
#include "table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACE_PART 48000 /* bytes of a trace in one event, a multiple of 3 */

static const struct launch *launch;
static long current = -1;

void report_begin(const struct launch *started)
{
    launch = started;
    table_begin(started);
}

void report_current(long number)
{
    current = number;
}

static void end_line(void)
{
    putchar('\n');
    if (fflush(stdout) != 0 || ferror(stdout))
        _exit(1); /* nobody is reading any more */
}

/* A line is written by one thread at a time: the guard may have a failure to report. */
static struct json begin_event(const char *event)
{
    struct json json = {.out = stdout};
    flockfile(stdout);
    json_open(&json, '{');
    json_key(&json, "event");
    json_text(&json, event);
    return json;
}

static void end_event(struct json *json)
{
    json_close(json, '}');
    end_line();
    funlockfile(stdout);
}

static void add_text(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_text(json, text);
}

static void add_number(struct json *json, const char *key, double number)
{
    json_key(json, key);
    json_number(json, number);
}

static void add_identity(struct json *json)
{
    add_text(json, "engine", launch->engine->name);
    add_text(json, "version", RAIL_VERSION);
}

void report_listening(int port)
{
    if (!launch->json) {
        printf("rail-%s listening on port %d", launch->engine->name, port);
        end_line();
        return;
    }
    struct json json = begin_event("listening");
    add_identity(&json);
    add_number(&json, "port", port);
    end_event(&json);
}

/* A setting travels as text: what reads as a number is one. */
static void add_scalar(struct json *json, const char *text)
{
    char *end;
    double number = strtod(text, &end);
    if ((isdigit((unsigned char)*text) || *text == '-') && *end == '\0' && isfinite(number))
        json_number(json, number);
    else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        json_bool(json, *text == 't');
    else
        json_text(json, text);
}

static void add_side(struct json *json, const char *side, const struct fields *fields)
{
    char name[NAME_LIMIT], value[VALUE_LIMIT];
    json_key(json, side);
    json_open(json, '{');
    for (size_t cursor = 0; fields_next(fields, &cursor, name, value);) {
        if (strcmp(name, "warning") == 0)
            continue;
        json_key(json, name);
        add_scalar(json, value);
    }
    json_close(json, '}');
}

void report_warnings(const char *side, const struct fields *fields)
{
    char name[NAME_LIMIT], value[VALUE_LIMIT];
    for (size_t cursor = 0; fields_next(fields, &cursor, name, value);) {
        char *space = strchr(value, ' ');
        if (strcmp(name, "warning") != 0 || space == NULL || space[1] == '\0')
            continue;
        *space = '\0';
        report_warning(value, side, space + 1);
    }
}

void report_settings(const struct fields *client, const struct fields *server)
{
    if (launch->json) {
        struct json json = begin_event("settings");
        add_identity(&json);
        json_key(&json, "parameters");
        json_open(&json, '{');
        for (int i = 0; launch->engine->parameters[i].name; i++) {
            json_key(&json, launch->engine->parameters[i].name);
            value_json(&json, &launch->engine->parameters[i], &launch->values[i]);
        }
        json_close(&json, '}');
        add_side(&json, "client", client);
        if (server)
            add_side(&json, "server", server);
        end_event(&json);
    } else {
        table_settings(client, server);
    }
    report_warnings("client", client);
    if (server)
        report_warnings("server", server);
}

/* A peer's words become an event only in the shape the contract has for them. */
static const char *plain_code(const char *code)
{
    size_t length = strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return islower((unsigned char)*code) && code[length] == '\0' ? code : "bad-peer";
}

void report_warning(const char *code, const char *side, const char *message)
{
    if (!launch->json) {
        fprintf(stderr, "rail-%s: warning (%s, %s): %s\n", launch->engine->name, side,
                plain_code(code), message);
        return;
    }
    struct json json = begin_event("warning");
    add_text(&json, "code", plain_code(code));
    add_text(&json, "side", side);
    json_key(&json, "message");
    json_bytes(&json, message, strnlen(message, MESSAGE_LIMIT));
    end_event(&json);
}

void report_idle_parameters(const struct launch *started)
{
    for (int i = 0; started->engine->parameters[i].name; i++) {
        const struct parameter *p = &started->engine->parameters[i];
        char text[TEXT_LIMIT], initial[TEXT_LIMIT], message[MESSAGE_LIMIT];
        struct value unset;
        parameter_default(p, &unset);
        value_text(p, &unset, initial);
        value_text(p, &started->values[i], text);
        if (list_has(p->modes, mode_of(started)) || strcmp(text, initial) == 0)
            continue;
        snprintf(message, sizeof message, "%s has no effect in mode %s", p->name,
                 mode_of(started));
        report_warning("no-effect", "client", message);
    }
}

void report_replication(long number, double started_at, const struct result *result)
{
    const struct metric *metrics = launch->engine->metrics;
    bool in_rows = some_list_has(launch->engine->rows, mode_of(launch));
    for (int i = 0; metrics[i].name && !in_rows; i++)
        if (result->present[i] != list_has(metrics[i].modes, mode_of(launch)) &&
            (result->present[i] || !(result->warmup || some_list_has(launch->engine->optional,
                                                                     metrics[i].name))))
            abort(); /* the engine's table and its work differ */
    if (!launch->json) {
        if (!in_rows)
            table_row(number, result);
        return;
    }
    struct json json = begin_event("replication");
    add_number(&json, "replication", (double)number);
    json_key(&json, "warmup");
    json_bool(&json, result->warmup);
    add_number(&json, "started_at", started_at);
    json_key(&json, "metrics");
    json_open(&json, '{');
    for (int i = 0; metrics[i].name; i++)
        if (result->present[i])
            add_number(&json, metrics[i].name, result->values[i]);
    json_close(&json, '}');
    if (result->output) {
        json_key(&json, "output");
        json_bytes(&json, result->output, result->output_length);
    }
    end_event(&json);
}

static void add_row(struct json *json, const struct row *row, int from, int count)
{
    json_key(json, row->metric);
    json_open(json, '[');
    for (int to = 0; to < count; to++) {
        if (to == from)
            json_null(json);
        else
            json_number(json, row->values[to]);
    }
    json_close(json, ']');
}

void report_row(long number, int from, const struct row *rows, int count)
{
    if (!launch->json)
        return;
    struct json json = begin_event("row");
    add_number(&json, "replication", (double)number);
    add_number(&json, "from", from);
    json_key(&json, "metrics");
    json_open(&json, '{');
    for (; rows->metric; rows++)
        add_row(&json, rows, from, count);
    json_close(&json, '}');
    end_event(&json);
}

void report_done(long replications)
{
    if (!launch->json) {
        table_end();
        return;
    }
    struct json json = begin_event("done");
    add_number(&json, "replications", (double)replications);
    end_event(&json);
}

/* RFC 4648's alphabet, padded. */
static size_t base64(const unsigned char *in, size_t length, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t at = 0;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        uint32_t group = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
                         (left > 2 ? in[i + 2] : 0);
        for (int digit = 3; digit >= 0; digit--, group >>= 6)
            out[at + (size_t)digit] = (size_t)digit <= left ? digits[group & 63] : '=';
        at += 4;
    }
    out[at] = '\0';
    return at;
}

void report_trace(long number, const unsigned char *bytes, size_t length)
{
    static char text[TRACE_PART / 3 * 4 + 1];
    long part = 0;
    for (size_t at = 0; launch->json && at < length; at += TRACE_PART) {
        size_t step = length - at < TRACE_PART ? length - at : TRACE_PART;
        struct json json = begin_event("trace");
        add_number(&json, "replication", (double)number);
        add_number(&json, "part", (double)part++);
        json_key(&json, "data");
        json_bytes(&json, text, base64(bytes + at, step, text));
        end_event(&json);
    }
}

void report_series(const struct launch *next, const struct series *series)
{
    launch = next;
    table_begin(next);
    if (series)
        table_series(series);
}

void report_failure(enum failure failure, const char *message)
{
    if (!seize_output())
        return;
    if (!launch->json) {
        fprintf(stderr, "rail-%s: %s (%s)\n", launch->engine->name, message,
                failure_code(failure));
    } else {
        struct json json = begin_event("error");
        add_text(&json, "code", failure_code(failure));
        if (current >= 0)
            add_number(&json, "replication", (double)current);
        add_text(&json, "message", message);
        end_event(&json);
    }
}
