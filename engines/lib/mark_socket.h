/* What both ends of marks have in common: their socket, its name, and whom they trust. */
#ifndef RAIL_MARK_SOCKET_H
#define RAIL_MARK_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#define MARK_NAME_LIMIT 65 /* a watcher's name, with its final zero */
#define MARK_NAME_RULE "1 to 64 letters, digits, '.', '_' and '-'"

struct mark_address {
    socklen_t length;
    struct sockaddr_un un;
};

/* The address with that name of so many bytes; false if it breaks the rule. */
bool mark_address(const char *name, size_t length, struct mark_address *address);

/* A socket that never blocks; -1 with errno. */
int mark_socket(void);

/* Connects the socket, for two seconds at most: where many call at once, each in its turn. False
 * with errno, EAGAIN if its turn didn't come. */
bool mark_connect(int fd, const struct mark_address *address);

/* The process at the other end is this user's or root's: anybody may take or call a name. */
bool mark_trusts(int fd);

#endif
