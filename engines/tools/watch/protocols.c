#include "parsers.h"

/* What RFC 1213 and MPTCP call a state or a setting. */
static const char *const gauges[] = {"Forwarding", "DefaultTTL", "RtoAlgorithm", "RtoMin",
                                     "RtoMax",     "MaxConn",    "CurrEstab",    "MPCurrEstab"};
#define GAUGES (sizeof gauges / sizeof *gauges)

static enum counter_kind kind_of(struct text name)
{
    if (text_length(name) < 6 || text_length(name) > 12)
        return COUNTER;
    for (size_t i = 0; i < GAUGES; i++)
        if (text_is(name, gauges[i]))
            return GAUGE;
    return COUNTER;
}

/* Each protocol has two lines, names and values, which both begin with its name. */
void parse_protocols(struct feed *feed, struct text text)
{
    struct text names, values, protocol, same, name;
    uint64_t value;
    while (take_line(&text, &names) && take_line(&text, &values)) {
        if (!take_until(&names, ':', &protocol) || !take_until(&values, ':', &same))
            continue;
        feed_group(feed, "protocol/", protocol);
        while (take_word(&names, &name) && take_number(&values, &value))
            feed_put(feed, name, value, kind_of(name));
    }
}
