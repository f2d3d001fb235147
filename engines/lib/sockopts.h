/* Socket options of the test channel: set on purpose, read back, recorded. */
#ifndef RAIL_SOCKOPTS_H
#define RAIL_SOCKOPTS_H

#include "engine.h"
#include "fields.h"

/* Asks for both socket buffers (0: leaves them alone) and records what the kernel granted, which
 * on Linux is twice what was asked; a warning if it is less. */
void set_buffers(int fd, size_t requested, struct fields *settings);

/* The size of the socket buffers on this end, as the parameters have it. */
size_t buffer_of(const struct launch *launch, bool server);

void set_tos(int fd, int family, int tos, struct fields *settings);

/* Records the socket's own address and port, and the CPUs this process may run on ("" for all). */
void add_place(int fd, struct fields *settings);

/* An option that must be there, or fail(SYSTEM_ERROR). */
void set_option(int fd, int level, int name, int value, const char *option);
int get_option(int fd, int level, int name);

#endif
