/* The watchers' end of marks (lib/mark.h is the engines'): one poll loop takes requests of several
 * engines and answers each once the counters have been read. Only processes of the same user and
 * root's are heard. */
#ifndef RAIL_MARKS_H
#define RAIL_MARKS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARK_CLIENTS 32 /* connections; one more takes the place of the one silent for longest */

struct mark {
    char label[8];        /* "begin" or "end" */
    uint64_t launch;      /* at most INT64_MAX */
    uint64_t replication; /* 0: a warm-up; at most INT32_MAX */
    int client;           /* for marks_answer */
};

struct marks {
    int listening;
    int clients[MARK_CLIENTS];    /* -1: a free place */
    uint64_t last_used[MARK_CLIENTS]; /* when it last connected or asked, in turns */
    uint64_t turns;
};

/* Listens on that name; fails with NAME_IN_USE if somebody else does, and BAD_PARAMETER if it can
 * be no name. */
void marks_open(struct marks *marks, const char *name);

/* Fills up to MARK_CLIENTS + 1 entries, returns how many. */
int marks_poll_set(const struct marks *marks, struct pollfd *set);

/* Takes what poll found in such a set, one thing a call: call it, and answer, until it is false.
 * It never waits. */
bool marks_next(struct marks *marks, struct pollfd *set, int count, struct mark *mark);

/* Says that the counters have been read. */
void marks_answer(struct marks *marks, const struct mark *mark);

/* Lets go of the name and of all who are connected. */
void marks_close(struct marks *marks);

/* Reads a request of that many bytes; false if it is none. */
bool marks_parse(const char *text, size_t length, struct mark *mark);

#endif
