#include "columns.h"
#include "parsers.h"

#include <ctype.h>
#include <string.h>

static bool ends_in_trigger(struct text word)
{
    static const char *const triggers[] = {"-edge", "-level", "-fasteoi"};
    for (size_t i = 0; i < sizeof triggers / sizeof *triggers; i++) {
        size_t length = strlen(triggers[i]);
        if (text_length(word) > length && memcmp(word.end - length, triggers[i], length) == 0)
            return true;
    }
    return false;
}

/* What follows a numbered interrupt's counts: its controller, its number there and how it is
 * triggered ("IO-APIC 5-edge", on ARM "GICv3 25 Level", before Linux 4 "IO-APIC-edge"), then its
 * devices, which are the result. */
static struct text devices_of(struct text line)
{
    struct text word, rest;
    if (take_word(&line, &word) && !ends_in_trigger(word))
        take_word(&line, &word);
    rest = line;
    if (take_word(&rest, &word) && (text_is(word, "Edge") || text_is(word, "Level")))
        line = rest;
    return line;
}

static size_t single_spaced(struct text words, char *out, size_t size)
{
    struct text word;
    size_t length = 0;
    while (take_word(&words, &word)) {
        if (length && length < size)
            out[length++] = ' ';
        for (; word.at < word.end && length < size; word.at++)
            out[length++] = *word.at;
    }
    return length;
}

static void set_label(struct feed *feed, uint32_t number, struct text name, struct text line)
{
    char label[COUNTER_NAME_LIMIT];
    bool numbered = isdigit((unsigned char)*name.at);
    size_t length = single_spaced(numbered ? devices_of(line) : line, label, sizeof label);
    if (length)
        table_label(feed->table, number, (struct text){label, label + length});
}

/* They have one count, of no CPU. */
static bool is_error_line(struct text name)
{
    return text_is(name, "ERR") || text_is(name, "MIS") || text_is(name, "Err");
}

static void parse_errors(struct feed *feed, struct text name, struct text line)
{
    uint64_t count;
    feed_group(feed, "interrupt_errors", NO_TEXT);
    if (take_number(&line, &count))
        feed_put(feed, name, count, NARROW);
}

static void parse_line(struct feed *feed, const struct columns *columns, struct text name,
                       struct text line)
{
    uint64_t count;
    uint32_t first = NO_COUNTER;
    feed_group(feed, "interrupt/", name);
    for (size_t i = 0; i < columns->count && take_number(&line, &count); i++) {
        uint32_t number = feed_put(feed, columns->cpus[i], count, NARROW);
        first = i == 0 ? number : first;
    }
    if (first != NO_COUNTER)
        set_label(feed, first, name, line);
}

void parse_interrupts(struct feed *feed, struct text text)
{
    static struct columns columns;
    struct text line, name;
    take_columns(&text, &columns);
    while (take_line(&text, &line)) {
        while (line.at < line.end && *line.at == ' ')
            line.at++;
        if (!take_until(&line, ':', &name) || text_length(name) == 0)
            continue;
        if (is_error_line(name))
            parse_errors(feed, name, line);
        else
            parse_line(feed, &columns, name, line);
    }
}
