#include "parsers.h"

/* "Ip6InReceives" is InReceives of Ip6. */
void parse_snmp6(struct feed *feed, struct text text)
{
    struct text line, word, protocol;
    uint64_t value;
    while (take_line(&text, &line)) {
        if (!take_word(&line, &word))
            continue;
        struct text name = word;
        if (!take_until(&name, '6', &protocol) || !take_number(&line, &value))
            continue;
        feed_group(feed, "protocol/", (struct text){protocol.at, protocol.end + 1});
        feed_put(feed, name, value, COUNTER);
    }
}
