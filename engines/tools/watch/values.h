/* Files of sysfs that hold one number each. They come and go with their device or CPU. */
#ifndef RAIL_WATCH_VALUES_H
#define RAIL_WATCH_VALUES_H

#include "table.h"

struct value_file {
    int fd;
    uint32_t number; /* of its counter */
    uint32_t factor;
};

struct values {
    struct feed feed;
    struct value_file *files;
    size_t count, room;
    size_t next; /* where the next pass begins */
};

/* Follows the file from now on, times factor, as a counter of the feed's group; nothing happens if
 * it is followed already, isn't there or holds no number. */
void values_add(struct values *values, const char *path, const char *member,
                enum counter_kind kind, uint32_t factor);

/* Reads all of them, or as many as budget_ns lets (0: no limit), going on with the others next
 * time. True if some were gone: then all counters of their groups are. */
bool values_read(struct values *values, uint64_t budget_ns);

/* Closes the files whose counters were dropped with their group. */
void values_let_go(struct values *values);

void values_close(struct values *values);

#endif
