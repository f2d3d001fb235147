/* What is sent: a piece of memory again and again, or a set of files in turn. */
#ifndef RAIL_TCP_SOURCE_H
#define RAIL_TCP_SOURCE_H

#include "../lib/engine.h"
#include "../lib/fields.h"

/* A file stays open for the launch; its size is what it had when it was opened. */
struct item {
    int fd;
    size_t size;
    unsigned char *map; /* for sending it from where the kernel holds it; else NULL */
    char *name;
};

struct source {
    struct item *items; /* NULL: memory */
    size_t count;
};

/* Opens the set that the parameters ask for, and closes the one before it; fails with
 * FILE_UNUSABLE. Without named, which only the client has, the files are made in memory. */
void open_source(const struct launch *launch, bool named);

/* The set that was opened last. */
const struct source *opened_source(void);

/* Records what it is. */
void add_source(struct fields *settings);

_Noreturn void file_changed(const struct item *item);

#endif
