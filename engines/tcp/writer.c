#include "writer.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIPE_SIZE (1 << 20)
#define REAP_EVERY 32 /* zero-copy calls between two looks at what is done */

static ssize_t put_send(struct writer *w, const struct item *item, size_t at, size_t size)
{
    (void)item;
    (void)at;
    return send(w->fd, w->data, size, MSG_NOSIGNAL);
}

static ssize_t put_write(struct writer *w, const struct item *item, size_t at, size_t size)
{
    (void)item;
    (void)at;
    return write(w->fd, w->data, size);
}

/* Has the next bytes of the file in the buffer, unless some are left there. */
static void fill(struct writer *w, const struct item *item, size_t at, size_t size)
{
    if (w->buffered > 0)
        return;
    ssize_t length;
    do
        length = pread(item->fd, w->data, size < w->room ? size : w->room, (off_t)at);
    while (length < 0 && errno == EINTR);
    if (length <= 0)
        file_changed(item);
    w->from = 0;
    w->buffered = (size_t)length;
}

static ssize_t drained(struct writer *w, ssize_t step)
{
    if (step > 0) {
        w->from += (size_t)step;
        w->buffered -= (size_t)step;
    }
    return step;
}

static ssize_t put_read_send(struct writer *w, const struct item *item, size_t at, size_t size)
{
    fill(w, item, at, size);
    return drained(w, send(w->fd, w->data + w->from, w->buffered, MSG_NOSIGNAL));
}

static ssize_t put_read_write(struct writer *w, const struct item *item, size_t at, size_t size)
{
    fill(w, item, at, size);
    return drained(w, write(w->fd, w->data + w->from, w->buffered));
}

static ssize_t put_sendfile(struct writer *w, const struct item *item, size_t at, size_t size)
{
    off_t offset = (off_t)at;
    ssize_t step = sendfile(w->fd, item->fd, &offset, size);
    if (step == 0 || (step < 0 && errno == EIO))
        file_changed(item);
    return step;
}

static ssize_t put_splice(struct writer *w, const struct item *item, size_t at, size_t size)
{
    if (w->piped == 0) {
        off_t offset = (off_t)at;
        ssize_t length = splice(item->fd, &offset, w->pipe[1], NULL, size, SPLICE_F_MOVE);
        if (length < 0 && errno == EINTR)
            return length;
        if (length <= 0)
            file_changed(item);
        w->piped = (size_t)length;
    }
    ssize_t step = splice(w->pipe[0], NULL, w->fd, NULL, w->piped, SPLICE_F_MOVE);
    if (step > 0)
        w->piped -= (size_t)step;
    return step;
}

/* The data never changes, so that it may be handed over again before the kernel is done with it. */
static ssize_t put_zerocopy(struct writer *w, const struct item *item, size_t at, size_t size)
{
    const unsigned char *from = item ? item->map + at : w->data;
    ssize_t step = send(w->fd, from, size, MSG_NOSIGNAL | MSG_ZEROCOPY);
    if (step < 0 && errno == EFAULT && item)
        file_changed(item);
    if (step > 0) {
        zerocopy_add(&w->zerocopy);
        if (w->zerocopy.handed % REAP_EVERY == 0)
            zerocopy_reap(&w->zerocopy);
    }
    return step;
}

void make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail(SYSTEM_ERROR, "cannot make a pipe: %s", strerror(errno));
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE);
}

void writer_prepare(struct writer *w, const struct launch *launch, bool files, size_t chunk)
{
    const struct {
        const char *name;
        ssize_t (*memory)(struct writer *, const struct item *, size_t, size_t);
        ssize_t (*file)(struct writer *, const struct item *, size_t, size_t);
    } ways[] = {
        {"send", put_send, put_read_send},   {"write", put_write, put_read_write},
        {"zerocopy", put_zerocopy, put_zerocopy}, {"sendfile", NULL, put_sendfile},
        {"splice", NULL, put_splice},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(text_of(launch, "send"), ways[i].name) == 0)
            w->put = files ? ways[i].file : ways[i].memory;
    bool buffered = w->put != put_sendfile && w->put != put_splice &&
                    !(files && w->put == put_zerocopy);
    if (buffered && w->room < chunk) {
        free(w->data);
        w->data = test_buffer(chunk);
        w->room = chunk;
    }
    if (w->put == put_splice && w->pipe[1] == 0)
        make_pipe(w->pipe);
}

void writer_begin(struct writer *w, int fd)
{
    if (w->piped > 0) { /* the last replication's, when its time was up */
        close(w->pipe[0]);
        close(w->pipe[1]);
        make_pipe(w->pipe);
    }
    w->fd = fd;
    w->from = w->buffered = w->piped = 0;
    if (w->put == put_zerocopy)
        zerocopy_begin(&w->zerocopy, fd);
}
