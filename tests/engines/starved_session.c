/* For LD_PRELOAD into rail-soak: the process that has its session yield gets no CPU from then on, as
 * on a busy machine, until its parent has ended. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if (strcmp(path, "/proc/self/autogroup") == 0) {
        pid_t parent = getppid();
        while (getppid() == parent)
            usleep(10000);
        errno = ENOENT;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
