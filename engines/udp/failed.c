/* Why a test socket of UDP fails: the peer's host says that nobody is there, or the kernel won't. */
#include "udp.h"

#include "../lib/control.h"
#include "../lib/failure.h"

#include <errno.h>
#include <string.h>

/* The test socket refused: the server is gone, or only its port is. */
static _Noreturn void refused(int control)
{
    static struct fields last_words;
    if (wait_readable(control, now_ns() + DRAIN_NS))
        control_receive_any(control, &last_words, 1);
    fail(CONNECTION_REFUSED, "the server's host refuses test data: does a firewall let the port "
                             "through? --data-port chooses it");
}

_Noreturn void datagrams_failed(int control, int error)
{
    if (error == ECONNREFUSED)
        refused(control);
    if (error == ENETUNREACH || error == EHOSTUNREACH)
        fail(UNREACHABLE, "there is no way to the target: %s", strerror(error));
    fail(SYSTEM_ERROR, "cannot send datagrams: %s", strerror(error));
}
