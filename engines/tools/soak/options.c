#include "options.h"

#include "../../lib/failure.h"
#include "../../lib/tool_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { JSON, MARKS, CALIBRATE, PERIOD, TOLERANCE, DEADLINE_AFTER, OPTIONS };

/* clang-format off */
static const struct parameter table[] = {
    [JSON] = {.name = "json", .type = BOOL, .initial = "0",
              .help = "one JSON event a line, for replications that engines mark"},
    [MARKS] = {.name = "marks", .type = TEXT, .initial = "",
               .help = "with --json: the name on which engines say, by their option --watch, when "
                       "a replication begins and ends"},
    [CALIBRATE] = {.name = "calibrate", .type = TIME, .initial = "1", .min = 0.1, .max = 600,
                   .help = "how long the idle machine is looked at, before and after"},
    [PERIOD] = {.name = "period", .type = TIME, .initial = "1", .min = 0.1, .max = 3600,
                .help = "without a command: how often the load is printed (cyclesoak -p)"},
    [TOLERANCE] = {.name = "tolerance", .type = TEXT, .initial = "0.02",
                   .help = "0 to 1, default 0.02: share of a CPU that others may take while it is "
                           "calibrated, and by which the calibrations before and after may differ"},
    [DEADLINE_AFTER] = {.name = "deadline", .type = TIME, .initial = "86400", .min = 0.1,
                        .max = 30 * 86400.0, .help = "end after this time, with exit status 1"},
    [OPTIONS] = {.name = NULL},
};
/* clang-format on */

static const struct tool tool = {
    .name = "rail-soak",
    .summary = "the CPU load of a machine, by what is left over of it",
    .usage = "  rail-soak [OPTION...] -- COMMAND [ARG...]   what a command costs\n"
             "  rail-soak [OPTION...]                       the load every second, until Ctrl-C\n"
             "  rail-soak --json --marks NAME [OPTION...]   replications that engines mark\n\n"
             "Times: 10ms, 1.5s, 1h.\n",
    .options = table,
    .takes_command = true,
    .remarks =
        "On each CPU that it may use (see taskset) a soaker counts while nobody else wants the "
        "CPU. What it counts less than on the idle machine, everything else took: processes, the "
        "kernel and its interrupts. lost: time that the soaker did not get; slowdown: how much "
        "slower it was in its own time, by interrupts that the kernel bills to it, by the clock "
        "and the caches; load: both together.\n\n"
        "The machine has to be idle before and after. With --json, the line 'calibrate' on "
        "standard input has it calibrate again and print the loads so far, 'finish' likewise at "
        "the end; it ends when its standard input closes.\n\n"
        "Exit status: the command's (128 and the signal's number if one ended it); 0 without one; "
        "1 if something kept it from measuring, 2 for a bad argument.\n",
};

static double read_tolerance(const char *text)
{
    char *end;
    double share = strtod(text, &end);
    if (!isdigit((unsigned char)*text) || *end || !(share >= 0 && share <= 1))
        fail(BAD_PARAMETER, "--tolerance must be a share from 0 to 1, such as 0.02; it was given "
                            "'%.64s'", text);
    return share;
}

void options_parse(struct options *options, int argc, char **argv)
{
    struct value values[OPTIONS];
    *options = (struct options){0};
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0) /* so that a mistake is an event too */
            options->json = true;
    options->command = tool_options(&tool, argc, argv, values);
    options->json = values[JSON].number != 0;
    memcpy(options->marks, values[MARKS].text, sizeof options->marks);
    options->calibrate = values[CALIBRATE].number;
    options->period = values[PERIOD].number;
    options->tolerance = read_tolerance(values[TOLERANCE].text);
    options->deadline = values[DEADLINE_AFTER].number;
    if (options->json != (*options->marks != '\0'))
        fail(BAD_PARAMETER, "--json and --marks NAME belong together: %s is missing",
             options->json ? "--marks" : "--json");
    if (options->json && options->command)
        fail(BAD_PARAMETER, "--json reports marked replications, not commands: leave it out");
}
