/* Is every rank on the machine that it was meant to be started on? */
#include "binding.h"

#include "../lib/sockets.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int addresses_in(const char *list)
{
    int count = 1;
    for (; *list; list++)
        count += *list == ',';
    return count;
}

int hosts_of(const struct launch *launch)
{
    const char *list = launch->rank_addresses;
    return list && *list ? addresses_in(list) : 1;
}

bool address_of_rank(const struct launch *launch, int rank, int ranks, char *out, size_t size)
{
    const char *at = launch->rank_addresses;
    if (at == NULL || *at == '\0')
        return false;
    int count = addresses_in(at);
    if (ranks < count || ranks % count != 0)
        return false;
    for (int skip = rank / (ranks / count); skip > 0; skip--)
        at = strchr(at, ',') + 1;
    snprintf(out, size, "%.*s", (int)strcspn(at, ","), at);
    return true;
}

static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a == NULL || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return memcmp(&((const struct sockaddr_in *)(const void *)a)->sin_addr,
                      &((const struct sockaddr_in *)(const void *)b)->sin_addr,
                      sizeof(struct in_addr)) == 0;
    return a->sa_family == AF_INET6 &&
           memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
                  &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr,
                  sizeof(struct in6_addr)) == 0;
}

/* Any of the addresses that a name has. */
static bool has_any(const struct sockaddr *own, const struct addrinfo *candidates)
{
    for (; candidates; candidates = candidates->ai_next)
        if (same_address(own, candidates->ai_addr))
            return true;
    return false;
}

bool interface_of(const char *address, char *out, size_t size)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    struct addrinfo *candidates = NULL;
    struct ifaddrs *all = NULL;
    bool matches = false;
    if (getaddrinfo(address, NULL, &hints, &candidates) == 0 && getifaddrs(&all) == 0)
        for (const struct ifaddrs *interface = all; interface && !matches;
             interface = interface->ifa_next) {
            matches = has_any(interface->ifa_addr, candidates);
            if (matches)
                snprintf(out, size, "%s", interface->ifa_name);
        }
    if (candidates)
        freeaddrinfo(candidates);
    if (all)
        freeifaddrs(all);
    return matches;
}

/* True if sockets can be bound to addresses of other machines, as fail-over pairs have it. */
static bool binds_to_any(int family)
{
    FILE *file = fopen(family == AF_INET6 ? "/proc/sys/net/ipv6/ip_nonlocal_bind"
                                          : "/proc/sys/net/ipv4/ip_nonlocal_bind",
                       "re");
    bool any = file && fgetc(file) == '1';
    if (file)
        fclose(file);
    return any;
}

/* A machine may also answer to addresses that no interface shows (a whole routed prefix): what
 * counts is whether a socket can be bound to one, where that says something. */
static bool is_ours(const char *address)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    struct addrinfo *infos = NULL;
    bool is_local = false;
    char name[64];
    if (getaddrinfo(address, "0", &hints, &infos) != 0)
        return false;
    for (const struct addrinfo *info = infos; info && !is_local; info = info->ai_next) {
        int fd = socket(info->ai_family, info->ai_socktype, 0);
        is_local = fd >= 0 && bind(fd, info->ai_addr, info->ai_addrlen) == 0 &&
               (!binds_to_any(info->ai_family) || interface_of(address, name, sizeof name));
        if (fd >= 0)
            close(fd);
    }
    freeaddrinfo(infos);
    return is_local;
}

/* A sentence in problem if this machine hasn't the rank's address. */
static void look_for_address(const struct launch *launch, int rank, int ranks,
                             char problem[MESSAGE_LIMIT])
{
    char address[NI_MAXHOST], host[256] = "";
    *problem = '\0';
    gethostname(host, sizeof host - 1);
    if (address_of_rank(launch, rank, ranks, address, sizeof address) && !is_ours(address))
        snprintf(problem, MESSAGE_LIMIT,
                 "rank %d should be on the host with address %.200s but runs on %.200s, which has "
                 "no such address: the launcher took the hosts in another order",
                 rank, address, host);
}

void warn_if_misplaced(const struct launch *launch)
{
    char problem[MESSAGE_LIMIT];
    look_for_address(launch, rank_before_mpi(), ranks_before_mpi(), problem);
    if (*problem && rank_before_mpi() == 0)
        fail(WRONG_RANK, "%s", problem);
    if (*problem)
        fprintf(stderr, "rail-mpi: %s\n", problem);
}

void must_be_at_addresses(const struct job *job)
{
    const char *list = job->launch->rank_addresses;
    char problem[MESSAGE_LIMIT];
    if (list == NULL || *list == '\0')
        return;
    if (job->ranks % addresses_in(list) != 0) {
        snprintf(problem, sizeof problem, "%d ranks cannot be shared evenly among %d addresses",
                 job->ranks, addresses_in(list));
        must_agree(job, WRONG_COUNT, problem);
    }
    look_for_address(job->launch, job->rank, job->ranks, problem);
    must_agree(job, WRONG_RANK, *problem ? problem : NULL);
}
