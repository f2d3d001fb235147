#include "devices.h"
#include "file.h"
#include "parsers.h"

#include <ctype.h>
#include <stdio.h>

struct search {
    struct values *values;
    char folder[PATH_LIMIT];
};

static void search_cpus(struct values *values, const char *root,
                        void (*visit)(const char *name, void *context))
{
    struct search search = {.values = values};
    snprintf(search.folder, sizeof search.folder, "%s/sys/devices/system/cpu", root);
    each_name(search.folder, visit, &search);
}

/* "cpu12" is CPU 12; the folder has others too. */
static const char *cpu_of(const char *name)
{
    struct text text = text_of_word(name);
    return text_begins(text, "cpu") && isdigit((unsigned char)name[3]) ? name + 3 : NULL;
}

static void add_frequency(const char *name, void *context)
{
    const struct search *search = context;
    const char *cpu = cpu_of(name);
    char path[PATH_LIMIT + 512];
    if (cpu == NULL)
        return;
    snprintf(path, sizeof path, "%s/%s/cpufreq/scaling_cur_freq", search->folder, name);
    feed_group(&search->values->feed, "frequency", NO_TEXT);
    values_add(search->values, path, cpu, GAUGE, 1000); /* the file is in kHz */
}

void find_frequencies(struct values *values, const char *root)
{
    search_cpus(values, root, add_frequency);
}

static void add_throttling(const char *name, void *context)
{
    static const char *const files[][2] = {
        {"core_throttle_count", "core_count"},
        {"package_throttle_count", "package_count"},
        {"core_throttle_total_time_ms", "core_time_ms"},
        {"package_throttle_total_time_ms", "package_time_ms"},
    };
    const struct search *search = context;
    const char *cpu = cpu_of(name);
    char path[PATH_LIMIT + 512];
    if (cpu == NULL)
        return;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s/thermal_throttle/%s", search->folder, name, files[i][0]);
        feed_group(&search->values->feed, "throttle/", text_of_word(cpu));
        values_add(search->values, path, files[i][1], COUNTER, 1);
    }
}

void find_throttling(struct values *values, const char *root)
{
    search_cpus(values, root, add_throttling);
}
