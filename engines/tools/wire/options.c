#include "options.h"

#include "../../lib/failure.h"
#include "../../lib/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEFT, RIGHT, JSON, DEVICE, SPEED, DELAY, QUEUE, MTU, LOSS, DUPLICATE, REORDER, REORDER_BY,
    LOSS_OF, DIRECTION, DROPS, DEADLINE_AFTER
};

/* clang-format off */
static const struct parameter table[] = {
    [LEFT] = {.name = "left", .type = TEXT, .initial = "",
              .help = "one end: a device of that name is made in that network namespace (a name "
                      "of `ip netns`, a path from /, or - for the one this runs in)"},
    [RIGHT] = {.name = "right", .type = TEXT, .initial = "", .help = "the other end"},
    [JSON] = {.name = "json", .type = BOOL, .initial = "0",
              .help = "one JSON event a line instead of sentences"},
    [DEVICE] = {.name = "device", .type = CHOICE, .initial = "auto", .choices = "auto|tap|packet",
                .help = "tap: TAP devices, by /dev/net/tun; packet: veth pairs, whose other ends "
                        "have raw sockets; auto: tap where /dev/net/tun may be opened"},
    [SPEED] = {.name = "rate", .type = RATE, .initial = "0", .min = 0, .max = 1e12,
               .help = "what each direction carries, counted as on an Ethernet: a frame takes its "
                       "own bytes (at least 60) and 24 more; 0: as fast as this machine can"},
    [DELAY] = {.name = "delay", .type = TIME, .initial = "0", .min = 0, .max = 60,
               .help = "one way, each direction, from when a frame's last bit left"},
    [QUEUE] = {.name = "queue", .type = SIZE, .initial = "1048576", .min = 0, .max = 1 << 30,
               .help = "bytes that may wait for the rate in each direction; a frame for which "
                       "there is no room is dropped and counted as overflowed"},
    [MTU] = {.name = "mtu", .type = INT, .initial = "1500", .min = 68, .max = 65521,
             .help = "of both devices"},
    [LOSS] = {.name = "loss", .type = TEXT, .initial = "",
              .help = "every:N[:OFFSET] loses packets OFFSET, OFFSET+N, OFFSET+2N ... (OFFSET is N "
                      "if left out); list:5,17,20-29 loses those; random:RATE:SEED loses each with "
                      "probability RATE, for one seed always the same"},
    [DUPLICATE] = {.name = "duplicate", .type = TEXT, .initial = "",
                   .help = "sends the packets of such a pattern on twice"},
    [REORDER] = {.name = "reorder", .type = TEXT, .initial = "",
                 .help = "keeps each packet of such a pattern back until others have overtaken it; "
                         "one at a time, and for 50 ms at most"},
    [REORDER_BY] = {.name = "reorder_by", .type = INT, .initial = "1", .min = 1, .max = 1000,
                    .help = "how many packets overtake it"},
    [LOSS_OF] = {.name = "loss_of", .type = CHOICE, .initial = "ip", .choices = "ip|udp|tcp",
                 .help = "the packets that the patterns count (from 1, each direction for itself) "
                         "and pick from; never ARP, neighbour discovery and group membership"},
    [DIRECTION] = {.name = "direction", .type = CHOICE, .initial = "both",
                   .choices = "both|left-to-right|right-to-left", .help = "where the patterns hold"},
    [DROPS] = {.name = "drops", .type = TEXT, .initial = "",
               .help = "a file that gets a JSON line for each lost packet, as it is lost"},
    [DEADLINE_AFTER] = {.name = "deadline", .type = TIME, .initial = "86400", .min = 0.1,
                        .max = 30 * 86400.0, .help = "end after this time, with exit status 1"},
    {.name = NULL},
};
/* clang-format on */
static const struct engine tables = {.name = "wire", .parameters = table};

static void with_hyphens(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s", name);
    for (char *c = out; *c; c++)
        if (*c == '_')
            *c = '-';
}

static void print_option(const struct parameter *p)
{
    char name[TEXT_LIMIT], range[256];
    with_hyphens(p->name, name, sizeof name);
    parameter_range(p, range, sizeof range);
    if (p->type == BOOL)
        printf("  --%s\n", name);
    else if (p->type == TEXT)
        printf("  --%s %s\n", name,
               p == &table[LEFT] || p == &table[RIGHT] ? "NETNS/IFNAME"
               : p == &table[DROPS]                    ? "FILE"
                                                       : "PATTERN");
    else
        printf("  --%s VALUE   %s; default %s%s%s\n", name, range, p->initial,
               *parameter_unit(p->type) ? " " : "", parameter_unit(p->type));
    printf("      %s\n", p->help);
}

static void print_help(void)
{
    printf("rail-wire %s: a wire between two network namespaces, with a rate, a delay and losses "
           "that are the same every time\n\n"
           "  rail-wire --left NETNS/IFNAME --right NETNS/IFNAME [OPTION...]\n\n"
           "Sizes: 1500, 4KiB, 1MiB (1024); kB, MB (1000). Times: 1.45ms, 12us, 1h. Rates: "
           "150Mbit/s, 1G.\n\n",
           RAIL_VERSION);
    for (const struct parameter *p = table; p->name; p++)
        print_option(p);
    printf("  --help, --version\n\n"
           "It says so when both devices are up, and counts what it did at its end: on SIGTERM or "
           "SIGINT, or when standard input closes (if that is a pipe). SIGUSR1 has it count at "
           "once. The devices vanish with it.\n\n"
           "Exit status: 0 if asked to end, 1 if something ended it, 2 for a bad argument.\n");
}

static void answer_questions(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            print_help();
        else if (strcmp(argv[i], "--version") == 0)
            printf("rail-wire %s\n", RAIL_VERSION);
        else
            continue;
        exit(fflush(stdout) == 0 ? 0 : 1);
    }
}

static _Noreturn void unknown_option(const char *name)
{
    struct suggestion suggestion = {.word = name};
    char suggested[TEXT_LIMIT];
    for (const struct parameter *p = table; p->name; p++)
        suggest(&suggestion, p->name);
    if (suggestion.best == NULL)
        fail(BAD_PARAMETER, "unknown option '--%.64s': rail-wire --help lists them", name);
    with_hyphens(suggestion.best, suggested, sizeof suggested);
    fail(BAD_PARAMETER, "unknown option '--%.64s': did you mean '--%s'?", name, suggested);
}

static enum loss_of kind_of(const char *word)
{
    return strcmp(word, "udp") == 0 ? OF_UDP : strcmp(word, "tcp") == 0 ? OF_TCP : OF_IP;
}

static void set_checked(struct options *options, int index, const struct value *value)
{
    if (index == JSON)
        options->json = value->number != 0;
    else if (index == DEVICE)
        options->kind = strcmp(value->text, "tap") == 0      ? TAP
                        : strcmp(value->text, "packet") == 0 ? PACKET
                                                             : TAP_OR_PACKET;
    else if (index == SPEED)
        options->rate = value->number;
    else if (index == DELAY)
        options->delay = value->number;
    else if (index == QUEUE)
        options->queue = (size_t)value->number;
    else if (index == MTU)
        options->mtu = (int)value->number;
    else if (index == REORDER_BY)
        options->reorder_by = (unsigned)value->number;
    else if (index == LOSS_OF)
        options->loss_of = kind_of(value->text);
    else if (index == DEADLINE_AFTER)
        options->deadline = value->number;
    else {
        options->impaired[0] = strcmp(value->text, "right-to-left") != 0;
        options->impaired[1] = strcmp(value->text, "left-to-right") != 0;
    }
}

/* The values whose length has no limit. */
static void set_text_option(struct options *options, int index, const char *text)
{
    if (index == LEFT || index == RIGHT) {
        device_parse(index == LEFT ? &options->left : &options->right, table[index].name, text);
    } else if (index == LOSS) {
        pattern_parse(&options->loss, table[index].name, text);
        options->loss_text = text;
    } else if (index == DUPLICATE || index == REORDER) {
        pattern_parse(index == REORDER ? &options->reorder : &options->duplicate,
                      table[index].name, text);
    } else {
        options->drops = text;
    }
}

/* Takes "--name=value", "--name value" or "--json" and returns how many arguments that was. */
static int take_option(struct options *options, char **arguments)
{
    char name[TEXT_LIMIT], problem[MESSAGE_LIMIT];
    if (strncmp(arguments[0], "--", 2) != 0)
        fail(BAD_PARAMETER, "'%.64s' stands where an option is expected: options begin with --",
             arguments[0]);
    size_t length = strcspn(arguments[0] + 2, "=");
    const char *equals = arguments[0][2 + length] ? arguments[0] + 2 + length : NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length < 1000 ? length : 1000), arguments[0] + 2);
    int index = parameter_find(&tables, name);
    if (index < 0)
        unknown_option(name);
    bool alone = index == JSON && !equals;
    const char *text = equals ? equals + 1 : alone ? "true" : arguments[1];
    if (text == NULL)
        fail(BAD_PARAMETER, "--%s needs a value: rail-wire --help says which", name);
    struct value value;
    if (table[index].type == TEXT)
        set_text_option(options, index, text);
    else if (!parameter_parse(&table[index], text, &value, problem, sizeof problem))
        fail(BAD_PARAMETER, "--%s", problem);
    else
        set_checked(options, index, &value);
    return equals || alone ? 1 : 2;
}

void options_parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){.loss_text = ""};
    for (int i = 0; table[i].name; i++) {
        struct value value;
        parameter_default(&table[i], &value);
        if (table[i].type != TEXT)
            set_checked(options, i, &value);
    }
    for (int i = 1; i < argc; i++) /* so that a mistake before it is an event too */
        if (strcmp(argv[i], "--json") == 0)
            options->json = true;
    answer_questions(argc, argv);
    for (int i = 1; i < argc;)
        i += take_option(options, argv + i);
    if (*options->left.name == 0 || *options->right.name == 0)
        fail(BAD_PARAMETER, "a wire has two ends: give --left NETNS/IFNAME and --right "
                            "NETNS/IFNAME; see --help");
    if (options->rate > 0 && options->rate < 1000)
        fail(BAD_PARAMETER, "--rate must be at least 1kbit/s, or 0 for none");
    if (options->drops && options->loss.kind == PICK_NOTHING)
        fail(BAD_PARAMETER, "--drops lists what --loss loses: give that too");
}
