#include "congestion.h"

#include "failure.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static void read_list(const char *list_name, char *out, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/sys/net/ipv4/tcp_%s_congestion_control", list_name);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(out, (int)size, file) == NULL)
        snprintf(out, size, "unknown");
    out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
}

void set_congestion(int fd, const char *name)
{
    if (strcmp(name, "system") == 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0)
        return;
    int error = errno;
    char available[256], allowed[256];
    read_list("available", available, sizeof available);
    read_list("allowed", allowed, sizeof allowed);
    fail(CONGESTION_REFUSED,
         "the kernel refuses congestion control %s (%s); available: %s; allowed without root: %s; "
         "choose one of these, or 'system', or let root add to "
         "net.ipv4.tcp_allowed_congestion_control",
         name, strerror(error), available, allowed);
}

void add_congestion(int fd, struct fields *settings)
{
    char name[64] = "";
    socklen_t length = sizeof name - 1;
    getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length);
    fields_add(settings, "congestion", name);
}
