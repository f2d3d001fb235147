#include "parsers.h"

/* Most of what is no event begins with nr_, and /proc/meminfo says it too. */
void parse_vmstat(struct feed *feed, struct text text)
{
    struct text line, name;
    uint64_t value;
    feed_group(feed, "vm", NO_TEXT);
    while (take_line(&text, &line)) {
        if (!take_word(&line, &name) || text_begins(name, "nr_") || !take_number(&line, &value))
            continue;
        feed_put(feed, name, value, text_is(name, "workingset_nodes") ? GAUGE : COUNTER);
    }
}
