#include "options.h"

#include "../lib/failure.h"
#include "../lib/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON, INTERVAL, MARKS, DEADLINE_AFTER, ROOT };

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
    {.name = NULL},
};
/* clang-format on */
static const struct engine tables = {.name = "watch", .parameters = table};

static void print_option(const struct parameter *p)
{
    char range[256];
    parameter_range(p, range, sizeof range);
    if (p->type == BOOL)
        printf("  --%s\n", p->name);
    else if (p->type == TEXT)
        printf("  --%s %s\n", p->name, p == &table[ROOT] ? "FOLDER" : "NAME");
    else
        printf("  --%s VALUE   %s; default %s%s\n", p->name, range, p->initial,
               parameter_unit(p->type));
    printf("      %s\n", p->help);
}

static void print_help(void)
{
    printf("rail-watch %s: what this host's kernel counts, in its CPUs, interrupts, memory, "
           "network interfaces and protocols\n\n"
           "  rail-watch [OPTION...]                 a line each interval\n"
           "  rail-watch [OPTION...] -- COMMAND...   what was counted while a command ran\n\n"
           "Times: 10ms, 1s, 1min.\n\n",
           RAIL_VERSION);
    for (const struct parameter *p = table; p->name; p++)
        print_option(p);
    printf("  --help, --version\n\n"
           "It ends on SIGTERM and SIGINT, and at its deadline.\n\n"
           "Exit status: 0 if it was told to end or its time was up, 1 if something ended it, 2 "
           "for a bad argument; that of the command if there is one.\n");
}

static void answer_questions(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            print_help();
        else if (strcmp(argv[i], "--version") == 0)
            printf("rail-watch %s\n", RAIL_VERSION);
        else
            continue;
        exit(fflush(stdout) == 0 ? 0 : 1);
    }
}

static _Noreturn void unknown_option(const char *name)
{
    struct suggestion suggestion = {.word = name};
    for (const struct parameter *p = table; p->name; p++)
        suggest(&suggestion, p->name);
    if (suggestion.best == NULL)
        fail(BAD_PARAMETER, "unknown option '--%.64s': rail-watch --help lists them", name);
    fail(BAD_PARAMETER, "unknown option '--%.64s': did you mean '--%s'?", name, suggestion.best);
}

static void set_checked(struct options *options, int index, const struct value *value)
{
    if (index == JSON)
        options->json = value->number != 0;
    else if (index == INTERVAL)
        options->interval = value->number;
    else
        options->deadline = value->number;
}

/* The values whose length has no limit. */
static void set_text_option(struct options *options, int index, const char *text)
{
    if (index == MARKS) {
        options->marks = text;
        return;
    }
    if (strlen(text) > 400 || *text == 0)
        fail(BAD_PARAMETER, "--root must be a folder's path of 1 to 400 bytes");
    options->root = text;
}

/* Takes "--name=value", "--name value" or "--json" and returns how many arguments that was. */
static int take_option(struct options *options, char **arguments)
{
    char name[TEXT_LIMIT], problem[MESSAGE_LIMIT];
    if (strncmp(arguments[0], "--", 2) != 0)
        fail(BAD_PARAMETER,
             "'%.64s' stands where an option is expected: options begin with --, and a command "
             "comes after a -- of its own",
             arguments[0]);
    size_t length = strcspn(arguments[0] + 2, "=");
    const char *equals = arguments[0][2 + length] ? arguments[0] + 2 + length : NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length < 200 ? length : 200), arguments[0] + 2);
    int index = parameter_find(&tables, name);
    if (index < 0)
        unknown_option(name);
    bool alone = index == JSON && !equals;
    const char *text = equals ? equals + 1 : alone ? "true" : arguments[1];
    if (text == NULL)
        fail(BAD_PARAMETER, "--%s needs a value: rail-watch --help says which", name);
    struct value value;
    if (table[index].type == TEXT)
        set_text_option(options, index, text);
    else if (!parameter_parse(&table[index], text, &value, problem, sizeof problem))
        fail(BAD_PARAMETER, "--%s", problem);
    else
        set_checked(options, index, &value);
    return equals || alone ? 1 : 2;
}

static void check(const struct options *options)
{
    if (options->marks && !options->json)
        fail(BAD_PARAMETER, "--marks needs --json: what is marked is a line of JSON");
    if (options->command && *options->command == NULL)
        fail(BAD_PARAMETER, "a command is missing after --");
    if (options->command && options->json)
        fail(BAD_PARAMETER, "--json takes no command: it watches until its input closes");
}

void options_parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){.root = ""};
    for (int i = 0; table[i].name; i++) {
        struct value value;
        parameter_default(&table[i], &value);
        if (table[i].type != TEXT)
            set_checked(options, i, &value);
    }
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) /* so that a mistake before it is told as an event too */
        if (strcmp(argv[i], "--json") == 0)
            options->json = true;
    answer_questions(argc, argv);
    for (int i = 1; i < argc;) {
        if (strcmp(argv[i], "--") == 0) {
            options->command = argv + i + 1;
            break;
        }
        i += take_option(options, argv + i);
    }
    check(options);
}
