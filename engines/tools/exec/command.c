#include "command.h"

#include "orphans.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"
#include "../../lib/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whoever started us gives us a second before we are killed. */
#define GRACE_MS 400
#define USUAL "PATH,HOME,USER,LOGNAME,SHELL,TMPDIR,TZ,LANG,LANGUAGE,LC_*,LD_LIBRARY_PATH"

/* The process group now running, 0: none. Whoever ends this process ends that first. While one is
 * being started, nobody may look: signals wait, and so does the guard. */
static atomic_int running;
static atomic_bool ending;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

void command_kill(void)
{
    int group = atomic_load(&running);
    if (group <= 0)
        return;
    kill(-group, SIGKILL);
    orphans_kill(group);
}

void command_end_for_good(void)
{
    siginfo_t end;
    pthread_mutex_lock(&starting);
    atomic_store(&ending, true);
    int group = atomic_load(&running);
    if (group <= 0)
        return;
    kill(-group, SIGTERM);
    for (int waited = 0; waited < GRACE_MS; waited += 10) {
        end.si_pid = 0;
        if (waitid(P_PID, (id_t)group, &end, WEXITED | WNOHANG | WNOWAIT) < 0 || end.si_pid != 0)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    command_kill();
}

static void end_on_signal(int number)
{
    command_kill();
    _exit(128 + number);
}

/* Whether one of the list is the variable's name, or ends with '*' and is its beginning. */
static bool listed(const char *list, const char *variable)
{
    size_t length = strcspn(variable, "=");
    for (const char *at = list; *at; at += strspn(at, ",")) {
        size_t size = strcspn(at, ",");
        bool beginning = size > 0 && at[size - 1] == '*';
        if ((beginning ? size - 1 <= length : size == length) &&
            strncmp(at, variable, beginning ? size - 1 : size) == 0)
            return true;
        at += size;
    }
    return false;
}

/* Of the variables that this process was started with, as the next launch may want others. */
static void clean_environment(const char *inherited)
{
    static char **original;
    if (original == NULL) {
        size_t count = 0;
        while (environ[count])
            count++;
        original = malloc((count + 1) * sizeof *original);
        if (original == NULL)
            fail(OUT_OF_MEMORY, "no memory for %zu variables", count);
        memcpy(original, environ, (count + 1) * sizeof *original);
    }
    clearenv();
    for (char **variable = original; *variable; variable++)
        if (listed(USUAL, *variable) || listed(inherited, *variable))
            putenv(*variable);
}

void command_guard(const char *inherited)
{
    clean_environment(inherited);
    orphans_adopt();
    guard_cleanup(command_end_for_good);
    signal(SIGTERM, end_on_signal);
    signal(SIGINT, end_on_signal);
    signal(SIGHUP, end_on_signal);
}

static _Noreturn void become(char **argv, const char *folder, int out, int err, int report,
                             const sigset_t *signals)
{
    int null_device = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(null_device, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    sigprocmask(SIG_SETMASK, signals, NULL);
    if (folder == NULL || chdir(folder) == 0)
        execvp(argv[0], argv);
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

struct command command_start(char **argv, const char *folder, struct capture *capture)
{
    int out[2], err[2], report[2], error;
    open_pipe(out);
    open_pipe(err);
    open_pipe(report);
    capture_forget(capture);
    sigset_t all, before;
    sigfillset(&all);
    pthread_mutex_lock(&starting);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t child = fork();
    if (child == 0)
        become(argv, folder, out[1], err[1], report[1], &before);
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
    ssize_t received = read(report[0], &error, sizeof error);
    close(report[0]);
    if (received == sizeof error)
        fail(COMMAND_NOT_FOUND, "cannot start '%.256s': %s", argv[0], strerror(error));
    capture_begin(capture, out[0], err[0]);
    return (struct command){child, (int)syscall(SYS_pidfd_open, child, 0)};
}

int command_reap(const struct command *command, struct rusage *used, uint64_t *end)
{
    /* The group's number stays taken until the last wait: nobody else can be hit. */
    siginfo_t end_of_child;
    int status;
    while (waitid(P_PID, (id_t)command->child, &end_of_child, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR)
        ;
    *end = now_ns();
    while (atomic_load(&ending)) /* the guard has the last word, and is about to say it */
        pause();
    command_kill();
    atomic_store(&running, 0);
    while (wait4(command->child, &status, 0, used) < 0 && errno == EINTR)
        ;
    return status;
}

void command_check(int status, const struct capture *capture, const char *title)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    char how[64];
    if (WIFEXITED(status))
        snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(status));
    else
        snprintf(how, sizeof how, "was ended by signal %d", WTERMSIG(status));
    int length;
    const char *words = capture_words(capture, &length);
    fail(COMMAND_FAILED, "the %s %s%s%.*s", title, how, length ? ": " : "", length, words);
}
