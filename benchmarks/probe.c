/* What loopback gives to the simplest program there is: read and write in a loop, nothing else.
 * It is the limit that the network benchmark puts beside the tools; it measures no network.
 *
 * probe tcp-receive PORT SIZE [SECONDS]      probe tcp-send PORT SIZE SECONDS
 * probe udp-receive PORT SIZE [BUFFER GRO]   probe udp-send PORT SIZE SECONDS BUFFER BATCH GSO
 * probe tcp-echo|udp-echo PORT SIZE POLL     probe tcp-ping|udp-ping PORT SIZE SECONDS POLL
 *
 * Prints one line of name=value; times in seconds, rates of the receiver over its own time. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define BATCH_LIMIT 64
#define BUFFER_LIMIT (1 << 20)
#define IDLE_SECONDS 0.3 /* a UDP stream that is silent for so long is over */

static char memory[BUFFER_LIMIT];
static struct sockaddr_in peer = {.sin_family = AF_INET};

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void set(int fd, int level, int option, int value)
{
    check(setsockopt(fd, level, option, &value, sizeof value) == 0, "setsockopt");
}

static int open_socket(bool tcp)
{
    int fd = socket(AF_INET, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
    check(fd >= 0, "socket");
    if (tcp) {
        set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
        check(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) == 0, "cubic");
    }
    return fd;
}

static int connect_to(bool tcp)
{
    int fd = open_socket(tcp);
    check(connect(fd, (struct sockaddr *)&peer, sizeof peer) == 0, "connect");
    return fd;
}

/* A bound socket; for TCP, the first connection to it. */
static int serve(bool tcp)
{
    int fd = open_socket(tcp);
    set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    check(bind(fd, (struct sockaddr *)&peer, sizeof peer) == 0, "bind");
    if (!tcp)
        return fd;
    check(listen(fd, 1) == 0, "listen");
    int connection = accept(fd, NULL, NULL);
    check(connection >= 0, "accept");
    close(fd);
    return connection;
}

static void tcp_receive(size_t size)
{
    int fd = serve(true);
    double first = 0, last = 0, bytes = 0;
    for (ssize_t got; (got = read(fd, memory, size)) > 0; bytes += last > first ? (double)got : 0) {
        last = now();
        first = first > 0 ? first : last;
    }
    printf("received_bytes=%.0f seconds=%.9f\n", bytes, last - first);
}

static void tcp_send(size_t size, double seconds)
{
    int fd = connect_to(true);
    for (double end = now() + seconds; now() < end;)
        check(write(fd, memory, size) > 0, "write");
}

static void udp_receive(size_t size, int buffer, bool gro)
{
    int fd = serve(false);
    double first = 0, last = 0, packets = 0, seen = 0;
    struct timeval idle = {0, (suseconds_t)(IDLE_SECONDS * 1e6)};
    if (buffer > 0)
        set(fd, SOL_SOCKET, SO_RCVBUF, buffer);
    if (gro)
        set(fd, IPPROTO_UDP, UDP_GRO, 1);
    check(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof idle) == 0, "timeout");
    for (;;) {
        ssize_t got = recv(fd, memory, sizeof memory, 0);
        if (got < 0 && first > 0)
            break;
        if (got < 0)
            continue; /* not begun; the alarm bounds it */
        last = now();
        seen += (double)((size_t)got / size);
        packets += first > 0 ? (double)((size_t)got / size) : 0;
        first = first > 0 ? first : last;
    }
    printf("received=%.0f timed=%.0f seconds=%.9f\n", seen, packets, last - first);
}

static void udp_send(size_t size, double seconds, int buffer, unsigned batch, int segments)
{
    int fd = connect_to(false);
    struct mmsghdr messages[BATCH_LIMIT];
    size_t length = segments > 0 ? size * (size_t)segments : size;
    struct iovec piece = {memory, length};
    double sent = 0;
    set(fd, SOL_SOCKET, SO_SNDBUF, buffer);
    if (segments > 0)
        set(fd, IPPROTO_UDP, UDP_SEGMENT, (int)size);
    memset(messages, 0, sizeof messages);
    for (unsigned i = 0; i < BATCH_LIMIT; i++)
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &piece, .msg_iovlen = 1};
    for (double end = now() + seconds; now() < end;) {
        int done = batch > 1 ? sendmmsg(fd, messages, batch, 0) : send(fd, memory, length, 0) > 0;
        check(done > 0, "send");
        sent += done * (double)(length / size);
    }
    printf("sent=%.0f\n", sent);
}

/* Reads one whole message; false when the other end is gone. */
static bool take(int fd, size_t size, bool poll, struct sockaddr_in *from)
{
    socklen_t length = sizeof *from;
    for (size_t have = 0; have < size;) {
        ssize_t got = recvfrom(fd, memory + have, size - have, poll ? MSG_DONTWAIT : 0,
                               (struct sockaddr *)from, from ? &length : NULL);
        if (got == 0)
            return false;
        check(got > 0 || errno == EAGAIN, "recv");
        have += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static void echo(bool tcp, size_t size, bool poll)
{
    int fd = serve(tcp);
    struct sockaddr_in from = peer;
    while (take(fd, size, poll, tcp ? NULL : &from))
        check(sendto(fd, memory, size, 0, tcp ? NULL : (struct sockaddr *)&from,
                     tcp ? 0 : sizeof from) > 0, "send");
}

static void ping(bool tcp, size_t size, double seconds, bool poll)
{
    int fd = connect_to(tcp);
    double begin = now(), end = begin + seconds, last = begin, trips = 0;
    while (last < end) {
        check(send(fd, memory, size, 0) > 0, "send");
        check(take(fd, size, poll, NULL), "the server's end");
        last = now();
        trips++;
    }
    printf("round_trips=%.0f round_trip=%.12f\n", trips, (last - begin) / trips);
}

int main(int argc, char **argv)
{
    double number[6] = {0};
    for (int i = 2; i < argc && i < 8; i++)
        number[i - 2] = atof(argv[i]);
    const char *work = argc > 3 ? argv[1] : "";
    size_t size = (size_t)number[1];
    bool tcp = strncmp(work, "tcp", 3) == 0;
    if (size == 0 || size > BUFFER_LIMIT || number[4] > BATCH_LIMIT) {
        fprintf(stderr, "probe: WORK PORT SIZE ...; see the head of probe.c\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    alarm(120); /* whatever happens */
    /* What was never written is one page of zeros, which stays in the first-level cache. */
    memset(memory, 0x55, sizeof memory);
    peer.sin_port = htons((uint16_t)number[0]);
    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (strcmp(work, "tcp-receive") == 0)
        tcp_receive(size);
    else if (strcmp(work, "tcp-send") == 0)
        tcp_send(size, number[2]);
    else if (strcmp(work, "udp-receive") == 0)
        udp_receive(size, (int)number[2], number[3] > 0);
    else if (strcmp(work, "udp-send") == 0)
        udp_send(size, number[2], (int)number[3], (unsigned)number[4], (int)number[5]);
    else if (strstr(work, "echo"))
        echo(tcp, size, number[2] > 0);
    else
        ping(tcp, size, number[2], number[3] > 0);
    return 0;
}
