#include "place.h"

#include "failure.h"
#include "guard.h"
#include "parameters.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes "2" or "4-7" from the front of a list; false if there is neither. */
static bool take_range(const char **text, long *first, long *last)
{
    char *end;
    if (strspn(*text, "0123456789") == 0)
        return false;
    *first = *last = strtol(*text, &end, 10);
    if (*end == '-') {
        *text = end + 1;
        if (strspn(*text, "0123456789") == 0)
            return false;
        *last = strtol(*text, &end, 10);
    }
    *text = *end == ',' ? end + 1 : end;
    return *first <= *last && *last < CPU_SETSIZE && (*end == '\0' || (*end == ',' && end[1]));
}

size_t read_cpus(const char *name, const char *list, int cpus[CPU_LIMIT])
{
    size_t count = 0;
    for (const char *text = list; *text;) {
        long first, last;
        if (!take_range(&text, &first, &last))
            fail(BAD_PARAMETER, "%s: '%.60s' is no list of CPUs: write for example 0 or 0,2-3",
                 name, list);
        for (long cpu = first; cpu <= last && count < CPU_LIMIT; cpu++)
            cpus[count++] = (int)cpu;
    }
    return count;
}

void cpu_list(const cpu_set_t *set, char *out, size_t size)
{
    FILE *text = fmemopen(out, size, "w");
    const char *comma = "";
    for (size_t cpu = 0; text && cpu < CPU_SETSIZE; cpu++) {
        size_t first = cpu;
        if (!CPU_ISSET(cpu, set))
            continue;
        while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, set))
            cpu++;
        if (cpu > first)
            fprintf(text, "%s%zu-%zu", comma, first, cpu);
        else
            fprintf(text, "%s%zu", comma, cpu);
        comma = ",";
    }
    if (text)
        fclose(text);
}

/* The parameter that says where threads run: one for each end, or a host's own. */
static const char *cpus_name(const struct launch *launch, bool server)
{
    if (parameter_find(launch->engine, "cpus") >= 0)
        return "cpus";
    return server ? "server_cpu" : "client_cpu";
}

/* Turns places among the CPUs that the process may use into these CPUs, round and round. */
static void take_places(int *cpus, size_t count)
{
    int usable[CPU_LIMIT];
    size_t usable_count = usable_cpus(usable);
    for (size_t i = 0; usable_count && i < count; i++)
        cpus[i] = usable[(size_t)cpus[i] % usable_count];
}

static size_t chosen_cpus(const struct launch *launch, bool server, int cpus[CPU_LIMIT])
{
    const char *name = cpus_name(launch, server);
    const char *list = text_of(launch, name);
    if (*list == '\0' && strcmp(name, "cpus") == 0)
        return usable_cpus(cpus);
    if (*list != '+')
        return read_cpus(name, list, cpus);
    size_t count = read_cpus(name, list + 1, cpus);
    if (count == 0)
        fail(BAD_PARAMETER, "%s: '+' needs a list of CPUs after it: write for example +0 or +0,2-3",
             name);
    take_places(cpus, count);
    return count;
}

static void pin(const struct launch *launch, bool server, int number)
{
    int cpus[CPU_LIMIT];
    size_t count = chosen_cpus(launch, server, cpus);
    if (count == 0)
        return;
    int cpu = cpus[(size_t)number % count];
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) == 0)
        return;
    fail(BAD_PARAMETER, "%s: there is no CPU %d that may be used: this host has %ld of them, 0 to "
         "%ld%s",
         cpus_name(launch, server), cpu, sysconf(_SC_NPROCESSORS_ONLN),
         sysconf(_SC_NPROCESSORS_CONF) - 1,
         errno == EPERM ? ", and this user may not choose" : "");
}

static int class_of(const struct launch *launch)
{
    const char *scheduler = text_of(launch, "scheduler");
    return strcmp(scheduler, "other") == 0 ? SCHED_OTHER
           : strcmp(scheduler, "rr") == 0  ? SCHED_RR
                                        : SCHED_FIFO;
}

static void set_class(const struct launch *launch, bool server)
{
    const char *scheduler = text_of(launch, "scheduler");
    if (class_of(launch) == SCHED_OTHER)
        return;
    if (!launch->deadline_given)
        fail(BAD_PARAMETER, "scheduler %s could take a CPU for ever: give the %s a --deadline",
             scheduler, server ? "server" : "client");
    guard_real_time();
    struct sched_param priority = {.sched_priority = 1};
    if (sched_setscheduler(0, class_of(launch), &priority) != 0)
        fail(NOT_PERMITTED,
             "scheduler %s: %s; run as root, or allow it with 'ulimit -r 2' or CAP_SYS_NICE",
             scheduler, strerror(errno));
}

void place_thread(const struct launch *launch, bool server, int number)
{
    pin(launch, server, number);
    set_class(launch, server);
}

void place_above(const struct launch *launch)
{
    struct sched_param priority = {.sched_priority = 2};
    if (class_of(launch) != SCHED_OTHER)
        sched_setscheduler(0, class_of(launch), &priority);
}

size_t place_width(const struct launch *launch)
{
    int cpus[CPU_LIMIT];
    cpu_set_t set;
    size_t count = chosen_cpus(launch, false, cpus), threads = size_of(launch, "threads");
    CPU_ZERO(&set);
    for (size_t i = 0; i < count && i < threads; i++)
        CPU_SET((size_t)cpus[i], &set);
    return (size_t)CPU_COUNT(&set);
}

/* Writes a list in its own order: 0,2,4-7. */
static void ordered_list(const int *cpus, size_t count, char *out, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < count && at < size; i++) {
        size_t first = i;
        while (i + 1 < count && cpus[i + 1] == cpus[i] + 1)
            i++;
        at += (size_t)snprintf(out + at, size - at, "%s%d", first ? "," : "", cpus[first]);
        if (i > first && at < size)
            at += (size_t)snprintf(out + at, size - at, "-%d", cpus[i]);
    }
}

/* Of an engine that measures its own host: those that its threads are pinned to. */
static void add_host_cpus(const struct launch *launch, struct fields *settings)
{
    int cpus[CPU_LIMIT];
    char text[VALUE_LIMIT] = "";
    size_t count = chosen_cpus(launch, false, cpus);
    size_t threads = size_of(launch, "threads");
    ordered_list(cpus, threads < count ? threads : count, text, sizeof text);
    fields_add(settings, "cpu", text);
}

void add_cpus(const struct launch *launch, bool server, struct fields *settings)
{
    int cpus[CPU_LIMIT];
    char text[VALUE_LIMIT] = "";
    cpu_set_t allowed;
    if (parameter_find(launch->engine, "cpus") >= 0) {
        add_host_cpus(launch, settings);
        return;
    }
    size_t count = chosen_cpus(launch, server, cpus);
    if (count > 0)
        ordered_list(cpus, count, text, sizeof text);
    else if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
             CPU_COUNT(&allowed) < sysconf(_SC_NPROCESSORS_ONLN))
        cpu_list(&allowed, text, sizeof text);
    fields_add(settings, "cpu", text);
}
