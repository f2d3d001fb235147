#include "command.h"

#include "by_hand.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start(char **command, const struct inherited *before)
{
    pid_t child = fork();
    if (child < 0)
        fail(SYSTEM_ERROR, "cannot start '%s': %s", command[0], strerror(errno));
    if (child > 0)
        return child;
    sigprocmask(SIG_SETMASK, &before->blocked, NULL);
    setrlimit(RLIMIT_NOFILE, &before->files);
    signal(SIGPIPE, SIG_DFL);
    execvp(command[0], command);
    dprintf(STDERR_FILENO, "rail-watch: cannot start '%s': %s\n", command[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* Waits for the child's end, passing signals on to it; at the deadline it gets SIGTERM. */
static int wait_for(pid_t child, int signals, double deadline)
{
    uint64_t end = now_ns() + seconds_ns(deadline);
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct pollfd poll_entry = {.fd = signals, .events = POLLIN};
        struct signalfd_siginfo signal_info;
        uint64_t now = now_ns();
        if (now >= end)
            kill(child, now - end < 5 * NANOSECONDS ? SIGTERM : SIGKILL);
        if (poll(&poll_entry, 1, now < end && end - now < NANOSECONDS / 2 ? 50 : 500) <= 0 ||
            read(signals, &signal_info, sizeof signal_info) <= 0)
            continue;
        /* A terminal's Ctrl-C has come to the child too: a second one may mean more to it. */
        if (signal_info.ssi_signo != SIGCHLD && signal_info.ssi_code != SI_KERNEL)
            kill(child, (int)signal_info.ssi_signo);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int watch_command(struct sources *sources, char **command, int signals,
                  const struct inherited *before, double deadline)
{
    sources_read(sources, true);
    table_settle(sources->table);
    uint64_t began = now_ns();
    int status = wait_for(start(command, before), signals, deadline);
    double elapsed = ns_seconds(now_ns() - began);
    sources_read(sources, true);
    print_report(sources->table, elapsed);
    fflush(stdout);
    return status;
}
