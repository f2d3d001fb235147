#include "cgroup.h"

#include <stdio.h>
#include <unistd.h>

struct kind {
    const char *controller; /* "": version 2 */
    const char *name;
    parser *parse;
};
static const struct kind kinds[] = {
    {"", "cpu.stat", parse_cgroup_cpu_stat},
    {"", "cpu.max", parse_cgroup_cpu_max},
    {"", "memory.current", parse_cgroup_memory},
    {"", "memory.max", parse_cgroup_memory_max},
    {"cpu", "cpu.stat", parse_cgroup_cpu_stat},
    {"cpu", "cpu.cfs_quota_us", parse_cgroup_quota},
    {"cpu", "cpu.cfs_period_us", parse_cgroup_period},
    {"cpuacct", "cpuacct.usage", parse_cgroup_usage},
    {"memory", "memory.usage_in_bytes", parse_cgroup_memory},
    {"memory", "memory.limit_in_bytes", parse_cgroup_memory_max},
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* A line of /proc/self/cgroup: "ID:CONTROLLERS:PATH". */
struct membership {
    struct text controllers, path;
};

static bool has(struct text controllers, const char *name)
{
    struct text controller;
    if (*name == 0)
        return text_length(controllers) == 0;
    while (take_until(&controllers, ',', &controller))
        if (text_is(controller, name))
            return true;
    return text_is(controllers, name);
}

static bool find_below(struct cgroup_file *file, const char *root, const char *mount,
                       struct text path, const char *name)
{
    snprintf(file->path, sizeof file->path, "%s/sys/fs/cgroup/%.128s%.*s/%s", root, mount,
             (int)(text_length(path) < 512 ? text_length(path) : 512), path.at, name);
    return access(file->path, R_OK) == 0;
}

/* Version 2 is mounted at the top or as "unified", a controller of version 1 under its own name or
 * the names of those it shares it with. In a container the path may be the host's; what it sees at
 * the top is then its own. */
static bool find_file(struct cgroup_file *file, const char *root,
                      const struct membership *membership, const struct kind *kind)
{
    char together[128];
    snprintf(together, sizeof together, "%.*s", (int)text_length(membership->controllers),
             membership->controllers.at);
    const char *mounts[] = {*kind->controller ? kind->controller : "",
                            *kind->controller ? together : "unified"};
    struct text paths[] = {membership->path, NO_TEXT};
    for (size_t path = 0; path < 2; path++)
        for (size_t mount = 0; mount < 2; mount++)
            if (find_below(file, root, mounts[mount], paths[path], kind->name))
                return true;
    return false;
}

static bool holds(const struct cgroup_file *files, size_t count, parser *parse)
{
    for (size_t i = 0; i < count; i++)
        if (files[i].parse == parse)
            return true;
    return false;
}

size_t find_cgroup(const char *root, struct cgroup_file files[MOST_CGROUP_FILES])
{
    char path[PATH_LIMIT], bytes[4096];
    struct text text, line, id;
    size_t count = 0;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!file_peek(path, bytes, sizeof bytes, &text))
        return 0;
    while (take_line(&text, &line)) {
        struct membership membership;
        if (!take_until(&line, ':', &id) || !take_until(&line, ':', &membership.controllers))
            continue;
        membership.path = line;
        for (size_t i = 0; i < KINDS && count < MOST_CGROUP_FILES; i++)
            if (has(membership.controllers, kinds[i].controller) &&
                !holds(files, count, kinds[i].parse) &&
                find_file(&files[count], root, &membership, &kinds[i]))
                files[count++].parse = kinds[i].parse;
    }
    return count;
}
