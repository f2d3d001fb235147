#include "devices.h"
#include "file.h"
#include "parsers.h"

#include <stdio.h>
#include <string.h>

/* A folder on the way down: devices, a device's ports, a port's counters. */
struct level {
    struct values *values;
    const char *device, *port;
    char folder[PATH_LIMIT];
};

static void add_counter(const char *name, void *context)
{
    const struct level *level = context;
    char path[PATH_LIMIT + 256], place[COUNTER_NAME_LIMIT];
    if (strcmp(name, "lifespan") == 0) /* a setting: for how long the driver keeps the others */
        return;
    snprintf(path, sizeof path, "%.*s/%.250s", PATH_LIMIT, level->folder, name);
    snprintf(place, sizeof place, "fabric/%.64s/", level->device);
    feed_group(&level->values->feed, place, text_of_word(level->port));
    values_add(level->values, path, name, COUNTER, 1);
}

static void add_port(const char *name, void *context)
{
    static const char *const folders[] = {"counters", "hw_counters"};
    const struct level *above = context;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct level level = {.values = above->values, .device = above->device, .port = name};
        snprintf(level.folder, sizeof level.folder, "%.640s/%.64s/%s", above->folder, name,
                 folders[i]);
        each_name(level.folder, add_counter, &level);
    }
}

static void add_device(const char *name, void *context)
{
    const struct level *above = context;
    struct level level = {.values = above->values, .device = name};
    snprintf(level.folder, sizeof level.folder, "%.512s/%.64s/ports", above->folder, name);
    each_name(level.folder, add_port, &level);
}

void find_fabric(struct values *values, const char *root)
{
    struct level level = {.values = values};
    snprintf(level.folder, sizeof level.folder, "%s/sys/class/infiniband", root);
    each_name(level.folder, add_device, &level);
}
