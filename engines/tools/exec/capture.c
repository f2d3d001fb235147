#include "capture.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS_LIMIT 900
#define PAGE 65536 /* the largest that Linux has */

void capture_prepare(struct capture *capture)
{
    *capture = (struct capture){.out = -1, .err = -1, .output = aligned_alloc(PAGE, OUTPUT_LIMIT)};
    if (capture->output == NULL)
        fail(OUT_OF_MEMORY, "no memory for the command's output");
}

void capture_forget(struct capture *capture)
{
    capture->length = capture->errors_length = 0;
    madvise(capture->output, OUTPUT_LIMIT, MADV_DONTNEED);
}

void capture_begin(struct capture *capture, int out, int err)
{
    capture->out = out;
    capture->err = err;
    fcntl(out, F_SETFL, O_NONBLOCK);
    fcntl(err, F_SETFL, O_NONBLOCK);
}

static void keep_output(struct capture *capture, const char *data, size_t size)
{
    size_t room = OUTPUT_LIMIT - capture->length;
    size_t count = size < room ? size : room;
    memcpy(capture->output + capture->length, data, count);
    capture->length += count;
}

static void keep_errors(struct capture *capture, const char *data, size_t size)
{
    if (size > ERRORS_LIMIT) {
        data += size - ERRORS_LIMIT;
        size = ERRORS_LIMIT;
    }
    size_t old = capture->errors_length;
    size_t count = old + size > ERRORS_LIMIT ? ERRORS_LIMIT - size : old;
    memmove(capture->errors, capture->errors + old - count, count);
    memcpy(capture->errors + count, data, size);
    capture->errors_length = count + size;
}

/* Takes what has come; closes the end where no more will. False if there was nothing. */
static bool take(struct capture *capture, int *fd)
{
    char data[65536];
    if (*fd < 0)
        return false;
    ssize_t received = read(*fd, data, sizeof data);
    if (received > 0 && fd == &capture->out)
        keep_output(capture, data, (size_t)received);
    else if (received > 0)
        keep_errors(capture, data, (size_t)received);
    else if (received == 0 || (errno != EINTR && errno != EAGAIN)) {
        close(*fd);
        *fd = -1;
    }
    return received > 0;
}

bool capture_collect(struct capture *capture, int process, uint64_t limit)
{
    bool ended = false;
    while (!ended && (process >= 0 || capture->out >= 0 || capture->err >= 0)) {
        struct pollfd poll_set[] = {{.fd = capture->out, .events = POLLIN},
                                    {.fd = capture->err, .events = POLLIN},
                                    {.fd = process, .events = POLLIN}};
        uint64_t now = now_ns();
        if (now >= limit)
            return false;
        uint64_t left_ms = (limit - now) / 1000000 + 1;
        if (poll(poll_set, 3, left_ms < 3600000 ? (int)left_ms : 3600000) <= 0)
            continue;
        if (poll_set[0].revents)
            take(capture, &capture->out);
        if (poll_set[1].revents)
            take(capture, &capture->err);
        ended = poll_set[2].revents != 0;
    }
    return true;
}

void capture_finish(struct capture *capture, int process)
{
    while (take(capture, &capture->out) && capture->length < OUTPUT_LIMIT)
        ;
    for (int i = 0; i < 16 && take(capture, &capture->err); i++)
        ;
    if (capture->out >= 0)
        close(capture->out);
    if (capture->err >= 0)
        close(capture->err);
    if (process >= 0)
        close(process);
}

const char *capture_words(const struct capture *capture, int *length)
{
    const char *words = capture->errors_length ? capture->errors : capture->output;
    size_t all = capture->errors_length ? capture->errors_length : capture->length;
    size_t count = all < WORDS_LIMIT ? all : WORDS_LIMIT;
    *length = (int)count;
    return words + all - count;
}
