#include "counters.h"

#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK 1000000     /* ns from one look at an interface's counters to the next */
#define LOOKS 20         /* of them from one look at the protocols' counters to the next */
#define MOST_TEXT 1048576 /* bytes of a file of /proc/net */

static int open_counters(const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        give_up(file);
    return fd;
}

/* The whole file, with a zero behind it. */
static char *text_of(int fd)
{
    static char text[MOST_TEXT];
    size_t length = 0;
    ssize_t got;
    if (lseek(fd, 0, SEEK_SET) != 0)
        give_up("/proc/net");
    while (length < sizeof text - 1 && (got = read(fd, text + length, sizeof text - 1 - length)) != 0) {
        if (got < 0)
            give_up("/proc/net");
        length += (size_t)got;
    }
    text[length] = '\0';
    return text;
}

/* `i`, when the look began and ended, bytes and packets received, bytes and packets sent. */
static void look_at_interface(FILE *out, int fd, const char *interface)
{
    size_t length = strlen(interface);
    double begin = elapsed_now();
    char *line = text_of(fd);
    double end = elapsed_now();
    for (; line != NULL; line = strchr(line, '\n')) {
        line += strspn(line, "\n ");
        if (strncmp(line, interface, length) != 0 || line[length] != ':')
            continue;
        uint64_t received[2], sent[2];
        if (sscanf(line + length + 1,
                   "%" SCNu64 " %" SCNu64 " %*u %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
                   &received[0], &received[1], &sent[0], &sent[1]) == 4) {
            fprintf(out, "i %.9f %.9f %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", begin, end,
                    received[0], received[1], sent[0], sent[1]);
            return;
        }
    }
    errno = ENODEV;
    give_up(interface);
}

/* `p` and when, then the lines as the kernel has them: names and numbers of IP, TCP and UDP. */
static void look_at_protocols(FILE *out, int fd)
{
    fprintf(out, "p %.9f\n", elapsed_now());
    for (char *line = strtok(text_of(fd), "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (strncmp(line, "Ip: ", 4) == 0 || strncmp(line, "Tcp: ", 5) == 0 ||
            strncmp(line, "Udp: ", 5) == 0 || strncmp(line, "IpExt: ", 7) == 0)
            fprintf(out, "%s\n", line);
}

/* All stays in memory until the end: what is printed may go out by the same interface. */
void record_counters(const char *interface)
{
    char *record = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&record, &size);
    int device = open_counters("/proc/net/dev"), snmp = open_counters("/proc/net/snmp");
    int netstat = open_counters("/proc/net/netstat");
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    struct timespec pause = {.tv_nsec = LOOK};
    if (out == NULL)
        give_up("memory");
    look_at_interface(out, device, interface);
    puts("ready");
    fflush(stdout);
    for (int look = 0;; look++) {
        bool last = ppoll(&input, 1, &pause, NULL) != 0;
        look_at_interface(out, device, interface);
        if (look % LOOKS == 0 || last) {
            look_at_protocols(out, snmp);
            look_at_protocols(out, netstat);
        }
        if (last)
            break;
    }
    if (fclose(out) != 0 || fwrite(record, 1, size, stdout) != size || puts("done") == EOF ||
        fflush(stdout) != 0)
        give_up("the record");
    free(record);
    close(device);
    close(snmp);
    close(netstat);
}
