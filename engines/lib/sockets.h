/* Addresses and sockets: names to addresses, connecting in bounded time, listening. */
#ifndef RAIL_SOCKETS_H
#define RAIL_SOCKETS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADDRESS_LIMIT 80 /* an address with its port as text */

struct address {
    socklen_t length;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_storage space;
    };
};

void address_text(const struct address *address, char out[ADDRESS_LIMIT]); /* without the port */
int address_port(const struct address *address);
void address_set_port(struct address *address, int port);
bool is_loopback(const struct address *address);
bool same_host(const struct address *a, const struct address *b);

/* The socket's own address, or its peer's. IPv4 in IPv6's clothing comes as plain IPv4. */
struct address local_address(int fd);
struct address peer_address(int fd);
/* The peer's, if the socket is connected to one. */
bool has_peer(int fd, struct address *peer);

/* A control connection to host; ip is "any", "4" or "6". Fails with a sentence. */
/* The first address of that IP version that the name has; false if it has none. */
bool look_up(const char *name, const char *ip, struct address *address);
/* The first address that the name has, or fails. */
struct address find_host(const char *host, int port, const char *ip);
int connect_to_host(const char *host, int port, const char *ip);

/* A listening control socket on bind (NULL: every address, IPv4 and IPv6). Fails likewise. */
int listen_on(const char *bind, int port);

/* A socket of the family, closed on exec. */
int open_socket(int family, int type);

/* Binds to the address, or fails with PORT_IN_USE. */
void bind_socket(int fd, const struct address *address);

/* Connects within ten seconds; returns 0 or the error. */
int connect_socket(int fd, const struct address *address);

/* Likewise, of a call that left the connection under way, as one does that a stop and SIGCONT end
 * (signal(7)). */
int await_connection(int fd);

/* Fails with what that error of connect_socket means, and what to do if nobody listens there. */
_Noreturn void connect_failed(int error, const struct address *address, const char *advice);
#define TEST_PORT_ADVICE "does a firewall refuse the test port? --data-port chooses it"

/* Options of a control connection. No keep-alive probes: a stream that fills a slow link drowns
 * them, and a healthy test would end. Whoever waits for a peer has a time limit of his own. */
void tune_control(int fd);

/* Waits until fd is readable; false when the time is up. */
bool wait_readable(int fd, uint64_t deadline_ns);

/* Waits in receiving and in sending calls end after this time. */
void set_timeouts(int fd, double seconds);

/* Waits in receiving calls end at a signal only (interrupt_calls): with a timeout the kernel sets
 * and removes a timer in each. */
void wait_without_limit(int fd);

/* Bytes nobody can guess. */
void random_bytes(void *out, size_t size); /* 256 at most */
uint64_t random_token(void);

#endif
