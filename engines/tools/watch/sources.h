/* Every file of the kernel's that rail-watch reads, and reading them all. */
#ifndef RAIL_WATCH_SOURCES_H
#define RAIL_WATCH_SOURCES_H

#include "cgroup.h"
#include "values.h"

#define TEXT_SOURCES (14 + MOST_CGROUP_FILES)
#define VALUE_SOURCES 5

struct text_source {
    const char *name;
    parser *parse;
    struct file file;
    struct feed feed;
};

struct sources {
    struct table *table;
    const char *root;
    struct text_source texts[TEXT_SOURCES];
    size_t text_count;
    struct values values[VALUE_SOURCES];
    const char *present[TEXT_SOURCES + VALUE_SOURCES]; /* names, then NULL */
    const char *missing[TEXT_SOURCES + VALUE_SOURCES];
};

/* Opens what there is below root ("" for this host) and reads it for the first time. */
void sources_open(struct sources *sources, struct table *table, const char *root);

/* Reads all into the table. CPU frequencies only with a sample: some kernels take milliseconds to
 * tell one, and a mark has to be quick. */
void sources_read(struct sources *sources, bool sample);

void sources_close(struct sources *sources);

#endif
