/* Socket options of the test channel: set on purpose, read back, recorded. */
#ifndef RAIL_SOCKOPTS_H
#define RAIL_SOCKOPTS_H

#include "engine.h"
#include "fields.h"

/* Of one end: what the kernel is asked for; 0: its own. */
struct buffers {
    size_t send, receive;
};

/* The socket buffers of this end, as the parameters have them. */
struct buffers buffers_of(const struct launch *launch, bool server);

/* Asks for the socket buffers (0: leaves one alone) and records what the kernel granted, which
 * on Linux is twice what was asked; a warning if it is less. */
void set_buffers(int fd, struct buffers requested, struct fields *settings);

/* Beside sockbuf and server_sockbuf, for one direction; served: the modes with a server. */
#define BUFFER_PARAMETERS(served)                                                                 \
    {"sndbuf", SIZE, "0", 0, 1 << 29, NULL, NULL, "zcc -o",                                       \
     "the send buffer (SO_SNDBUF) on both ends, where it differs from sockbuf; 0: as sockbuf",    \
     .implied = "0"},                                                                             \
    {"rcvbuf", SIZE, "0", 0, 1 << 29, NULL, NULL, "zcc -i",                                       \
     "the receive buffer (SO_RCVBUF) on both ends, where it differs from sockbuf; 0: as sockbuf", \
     .implied = "0"},                                                                             \
    {"server_sndbuf", SIZE, "0", 0, 1 << 29, NULL, served, "zcc -o",                              \
     "the server's send buffer, where it differs; 0: as server_sockbuf, or else as the client's", \
     .implied = "0"},                                                                             \
    {"server_rcvbuf", SIZE, "0", 0, 1 << 29, NULL, served, "zcc -i",                              \
     "the server's receive buffer, where it differs; 0: as server_sockbuf, or else as the "       \
     "client's",                                                                                  \
     .implied = "0"}

/* Makes the socket non-blocking if the parameter says so, and records whether it blocks. */
void choose_waiting(int fd, const struct launch *launch, struct fields *settings);

void set_tos(int fd, int family, int tos, struct fields *settings);

/* Records the socket's own address and port, and the CPUs this process may run on ("" for all). */
void add_place(int fd, struct fields *settings);

/* An option that must be there, or fail(SYSTEM_ERROR). */
void set_option(int fd, int level, int name, int value, const char *option);
int get_option(int fd, int level, int name);

#endif
