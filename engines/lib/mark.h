/* Tells the watchers on this host (rail-watch, rail-soak) that a replication begins or ends, and
 * waits until they have read their counters. A watcher listens on a Unix socket with an abstract
 * name, SOCK_SEQPACKET; a request is "begin LAUNCH REPLICATION" or "end LAUNCH REPLICATION", in
 * decimal, and its answer is "ok". lib/marks.h is the other end. */
#ifndef RAIL_MARK_H
#define RAIL_MARK_H

#include "engine.h"

#include <stdint.h>

#define MARK_BEGIN "begin"
#define MARK_END "end"
#define MARK_ANSWER "ok"
#define MARK_LIMIT 64      /* bytes of a request, which has no final zero */
#define MARK_WATCHERS 2    /* on a host, at most */

/* Reads "NAME[+NAME][,NAME[+NAME]...]:LAUNCH", what --watch says: the watchers of one host after
 * the other, and the number that marks carry. False with a sentence in problem. */
bool mark_check(const char *watch, int *hosts, char problem[MESSAGE_LIMIT]);

/* Tells all watchers of that host in the launch's list; 0 is the first. Nothing to do without a
 * list. A watcher that doesn't answer within five seconds, or is not to be trusted, is sent nothing
 * more in this process: then false, with a sentence in problem. */
bool mark_watchers(const struct launch *launch, int host, const char *label, long replication,
                   char problem[MESSAGE_LIMIT]);

/* For the next launch in this process, which has watchers of its own. */
void mark_anew(void);

/* Likewise of a process that has one host and reports: a problem becomes a warning. */
void mark_replication(const struct launch *launch, const char *label, long replication);

#define MARK_WARNING "no-watch" /* its code */

#endif
