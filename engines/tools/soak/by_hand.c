#include "by_hand.h"

#include "calibration.h"
#include "events.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* The signal that came until that moment, 0 if none did. */
static int signal_until(int signals, uint64_t moment)
{
    struct pollfd poll_entry = {.fd = signals, .events = POLLIN};
    struct signalfd_siginfo came;
    uint64_t now;
    while ((now = now_ns()) < moment) {
        uint64_t left_ms = (moment - now) / 1000000 + 1;
        if (poll(&poll_entry, 1, left_ms < 3600000 ? (int)left_ms : 3600000) > 0 &&
            read(signals, &came, sizeof came) == sizeof came)
            return (int)came.ssi_signo;
    }
    return 0;
}

/* A wait_until; a SIGCHLD is not for it: no child of ours is left that matters. */
static bool rest(void *signals, uint64_t moment)
{
    int came;
    do
        came = signal_until(*(int *)signals, moment);
    while (came == SIGCHLD);
    return came == 0;
}

static bool calibrate_first(const struct options *options, const struct soakers *soakers,
                            int signals, struct calibration *calibration)
{
    char problem[MESSAGE_LIMIT];
    enum calibrated outcome = calibrate(soakers, options->calibrate, options->tolerance, rest,
                                        &signals, calibration, problem, sizeof problem);
    if (outcome == NOT_QUITE_IDLE)
        fail(NOT_IDLE, "%s", problem);
    return outcome == CALIBRATED;
}

static void loads_between(const struct soakers *soakers, const struct reading *before,
                          const struct reading *after, const struct calibration *first,
                          const struct calibration *last, struct load *loads)
{
    for (size_t i = 0; i < soakers->count; i++) {
        uint64_t middle = before[i].at + (after[i].at - before[i].at) / 2;
        struct pace idle = pace_at(first, last, i, middle);
        loads[i] = load_between(&before[i], &after[i], &idle);
    }
}

static struct load *loads_new(const struct soakers *soakers)
{
    struct load *loads = calloc(soakers->count, sizeof *loads);
    if (loads == NULL)
        fail(OUT_OF_MEMORY, "no memory for the loads");
    return loads;
}

/* The command, which begins to run when go has a byte: the soakers are looked at in between. */
static pid_t prepare(char **command, const int go[2], const sigset_t *signals)
{
    pid_t child = fork();
    if (child < 0)
        fail(SYSTEM_ERROR, "cannot start a process: %s", strerror(errno));
    if (child > 0)
        return child;
    char scrap;
    close(go[1]);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, signals, NULL);
    ssize_t received;
    while ((received = read(go[0], &scrap, 1)) < 0 && errno == EINTR)
        ;
    if (received != 1)
        _exit(1); /* who should have said so is gone */
    execvp(command[0], command);
    int error = errno;
    dprintf(STDERR_FILENO, "rail-soak: cannot start '%.256s': %s (%s)\n", command[0],
            strerror(error), failure_code(COMMAND_NOT_FOUND));
    _exit(error == ENOENT ? 127 : 126);
}

/* Waits for its end. Ctrl-C is for the command, which has it from the terminal as we do; other
 * signals are passed on to it. */
static int await(pid_t command, int signals, struct rusage *used)
{
    int status;
    for (;;) {
        pid_t ended = wait4(command, &status, WNOHANG, used);
        if (ended == command)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (ended < 0 && errno != EINTR)
            fail(SYSTEM_ERROR, "cannot wait for the command: %s", strerror(errno));
        int came = signal_until(signals, now_ns() + 3600 * NANOSECONDS);
        if (came == SIGTERM || came == SIGHUP)
            kill(command, came);
    }
}

static void show(const struct options *options, const struct soakers *soakers, int signals,
                 const struct reading *readings, const struct calibration *before)
{
    struct calibration after;
    struct load *loads = loads_new(soakers);
    while (signal_until(signals, now_ns() + 1000000) != 0)
        ; /* the Ctrl-C that ended the command was for that */
    char problem[MESSAGE_LIMIT] = "nothing was measured after the command";
    bool is_calibrated = calibrate(soakers, options->calibrate, options->tolerance, rest, &signals,
                                   &after,
                                   problem, sizeof problem) == CALIBRATED;
    loads_between(soakers, readings, readings + soakers->count, before,
                  is_calibrated ? &after : NULL, loads);
    show_loads(stderr, soakers, loads);
    if (!is_calibrated)
        fprintf(stderr, "rail-soak: warning: after the command, %s (not-idle-after)\n", problem);
    else if (!calibrations_agree(soakers, before, &after, options->tolerance, problem,
                                 sizeof problem))
        fprintf(stderr, "rail-soak: warning: %s (calibration-drift)\n", problem);
    if (is_calibrated)
        calibration_free(&after);
    free(loads);
}

int soak_command(const struct options *options, const struct soakers *soakers, int signals,
                 const sigset_t *signals_before)
{
    struct calibration before;
    struct reading *readings = readings_new(soakers, 2);
    struct rusage used;
    int go[2];
    if (!calibrate_first(options, soakers, signals, &before))
        return 1;
    if (pipe2(go, O_CLOEXEC) != 0)
        fail(SYSTEM_ERROR, "cannot make a pipe: %s", strerror(errno));
    pid_t command = prepare(options->command, go, signals_before);
    close(go[0]);
    soakers_read(soakers, readings);
    if (write(go[1], "", 1) != 1)
        fail(SYSTEM_ERROR, "cannot start the command: %s", strerror(errno));
    close(go[1]);
    int status = await(command, signals, &used);
    soakers_read(soakers, readings + soakers->count);
    soakers_check(soakers);
    show_command(stderr, &used, ns_seconds(readings[soakers->count].at - readings[0].at));
    show(options, soakers, signals, readings, &before);
    calibration_free(&before);
    free(readings);
    return status;
}

int soak_for_ever(const struct options *options, const struct soakers *soakers, int signals)
{
    struct calibration idle;
    struct reading *readings = readings_new(soakers, 2), *now = readings + soakers->count;
    struct load *loads = loads_new(soakers);
    if (!calibrate_first(options, soakers, signals, &idle))
        return 1;
    soakers_read(soakers, readings);
    uint64_t due = now_ns();
    do {
        due += seconds_ns(options->period);
        if (!rest(&signals, due))
            break;
        soakers_read(soakers, now);
        soakers_check(soakers);
        loads_between(soakers, readings, now, &idle, NULL, loads);
        show_line(soakers, loads);
        memcpy(readings, now, soakers->count * sizeof *readings);
    } while (true);
    calibration_free(&idle);
    free(readings);
    free(loads);
    return 0;
}
