#include "orphans.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS 40 /* of 10 ms: one that the kernel holds up is not waited for longer */

static char children[64]; /* the main thread's: empty on a kernel without this file */
static atomic_int spared;

#define VARIABLE "RAILGAUGE_EXEC"
static char badge[64]; /* VARIABLE=... */
static pid_t keeper;
static int keeper_end = -1; /* closed: this process is gone */

/* Whether that process has the badge; also one that is called nothing like what it was started as. */
static bool wears_badge(const char *process)
{
    char path[300], *text = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%s/environ", process);
    FILE *file = fopen(path, "re");
    while (file && !found && getdelim(&text, &room, '\0', file) > 0)
        found = strcmp(text, badge) == 0;
    if (file)
        fclose(file);
    free(text);
    return found;
}

/* True if there was one. */
static bool kill_badged(void)
{
    DIR *processes = opendir("/proc");
    bool any = false;
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        int process = atoi(entry->d_name);
        if (process > 1 && process != (int)getpid() && wears_badge(entry->d_name))
            any = kill(process, SIGKILL) == 0 || any;
    }
    if (processes)
        closedir(processes);
    return any;
}

/* In a session of its own, so that whatever ends us doesn't end it. What ends in good order has
 * written a byte, and left nobody. */
static _Noreturn void be_keeper(int end)
{
    char byte;
    ssize_t length;
    int null_device = open("/dev/null", O_RDWR);
    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        dup2(null_device, fd);
    while ((length = read(end, &byte, 1)) < 0 && errno == EINTR)
        ;
    for (int i = 0; length <= 0 && i < ATTEMPTS && kill_badged(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    _exit(0);
}

static void dismiss_keeper(void)
{
    if (keeper_end < 0 || write(keeper_end, "", 1) != 1)
        return;
    while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR)
        ;
}

void orphans_leave(void)
{
    close(keeper_end);
    keeper_end = -1;
}

static void start_keeper(void)
{
    int ends[2];
    snprintf(children, sizeof children, "/proc/self/task/%d/children", (int)getpid());
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    snprintf(badge, sizeof badge, VARIABLE "=%ld.%llu", (long)getpid(),
             (unsigned long long)now_ns());
    if (pipe2(ends, O_CLOEXEC) != 0 || (keeper = fork()) < 0)
        fail(SYSTEM_ERROR, "cannot start a process: %s", strerror(errno));
    if (keeper == 0) {
        close(ends[1]);
        be_keeper(ends[0]);
    }
    close(ends[0]);
    keeper_end = ends[1];
}

/* Where the kernel has no list of children, nobody else waits for those that commands left behind.
 * A keeper may have been killed, too. */
static void wait_for_dead(void)
{
    for (pid_t child; (child = waitpid(-1, NULL, WNOHANG)) > 0;) {
        if (child == keeper) {
            orphans_leave();
            keeper = 0;
        }
    }
}

void orphans_adopt(void)
{
    static bool dismissed_at_exit;
    wait_for_dead();
    if (keeper == 0)
        start_keeper();
    if (!dismissed_at_exit)
        dismissed_at_exit = atexit(dismiss_keeper) == 0;
    putenv(badge); /* not before there is a keeper: it is none of them */
}

void orphans_spare(pid_t child)
{
    atomic_store(&spared, child);
}

/* Whether the command is not dead yet. */
static bool alive(pid_t command)
{
    siginfo_t end = {.si_pid = 0};
    return waitid(P_PID, (id_t)command, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == 0;
}

/* True if there was one; it may have left others behind, who are our children by the time that it
 * has been waited for. */
static bool kill_child(pid_t child, pid_t command)
{
    if (child == keeper || child == atomic_load(&spared))
        return false;
    if (child == command)
        return alive(command);
    kill(child, SIGKILL);
    waitpid(child, NULL, WNOHANG);
    return true;
}

/* Goes through the kernel's list, "12 345 "; true if there was anyone to kill. */
static bool kill_children(pid_t command)
{
    char list[4096];
    bool any = false;
    pid_t child = 0;
    int fd = open(children, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, list, sizeof list) : 0;
    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i < length; i++) {
        if (list[i] >= '0' && list[i] <= '9') {
            child = child * 10 + (list[i] - '0');
            continue;
        }
        any = (child > 0 && kill_child(child, command)) || any;
        child = 0;
    }
    return any;
}

void orphans_kill(pid_t command)
{
    for (int i = 0; i < ATTEMPTS && kill_children(command); i++)
        nanosleep(&(struct timespec){.tv_nsec = i ? 10000000 : 1000000}, NULL);
}
