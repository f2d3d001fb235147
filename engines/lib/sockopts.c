#include "sockopts.h"

#include "failure.h"
#include "parameters.h"
#include "sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void set_option(int fd, int level, int name, int value, const char *option)
{
    if (setsockopt(fd, level, name, &value, sizeof value) != 0)
        fail(SYSTEM_ERROR, "cannot set %s to %d: %s", option, value, strerror(errno));
}

int get_option(int fd, int level, int name)
{
    int value = 0;
    socklen_t length = sizeof value;
    getsockopt(fd, level, name, &value, &length);
    return value;
}

/* The first of these parameters that says anything. */
static size_t first_size(const struct launch *launch, const char *const names[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (size_of(launch, names[i]) > 0)
            return size_of(launch, names[i]);
    return 0;
}

struct buffers buffers_of(const struct launch *launch, bool server)
{
    static const char *const sending[] = {"server_sndbuf", "server_sockbuf", "sndbuf", "sockbuf"};
    static const char *const receiving[] = {"server_rcvbuf", "server_sockbuf", "rcvbuf", "sockbuf"};
    size_t own = server ? 0 : 2; /* the client's names come after those of the server alone */
    return (struct buffers){.send = first_size(launch, sending + own, 4 - own),
                            .receive = first_size(launch, receiving + own, 4 - own)};
}

static void set_buffer(int fd, const char *field, int option, int force, const char *sysctl,
                       size_t requested, struct fields *settings)
{
    int value = (int)requested;
    if (requested > 0)
        setsockopt(fd, SOL_SOCKET, option, &value, sizeof value);
    int granted = get_option(fd, SOL_SOCKET, option);
    if (granted / 2 < value) { /* only a process with CAP_NET_ADMIN may go past the limit */
        setsockopt(fd, SOL_SOCKET, force, &value, sizeof value);
        granted = get_option(fd, SOL_SOCKET, option);
    }
    fields_add_number(settings, field, granted);
    if (granted / 2 >= value)
        return;
    char warning[MESSAGE_LIMIT];
    snprintf(warning, sizeof warning,
             "buffer-clamped %s: asked for %d bytes, the kernel granted %d of the doubled %lld; "
             "lift the limit with 'sysctl -w %s=%d'",
             field, value, granted, 2LL * value, sysctl, value);
    fields_add(settings, "warning", warning);
}

void set_buffers(int fd, struct buffers requested, struct fields *settings)
{
    set_buffer(fd, "sndbuf", SO_SNDBUF, SO_SNDBUFFORCE, "net.core.wmem_max", requested.send,
               settings);
    set_buffer(fd, "rcvbuf", SO_RCVBUF, SO_RCVBUFFORCE, "net.core.rmem_max", requested.receive,
               settings);
}

void choose_waiting(int fd, const struct launch *launch, struct fields *settings)
{
    if (!int_of(launch, "blocking") && fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) != 0)
        fail(SYSTEM_ERROR, "cannot make a test socket non-blocking: %s", strerror(errno));
    fields_add(settings, "blocking", fcntl(fd, F_GETFL) & O_NONBLOCK ? "false" : "true");
}

void set_tos(int fd, int family, int tos, struct fields *settings)
{
    int level = family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    int name = family == AF_INET6 ? IPV6_TCLASS : IP_TOS;
    if (tos > 0)
        set_option(fd, level, name, tos, "tos");
    fields_add_number(settings, "tos", get_option(fd, level, name));
}

void add_place(int fd, struct fields *settings)
{
    char text[ADDRESS_LIMIT];
    struct address own = local_address(fd);
    address_text(&own, text);
    fields_add(settings, "address", text);
    fields_add_number(settings, "port", address_port(&own));
}
