#include "columns.h"
#include "parsers.h"

void parse_softirqs(struct feed *feed, struct text text)
{
    static struct columns columns;
    struct text line, name;
    uint64_t count;
    take_columns(&text, &columns);
    while (take_line(&text, &line)) {
        while (line.at < line.end && *line.at == ' ')
            line.at++;
        if (!take_until(&line, ':', &name))
            continue;
        feed_group(feed, "softirq/", name);
        for (size_t i = 0; i < columns.count && take_number(&line, &count); i++)
            feed_put(feed, columns.cpus[i], count, NARROW);
    }
}
