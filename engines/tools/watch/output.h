/* What goes to standard output, kept here until its reader takes it: a reader that is slow or
 * stands still never makes anybody wait. */
#ifndef RAIL_WATCH_OUTPUT_H
#define RAIL_WATCH_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define OUTPUT_ENOUGH (8u << 20) /* bytes; while more than that waits, samples are left out */

struct output {
    int fd;
    bool socket, broken;
    char *bytes;
    size_t begin, end, room;
    FILE *stream; /* for lib/json; to be flushed before anything else is added */
};

void output_open(struct output *output, int fd);

static inline size_t output_waiting(const struct output *output)
{
    return output->end - output->begin;
}

/* Where size more bytes may be written; output_add says how many were. */
char *output_place(struct output *output, size_t size);
void output_add(struct output *output, size_t size);

/* Gives the reader what it takes now, after poll said it takes something. */
void output_give(struct output *output);

/* Gives it all, waiting some seconds at most; false if the reader didn't take it. */
bool output_finish(struct output *output, double seconds);

void output_close(struct output *output);

#endif
