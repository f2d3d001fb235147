#include "transport_log.h"

#include "binding.h"

#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKETS 4096 /* descriptors looked at */

static void add_to(char *list, size_t size, const char *name)
{
    size_t length = strlen(name), used = strlen(list);
    for (const char *at = list; length && *at;) {
        size_t step = strcspn(at, ",");
        if (step == length && memcmp(at, name, length) == 0)
            return;
        at += step + (at[step] == ',');
    }
    if (length && used + length + 2 <= size)
        snprintf(list + used, size - used, "%s%s", used ? "," : "", name);
}

void add_to_list(char list[LOG_NAME], const char *name)
{
    add_to(list, LOG_NAME, name);
}

/* "[[18630,1],3]": the rank in it, -1 if there is none. */
static int rank_in(const char *text)
{
    int rank;
    const char *name = text ? strstr(text, "[[") : NULL;
    const char *end = name ? strchr(name, ']') : NULL;
    return end && sscanf(end, "],%d]", &rank) == 1 ? rank : -1;
}

static void take_line(struct transport_log *log, const char *line, int own)
{
    char name[64];
    const char *at;
    if ((at = strstr(line, "select: component ")) != NULL &&
        sscanf(at, "select: component %63[a-z0-9_] selected", name) == 1 &&
        strstr(at, " selected") != NULL)
        snprintf(log->pml, sizeof log->pml, "%s", name);
    else if ((at = strstr(line, "mca: bml: Using ")) != NULL &&
             sscanf(at, "mca: bml: Using %63s btl for send to", name) == 1 && rank_in(at) != own)
        add_to(log->btls, sizeof log->btls, name);
    else if ((at = strstr(line, "now connected to ")) != NULL &&
             sscanf(at, "now connected to %63[^, ]", name) == 1)
        add_to(log->addresses, sizeof log->addresses, name);
}

void transport_log_read(struct transport_log *log, FILE *text, int rank)
{
    char line[1024];
    while (fgets(line, sizeof line, text))
        take_line(log, line, rank);
}

/* The socket's other end, or ours; false if it is none of TCP. */
static bool address_at(int fd, bool other, char address[NI_MAXHOST])
{
    struct sockaddr_storage a;
    socklen_t length = sizeof a;
    int type = 0;
    socklen_t type_length = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_length) != 0 || type != SOCK_STREAM)
        return false;
    int status = other ? getpeername(fd, (struct sockaddr *)&a, &length)
                    : getsockname(fd, (struct sockaddr *)&a, &length);
    return status == 0 && (a.ss_family == AF_INET || a.ss_family == AF_INET6) &&
           getnameinfo((struct sockaddr *)&a, length, address, NI_MAXHOST, NULL, 0,
                       NI_NUMERICHOST) == 0;
}

/* Among the sockets of this process, those that are connected to one of the addresses. */
void transport_log_add_interfaces(const struct transport_log *log, struct fields *settings)
{
    char interfaces[LOG_NAME] = "", addresses[4 * LOG_NAME] = "", extended[4 * LOG_NAME];
    for (int fd = 3; fd < SOCKETS; fd++) {
        char other[NI_MAXHOST], own[NI_MAXHOST], name[64];
        if (!address_at(fd, true, other) || !address_at(fd, false, own))
            continue;
        snprintf(extended, sizeof extended, "%s", log->addresses);
        add_to(extended, sizeof extended, other);
        if (strcmp(extended, log->addresses) != 0) /* it was not among them */
            continue;
        add_to(addresses, sizeof addresses, own);
        if (interface_of(own, name, sizeof name))
            add_to(interfaces, sizeof interfaces, name);
    }
    if (*interfaces)
        fields_add(settings, "tcp_interface", interfaces);
    if (*addresses)
        fields_add(settings, "tcp_address", addresses);
}
