/* What a command writes: the beginning of its standard output, the end of its standard error. */
#ifndef RAIL_EXEC_CAPTURE_H
#define RAIL_EXEC_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUT_LIMIT (1 << 20) /* of standard output; the rest is read and thrown away */
#define ERRORS_LIMIT 1024      /* of standard error, its end */

struct capture {
    int out, err; /* -1 once closed */
    size_t length, errors_length;
    char *output; /* OUTPUT_LIMIT bytes */
    char errors[ERRORS_LIMIT];
};

/* With room for the output; fails if there is none. */
void capture_prepare(struct capture *capture);

/* Lets go of what there is, and of its memory: a command counts as its own what its process had
 * before it became the command. */
void capture_forget(struct capture *capture);

/* Reads from these two ends from now on, without ever waiting for them. */
void capture_begin(struct capture *capture, int out, int err);

/* Reads until the process (a descriptor of one, or -1) has ended: a child that it left behind with
 * its output is not waited for. False if the limit passed first. Before Linux 5.3 there is no
 * descriptor of a process, and the end of both outputs has to do. */
bool capture_collect(struct capture *capture, int process, uint64_t limit);

/* Takes the rest of the output and lets go of both ends and the process. */
void capture_finish(struct capture *capture, int process);

/* The end of what the command said about itself: its standard error or, if that is empty, its
 * output. Not ended by a zero. */
const char *capture_words(const struct capture *capture, int *length);

#endif
