#include "output.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST (512u << 20)
#define PIECE 4096 /* what poll promises of a pipe (PIPE_BUF): so much is written without waiting */

static ssize_t add_from_stream(void *cookie, const char *bytes, size_t size)
{
    struct output *output = cookie;
    memcpy(output_place(output, size), bytes, size);
    output_add(output, size);
    return (ssize_t)size;
}

void output_open(struct output *output, int fd)
{
    struct stat kind;
    *output = (struct output){.fd = fd};
    output->socket = fstat(fd, &kind) == 0 && S_ISSOCK(kind.st_mode);
    output->stream =
        fopencookie(output, "w", (cookie_io_functions_t){.write = add_from_stream});
    if (output->stream == NULL)
        fail(OUT_OF_MEMORY, "no memory for the output");
}

char *output_place(struct output *output, size_t size)
{
    if (output->room - output->end >= size)
        return output->bytes + output->end;
    if (output->begin > output->room / 2) {
        memmove(output->bytes, output->bytes + output->begin, output_waiting(output));
        output->end -= output->begin;
        output->begin = 0;
        return output_place(output, size);
    }
    size_t room = output->room ? 2 * output->room : 65536;
    while (room - output->end < size)
        room *= 2;
    char *larger = room <= MOST ? realloc(output->bytes, room) : NULL;
    if (larger == NULL) {
        output->broken = true;
        fail(OUT_OF_MEMORY, "nobody reads what rail-watch says: %zu bytes wait",
             output_waiting(output));
    }
    output->bytes = larger;
    output->room = room;
    return output->bytes + output->end;
}

void output_add(struct output *output, size_t size)
{
    output->end += size;
}

void output_give(struct output *output)
{
    size_t size = output_waiting(output) < PIECE ? output_waiting(output) : PIECE;
    const char *from = output->bytes + output->begin;
    ssize_t gave = output->socket ? send(output->fd, from, size, MSG_DONTWAIT | MSG_NOSIGNAL)
                                  : write(output->fd, from, size);
    if (gave < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (gave < 0) {
        output->broken = true;
        fail(SYSTEM_ERROR, "nobody reads what rail-watch says: %s", strerror(errno));
    }
    output->begin += (size_t)gave;
    if (output->begin == output->end)
        output->begin = output->end = 0;
}

bool output_finish(struct output *output, double seconds)
{
    uint64_t end = now_ns() + seconds_ns(seconds);
    while (output_waiting(output) && !output->broken && now_ns() < end) {
        struct pollfd poll_entry = {.fd = output->fd, .events = POLLOUT};
        if (poll(&poll_entry, 1, 100) > 0)
            output_give(output);
    }
    return output_waiting(output) == 0;
}

void output_close(struct output *output)
{
    if (output->stream)
        fclose(output->stream);
    free(output->bytes);
    *output = (struct output){.fd = -1};
}
