/* How bytes get into a connection: one function for each way of sending. */
#ifndef RAIL_TCP_WRITER_H
#define RAIL_TCP_WRITER_H

#include "source.h"

#include "../lib/zerocopy.h"

#include <stdint.h>
#include <sys/types.h>

/* One sender's hold of its connection. */
struct writer {
    int fd;
    /* Hands over some of the message's next bytes, `size` at most, which begin at offset `at`:
     * how many the kernel took; or -1 with errno. */
    ssize_t (*put)(struct writer *, const struct item *, size_t at, size_t size);
    unsigned char *data; /* memory to send, or to read files into */
    size_t room;         /* its size */
    size_t from, buffered; /* of what was read from the file and not yet sent */
    int pipe[2];         /* for splice, which needs one between file and socket; 0: none */
    size_t piped;        /* bytes in it */
    struct zerocopy zerocopy;
};

/* Chooses the way that the parameters ask for; makes buffer and pipe, the first time. */
void writer_prepare(struct writer *writer, const struct launch *launch, bool files, size_t chunk);

/* Sets it upon a new connection. */
void writer_begin(struct writer *writer, int fd);

/* A pipe as large as the kernel allows, up to 1 MiB. */
void make_pipe(int ends[2]);

#endif
