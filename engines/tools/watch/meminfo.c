#include "parsers.h"

void parse_meminfo(struct feed *feed, struct text text)
{
    struct text line, name, unit;
    uint64_t value;
    feed_group(feed, "memory", NO_TEXT);
    while (take_line(&text, &line)) {
        if (!take_until(&line, ':', &name) || !take_number(&line, &value))
            continue;
        bool kilobytes = take_word(&line, &unit) && text_is(unit, "kB");
        feed_put(feed, name, kilobytes ? value * 1024 : value, GAUGE);
    }
}
