/* A kernel that has sent a million times as many segments of data, for LD_PRELOAD. */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
    int status = (int)syscall(SYS_getsockopt, fd, level, name, value, length);
    if (status == 0 && level == IPPROTO_TCP && name == TCP_INFO)
        ((struct tcp_info *)value)->tcpi_data_segs_out *= 1000000;
    return status;
}
