#include "outlet.h"

#include "../lib/clock.h"
#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"
#include "../lib/sockopts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIPE_SIZE (1 << 20)
#define REAP_EVERY 32 /* zero-copy calls between two looks at what is done */
#define REAP_SECONDS 10.0

static ssize_t put_send(struct outlet *o, const struct item *item, size_t at, size_t size)
{
    (void)item;
    (void)at;
    return send(o->fd, o->data, size, MSG_NOSIGNAL);
}

static ssize_t put_write(struct outlet *o, const struct item *item, size_t at, size_t size)
{
    (void)item;
    (void)at;
    return write(o->fd, o->data, size);
}

/* Has the next bytes of the file in the buffer, unless some are left there. */
static void fill(struct outlet *o, const struct item *item, size_t at, size_t size)
{
    if (o->held > 0)
        return;
    ssize_t got;
    do
        got = pread(item->fd, o->data, size < o->room ? size : o->room, (off_t)at);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        file_changed(item);
    o->from = 0;
    o->held = (size_t)got;
}

static ssize_t drained(struct outlet *o, ssize_t step)
{
    if (step > 0) {
        o->from += (size_t)step;
        o->held -= (size_t)step;
    }
    return step;
}

static ssize_t put_read_send(struct outlet *o, const struct item *item, size_t at, size_t size)
{
    fill(o, item, at, size);
    return drained(o, send(o->fd, o->data + o->from, o->held, MSG_NOSIGNAL));
}

static ssize_t put_read_write(struct outlet *o, const struct item *item, size_t at, size_t size)
{
    fill(o, item, at, size);
    return drained(o, write(o->fd, o->data + o->from, o->held));
}

static ssize_t put_sendfile(struct outlet *o, const struct item *item, size_t at, size_t size)
{
    off_t offset = (off_t)at;
    ssize_t step = sendfile(o->fd, item->fd, &offset, size);
    if (step == 0 || (step < 0 && errno == EIO))
        file_changed(item);
    return step;
}

static ssize_t put_splice(struct outlet *o, const struct item *item, size_t at, size_t size)
{
    if (o->piped == 0) {
        off_t offset = (off_t)at;
        ssize_t got = splice(item->fd, &offset, o->pipe[1], NULL, size, SPLICE_F_MOVE);
        if (got < 0 && errno == EINTR)
            return got;
        if (got <= 0)
            file_changed(item);
        o->piped = (size_t)got;
    }
    ssize_t step = splice(o->pipe[0], NULL, o->fd, NULL, o->piped, SPLICE_F_MOVE);
    if (step > 0)
        o->piped -= (size_t)step;
    return step;
}

/* The data never changes, so that it may be handed over again before the kernel is done with it. */
static ssize_t put_zerocopy(struct outlet *o, const struct item *item, size_t at, size_t size)
{
    const unsigned char *from = item ? item->map + at : o->data;
    ssize_t step = send(o->fd, from, size, MSG_NOSIGNAL | MSG_ZEROCOPY);
    if (step < 0 && errno == EFAULT && item)
        file_changed(item);
    if (step > 0 && ++o->handed % REAP_EVERY == 0)
        outlet_reap(o);
    return step;
}

void make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail(SYSTEM_ERROR, "cannot make a pipe: %s", strerror(errno));
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE);
}

void outlet_prepare(struct outlet *o, const struct launch *launch, bool files, size_t chunk)
{
    const struct {
        const char *name;
        ssize_t (*memory)(struct outlet *, const struct item *, size_t, size_t);
        ssize_t (*file)(struct outlet *, const struct item *, size_t, size_t);
    } ways[] = {
        {"send", put_send, put_read_send},   {"write", put_write, put_read_write},
        {"zerocopy", put_zerocopy, put_zerocopy}, {"sendfile", NULL, put_sendfile},
        {"splice", NULL, put_splice},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(text_of(launch, "send"), ways[i].name) == 0)
            o->put = files ? ways[i].file : ways[i].memory;
    bool buffered = o->put != put_sendfile && o->put != put_splice &&
                    !(files && o->put == put_zerocopy);
    if (buffered && o->room < chunk) {
        free(o->data);
        o->data = test_buffer(chunk);
        o->room = chunk;
    }
    if (o->put == put_splice && o->pipe[1] == 0)
        make_pipe(o->pipe);
}

void outlet_begin(struct outlet *o, int fd)
{
    if (o->piped > 0) { /* the last replication's, when its time was up */
        close(o->pipe[0]);
        close(o->pipe[1]);
        make_pipe(o->pipe);
    }
    o->fd = fd;
    o->from = o->held = o->piped = 0;
    o->handed = o->completed = o->copied = 0;
    if (o->put == put_zerocopy)
        set_option(fd, SOL_SOCKET, SO_ZEROCOPY, 1, "zero-copy sending");
}

/* One notice tells of a range of calls. */
static void take_notice(struct outlet *o, const struct cmsghdr *control)
{
    struct sock_extended_err notice;
    bool ours = (control->cmsg_level == SOL_IP && control->cmsg_type == IP_RECVERR) ||
                (control->cmsg_level == SOL_IPV6 && control->cmsg_type == IPV6_RECVERR);
    if (!ours || control->cmsg_len < CMSG_LEN(sizeof notice))
        return;
    memcpy(&notice, CMSG_DATA(control), sizeof notice);
    if (notice.ee_origin != SO_EE_ORIGIN_ZEROCOPY)
        return;
    uint32_t calls = notice.ee_data - notice.ee_info + 1;
    o->completed += calls;
    if (notice.ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
        o->copied += calls;
}

void outlet_reap(struct outlet *o)
{
    for (;;) {
        _Alignas(struct cmsghdr) char space[256];
        struct msghdr message = {.msg_control = space, .msg_controllen = sizeof space};
        if (recvmsg(o->fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            return;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
            take_notice(o, c);
    }
}

bool outlet_finish(struct outlet *o)
{
    uint64_t limit = now_ns() + seconds_ns(REAP_SECONDS);
    for (;;) {
        struct pollfd wanted = {.fd = o->fd, .events = 0};
        outlet_reap(o);
        if (o->completed >= o->handed)
            return true;
        if (now_ns() > limit)
            return false;
        poll(&wanted, 1, 1);
    }
}
