#include "tool_options.h"

#include "failure.h"
#include "parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        printf("  --%s TEXT\n", name);
    else
        printf("  --%s VALUE   %s; default %s%s%s\n", name, range, p->initial,
               *parameter_unit(p->type) ? " " : "", parameter_unit(p->type));
    printf("      %s\n", p->help);
}

static void print_help(const struct tool *tool)
{
    printf("%s %s: %s\n\n%s\n", tool->name, RAIL_VERSION, tool->summary, tool->usage);
    for (const struct parameter *p = tool->options; p->name; p++)
        print_option(p);
    printf("  --help, --version\n\n%s", tool->remarks);
}

static void answer_questions(const struct tool *tool, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            print_help(tool);
        else if (strcmp(argv[i], "--version") == 0)
            printf("%s %s\n", tool->name, RAIL_VERSION);
        else
            continue;
        exit(fflush(stdout) == 0 ? 0 : 1);
    }
}

static _Noreturn void unknown_option(const struct tool *tool, const char *name)
{
    struct suggestion suggestion = {.word = name};
    char suggested[TEXT_LIMIT];
    for (const struct parameter *p = tool->options; p->name; p++)
        suggest(&suggestion, p->name);
    if (suggestion.best == NULL)
        fail(BAD_PARAMETER, "unknown option '--%.64s': %s --help lists them", name, tool->name);
    with_hyphens(suggestion.best, suggested, sizeof suggested);
    fail(BAD_PARAMETER, "unknown option '--%.64s': did you mean '--%s'?", name, suggested);
}

/* Takes "--name=value", "--name value" or a switch and returns how many arguments that was. */
static int take_option(const struct tool *tool, char **arguments, struct value *values)
{
    const struct engine tables = {.name = tool->name, .parameters = tool->options};
    char name[TEXT_LIMIT], problem[MESSAGE_LIMIT];
    if (strncmp(arguments[0], "--", 2) != 0)
        fail(BAD_PARAMETER, "'%.64s' stands where an option is expected: options begin with --%s",
             arguments[0], tool->takes_command ? ", and a command stands behind a -- alone" : "");
    size_t length = strcspn(arguments[0] + 2, "=");
    const char *equals = arguments[0][2 + length] ? arguments[0] + 2 + length : NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length < 1000 ? length : 1000), arguments[0] + 2);
    int index = parameter_find(&tables, name);
    if (index < 0)
        unknown_option(tool, name);
    bool alone = tool->options[index].type == BOOL && !equals;
    const char *text = equals ? equals + 1 : alone ? "true" : arguments[1];
    if (text == NULL)
        fail(BAD_PARAMETER, "--%s needs a value: %s --help says which", name, tool->name);
    if (!parameter_parse(&tool->options[index], text, &values[index], problem, sizeof problem))
        fail(BAD_PARAMETER, "--%s", problem);
    return equals || alone ? 1 : 2;
}

char **tool_options(const struct tool *tool, int argc, char **argv, struct value *values)
{
    for (int i = 0; tool->options[i].name; i++)
        parameter_default(&tool->options[i], &values[i]);
    answer_questions(tool, argc, argv);
    for (int i = 1; i < argc;) {
        if (tool->takes_command && strcmp(argv[i], "--") == 0) {
            if (argv[i + 1] == NULL)
                fail(BAD_PARAMETER, "a command has to follow --");
            return argv + i + 1;
        }
        i += take_option(tool, argv + i, values);
    }
    return NULL;
}
