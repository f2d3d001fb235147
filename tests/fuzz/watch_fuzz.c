/* What rail-watch makes of the kernel's files: any bytes as each of them, two readings and the
 * first again. The counters of that are what they are to somebody who read it alone. */
#include "../tools/watch/cgroup.c"
#include "../tools/watch/columns.c"
#include "../tools/watch/interrupts.c"
#include "../tools/watch/meminfo.c"
#include "../tools/watch/net_dev.c"
#include "../tools/watch/pressure.c"
#include "../tools/watch/protocols.c"
#include "../tools/watch/snmp6.c"
#include "../tools/watch/softirqs.c"
#include "../tools/watch/softnet.c"
#include "../tools/watch/stat.c"
#include "../tools/watch/table.c"
#include "../tools/watch/vmstat.c"

#include "attempt.h"

static parser *const parsers[] = {
    parse_stat,         parse_interrupts,    parse_softirqs,      parse_meminfo,
    parse_vmstat,       parse_net_dev,       parse_protocols,     parse_snmp6,
    parse_softnet,      parse_pressure_cpu,  parse_cgroup_usage,  parse_cgroup_cpu_stat,
    parse_cgroup_quota, parse_cgroup_period, parse_cgroup_memory, parse_cgroup_memory_max,
    parse_cgroup_cpu_max,
};
#define PARSERS (sizeof parsers / sizeof *parsers)

/* The last byte of a text must not be read past: each is in memory of its own length. */
static void read_text(struct feed *feed, parser *parse, const uint8_t *data, size_t size)
{
    char *bytes = malloc(size);
    must(bytes || size == 0);
    if (size)
        memcpy(bytes, data, size);
    feed_begin(feed);
    parse(feed, (struct text){bytes, bytes + size});
    feed_end(feed);
    free(bytes);
}

static void check(const struct table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct counter *counter = &table->counters[i];
        must(counter->length < COUNTER_NAME_LIMIT && counter->name[counter->length] == 0);
        /* Of a name, only the newest can be there. */
        if (!counter->dropped && strlen(counter->name) == counter->length)
            must(table_find(table, counter->name) == i);
    }
}

static void compare(const struct table *table, const struct table *alone)
{
    uint32_t there = 0;
    for (uint32_t i = 0; i < table->count; i++)
        there += !table->counters[i].dropped;
    must(there == alone->count);
    for (uint32_t i = 0; i < alone->count; i++) {
        const struct counter *one = &alone->counters[i];
        uint32_t number = find(table, one->name, one->length);
        must(number != NO_COUNTER);
        const struct counter *other = &table->counters[number];
        must(one->kind & NARROW ? (uint32_t)one->value == (uint32_t)other->value
                                : one->value == other->value);
    }
}

/* The first byte chooses the parser, the first of all ones ends the first reading. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct table table = {0}, alone = {0};
    struct feed feed, feed_alone;
    if (size == 0)
        return 0;
    parser *parse = parsers[data[0] % PARSERS];
    const uint8_t *first = data + 1, *split = memchr(first, 0xFF, size - 1);
    size_t length = split ? (size_t)(split - first) : size - 1;
    feed_open(&feed, &table);
    feed_open(&feed_alone, &alone);
    read_text(&feed_alone, parse, first, length);
    check(&alone);
    read_text(&feed, parse, first, length);
    if (split)
        read_text(&feed, parse, split + 1, size - 2 - length);
    check(&table);
    read_text(&feed, parse, first, length);
    check(&table);
    compare(&table, &alone);
    feed_close(&feed);
    feed_close(&feed_alone);
    table_free(&table);
    table_free(&alone);
    return 0;
}
