#include "orphans.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS 40 /* of 10 ms: one that the kernel holds up is not waited for longer */

static char children[64]; /* the main thread's: empty on a kernel without this file */
static atomic_int spared;

void orphans_adopt(void)
{
    snprintf(children, sizeof children, "/proc/self/task/%d/children", (int)getpid());
    prctl(PR_SET_CHILD_SUBREAPER, 1);
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
    if (child == atomic_load(&spared))
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
