#include "parsers.h"

struct field {
    const char *name;
    enum counter_kind kind;
};
/* The errors that sysfs counts separately are each in one of those that alarm. */
static const struct field fields[] = {
    {"rx_bytes", COUNTER},   {"rx_packets", COUNTER},    {"rx_errors", ALARM},
    {"rx_dropped", ALARM},   {"rx_fifo", COUNTER},       {"rx_frame", ALARM},
    {"rx_compressed", COUNTER}, {"rx_multicast", COUNTER}, {"tx_bytes", COUNTER},
    {"tx_packets", COUNTER}, {"tx_errors", ALARM},       {"tx_dropped", COUNTER},
    {"tx_fifo", COUNTER},    {"tx_collisions", COUNTER}, {"tx_carrier", ALARM},
    {"tx_compressed", COUNTER},
};
#define FIELDS (sizeof fields / sizeof *fields)

void parse_net_dev(struct feed *feed, struct text text)
{
    struct text line, before, name;
    uint64_t value;
    while (take_line(&text, &line)) {
        struct text rest = line;
        if (!take_until(&rest, ':', &before) || !take_word(&before, &name))
            continue; /* its two lines of headings */
        feed_group(feed, "interface/", name);
        for (size_t i = 0; i < FIELDS && take_number(&rest, &value); i++)
            feed_put(feed, text_of_word(fields[i].name), value, fields[i].kind);
    }
}
