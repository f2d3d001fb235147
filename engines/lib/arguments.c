#include "arguments.h"

#include "describe.h"
#include "failure.h"
#include "limits.h"
#include "mark.h"
#include "parameters.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Launch options say how a process runs; they are no part of what is measured. */
enum {
    PORT,
    REPLICATIONS,
    DEADLINE_AFTER,
    BIND,
    OPEN,
    ALLOW,
    JSON,
    ONCE,
    SECRET_STDIN,
    PLAN_HOSTS,
    OWN_NETWORK,
    LINK_RATE,
    TRACE_OUT,
    RANK_ADDRESSES,
    WATCH
};
static const struct parameter options[] = {
    [PORT] = {.name = "port", .type = INT, .initial = "0", .min = 0, .max = 65535},
    [REPLICATIONS] = {.name = "replications", .type = INT, .initial = "10", .min = 1, .max = 1e9},
    [DEADLINE_AFTER] = {.name = "deadline", .type = TIME, .initial = "86400", .min = 0.1,
                        .max = 30 * 86400.0},
    [BIND] = {.name = "bind", .type = TEXT, .initial = "::"},
    [OPEN] = {.name = "open", .type = TEXT, .initial = ""},
    [ALLOW] = {.name = "allow", .type = TEXT, .initial = ""},
    [JSON] = {.name = "json", .type = BOOL, .initial = "0"},
    [ONCE] = {.name = "once", .type = BOOL, .initial = "0"},
    [SECRET_STDIN] = {.name = "secret_stdin", .type = BOOL, .initial = "0"},
    [PLAN_HOSTS] = {.name = "plan_hosts", .type = TEXT, .initial = ""},
    [OWN_NETWORK] = {.name = "i_own_this_network", .type = BOOL, .initial = "0"},
    [LINK_RATE] = {.name = "link_rate", .type = RATE, .initial = "0", .min = 0, .max = 1e15},
    [TRACE_OUT] = {.name = "trace_out", .type = TEXT, .initial = ""},
    [RANK_ADDRESSES] = {.name = "rank_addresses", .type = TEXT, .initial = ""},
    [WATCH] = {.name = "watch", .type = TEXT, .initial = ""},
    {.name = NULL},
};

static const struct engine option_table = {.parameters = options};
static const struct engine limit_table = {.parameters = limit_options};

/* What an engine has no use for, it refuses: nobody should believe that it heeds it. */
static bool is_option_of(const struct engine *engine, int index)
{
    switch (index) {
    case PORT:
        return engine->port != 0 || engine->takes_command;
    case BIND:
    case OPEN:
    case ALLOW:
    case ONCE:
        return engine->port != 0;
    case PLAN_HOSTS:
    case OWN_NETWORK:
        return engine->solo != NULL;
    case LINK_RATE:
        return engine->takes_link_rate;
    case TRACE_OUT:
        return parameter_find(engine, "trace") >= 0;
    case RANK_ADDRESSES:
        return engine->rank != NULL;
    default:
        return true;
    }
}

static _Noreturn void unknown_option(const struct engine *engine, const char *name)
{
    struct suggestion suggestion = {.word = name};
    for (const struct parameter *p = engine->parameters; p->name; p++)
        suggest(&suggestion, p->name);
    for (int index = 0; options[index].name; index++)
        if (is_option_of(engine, index))
            suggest(&suggestion, options[index].name);
    for (const struct parameter *p = limit_options; engine->port && p->name; p++)
        suggest(&suggestion, p->name);
    char suggested[TEXT_LIMIT] = "";
    if (suggestion.best)
        snprintf(suggested, sizeof suggested, "%s", suggestion.best);
    for (char *c = suggested; *c; c++)
        if (*c == '_')
            *c = '-';
    if (*suggested)
        fail(BAD_PARAMETER, "unknown option '--%.64s': did you mean '--%s'?", name, suggested);
    fail(BAD_PARAMETER, "unknown option '--%.64s': rail-%s --help lists them", name, engine->name);
}

/* Where a text goes that is kept as it was given: the resolver looks at addresses, the kernel at
 * paths, check_watch at watchers. NULL for all other options. */
static const char **place_of(struct launch *launch, int index)
{
    switch (index) {
    case BIND:
        return &launch->bind;
    case OPEN:
        return &launch->open;
    case ALLOW:
        return &launch->allow;
    case PLAN_HOSTS:
        return &launch->plan_hosts;
    case TRACE_OUT:
        return &launch->trace_out;
    case RANK_ADDRESSES:
        return &launch->rank_addresses;
    case WATCH:
        return &launch->watch;
    default:
        return NULL;
    }
}

static void set_launch_option(struct launch *launch, const char *name, const char *text)
{
    int index = parameter_find(&option_table, name);
    struct value value;
    char problem[MESSAGE_LIMIT];
    const char **as_given = place_of(launch, index);
    if (as_given) {
        *as_given = text;
        return;
    }
    if (!parameter_parse(&options[index], text, &value, problem, sizeof problem))
        fail(BAD_PARAMETER, "--%s", problem);
    launch->deadline_given = launch->deadline_given || index == DEADLINE_AFTER;
    if (index == PORT)
        launch->port = (int)value.number;
    else if (index == REPLICATIONS)
        launch->replications = (long)value.number;
    else if (index == DEADLINE_AFTER)
        launch->deadline = value.number;
    else if (index == JSON)
        launch->json = value.number != 0;
    else if (index == ONCE)
        launch->once = value.number != 0;
    else if (index == OWN_NETWORK)
        launch->own_network = value.number != 0;
    else if (index == LINK_RATE)
        launch->link_rate = value.number;
    else
        launch->secret_from_stdin = value.number != 0;
}

/* Takes "--name=value", "--name value", or "--name" alone for what is on or off; returns how many
 * arguments that was. */
static int take_option(struct launch *launch, char **arguments)
{
    char name[TEXT_LIMIT];
    const char *equals = strchr(arguments[0], '=');
    size_t length = equals ? (size_t)(equals - arguments[0]) - 2 : strlen(arguments[0]) - 2;
    snprintf(name, sizeof name, "%.*s", (int)(length < 1000 ? length : 1000), arguments[0] + 2);
    int own = parameter_find(launch->engine, name);
    int general = parameter_find(&option_table, name);
    if (general >= 0 && !is_option_of(launch->engine, general))
        general = -1;
    int limit = launch->engine->port ? parameter_find(&limit_table, name) : -1;
    if (own < 0 && general < 0 && limit < 0)
        unknown_option(launch->engine, name);
    if (own >= 0 && launch->server && launch->engine->port)
        fail(BAD_PARAMETER, "--%s is given to the client, which passes it on to the server", name);
    if (limit >= 0 && !launch->server)
        fail(BAD_PARAMETER, "--%s is given to the server: it limits what clients may ask for", name);
    const struct parameter *p = own >= 0     ? &launch->engine->parameters[own]
                                : limit >= 0 ? &limit_options[limit]
                                             : &options[general];
    const char *text = equals ? equals + 1 : arguments[1];
    int words = equals ? 1 : 2;
    if (p->type == BOOL && !equals && (text == NULL || strncmp(text, "--", 2) == 0 || own < 0)) {
        text = "true";
        words = 1;
    }
    char problem[MESSAGE_LIMIT];
    struct value value;
    if (text == NULL)
        fail(BAD_PARAMETER, "--%s needs a value: rail-%s --help says which", name,
             launch->engine->name);
    if (own < 0 && limit < 0) {
        set_launch_option(launch, name, text);
        return words;
    }
    if (!parameter_parse(p, text, &value, problem, sizeof problem))
        fail(BAD_PARAMETER, "--%s", problem);
    if (own < 0) {
        launch->limits[limit] = value.number;
    } else {
        launch->values[own] = value;
        launch->is_set[own] = true;
    }
    return words;
}

static void answer_questions(const struct engine *engine, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--describe") == 0)
            describe(engine);
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            print_help(engine);
        else if (strcmp(argv[i], "--version") == 0)
            printf("rail-%s %s\n", engine->name, RAIL_VERSION);
        else
            continue;
        exit(fflush(stdout) == 0 ? 0 : 1);
    }
}

/* The role, if there are several, and, for a client with a server, HOST; returns the index of the
 * first option. */
static int take_role(struct launch *launch, int argc, char **argv)
{
    const struct engine *engine = launch->engine;
    launch->watch_input = !engine->rank || (argc > 1 && strcmp(argv[1], "rank") == 0);
    if (engine->rank) /* the word may be left out by hand, where a launcher's input may be empty */
        return launch->watch_input ? 2 : 1;
    if (argc < 2)
        fail(BAD_PARAMETER, "say what to do: rail-%s %s; see --help", engine->name,
             engine->port            ? "server, or client HOST"
             : engine->takes_command ? "client -- COMMAND"
                                     : "client");
    launch->server = strcmp(argv[1], "server") == 0;
    if (launch->server ? !engine->server : strcmp(argv[1], "client") != 0)
        fail(BAD_PARAMETER, "'%.64s' is no role of rail-%s: it has %s", argv[1], engine->name,
             engine->server ? "server and client" : "client only");
    if (launch->server || !engine->port)
        return 2;
    if (argc < 3 || argv[2][0] == '-')
        fail(BAD_PARAMETER, "the client needs a host: rail-%s client HOST [OPTION...]",
             engine->name);
    launch->host = argv[2];
    return 3;
}

static void check_required(const struct launch *launch)
{
    for (const struct requirement *r = launch->engine->required; r && r->mode; r++) {
        int index = parameter_find(launch->engine, r->parameter);
        if (is_mode(launch, r->mode) && !launch->is_set[index])
            fail(BAD_PARAMETER, "mode %s needs --%s: give it", r->mode, r->parameter);
    }
}

/* A rank finds the watchers of its host by its address. */
static void check_watch(const struct launch *launch)
{
    char problem[MESSAGE_LIMIT];
    int hosts, addresses = 1;
    if (launch->watch == NULL)
        return;
    if (!mark_check(launch->watch, &hosts, problem))
        fail(BAD_PARAMETER, "%s", problem);
    for (const char *at = launch->rank_addresses; launch->engine->rank && at && *at; at++)
        addresses += *at == ',';
    if (hosts != addresses)
        fail(BAD_PARAMETER, "--watch names the watchers of %d hosts, and %s", hosts,
             addresses > 1             ? "--rank-addresses names another number of hosts"
             : launch->engine->rank ? "without --rank-addresses there is one"
                                    : "this process runs on one");
}

void parse_arguments(const struct engine *engine, int argc, char **argv, struct launch *launch)
{
    memset(launch, 0, sizeof *launch);
    launch->engine = engine;
    launch->port = engine->port;
    launch->replications = 10;
    launch->deadline = 86400;
    set_default_limits(launch);
    for (int i = 0; engine->parameters[i].name; i++)
        parameter_default(&engine->parameters[i], &launch->values[i]);
    /* Read first, so that a mistake before it is an event too. */
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            launch->json = true;
    report_begin(launch);
    failures_go_to(engine->failed ? engine->failed : report_failure);
    answer_questions(engine, argc, argv);

    int i = take_role(launch, argc, argv);
    while (i < argc && strcmp(argv[i], "--") != 0) {
        if (strncmp(argv[i], "--", 2) != 0)
            fail(BAD_PARAMETER, "'%.64s' stands where an option is expected: options begin with --",
                 argv[i]);
        i += take_option(launch, argv + i);
    }
    if (engine->takes_command && i + 1 < argc)
        launch->command = argv + i + 1;
    else if (engine->takes_command)
        fail(BAD_PARAMETER, "no command: rail-%s client [OPTION...] -- COMMAND [ARG...]",
             engine->name);
    else if (i < argc)
        fail(BAD_PARAMETER, "rail-%s runs no command: leave out what stands after --",
             engine->name);
    check_watch(launch);
    check_sources(launch);
    if (!launch->server)
        check_required(launch);
}
