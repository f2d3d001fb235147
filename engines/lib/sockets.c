#include "sockets.h"

#include "clock.h"
#include "failure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <unistd.h>

#define CONNECT_SECONDS 10.0
#define BACKLOG 128

/* A server that listens on both IP versions sees IPv4 clients as ::ffff:a.b.c.d; test sockets and
 * reports want the IPv4 address itself. */
static void unmap(struct address *address)
{
    if (address->any.sa_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr))
        return;
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = address->v6.sin6_port};
    memcpy(&v4.sin_addr, &address->v6.sin6_addr.s6_addr[12], 4);
    address->v4 = v4;
    address->length = sizeof v4;
}

void address_text(const struct address *address, char out[ADDRESS_LIMIT])
{
    if (getnameinfo(&address->any, address->length, out, ADDRESS_LIMIT, NULL, 0,
                    NI_NUMERICHOST) != 0)
        snprintf(out, ADDRESS_LIMIT, "?");
}

int address_port(const struct address *address)
{
    return ntohs(address->any.sa_family == AF_INET6 ? address->v6.sin6_port
                                                    : address->v4.sin_port);
}

void address_set_port(struct address *address, int port)
{
    in_port_t network_order = htons((uint16_t)port);
    if (address->any.sa_family == AF_INET6)
        address->v6.sin6_port = network_order;
    else
        address->v4.sin_port = network_order;
}

bool is_loopback(const struct address *address)
{
    return address->any.sa_family == AF_INET6
               ? IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr)
               : ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool same_host(const struct address *a, const struct address *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET6)
        return memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof a->v6.sin6_addr) == 0 &&
               a->v6.sin6_scope_id == b->v6.sin6_scope_id; /* each link has its own fe80::1 */
    return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
}

struct address local_address(int fd)
{
    struct address address = {.length = sizeof address.space};
    if (getsockname(fd, &address.any, &address.length) != 0)
        fail(SYSTEM_ERROR, "cannot read a socket's address: %s", strerror(errno));
    unmap(&address);
    return address;
}

bool has_peer(int fd, struct address *peer)
{
    *peer = (struct address){.length = sizeof peer->space};
    if (getpeername(fd, &peer->any, &peer->length) != 0)
        return false;
    unmap(peer);
    return true;
}

struct address peer_address(int fd)
{
    struct address address;
    if (!has_peer(fd, &address))
        fail(PEER_LOST, "the other end hung up at once");
    return address;
}

int open_socket(int family, int type)
{
    int fd = socket(family, type | SOCK_CLOEXEC, 0);
    if (fd < 0)
        fail(SYSTEM_ERROR, "cannot open a socket: %s", strerror(errno));
    return fd;
}

void bind_socket(int fd, const struct address *address)
{
    char text[ADDRESS_LIMIT];
    if (bind(fd, &address->any, address->length) == 0)
        return;
    int error = errno;
    address_text(address, text);
    if (error == EADDRINUSE)
        fail(PORT_IN_USE, "port %d of %s is in use: choose another, or 0 for any",
             address_port(address), text);
    if (error == EADDRNOTAVAIL)
        fail(BAD_PARAMETER, "%s is no address of this host", text);
    fail(SYSTEM_ERROR, "cannot use port %d of %s: %s", address_port(address), text,
         strerror(error));
}

bool wait_readable(int fd, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = now_ns();
        struct pollfd poll_entry = {.fd = fd, .events = POLLIN};
        uint64_t left_ms = now >= deadline_ns ? 0 : (deadline_ns - now) / 1000000 + 1;
        int wait_ms = left_ms < 60000 ? (int)left_ms : 60000;
        int ready = poll(&poll_entry, 1, wait_ms);
        if (ready > 0)
            return true;
        if (ready == 0 && now >= deadline_ns)
            return false;
    }
}

int await_connection(int fd)
{
    struct pollfd poll_entry = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t length = sizeof error;
    if (poll(&poll_entry, 1, (int)(CONNECT_SECONDS * 1000)) <= 0)
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

int connect_socket(int fd, const struct address *address)
{
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    int error = connect(fd, &address->any, address->length) == 0 ? 0 : errno;
    if (error == EINPROGRESS)
        error = await_connection(fd);
    fcntl(fd, F_SETFL, flags);
    return error;
}

void connect_failed(int error, const struct address *address, const char *advice)
{
    char text[ADDRESS_LIMIT];
    address_text(address, text);
    int port = address_port(address);
    if (error == ECONNREFUSED)
        fail(CONNECTION_REFUSED, "nothing listens on port %d of %s: %s", port, text, advice);
    if (error == ETIMEDOUT)
        fail(CONNECT_TIMEOUT,
             "port %d of %s did not answer within %g s: is the host up, and does a firewall let "
             "the port through?",
             port, text, CONNECT_SECONDS);
    if (error == EHOSTUNREACH || error == ENETUNREACH)
        fail(UNREACHABLE, "there is no way to %s: %s", text, strerror(error));
    if (error == EADDRNOTAVAIL)
        fail(NO_PORTS,
             "all local ports from which port %d of %s could be connected to are taken: widen "
             "them with 'sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"', use fewer "
             "threads, or wait a minute until those of closed connections (TIME_WAIT) are free",
             port, text);
    fail(SYSTEM_ERROR, "cannot connect to port %d of %s: %s", port, text, strerror(error));
}

static struct addrinfo *resolve(const char *host, int port, int family, int flags)
{
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    struct addrinfo hints = {
        .ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *addresses;
    int error = getaddrinfo(host, service, &hints, &addresses);
    if (error)
        fail(UNKNOWN_HOST, "cannot find the address of '%.200s'%s: %s", host,
             family == AF_INET    ? " for IPv4"
             : family == AF_INET6 ? " for IPv6"
                                  : "",
             error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
    return addresses;
}

static struct address from_info(const struct addrinfo *info)
{
    struct address address = {.length = info->ai_addrlen};
    memcpy(&address.space, info->ai_addr, info->ai_addrlen);
    return address;
}

static int family_of(const char *ip)
{
    return *ip == '4' ? AF_INET : *ip == '6' ? AF_INET6 : AF_UNSPEC;
}

bool look_up(const char *name, const char *ip, struct address *address)
{
    struct addrinfo hints = {.ai_family = family_of(ip), .ai_socktype = SOCK_STREAM};
    struct addrinfo *addresses;
    if (getaddrinfo(name, NULL, &hints, &addresses) != 0)
        return false;
    *address = from_info(addresses);
    freeaddrinfo(addresses);
    return true;
}

struct address find_host(const char *host, int port, const char *ip)
{
    struct addrinfo *addresses = resolve(host, port, family_of(ip), 0);
    struct address address = from_info(addresses);
    freeaddrinfo(addresses);
    unmap(&address);
    return address;
}

int connect_to_host(const char *host, int port, const char *ip)
{
    struct addrinfo *addresses = resolve(host, port, family_of(ip), 0);
    struct address address = from_info(addresses);
    int fd = -1, error = 0;
    for (struct addrinfo *info = addresses; info; info = info->ai_next) {
        address = from_info(info);
        fd = open_socket(info->ai_family, SOCK_STREAM);
        error = connect_socket(fd, &address);
        if (error == 0)
            break;
        close(fd);
    }
    freeaddrinfo(addresses);
    if (error)
        connect_failed(error, &address, "is the server running?");
    tune_control(fd);
    return fd;
}

int listen_on(const char *bind_to, int port)
{
    struct address address = {.length = sizeof address.v6};
    address.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
    if (bind_to) {
        struct addrinfo *addresses = resolve(bind_to, port, AF_UNSPEC, AI_PASSIVE);
        address = from_info(addresses);
        freeaddrinfo(addresses);
    }
    int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 && !bind_to) { /* a kernel without IPv6 */
        address.length = sizeof address.v4;
        address.v4 = (struct sockaddr_in){.sin_family = AF_INET};
        fd = open_socket(AF_INET, SOCK_STREAM);
    } else if (fd < 0) {
        fail(SYSTEM_ERROR, "cannot open a socket: %s", strerror(errno));
    }
    address_set_port(&address, port);
    int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!bind_to && address.any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    bind_socket(fd, &address);
    if (listen(fd, BACKLOG) != 0) {
        if (errno == EADDRINUSE)
            fail(PORT_IN_USE, "port %d is in use: choose another, or 0 for any", port);
        fail(SYSTEM_ERROR, "cannot listen on port %d: %s", port, strerror(errno));
    }
    return fd;
}

void tune_control(int fd)
{
    const int on = 1, unacknowledged_ms = 30000;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
}

void set_timeouts(int fd, double seconds)
{
    struct timeval time = {.tv_sec = (time_t)seconds};
    time.tv_usec = (suseconds_t)((seconds - (double)time.tv_sec) * 1e6);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

void wait_without_limit(int fd)
{
    const struct timeval none = {0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
}

void random_bytes(void *out, size_t size)
{
    while (getrandom(out, size, 0) != (ssize_t)size)
        if (errno != EINTR)
            fail(SYSTEM_ERROR, "the kernel gives no random bytes: %s", strerror(errno));
}

uint64_t random_token(void)
{
    uint64_t token;
    random_bytes(&token, sizeof token);
    return token;
}
