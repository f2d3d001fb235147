/* A peer that never acknowledges the end of a connection, for LD_PRELOAD. */
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    int *value = va_arg(arguments, int *);
    va_end(arguments);
    int status = (int)syscall(SYS_ioctl, fd, request, value);
    if (status == 0 && request == SIOCOUTQ && *value == 0)
        *value = 1;
    return status;
}
