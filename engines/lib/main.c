#include "arguments.h"
#include "guard.h"

int engine_main(const struct engine *engine, int argc, char **argv)
{
    static struct launch launch;
    parse_arguments(engine, argc, argv, &launch);
    if (!engine->rank) /* ranks trust one another through their launcher */
        read_secret(&launch);
    guard_start(&launch);
    if (engine->rank)
        return engine->rank(&launch);
    return launch.server ? engine->server(&launch) : engine->client(&launch);
}
