#include "parsers.h"

/* The columns of a CPU, in clock ticks; kernels before 2.6.33 lack the last. */
static const char *const kinds[] = {"user", "nice",    "system", "idle",  "iowait",
                                    "irq",  "softirq", "steal",  "guest", "guest_nice"};
#define KINDS (sizeof kinds / sizeof *kinds)

struct single {
    const char *word, *name;
    enum counter_kind kind;
};
static const struct single singles[] = {
    {"intr", "interrupts", COUNTER},      {"ctxt", "context_switches", COUNTER},
    {"processes", "forks", COUNTER},      {"procs_running", "running", GAUGE},
    {"procs_blocked", "blocked", GAUGE},  {"softirq", "softirqs", COUNTER},
};
#define SINGLES (sizeof singles / sizeof *singles)

static void parse_cpu(struct feed *feed, struct text cpu, struct text line)
{
    uint64_t ticks;
    feed_group(feed, "cpu/", text_length(cpu) ? cpu : text_of_word("all"));
    for (size_t i = 0; i < KINDS && take_number(&line, &ticks); i++)
        feed_put(feed, text_of_word(kinds[i]), ticks, COUNTER);
}

/* Of intr and softirq only the sum, which comes first: the others have files of their own. */
static void parse_single(struct feed *feed, struct text word, struct text line)
{
    uint64_t value;
    for (size_t i = 0; i < SINGLES; i++) {
        if (!text_is(word, singles[i].word) || !take_number(&line, &value))
            continue;
        feed_group(feed, "stat", NO_TEXT);
        feed_put(feed, text_of_word(singles[i].name), value, singles[i].kind);
    }
}

void parse_stat(struct feed *feed, struct text text)
{
    struct text line, word;
    while (take_line(&text, &line)) {
        if (!take_word(&line, &word))
            continue;
        if (text_begins(word, "cpu"))
            parse_cpu(feed, (struct text){word.at + 3, word.end}, line);
        else
            parse_single(feed, word, line);
    }
}
