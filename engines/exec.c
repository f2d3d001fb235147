/* rail-exec: runs somebody else's command, guards it and times it. */
#include "lib/clock.h"
#include "lib/engine.h"
#include "lib/failure.h"
#include "lib/guard.h"
#include "lib/mark.h"
#include "lib/parameters.h"
#include "lib/report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_LIMIT (1 << 20) /* of standard output; the rest is read and thrown away */
#define ERRORS_LIMIT 1024      /* of standard error, its end */

static const struct parameter parameters[] = {
    {"timeout", TIME, "0", 0, 86400, NULL, NULL, NULL,
     "longest a command may take before it is killed and counts as failed; 0: no limit"},
    {0},
};

static const struct metric metrics[] = {
    {"wall_time", "s", "lower", NULL, "time from starting the command to its end", "wall s", 1, 6},
    {"user_time", "s", "lower", NULL, "its user CPU time, children it waited for included",
     "user s", 1, 6},
    {"system_time", "s", "lower", NULL, "its system CPU time, likewise", "system s", 1, 6},
    {"max_rss", "B", "lower", NULL, "most memory resident at a time", "max rss MiB", 1048576, 2},
    {"exit_status", "", "neither", NULL, "its exit status; only 0 is a measurement", NULL, 1, 0},
    {0},
};

/* The process group now running, 0: none. Whoever ends this process ends that first. While one is
 * being started, nobody may look: signals wait, and so does the guard. */
static atomic_int running;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

static void end_command(void)
{
    int group = atomic_load(&running);
    if (group > 0)
        kill(-group, SIGKILL);
}

/* For the guard, which ends the process next: no other command must be started. */
static void end_command_for_good(void)
{
    pthread_mutex_lock(&starting);
    end_command();
}

static void end_on_signal(int number)
{
    end_command();
    _exit(128 + number);
}

/* A command under way: its output so far, and where more comes from. */
struct capture {
    int out, err; /* -1 once closed */
    size_t length, errors_length;
    char *output; /* OUTPUT_LIMIT bytes */
    char errors[ERRORS_LIMIT];
};

static _Noreturn void become(char **command, int out, int err, int report,
                             const sigset_t *signals)
{
    int nothing = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    sigprocmask(SIG_SETMASK, signals, NULL);
    execvp(command[0], command);
    int error = errno;
    if (write(report, &error, sizeof error) < 0)
        _exit(126);
    _exit(127);
}

static void open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail(SYSTEM_ERROR, "cannot make a pipe: %s", strerror(errno));
}

/* Starts the command in a process group of its own; fails if there is no such program. */
static pid_t start(char **command, struct capture *capture)
{
    int out[2], err[2], report[2], error;
    open_pipe(out);
    open_pipe(err);
    open_pipe(report);
    sigset_t all, before;
    sigfillset(&all);
    pthread_mutex_lock(&starting);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t child = fork();
    if (child == 0)
        become(command, out[1], err[1], report[1], &before);
    if (child > 0) {
        setpgid(child, child);
        atomic_store(&running, child);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_unlock(&starting);
    if (child < 0)
        fail(SYSTEM_ERROR, "cannot start a process: %s", strerror(errno));
    close(out[1]);
    close(err[1]);
    close(report[1]);
    /* Closed by a successful exec, or the reason why there was none. */
    ssize_t got = read(report[0], &error, sizeof error);
    close(report[0]);
    if (got == sizeof error)
        fail(COMMAND_NOT_FOUND, "cannot start '%.256s': %s", command[0], strerror(error));
    capture->out = out[0];
    capture->err = err[0];
    fcntl(capture->out, F_SETFL, O_NONBLOCK);
    fcntl(capture->err, F_SETFL, O_NONBLOCK);
    capture->length = capture->errors_length = 0;
    return child;
}

static void keep_output(struct capture *capture, const char *data, size_t size)
{
    size_t room = OUTPUT_LIMIT - capture->length;
    size_t kept = size < room ? size : room;
    memcpy(capture->output + capture->length, data, kept);
    capture->length += kept;
}

static void keep_errors(struct capture *capture, const char *data, size_t size)
{
    if (size > ERRORS_LIMIT) {
        data += size - ERRORS_LIMIT;
        size = ERRORS_LIMIT;
    }
    size_t old = capture->errors_length;
    size_t kept = old + size > ERRORS_LIMIT ? ERRORS_LIMIT - size : old;
    memmove(capture->errors, capture->errors + old - kept, kept);
    memcpy(capture->errors + kept, data, size);
    capture->errors_length = kept + size;
}

/* Takes what has come; closes the end where no more will. False if there was nothing. */
static bool take(struct capture *capture, int *fd)
{
    char data[65536];
    if (*fd < 0)
        return false;
    ssize_t got = read(*fd, data, sizeof data);
    if (got > 0 && fd == &capture->out)
        keep_output(capture, data, (size_t)got);
    else if (got > 0)
        keep_errors(capture, data, (size_t)got);
    else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
        close(*fd);
        *fd = -1;
    }
    return got > 0;
}

/* Reads until the command has ended: a child that it left behind with its output is not waited
 * for. False if the time was up first. Before Linux 5.3 there is no descriptor of a process, and
 * the end of both outputs has to do. */
static bool collect(struct capture *capture, int process, uint64_t limit)
{
    bool ended = false;
    while (!ended && (process >= 0 || capture->out >= 0 || capture->err >= 0)) {
        struct pollfd wanted[] = {{.fd = capture->out, .events = POLLIN},
                                  {.fd = capture->err, .events = POLLIN},
                                  {.fd = process, .events = POLLIN}};
        uint64_t now = now_ns();
        if (now >= limit)
            return false;
        uint64_t left_ms = (limit - now) / 1000000 + 1;
        if (poll(wanted, 3, left_ms < 3600000 ? (int)left_ms : 3600000) <= 0)
            continue;
        if (wanted[0].revents)
            take(capture, &capture->out);
        if (wanted[1].revents)
            take(capture, &capture->err);
        ended = wanted[2].revents != 0;
    }
    return true;
}

/* Takes the rest of the output and lets go of both ends. */
static void finish(struct capture *capture, int process)
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

static void check_status(int status, const struct capture *capture)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    char how[64];
    if (WIFEXITED(status))
        snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(status));
    else
        snprintf(how, sizeof how, "was ended by signal %d", WTERMSIG(status));
    fail(COMMAND_FAILED, "the command %s%s%.*s", how, capture->errors_length ? ": " : "",
         (int)(capture->errors_length < 900 ? capture->errors_length : 900),
         capture->errors + (capture->errors_length < 900 ? 0 : capture->errors_length - 900));
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void run_once(const struct launch *launch, struct capture *capture, struct result *result)
{
    double timeout = number_of(launch, "timeout");
    struct rusage used;
    int status;
    uint64_t begin = now_ns();
    uint64_t limit = timeout > 0 ? begin + seconds_ns(timeout) : UINT64_MAX;
    pid_t child = start(launch->command, capture);
    int process = (int)syscall(SYS_pidfd_open, child, 0);
    bool in_time = collect(capture, process, limit);
    if (!in_time)
        end_command();
    /* The group's number stays taken until the last wait: nobody else can be hit. */
    siginfo_t end_of_child;
    while (waitid(P_PID, (id_t)child, &end_of_child, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    uint64_t end = now_ns();
    end_command(); /* whatever it left behind in its group */
    atomic_store(&running, 0);
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR)
        ;
    finish(capture, process);
    if (!in_time)
        fail(COMMAND_TIMEOUT, "the command did not end within %g s and was killed", timeout);
    check_status(status, capture);
    result_set(result, "wall_time", ns_seconds(end - begin));
    result_set(result, "user_time", seconds_of(used.ru_utime));
    result_set(result, "system_time", seconds_of(used.ru_stime));
    result_set(result, "max_rss", (double)used.ru_maxrss * 1024);
    result_set(result, "exit_status", WEXITSTATUS(status));
    result->output = capture->output;
    result->output_length = capture->length;
}

static int client(const struct launch *launch)
{
    static struct fields place;
    struct capture capture = {.output = malloc(OUTPUT_LIMIT)};
    if (capture.output == NULL)
        fail(OUT_OF_MEMORY, "no memory for the command's output");
    guard_cleanup(end_command_for_good);
    signal(SIGTERM, end_on_signal);
    signal(SIGINT, end_on_signal);
    signal(SIGHUP, end_on_signal);
    report_settings(&place, NULL);
    for (long i = 1; i <= launch->replications; i++) {
        struct result result;
        result_clear(&result, launch->engine);
        report_current(i);
        mark_replication(launch, MARK_BEGIN, i);
        double started_at = utc_now();
        run_once(launch, &capture, &result);
        mark_replication(launch, MARK_END, i);
        report_replication(i, false, started_at, &result);
        report_current(-1);
    }
    free(capture.output);
    report_done(launch->replications);
    return 0;
}

static const struct engine command = {
    .name = "exec",
    .summary = "wall time, CPU time and memory of another program",
    .parameters = parameters,
    .metrics = metrics,
    .takes_command = true,
    .client = client,
};

int main(int argc, char **argv)
{
    return engine_main(&command, argc, argv);
}
