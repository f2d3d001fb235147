/* All counters of this host: each has a name, a number that never changes, and its last reading.
 * A source puts its counters in the order in which its file has them, so that finding one again is
 * one comparison; where the file's structure changed it is a look-up. */
#ifndef RAIL_WATCH_TABLE_H
#define RAIL_WATCH_TABLE_H

#include "text.h"

#define NO_COUNTER UINT32_MAX
#define COUNTER_NAME_LIMIT 200 /* longest name, with its final zero; more is cut off */

enum counter_kind {
    COUNTER = 0,
    GAUGE = 1, /* a state: it goes up and down */
    NARROW = 2, /* the kernel counts it in 32 bits: when it wraps around, we go on */
    ALARM = 4   /* its feed says when it moved */
};

struct counter {
    char *name;
    char *label; /* what its interrupt is of; NULL: not said */
    uint64_t value;
    uint64_t reported; /* the reading that the last line reported */
    uint32_t pass; /* of its source, when it was last there */
    uint16_t length;
    uint8_t feed, kind;
    bool dropped, drop_reported, label_reported;
};

struct table {
    struct counter *counters;
    uint32_t count, room;
    uint32_t declared; /* so many have been reported */
    uint32_t *slots;   /* of the hash table: number + 1 of the newest counter with a name */
    uint32_t slot_count;
    uint32_t feeds;
    bool drops_pending, labels_pending;      /* and not reported yet */
};

/* One source's way through the table. */
struct feed {
    struct table *table;
    uint32_t *order; /* the counters, as the file had them */
    uint32_t count, room, at;
    uint32_t pass;
    uint8_t id;
    bool changed; /* the pass differed from the one before */
    bool alarmed; /* an ALARM counter moved in it */
    char group[COUNTER_NAME_LIMIT];
    size_t group_length;
};

/* The newest counter of that name, NO_COUNTER if there is none or it is gone. */
uint32_t table_find(const struct table *table, const char *name);

void feed_open(struct feed *feed, struct table *table);

/* One pass: begin, then groups ("interface/" and a name of the kernel's) with their counters. What
 * was there before and isn't in this pass is gone. True if the set of counters changed. */
void feed_begin(struct feed *feed);
void feed_group(struct feed *feed, const char *prefix, struct text name);
uint32_t feed_put(struct feed *feed, struct text member, uint64_t value, enum counter_kind kind);
bool feed_end(struct feed *feed);

/* Counters that are read one by one: added once, set by number, dropped when their file is gone. */
uint32_t feed_add(struct feed *feed, const char *member, uint64_t value, enum counter_kind kind);
void table_set(struct table *table, uint32_t number, uint64_t value);
void table_drop(struct table *table, uint32_t number);

/* Says what a counter's group is of. */
void table_label(struct table *table, uint32_t number, struct text label);

void table_free(struct table *table);
void feed_close(struct feed *feed);

#endif
