#include "lock.h"

#include "../../lib/failure.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GREETING "railgauge-hold 1" /* stays as it is: other versions of rail-hold read it */
#define ANSWER_LIMIT 1024           /* bytes */
#define ANSWER_WAIT_MS 5000         /* a holder may be without a CPU for a while */

static int new_socket(void)
{
    int fd = mark_socket();
    if (fd < 0)
        fail(SYSTEM_ERROR, "cannot make a socket: %s", strerror(errno));
    return fd;
}

int lock_take(const struct mark_address *address)
{
    int fd = new_socket();
    if (bind(fd, (const struct sockaddr *)&address->un, address->length) == 0) {
        if (listen(fd, 64) != 0)
            fail(SYSTEM_ERROR, "cannot listen on the lock: %s", strerror(errno));
        return fd;
    }
    if (errno != EADDRINUSE)
        fail(SYSTEM_ERROR, "cannot take the lock: %s", strerror(errno));
    close(fd);
    return -1;
}

/* The next line of *rest, which is moved behind it. */
static void take_line(char **rest, char out[TEXT_LIMIT])
{
    size_t length = strcspn(*rest, "\n");
    snprintf(out, TEXT_LIMIT, "%.*s", (int)length, *rest);
    *rest += length + ((*rest)[length] == '\n');
}

/* Anybody may have that name: nothing that is said is taken for granted. */
static void read_answer(char *answer, struct holder *holder)
{
    char line[TEXT_LIMIT], *end;
    take_line(&answer, line);
    if (strcmp(line, GREETING) != 0)
        return;
    take_line(&answer, holder->token);
    take_line(&answer, line);
    double seconds = strtod(line, &end);
    if (*line && !*end && isfinite(seconds) && seconds >= 0)
        holder->seconds = seconds;
    take_line(&answer, holder->text);
}

int lock_visit(const struct mark_address *address, struct holder *holder)
{
    char answer[ANSWER_LIMIT + 1];
    struct ucred peer;
    socklen_t size = sizeof peer;
    int fd = new_socket();
    *holder = (struct holder){.seconds = -1};
    if (!mark_connect(fd, address) ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        close(fd);
        return -1;
    }
    holder->identified = true;
    holder->user = peer.uid;
    holder->process = peer.pid;
    struct pollfd poll_entry = {.fd = fd, .events = POLLIN};
    if (poll(&poll_entry, 1, ANSWER_WAIT_MS) > 0) {
        ssize_t length = recv(fd, answer, ANSWER_LIMIT, MSG_DONTWAIT);
        if (length <= 0) { /* it is just ending */
            *holder = (struct holder){.seconds = -1};
            close(fd);
            return -1;
        }
        answer[length] = '\0';
        read_answer(answer, holder);
        if (!mark_trusts(fd)) /* who has our token may have it from elsewhere */
            *holder->token = '\0';
    }
    return fd;
}

int lock_answer(int lock, const char *token, double seconds, const char *text)
{
    char answer[ANSWER_LIMIT];
    int fd = accept4(lock, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return -1;
    int length = snprintf(answer, sizeof answer, GREETING "\n%s\n%.3f\n%s",
                          mark_trusts(fd) ? token : "", seconds, text);
    if (send(fd, answer, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT) == length)
        return fd;
    close(fd);
    return -1;
}
