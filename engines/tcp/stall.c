/* Why a data connection makes no progress. */
#include "tcp.h"

#include "../lib/control.h"
#include "../lib/failure.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>

#define STALL_NS (30 * NANOSECONDS) /* no progress for so long is a failure */

void handle_stall(int control, int error, uint64_t since, const char *operation)
{
    static pthread_mutex_t listening = PTHREAD_MUTEX_INITIALIZER;
    static struct fields final_message;
    if (error == EINTR)
        return;
    if (error != EAGAIN) { /* the connection broke: the control channel may know why */
        pthread_mutex_lock(&listening); /* for good: the first thread here ends the process */
        control_receive_any(control, &final_message, 1);
        fail(PEER_LOST, "cannot %s test data: %s", operation, strerror(error));
    }
    if (!control_alive(control))
        fail(PEER_LOST, "the other end died or hung up");
    if (now_ns() - since > STALL_NS)
        fail(NO_ANSWER, "the other end is connected but took or sent nothing for 30 s");
}

bool wait_ready(int fd, short events)
{
    struct pollfd poll_entry = {.fd = fd, .events = events};
    return poll(&poll_entry, 1, 1000) > 0 && (poll_entry.revents & (events | POLLHUP));
}
