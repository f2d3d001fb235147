#include "cgroup.h"

#define UNLIMITED ((uint64_t)-1)

static void put(struct feed *feed, const char *name, uint64_t value, enum counter_kind kind)
{
    feed_group(feed, "cgroup", NO_TEXT);
    feed_put(feed, text_of_word(name), value, kind);
}

void parse_cgroup_cpu_stat(struct feed *feed, struct text text)
{
    struct text line, name;
    uint64_t value;
    while (take_line(&text, &line)) {
        if (!take_word(&line, &name) || !take_number(&line, &value))
            continue;
        if (text_is(name, "nr_throttled"))
            put(feed, "nr_throttled", value, COUNTER);
        else if (text_is(name, "throttled_usec"))
            put(feed, "throttled_usec", value, COUNTER);
        else if (text_is(name, "throttled_time"))
            put(feed, "throttled_usec", value / 1000, COUNTER);
        else if (text_is(name, "usage_usec"))
            put(feed, "usage_usec", value, COUNTER);
    }
}

/* A number or "max"; version 1 writes no limit as one near the largest there is. */
static bool take_limit(struct text *text, uint64_t *limit)
{
    struct text word;
    if (!take_number(text, limit)) {
        if (!take_word(text, &word) || !text_is(word, "max"))
            return false;
        *limit = UNLIMITED;
    }
    if (*limit >= (uint64_t)1 << 62)
        *limit = UNLIMITED;
    return true;
}

static void put_limit(struct feed *feed, struct text *text, const char *name)
{
    uint64_t limit;
    if (take_limit(text, &limit))
        put(feed, name, limit, GAUGE);
}

void parse_cgroup_cpu_max(struct feed *feed, struct text text)
{
    put_limit(feed, &text, "cpu_max_quota");
    put_limit(feed, &text, "cpu_max_period");
}

void parse_cgroup_usage(struct feed *feed, struct text text)
{
    uint64_t nanoseconds;
    if (take_number(&text, &nanoseconds))
        put(feed, "usage_usec", nanoseconds / 1000, COUNTER);
}

void parse_cgroup_quota(struct feed *feed, struct text text)
{
    put_limit(feed, &text, "cpu_max_quota");
}

void parse_cgroup_period(struct feed *feed, struct text text)
{
    put_limit(feed, &text, "cpu_max_period");
}

void parse_cgroup_memory(struct feed *feed, struct text text)
{
    uint64_t bytes;
    if (take_number(&text, &bytes))
        put(feed, "memory_current", bytes, GAUGE);
}

void parse_cgroup_memory_max(struct feed *feed, struct text text)
{
    put_limit(feed, &text, "memory_max");
}
