/* A machine's lock: a Unix socket with an abstract name, on which its holder listens and says who
 * that is. No file is left behind and no permission is in the way; when its process ends, however
 * it does, the kernel frees the name. Each network namespace has names of its own. */
#ifndef RAIL_HOLD_LOCK_H
#define RAIL_HOLD_LOCK_H

#include "../../lib/engine.h"
#include "../../lib/mark_socket.h"

#include <sys/types.h>

/* Who has the lock; "" and -1 where it said nothing. */
struct holder {
    bool identified;         /* it took the connection: then the next two are set */
    uid_t user;
    pid_t process;           /* 0 if it is in another namespace of processes */
    double seconds;          /* since it has the lock */
    char token[TEXT_LIMIT];  /* whose run it is, if we trust them */
    char text[TEXT_LIMIT];
};

/* Returns the socket that holds the lock, -1 if another process has it. */
int lock_take(const struct mark_address *address);

/* Returns a connection to whoever has the lock, which ends with it; -1 if nobody answers. */
int lock_visit(const struct mark_address *address, struct holder *holder);

/* Accepts a connection and names the holder to it, the token only to whom we trust: the connection,
 * -1 if it has hung up. */
int lock_answer(int lock, const char *token, double seconds, const char *text);

#endif
