/* A file system on which it takes a second and a half to remove a file, for LD_PRELOAD. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int unlink(const char *path)
{
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 500000000}, NULL);
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
