#include "by_hand.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINES_UNDER_HEADING 20

static double moved(const struct table *table, const char *group, const char *member)
{
    char name[2 * COUNTER_NAME_LIMIT];
    snprintf(name, sizeof name, "%.199s/%.199s", group, member);
    uint32_t number = table_find(table, name);
    if (number == NO_COUNTER)
        return 0;
    const struct counter *counter = &table->counters[number];
    return (double)(int64_t)(counter->value - counter->reported);
}

void table_settle(struct table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        table->counters[i].reported = table->counters[i].value;
}

static const char *const cpu_kinds[] = {"user", "nice", "system",  "idle",
                                        "iowait", "irq", "softirq", "steal"};
#define CPU_KINDS (sizeof cpu_kinds / sizeof *cpu_kinds)

/* An interface's name if the counter is its first, "interface/eth0/rx_bytes". */
static bool is_interface(const struct counter *counter, char group[COUNTER_NAME_LIMIT])
{
    static const char *const begin = "interface/", *const end = "/rx_bytes";
    size_t length = counter->length;
    if (counter->dropped || length <= strlen(begin) + strlen(end) ||
        strncmp(counter->name, begin, strlen(begin)) != 0 ||
        strcmp(counter->name + length - strlen(end), end) != 0)
        return false;
    snprintf(group, COUNTER_NAME_LIMIT, "%.*s", (int)(length - strlen(end)), counter->name);
    return true;
}

static void print_interfaces(const struct table *table, double elapsed)
{
    char group[COUNTER_NAME_LIMIT];
    for (uint32_t i = 0; i < table->count; i++) {
        if (!is_interface(&table->counters[i], group))
            continue;
        double in = moved(table, group, "rx_packets"), out = moved(table, group, "tx_packets");
        double drops = moved(table, group, "rx_dropped") + moved(table, group, "tx_dropped");
        if (in == 0 && out == 0 && drops == 0)
            continue;
        printf("  %s %.0f in %.0f out %.0f dropped", strchr(group, '/') + 1, in / elapsed,
               out / elapsed, drops / elapsed);
    }
}

void print_line(const struct table *table, double at, double elapsed)
{
    static unsigned lines;
    double ticks[CPU_KINDS], all = 0;
    if (lines++ % LINES_UNDER_HEADING == 0) {
        printf("%9s", "seconds");
        for (size_t i = 0; i < CPU_KINDS; i++)
            printf(" %7s", cpu_kinds[i]);
        printf(" %12s %12s  %s\n", "interrupts/s", "switches/s", "packets/s of each interface");
    }
    for (size_t i = 0; i < CPU_KINDS; i++)
        all += ticks[i] = moved(table, "cpu/all", cpu_kinds[i]);
    printf("%9.2f", at);
    for (size_t i = 0; i < CPU_KINDS; i++)
        printf(" %6.1f%%", all > 0 ? 100 * ticks[i] / all : 0);
    printf(" %12.0f %12.0f", moved(table, "stat", "interrupts") / elapsed,
           moved(table, "stat", "context_switches") / elapsed);
    print_interfaces(table, elapsed);
    putchar('\n');
}

static void print_cpu(const struct table *table)
{
    double ticks_per_second = (double)sysconf(_SC_CLK_TCK);
    printf("CPU seconds:");
    for (size_t i = 0; i < CPU_KINDS; i++)
        printf(" %s %.2f%s", cpu_kinds[i], moved(table, "cpu/all", cpu_kinds[i]) / ticks_per_second,
               i + 1 < CPU_KINDS ? "," : "\n");
    printf("%.0f interrupts, %.0f context switches, %.0f forks\n",
           moved(table, "stat", "interrupts"),
           moved(table, "stat", "context_switches"), moved(table, "stat", "forks"));
}

static void print_interface_table(const struct table *table)
{
    static const char *const columns[] = {"rx_packets", "rx_bytes",  "rx_errors", "rx_dropped",
                                          "tx_packets", "tx_bytes", "tx_errors", "tx_dropped"};
    const size_t count = sizeof columns / sizeof *columns;
    char group[COUNTER_NAME_LIMIT];
    bool heading = false;
    for (uint32_t i = 0; i < table->count; i++) {
        double any = 0;
        if (!is_interface(&table->counters[i], group))
            continue;
        for (size_t k = 0; k < count; k++)
            any += moved(table, group, columns[k]) != 0;
        if (any == 0)
            continue;
        if (!heading) {
            printf("\n%-16s", "interface");
            for (size_t k = 0; k < count; k++)
                printf(" %14s", columns[k]);
            putchar('\n');
        }
        heading = true;
        printf("%-16s", strchr(group, '/') + 1);
        for (size_t k = 0; k < count; k++)
            printf(" %14.0f", moved(table, group, columns[k]));
        putchar('\n');
    }
}

static void print_group(const struct table *table, const char *prefix, const char *heading)
{
    bool has_heading = false;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct counter *counter = &table->counters[i];
        if (counter->dropped || (counter->kind & GAUGE) || counter->value == counter->reported ||
            strncmp(counter->name, prefix, strlen(prefix)) != 0)
            continue;
        if (!has_heading)
            printf("\n%s\n", heading);
        has_heading = true;
        printf("  %-40s %14lld\n", counter->name + strlen(prefix),
               (long long)(counter->value - counter->reported));
    }
}

void print_report(const struct table *table, double elapsed)
{
    printf("\n%.3f s\n", elapsed);
    print_cpu(table);
    print_interface_table(table);
    print_group(table, "protocol/", "protocol");
    print_group(table, "softnet/", "packets taken by each CPU");
    print_group(table, "cgroup/", "control group");
}
