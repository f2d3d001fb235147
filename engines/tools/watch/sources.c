#include "sources.h"

#include "devices.h"

#include <stdio.h>
#include <string.h>

#define FREQUENCY_BUDGET 5000000 /* ns for each sample */

struct kernel_file {
    const char *name, *path;
    parser *parse;
};

/* What counts packets comes last, so that it is read as close together as can be. */
static const struct kernel_file kernel_files[] = {
    {"interrupts", "proc/interrupts", parse_interrupts},
    {"softirqs", "proc/softirqs", parse_softirqs},
    {"meminfo", "proc/meminfo", parse_meminfo},
    {"vmstat", "proc/vmstat", parse_vmstat},
    {"pressure/cpu", "proc/pressure/cpu", parse_pressure_cpu},
    {"pressure/memory", "proc/pressure/memory", parse_pressure_memory},
    {"pressure/io", "proc/pressure/io", parse_pressure_io},
    {"pressure/irq", "proc/pressure/irq", parse_pressure_irq},
    {"stat", "proc/stat", parse_stat},
    {"softnet", "proc/net/softnet_stat", parse_softnet},
    {"protocols", "proc/net/snmp", parse_protocols},
    {"protocols/extended", "proc/net/netstat", parse_protocols},
    {"protocols/6", "proc/net/snmp6", parse_snmp6},
    {"interfaces", "proc/net/dev", parse_net_dev},
};
#define KERNEL_FILES (sizeof kernel_files / sizeof *kernel_files)
_Static_assert(KERNEL_FILES + MOST_CGROUP_FILES == TEXT_SOURCES, "a place for each");

enum value_kind { FREQUENCIES, THROTTLING, FABRIC, UNHANDLED, NET_ERRORS };
struct value_source {
    const char *name;
    finder *find;
    parser *host; /* when what this source says changes, look again; NULL: never */
};
static const struct value_source value_sources[VALUE_SOURCES] = {
    [FREQUENCIES] = {"frequencies", find_frequencies, parse_stat},
    [THROTTLING] = {"throttling", find_throttling, parse_stat},
    [FABRIC] = {"fabric", find_fabric, NULL},
    [UNHANDLED] = {"interfaces/unhandled", find_unhandled, parse_net_dev},
    [NET_ERRORS] = {"interfaces/errors", find_net_errors, parse_net_dev},
};

static void name_source(struct sources *sources, const char *name, bool present)
{
    const char **list = present ? sources->present : sources->missing;
    while (*list)
        list++;
    *list = name;
}

static bool open_text(struct sources *sources, const char *name, const char *path, parser *parse)
{
    struct text_source *source = &sources->texts[sources->text_count];
    if (!file_open(&source->file, path))
        return false;
    source->name = name;
    source->parse = parse;
    feed_open(&source->feed, sources->table);
    sources->text_count++;
    return true;
}

static bool open_cgroup(struct sources *sources)
{
    struct cgroup_file files[MOST_CGROUP_FILES];
    size_t count = find_cgroup(sources->root, files), before = sources->text_count;
    for (size_t i = 0; i < count; i++)
        open_text(sources, "cgroup", files[i].path, files[i].parse);
    return sources->text_count > before;
}

void sources_open(struct sources *sources, struct table *table, const char *root)
{
    *sources = (struct sources){.table = table, .root = root};
    for (size_t i = 0; i < KERNEL_FILES; i++) {
        const struct kernel_file *file = &kernel_files[i];
        char path[PATH_LIMIT];
        snprintf(path, sizeof path, "%s/%s", root, file->path);
        name_source(sources, file->name, open_text(sources, file->name, path, file->parse));
    }
    name_source(sources, "cgroup", open_cgroup(sources));
    for (size_t i = 0; i < VALUE_SOURCES; i++) {
        feed_open(&sources->values[i].feed, table);
        value_sources[i].find(&sources->values[i], root);
        name_source(sources, value_sources[i].name, sources->values[i].count > 0);
    }
    sources_read(sources, true);
}

/* True if the set of its counters changed. anew: even if the text is the same as last time, since
 * counters of it may have been dropped. */
static bool read_text(struct text_source *source, bool anew)
{
    struct text text;
    source->feed.alarmed = false;
    if (!file_read(&source->file, &text) || (!anew && file_unchanged(&source->file)))
        return false;
    feed_begin(&source->feed);
    source->parse(&source->feed, text);
    return feed_end(&source->feed);
}

void sources_read(struct sources *sources, bool sample)
{
    struct values *values = sources->values;
    bool stale[VALUE_SOURCES] = {false}, dropped = false;
    if (sample)
        stale[FREQUENCIES] = values_read(&values[FREQUENCIES], FREQUENCY_BUDGET);
    for (size_t i = THROTTLING; i < NET_ERRORS; i++)
        dropped |= stale[i] = values_read(&values[i], 0);
    for (size_t i = 0; i < sources->text_count; i++) {
        const struct text_source *source = &sources->texts[i];
        bool changed = read_text(&sources->texts[i], dropped);
        for (size_t k = 0; changed && k < VALUE_SOURCES; k++)
            stale[k] |= source->parse == value_sources[k].host;
        /* Few interfaces have errors, and each file of sysfs takes as long as all of these. */
        if (source->parse == parse_net_dev && source->feed.alarmed)
            stale[NET_ERRORS] |= values_read(&values[NET_ERRORS], 0);
    }
    for (size_t i = 0; i < VALUE_SOURCES; i++) {
        if (!stale[i])
            continue;
        values_let_go(&values[i]);
        value_sources[i].find(&values[i], sources->root);
    }
}

void sources_close(struct sources *sources)
{
    for (size_t i = 0; i < sources->text_count; i++) {
        file_close(&sources->texts[i].file);
        feed_close(&sources->texts[i].feed);
    }
    for (size_t i = 0; i < VALUE_SOURCES; i++)
        values_close(&sources->values[i]);
}
