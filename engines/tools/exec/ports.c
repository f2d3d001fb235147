#include "ports.h"

#include "../../lib/failure.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ATTEMPTS 100
#define LISTENING 0x0a /* TCP_LISTEN as /proc/net writes it */

/* The port of the address, of one family or the other. */
static in_port_t *port_of(struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 ? &((struct sockaddr_in6 *)address)->sin6_port
                                          : &((struct sockaddr_in *)address)->sin_port;
}

/* Has a socket of that type take the port, 0: any. Returns the port it has, or 0. */
static int take(int family, int type, int port, int *fd)
{
    struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
    socklen_t length =
        family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    *port_of(&address) = htons((in_port_t)port);
    *fd = socket(family, type | SOCK_CLOEXEC, 0);
    if (*fd < 0 || bind(*fd, (struct sockaddr *)&address, length) != 0 ||
        getsockname(*fd, (struct sockaddr *)&address, &length) != 0)
        return 0;
    return ntohs(*port_of(&address));
}

int port_choose(void)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        int tcp, udp = -1;
        /* A socket of both families where there is IPv6, else of the other. */
        int family = AF_INET6, port = take(family, SOCK_STREAM, 0, &tcp);
        if (port == 0) {
            if (tcp >= 0)
                close(tcp);
            family = AF_INET;
            port = take(family, SOCK_STREAM, 0, &tcp);
        }
        bool is_free = port != 0 && take(family, SOCK_DGRAM, port, &udp) == port;
        if (tcp >= 0)
            close(tcp);
        if (udp >= 0)
            close(udp);
        if (is_free)
            return port;
    }
    fail(NO_PORTS, "no port is free for both TCP and UDP");
}

/* Whether a process has the socket. One that we may not look into counts as having it. */
static bool process_has(const char *process, unsigned long socket)
{
    char path[64], socket_name[64], target[64];
    snprintf(path, sizeof path, "/proc/%.20s/fd", process);
    snprintf(socket_name, sizeof socket_name, "socket:[%lu]", socket);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return errno == EACCES;
    bool has = false;
    for (struct dirent *entry; !has && (entry = readdir(folder));) {
        ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        has = strcmp(target, socket_name) == 0;
    }
    closedir(folder);
    return has;
}

static bool group_has(pid_t group, unsigned long socket)
{
    DIR *processes = opendir("/proc");
    bool has = false;
    for (struct dirent *entry; processes && !has && (entry = readdir(processes));)
        has = isdigit((unsigned char)*entry->d_name) &&
              getpgid((pid_t)strtol(entry->d_name, NULL, 10)) == group &&
              process_has(entry->d_name, socket);
    if (processes)
        closedir(processes);
    return has;
}

/* group 0: whoever has it. */
static bool in_table(const char *path, int port, bool listening, pid_t group)
{
    char line[512];
    bool is_bound = false;
    FILE *table = fopen(path, "re");
    if (table == NULL)
        return false;
    while (!is_bound && fgets(line, sizeof line, table)) {
        unsigned local, state;
        unsigned long socket;
        if (sscanf(line,
                   "%*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*d %lu",
                   &local, &state, &socket) == 3)
            is_bound = local == (unsigned)port && (!listening || state == LISTENING) &&
                    (group == 0 || group_has(group, socket));
    }
    fclose(table);
    return is_bound;
}

bool port_taken(int port, pid_t group)
{
    return in_table("/proc/net/tcp", port, true, group) ||
           in_table("/proc/net/tcp6", port, true, group) ||
           in_table("/proc/net/udp", port, false, group) ||
           in_table("/proc/net/udp6", port, false, group);
}
