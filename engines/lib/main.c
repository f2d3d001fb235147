#include "arguments.h"
#include "guard.h"
#include "launches.h"

#include <string.h>

int engine_main(const struct engine *engine, int argc, char **argv)
{
    static struct launch launch;
    if (engine->port && argc == 3 && strcmp(argv[1], LAUNCHES) == 0)
        return launches_apart(engine, argv[2]);
    parse_arguments(engine, argc, argv, &launch);
    if (!engine->rank) /* ranks trust one another through their launcher */
        read_secret(&launch);
    guard_start(&launch);
    if (engine->rank)
        return engine->rank(&launch);
    return launch.server ? engine->server(&launch) : engine->client(&launch);
}
