#include "limits.h"

#include "fields.h"
#include "parameters.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct parameter limit_options[LIMITS + 1] = {
    [LIMIT_DURATION] = {.name = "max_duration", .type = TIME, .initial = "86400", .min = 0.01,
                        .max = 86400,
                        .help = "server: longest replication, what it omits included, or warm-up "
                                "that a client may ask for; "
                                "one by count is ended half a minute after it"},
    [LIMIT_THREADS] = {.name = "max_threads", .type = INT, .initial = "64", .min = 1, .max = 64,
                       .help = "server: most threads that a client may ask for"},
    [LIMIT_MEMORY] = {.name = "max_memory", .type = SIZE, .initial = "0", .max = 1e15,
                      .help = "server: memory for each client's session, thread stacks included; "
                              "0: half of what the host has"},
    [LIMIT_SOCKBUF] = {.name = "max_sockbuf", .type = SIZE, .initial = "536870912", .max = 1 << 29,
                       .help = "server: largest socket buffer that a client may ask for"},
    [LIMIT_RATE] = {.name = "max_rate", .type = RATE, .initial = "0", .max = 1e12,
                    .help = "server: highest rate that a client may ask for, and then it has to "
                            "ask for one; 0: any"},
    [LIMIT_CONNECTIONS] = {.name = "max_connections", .type = INT, .initial = "16", .min = 1,
                           .max = 64,
                           .help = "server: connections of one address that may wait for their "
                                   "turn or have not proved anything yet; of more, the oldest is "
                                   "closed"},
    [LIMIT_CLIENTS] = {.name = "clients", .type = INT, .initial = "1", .min = 1,
                       .max = CLIENTS_LIMIT,
                       .help = "server: clients that are served at once; they disturb one another"},
    {.name = NULL},
};

/* The client's parameters that a limit is for, "a|b". */
static const char *const limited[LIMITS] = {
    [LIMIT_DURATION] = "duration|warmup|omit",
    [LIMIT_THREADS] = "threads",
    [LIMIT_SOCKBUF] = "sockbuf|sndbuf|rcvbuf|server_sockbuf|server_sndbuf|server_rcvbuf",
    [LIMIT_RATE] = "rate",
};

void set_default_limits(struct launch *launch)
{
    struct value value;
    for (int i = 0; i < LIMITS; i++) {
        parameter_default(&limit_options[i], &value);
        launch->limits[i] = value.number;
    }
}

static _Noreturn void exceeded(enum limit limit, double most, const char *name)
{
    char text[TEXT_LIMIT], option[NAME_LIMIT];
    const struct parameter *p = &limit_options[limit];
    value_text(p, &(struct value){.number = most}, text);
    snprintf(option, sizeof option, "%s", p->name);
    for (char *c = option; *c; c++)
        if (*c == '_')
            *c = '-';
    fail(LIMIT_EXCEEDED, "%s: the server allows %s%s%s at most: ask for no more, or start it with "
         "a larger --%s",
         name, text, *parameter_unit(p->type) ? " " : "", parameter_unit(p->type), option);
}

void check_limits(const struct launch *launch)
{
    for (int limit = 0; limit < LIMITS; limit++) {
        double most = launch->limits[limit];
        for (int i = 0; launch->engine->parameters[i].name; i++) {
            const struct parameter *p = &launch->engine->parameters[i];
            double number = launch->values[i].number;
            bool unbounded = limit == LIMIT_RATE && number == 0;
            if (some_list_has(limited[limit], p->name) && list_has(p->modes, mode_of(launch)) &&
                (limit != LIMIT_RATE || most > 0) && (number > most || unbounded))
                exceeded((enum limit)limit, most, p->name);
        }
    }
}

void check_duration(const struct launch *launch, double duration)
{
    if (duration > launch->limits[LIMIT_DURATION])
        exceeded(LIMIT_DURATION, launch->limits[LIMIT_DURATION], "duration");
}

struct prefix {
    int family;
    unsigned char bytes[16];
    long bits;
};

/* Reads "10.1.0.0/16" or "fe80::1"; false if it is neither. */
static bool read_prefix(const char *text, size_t length, struct prefix *prefix)
{
    char address[64], *end = NULL;
    snprintf(address, sizeof address, "%.*s", (int)(length < 63 ? length : 63), text);
    char *slash = strchr(address, '/');
    if (slash)
        *slash = '\0';
    prefix->family = strchr(address, ':') ? AF_INET6 : AF_INET;
    long most = prefix->family == AF_INET ? 32 : 128;
    prefix->bits = slash ? strtol(slash + 1, &end, 10) : most;
    return inet_pton(prefix->family, address, prefix->bytes) == 1 && prefix->bits >= 0 &&
           prefix->bits <= most && (end == NULL || (end > slash + 1 && *end == '\0'));
}

static bool is_inside(const struct prefix *prefix, const struct address *address)
{
    const unsigned char *bytes = address->any.sa_family == AF_INET
                                     ? (const unsigned char *)&address->v4.sin_addr
                                     : (const unsigned char *)&address->v6.sin6_addr;
    if (address->any.sa_family != prefix->family)
        return false;
    for (int bit = 0; bit < prefix->bits; bit++)
        if ((bytes[bit / 8] ^ prefix->bytes[bit / 8]) >> (7 - bit % 8) & 1)
            return false;
    return true;
}

/* True if the list has the address; at an entry that is none it stops and says where. */
static bool list_allows(const char *list, const struct address *source, const char **unreadable)
{
    bool allowed = false;
    do {
        struct prefix prefix;
        size_t length = strcspn(list, ",");
        if (!read_prefix(list, length, &prefix)) {
            *unreadable = list;
            return false;
        }
        allowed = allowed || (source && is_inside(&prefix, source));
        list += length + (list[length] == ',');
    } while (*list);
    return allowed;
}

void check_sources(const struct launch *launch)
{
    const char *unreadable = NULL;
    if (launch->allow)
        list_allows(launch->allow, NULL, &unreadable);
    if (unreadable)
        fail(BAD_PARAMETER, "--allow: '%.*s' is neither an address nor a prefix: write "
             "10.1.0.0/16,fd00::/8,192.0.2.7", (int)strcspn(unreadable, ","), unreadable);
}

bool is_allowed(const struct launch *launch, const struct address *source)
{
    const char *unreadable;
    return launch->allow == NULL || list_allows(launch->allow, source, &unreadable);
}
