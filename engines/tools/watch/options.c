#include "options.h"

#include "../../lib/failure.h"
#include "../../lib/tool_options.h"

#include <string.h>

enum { JSON, INTERVAL, MARKS, DEADLINE_AFTER, ROOT, OPTIONS };

/* clang-format off */
static const struct parameter table[] = {
    [JSON] = {.name = "json", .type = BOOL, .initial = "0",
              .help = "one JSON event a line, with every counter that moved; ends when standard "
                      "input closes (if that is a pipe), and takes lines 'mark LABEL' from it"},
    [INTERVAL] = {.name = "interval", .type = TIME, .initial = "1", .min = 0.01, .max = 3600,
                  .help = "between two samples"},
    [MARKS] = {.name = "marks", .type = TEXT, .initial = "",
               .help = "with --json: a name, by which engines on this host (--watch) say when a "
                       "replication begins and ends; each gets a line with the counters of that "
                       "moment"},
    [DEADLINE_AFTER] = {.name = "deadline", .type = TIME, .initial = "86400", .min = 0.1,
                        .max = 30 * 86400.0, .help = "end after this time"},
    [ROOT] = {.name = "root", .type = TEXT, .initial = "",
              .help = "a folder in which proc and sys are, instead of this host's"},
    [OPTIONS] = {.name = NULL},
};
/* clang-format on */

static const struct tool tool = {
    .name = "rail-watch",
    .summary = "what this host's kernel counts, in its CPUs, interrupts, memory, network "
               "interfaces and protocols",
    .usage = "  rail-watch [OPTION...]                         a line each interval\n"
             "  rail-watch [OPTION...] -- COMMAND [ARG...]     what was counted while it ran\n"
             "  rail-watch --json [--marks NAME] [OPTION...]   every counter, for programs\n\n"
             "Times: 10ms, 1s, 1min.\n",
    .options = table,
    .takes_command = true,
    .remarks =
        "It ends on SIGTERM and SIGINT, and at its deadline.\n\n"
        "Exit status: 0 if asked to end or its time was up, 1 if something ended it, 2 for a "
        "bad argument; that of the command if there is one (128 and the signal's number if one "
        "ended it).\n",
};

void options_parse(struct options *options, int argc, char **argv)
{
    struct value values[OPTIONS];
    *options = (struct options){0};
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0) /* so that a mistake is told as an event too */
            options->json = true;
    options->command = tool_options(&tool, argc, argv, values);
    options->json = values[JSON].number != 0;
    options->interval = values[INTERVAL].number;
    options->deadline = values[DEADLINE_AFTER].number;
    memcpy(options->marks, values[MARKS].text, sizeof options->marks);
    memcpy(options->root, values[ROOT].text, sizeof options->root);
    if (*options->marks && !options->json)
        fail(BAD_PARAMETER, "--marks needs --json: what is marked is a line of JSON");
    if (options->command && options->json)
        fail(BAD_PARAMETER, "--json takes no command: it watches until its input closes");
}
