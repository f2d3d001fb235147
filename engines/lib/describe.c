#include "describe.h"

#include "json.h"
#include "limits.h"
#include "parameters.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_list(struct json *json, const char *key, const char *list)
{
    if (list == NULL)
        return;
    json_key(json, key);
    json_open(json, '[');
    while (*list) {
        size_t length = strcspn(list, "|");
        json_bytes(json, list, length);
        list += length + (list[length] == '|');
    }
    json_close(json, ']');
}

static void write_text(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_text(json, text);
}

/* The modes in which the parameter has to be given. */
static void write_requirements(struct json *json, const struct engine *engine, const char *name)
{
    bool any = false;
    for (const struct requirement *r = engine->required; r && r->mode; r++) {
        if (strcmp(r->parameter, name) != 0)
            continue;
        if (!any) {
            json_key(json, "required_in");
            json_open(json, '[');
        }
        any = true;
        json_text(json, r->mode);
    }
    if (any)
        json_close(json, ']');
}

static void write_former(struct json *json, const char *names)
{
    char before[TEXT_LIMIT], now[TEXT_LIMIT];
    if (names == NULL)
        return;
    json_key(json, "former");
    json_open(json, '{');
    while (next_former(&names, before, now))
        write_text(json, before, now);
    json_close(json, '}');
}

/* A value as the table has it, which every --describe shows to be one. */
static void write_value(struct json *json, const char *key, const struct parameter *p,
                        const char *text)
{
    struct value value = {0};
    char problem[TEXT_LIMIT];
    if (!parameter_parse(p, text, &value, problem, sizeof problem))
        abort();
    json_key(json, key);
    value_json(json, p, &value);
}

static void describe_parameter(struct json *json, const struct engine *engine,
                               const struct parameter *p)
{
    json_open(json, '{');
    write_text(json, "name", p->name);
    write_text(json, "type", parameter_type_name(p->type));
    write_text(json, "unit", parameter_unit(p->type));
    write_value(json, "default", p, p->initial);
    if (parameter_is_number(p->type)) {
        json_key(json, "min");
        json_number(json, p->min);
        json_key(json, "max");
        json_number(json, p->max);
    }
    write_list(json, "choices", p->choices);
    write_text(json, "help", p->help);
    write_list(json, "modes", p->modes);
    write_requirements(json, engine, p->name);
    if (p->implied)
        write_value(json, "implied", p, p->implied);
    write_former(json, p->former);
    json_close(json, '}');
}

/* The same for all units of a rate: the harmonic mean stands for its values. */
static const char *kind_name(const struct metric *m)
{
    static const char *const names[] = {
        [KIND_COUNT] = "count", [KIND_RATIO] = "ratio", [KIND_SHARE] = "share",
        [KIND_COST] = "cost",
        [KIND_LABEL] = "label"};
    if (m->kind != KIND_BY_UNIT)
        return names[m->kind];
    if (strcmp(m->unit, "s") == 0)
        return "time";
    return strcmp(m->unit, "B") == 0 ? "count" : "rate";
}

static void describe_metric(struct json *json, const struct engine *engine,
                            const struct metric *m)
{
    json_open(json, '{');
    write_text(json, "name", m->name);
    write_text(json, "unit", m->unit);
    write_text(json, "better", m->better);
    write_text(json, "kind", kind_name(m));
    if (m->headline) {
        json_key(json, "headline");
        json_number(json, m->headline);
    }
    if (m->judged) {
        json_key(json, "judged");
        json_bool(json, true);
    }
    write_text(json, "help", m->help);
    write_list(json, "modes", m->modes);
    if (some_list_has(engine->optional, m->name)) {
        json_key(json, "optional");
        json_bool(json, true);
    }
    json_close(json, '}');
}

static void describe_series(struct json *json, const struct series *series)
{
    json_key(json, "series");
    json_open(json, '[');
    for (; series->mode; series++) {
        json_open(json, '{');
        write_text(json, "mode", series->mode);
        write_text(json, "becomes", series->becomes);
        write_text(json, "parameter", series->parameter);
        json_key(json, "first");
        json_number(json, series->first);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void describe(const struct engine *engine)
{
    struct json json = {.out = stdout};
    json_open(&json, '{');
    write_text(&json, "name", engine->name);
    write_text(&json, "version", RAIL_VERSION);
    write_text(&json, "summary", engine->summary);
    write_list(&json, "roles", engine->rank   ? "rank"
                               : engine->port ? "server|client"
                                              : "client");
    write_list(&json, "solo_modes", engine->solo);
    write_list(&json, "group_modes", engine->group);
    write_list(&json, "pair_modes", engine->rows);
    if (engine->takes_link_rate) {
        json_key(&json, "takes_link_rate");
        json_bool(&json, true);
    }
    if (engine->series)
        describe_series(&json, engine->series);
    json_key(&json, "parameters");
    json_open(&json, '[');
    for (const struct parameter *p = engine->parameters; p->name; p++)
        describe_parameter(&json, engine, p);
    json_close(&json, ']');
    json_key(&json, "metrics");
    json_open(&json, '[');
    for (const struct metric *m = engine->metrics; m->name; m++)
        describe_metric(&json, engine, m);
    json_close(&json, ']');
    json_close(&json, '}');
    putchar('\n');
}

/* Prints text broken at spaces, each line indented. */
static void print_wrapped(const char *text, int indent)
{
    const size_t width = 96;
    while (*text) {
        size_t room = width - (size_t)indent;
        size_t length = strlen(text);
        if (length > room) {
            length = room;
            while (length > 0 && text[length] != ' ')
                length--;
            if (length == 0)
                length = strcspn(text, " ");
        }
        printf("%*s%.*s\n", indent, "", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
}

static void print_parameter(const struct engine *engine, const struct parameter *p)
{
    char name[TEXT_LIMIT], range[256];
    snprintf(name, sizeof name, "--%s", p->name);
    for (char *c = name; *c; c++)
        if (*c == '_')
            *c = '-';
    parameter_range(p, range, sizeof range);
    printf("  %s VALUE   %s; default %s%s%s\n", name, range, *p->initial ? p->initial : "\"\"",
           *parameter_unit(p->type) ? " " : "", parameter_unit(p->type));
    print_wrapped(p->help, 6);
    if (p->modes)
        printf("      Only in mode %s.\n", p->modes);
    if (p->originals)
        printf("      Like %s.\n", p->originals);
    for (const struct requirement *r = engine->required; r && r->mode; r++)
        if (strcmp(r->parameter, p->name) == 0)
            printf("      Has to be given in mode %s.\n", r->mode);
}

static void print_launch_options(const struct engine *engine)
{
    if (engine->port)
        printf("  --port N             control port, TCP (default %d; 0, server: the system "
               "picks)\n  --bind ADDRESS       server: listen on this address only\n"
               "  --open ADDRESS       server without a secret: listen on this address for whoever "
               "reaches\n                       it (:: for all); otherwise it listens on "
               "127.0.0.1, or --bind of\n                       this host alone\n"
               "  --allow A,B/BITS     server: clients from these addresses and prefixes only\n"
               "  --once               server: end after the first client\n",
               engine->port);
    if (engine->takes_command)
        printf("  --port N             server: what {port} in COMMAND stands for (default: the system "
               "picks)\n");
    if (engine->takes_link_rate)
        printf("  --link-rate RATE     client: what the link is known to carry, for bounds\n");
    if (engine->solo)
        printf("  --i-own-this-network client, mode %s: send to any address\n"
               "  --plan-hosts A,B     or to these only, as railgauge says\n",
               engine->solo);
    if (parameter_find(engine, "trace") >= 0)
        printf("  --trace-out FILE     client: write the trace or series to this file\n");
    if (engine->rank)
        printf("  --rank-addresses A,B an address of each rank's host, in their order; with k "
               "times as\n                       many ranks, k ranks in a row for each: a rank "
               "elsewhere fails,\n                       and TCP goes through the interfaces "
               "with these addresses\n");
    printf("  --watch NAMES:LAUNCH names of rail-watch, of rail-soak or, with + between them, of "
           "both:\n                       they are notified when a replication begins and ends%s\n",
           engine->rank ? ";\n                       with commas, those of each of --rank-addresses" : "");
    printf("  --replications N     %show often to measure (default 10)\n"
           "  --json               one JSON event a line instead of a table\n",
           engine->rank ? "" : "client: ");
    if (!engine->rank)
        printf("  --secret-stdin       the first line of standard input is the secret that both "
               "ends\n                       share (otherwise RAILGAUGE_SECRET; default none)\n");
    printf("  --deadline TIME      end the whole process after this time (default 24h%s)\n"
           "  --describe, --help, --version\n",
           engine->takes_command ? "\n                       for each replication" : "");
}

void print_help(const struct engine *engine)
{
    printf("rail-%s %s: %s\n\n", engine->name, RAIL_VERSION, engine->summary);
    if (engine->rank)
        printf("  mpirun [-n RANKS] rail-%s [rank] [OPTION...]\n"
               "  With the word rank it ends when standard input does, as railgauge starts it.\n",
               engine->name);
    else if (engine->port)
        printf("  rail-%s server [OPTION...]\n  rail-%s client HOST [OPTION...]\n", engine->name,
               engine->name);
    else
        printf("  rail-%s client [OPTION...]%s\n", engine->name,
               engine->takes_command ? " -- COMMAND [ARG...]" : "");
    printf("\nSizes: 1460, 4KiB, 1MiB (1024); kB, MB, GB (1000); k, M, G (1024). "
           "Times: 5s, 2.9ms, 12us, 2min, 1h.\n\nParameters%s:\n",
           engine->port ? " (given to the client, which passes it on to the server)" : "");
    for (const struct parameter *p = engine->parameters; p->name; p++)
        print_parameter(engine, p);
    printf("\nLaunch options:\n");
    print_launch_options(engine);
    for (const struct parameter *p = limit_options; engine->port && p->name; p++)
        print_parameter(engine, p);
    printf("\nMetrics:\n");
    for (const struct metric *m = engine->metrics; m->name; m++) {
        printf("  %s%s%s%s\n", m->name, *m->unit ? ", " : "", m->unit,
               some_list_has(engine->optional, m->name) ? " (where it can be measured)" : "");
        print_wrapped(m->help, 6);
    }
    printf("\nExit status: 0 if every replication was measured, 1 if not, 2 for a bad argument.\n");
}
