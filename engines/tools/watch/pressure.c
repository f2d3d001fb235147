#include "parsers.h"

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123": the total, in microseconds. */
static void parse_pressure(struct feed *feed, struct text text, const char *resource)
{
    struct text line, share, word;
    uint64_t total;
    feed_group(feed, "pressure/", text_of_word(resource));
    while (take_line(&text, &line)) {
        if (!take_word(&line, &share))
            continue;
        while (take_word(&line, &word)) {
            if (!text_begins(word, "total="))
                continue;
            word.at += 6;
            if (take_number(&word, &total))
                feed_put(feed, share, total, COUNTER);
        }
    }
}

void parse_pressure_cpu(struct feed *feed, struct text text)
{
    parse_pressure(feed, text, "cpu");
}

void parse_pressure_memory(struct feed *feed, struct text text)
{
    parse_pressure(feed, text, "memory");
}

void parse_pressure_io(struct feed *feed, struct text text)
{
    parse_pressure(feed, text, "io");
}

void parse_pressure_irq(struct feed *feed, struct text text)
{
    parse_pressure(feed, text, "irq");
}
