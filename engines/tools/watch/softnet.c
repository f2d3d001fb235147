#include "parsers.h"

#include <stdio.h>

/* A line a CPU; which one it is of stands in column 13 since Linux 5.10, and before that it is the
 * number of the line, counted over the CPUs that are online. */
static const char *const names[] = {"processed", "dropped", "time_squeeze", NULL, NULL, NULL, NULL,
                                    NULL, NULL, "received_rps", "flow_limit", NULL};
#define NAMES (sizeof names / sizeof *names)

void parse_softnet(struct feed *feed, struct text text)
{
    struct text line;
    for (uint64_t cpu = 0; take_line(&text, &line); cpu++) {
        uint64_t values[NAMES + 1];
        size_t count = 0;
        while (count < NAMES + 1 && take_hexadecimal(&line, &values[count]))
            count++;
        char number[24];
        snprintf(number, sizeof number, "%llu",
                 (unsigned long long)(count > NAMES ? values[NAMES] : cpu));
        feed_group(feed, "softnet/", text_of_word(number));
        for (size_t i = 0; i < NAMES && i < count; i++)
            if (names[i])
                feed_put(feed, text_of_word(names[i]), values[i], NARROW);
    }
}
