/* Two processes connect to each other at the same time, and each to a third. Each prints how many
 * connections it has, how many are between the two, and its own addresses of these. */
#include "../mpi/connections.c"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int must(int result)
{
    if (result < 0) {
        perror("connections_probe");
        exit(1);
    }
    return result;
}

static int listening(struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    int fd = must(socket(AF_INET, SOCK_STREAM, 0));
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(bind(fd, (struct sockaddr *)address, length));
    must(listen(fd, 8));
    must(getsockname(fd, (struct sockaddr *)address, &length));
    return fd;
}

static void exchange(int way, const void *own, void *other, size_t size)
{
    if (write(way, own, size) != (ssize_t)size)
        must(-1);
    for (size_t done = 0; done < size;)
        done += (size_t)must((int)read(way, (char *)other + done, size - done));
}

/* As a rank does: it connects, accepts, and compares what it has. */
static void be_rank(int way, const char *name, int own, const struct sockaddr_in *other,
                    const struct sockaddr_in *third)
{
    static struct connections ours, theirs;
    char go = 0;
    exchange(way, &go, &go, 1);
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6, .sin6_port = other->sin_port};
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr);
    int to_other = must(socket(AF_INET6, SOCK_STREAM, 0));
    int to_third = must(socket(AF_INET, SOCK_STREAM, 0));
    must(connect(to_other, (const struct sockaddr *)&mapped, sizeof mapped));
    must(connect(to_third, (const struct sockaddr *)third, sizeof *third));
    must(accept(own, NULL, NULL));
    connections_read(&ours);
    exchange(way, &ours, &theirs, sizeof ours);
    uint64_t between = connections_between(&ours, &theirs);
    printf("%s %" PRIu32 " %d", name, ours.count, __builtin_popcountll(between));
    for (uint32_t i = 0; i < ours.count; i++) {
        char text[ADDRESS_LIMIT];
        address_text(&ours.list[i].own, text);
        if (between >> i & 1)
            printf(" %s", text);
    }
    printf("\n");
    fflush(stdout);
    exchange(way, &go, &go, 1); /* neither closes its sockets before the other has looked */
}

int main(void)
{
    struct sockaddr_in addresses[3];
    int ways[2], status, sockets[3];
    for (int i = 0; i < 3; i++)
        sockets[i] = listening(&addresses[i]);
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ways));
    pid_t child = must(fork());
    bool second = child == 0;
    be_rank(ways[second], second ? "second" : "first", sockets[second], &addresses[!second],
            &addresses[2]);
    if (second)
        return 0;
    must(waitpid(child, &status, 0));
    return status;
}
