#include "exit_report.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int to_child = -1;
static pid_t child;

void exit_report_arm(enum failure failure, const char *message)
{
    int ends[2];
    char word;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    child = fork();
    if (child == 0) {
        setsid(); /* a launcher may end the whole group */
        close(ends[1]);
        if (read(ends[0], &word, 1) != 0)
            _exit(0);
        fail(failure, "%s", message);
    }
    close(ends[0]);
    if (child < 0)
        close(ends[1]);
    else
        atomic_store(&to_child, ends[1]);
}

void exit_report_disarm(void)
{
    int fd = atomic_exchange(&to_child, -1);
    if (fd < 0)
        return;
    if (write(fd, "", 1) == 1)
        waitpid(child, NULL, 0);
    close(fd);
}

bool exit_report_armed(void)
{
    return atomic_load(&to_child) >= 0;
}
