#include "writer.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"

#include <errno.h>
#include <string.h>

#define LINE 64       /* bytes of a cache; slots of whole pages would all begin in the same set */
#define REAP_EVERY 16 /* zero-copy calls between two looks at what is done */

static const struct sockaddr *address_of(const struct writer *w)
{
    return w->to ? &w->to->any : NULL;
}

static socklen_t length_of(const struct writer *w)
{
    return w->to ? w->to->length : 0;
}

static unsigned int stamp_segments(const struct writer *w, unsigned char *packet, uint64_t number,
                                   uint64_t most, uint64_t stamp)
{
    unsigned int count = w->segments < most ? w->segments : (unsigned int)most;
    for (unsigned int i = 0; i < count; i++)
        header_stamp(packet + i * w->size, w->header, number + i, stamp);
    return count;
}

static int put_copied(struct writer *w, uint64_t number, uint64_t most, uint64_t stamp)
{
    unsigned int count = stamp_segments(w, w->packet, number, most, stamp);
    ssize_t sent = sendto(w->fd, w->packet, count * w->size, 0, address_of(w), length_of(w));
    return sent < 0 ? -1 : (int)count;
}

/* A piece that the kernel doesn't read any more. */
static unsigned char *free_slot(struct writer *w)
{
    if (w->zerocopy.next % REAP_EVERY == 0)
        zerocopy_reap(&w->zerocopy);
    if (!zerocopy_wait(&w->zerocopy))
        fail(NO_BUFFERS, "the kernel was not done with zero-copy data for 10 s");
    return w->slots + w->zerocopy.next % ZEROCOPY_SLOTS * w->slot_size;
}

static int put_uncopied(struct writer *w, uint64_t number, uint64_t most, uint64_t stamp)
{
    unsigned char *packet = free_slot(w);
    unsigned int count = stamp_segments(w, packet, number, most, stamp);
    ssize_t sent = sendto(w->fd, packet, count * w->size, MSG_ZEROCOPY, address_of(w),
                          length_of(w));
    int error = errno;
    if (sent < 0)
        zerocopy_reap(&w->zerocopy);
    else
        zerocopy_add(&w->zerocopy);
    errno = error;
    return sent < 0 ? -1 : (int)count;
}

static int put_batch(struct writer *w, uint64_t number, uint64_t most, uint64_t stamp)
{
    unsigned int count = w->batch < most ? w->batch : (unsigned int)most;
    for (unsigned int i = 0; i < count; i++)
        header_stamp(w->headers[i], w->header, number + i, stamp);
    return sendmmsg(w->fd, w->messages, count, 0);
}

static void prepare_batch(struct writer *w, uint64_t token)
{
    size_t head = w->size < PACKET_HEADER ? w->size : PACKET_HEADER;
    for (unsigned int i = 0; i < w->batch; i++) {
        w->parts[i][0] = (struct iovec){w->headers[i], head};
        w->parts[i][1] = (struct iovec){w->packet + head, w->size - head};
        w->messages[i].msg_hdr = (struct msghdr){
            .msg_iov = w->parts[i],
            .msg_iovlen = 2,
            .msg_name = (void *)(uintptr_t)address_of(w),
            .msg_namelen = length_of(w),
        };
        header_begin(w->headers[i], w->header, token);
    }
}

static void begin_headers(const struct writer *w, unsigned char *packet, uint64_t token)
{
    for (unsigned int i = 0; i < w->segments; i++)
        header_begin(packet + i * w->size, w->header, token);
}

static void set_shape(struct writer *w, const struct launch *launch)
{
    unsigned int segments = (unsigned int)int_of(launch, "gso");
    w->size = size_of(launch, "datagram");
    w->header = header_of(w->size);
    w->batch = (unsigned int)int_of(launch, "batch");
    w->segments = segments ? segments : 1;
}

void writer_make(struct writer *writer, const struct launch *launch)
{
    set_shape(writer, launch);
    writer->zerocopy = (struct zerocopy){0};
    writer->slots = NULL;
    if (strcmp(text_of(launch, "send"), "zerocopy") != 0)
        return;
    writer->slot_size = (writer->size * writer->segments + LINE - 1) / LINE * LINE;
    writer->slots = test_buffer(ZEROCOPY_SLOTS * writer->slot_size);
}

void writer_prepare(struct writer *writer, const struct launch *launch, uint64_t token, int fd,
                    const struct address *to)
{
    set_shape(writer, launch);
    writer->fd = fd;
    writer->to = to;
    writer->put = writer->batch > 1 ? put_batch : writer->slots ? put_uncopied : put_copied;
    begin_headers(writer, writer->packet, token);
    if (writer->batch > 1)
        prepare_batch(writer, token);
    if (writer->slots == NULL)
        return;
    for (size_t i = 0; i < ZEROCOPY_SLOTS; i++)
        begin_headers(writer, writer->slots + i * writer->slot_size, token);
    zerocopy_begin(&writer->zerocopy, fd);
}

unsigned int writer_width(const struct writer *writer)
{
    return writer->batch * writer->segments;
}
