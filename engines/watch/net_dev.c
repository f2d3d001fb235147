#include "parsers.h"

static const char *const fields[] = {
    "rx_bytes", "rx_packets", "rx_errors", "rx_dropped",    "rx_fifo",    "rx_frame",
    "rx_compressed", "rx_multicast", "tx_bytes", "tx_packets", "tx_errors", "tx_dropped",
    "tx_fifo",  "tx_collisions", "tx_carrier", "tx_compressed",
};
#define FIELDS (sizeof fields / sizeof *fields)

void parse_net_dev(struct feed *feed, struct text text)
{
    struct text line, name;
    uint64_t value;
    while (take_line(&text, &line)) {
        struct text rest = line;
        if (!take_until(&rest, ':', &name)) /* its two lines of headings */
            continue;
        take_word(&name, &name);
        feed_group(feed, "interface/", name);
        for (size_t i = 0; i < FIELDS && take_number(&rest, &value); i++)
            feed_put(feed, text_of_word(fields[i]), value, COUNTER);
    }
}
