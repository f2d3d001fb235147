/* Ports of this host's network, for servers that we didn't write. */
#ifndef RAIL_EXEC_PORTS_H
#define RAIL_EXEC_PORTS_H

#include <stdbool.h>
#include <sys/types.h>

/* A port that nobody has, neither for TCP nor for UDP; fails if there is none. */
int port_choose(void);

/* True if a process of that group, or any if it is 0, listens on the port (TCP) or has it (UDP). */
bool port_taken(int port, pid_t group);

#endif
