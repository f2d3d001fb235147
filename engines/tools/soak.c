/* rail-soak: the CPU load of a machine by subtraction. Soakers use up what nobody else wants; what
 * they get less than on the idle machine, everything else took, the kernel's work included that it
 * accounts to nobody or to the wrong one. */
#include "soak/by_hand.h"
#include "soak/lock.h"
#include "soak/options.h"
#include "soak/serve.h"
#include "soak/soakers.h"
#include "soak/events.h"

#include "../lib/failure.h"
#include "../lib/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static struct options options;
static bool locked;

static void emit_failure(enum failure failure, const char *message)
{
    if (options.json)
        emit_error(failure, message);
    else
        fprintf(stderr, "rail-soak: %s (%s)\n", message, failure_code(failure));
    if (locked)
        machine_unlock();
}

/* A descriptor for the signals that end this, and children's ends. */
static int take_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (!options.json)
        sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, before);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd < 0)
        fail(SYSTEM_ERROR, "cannot make a signalfd: %s", strerror(errno));
    return fd;
}

int main(int argc, char **argv)
{
    static struct soakers soakers; /* large */
    struct launch guarded = {.server = true};
    sigset_t signals_before;
    failures_go_to(emit_failure);
    options_parse(&options, argc, argv);
    int signals = take_signals(&signals_before);
    int lock = machine_lock();
    locked = true;
    soakers_start(&soakers, lock, (unsigned)options.deadline + 6);
    guarded.deadline = options.deadline;
    guard_start(&guarded);
    /* Where the guard's last words find no reader. */
    alarm((unsigned)options.deadline + 5);
    int status = options.json      ? serve(&options, &soakers, signals)
                 : options.command ? soak_command(&options, &soakers, signals, &signals_before)
                                   : soak_for_ever(&options, &soakers, signals);
    soakers_stop(&soakers);
    machine_unlock();
    return status;
}
