#include "kernel_times.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, KINDS };

/* Its beginning, as far as the CPUs go; for free(). */
static char *read_stat(size_t cpus)
{
    static int fd = -1;
    size_t room = 4096 + cpus * 256, length = 0;
    char *text = malloc(room);
    if (fd < 0)
        fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(SYSTEM_ERROR, "cannot read /proc/stat: %s", strerror(errno));
    if (text == NULL)
        fail(OUT_OF_MEMORY, "no memory for /proc/stat");
    while (length < room - 1) {
        ssize_t received = pread(fd, text + length, room - 1 - length, (off_t)length);
        if (received < 0 && errno == EINTR)
            continue;
        if (received <= 0)
            break;
        length += (size_t)received;
    }
    text[length] = '\0';
    return text;
}

static bool parse_line(const char *line, int *cpu, uint64_t ticks[KINDS])
{
    if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]))
        return false;
    char *at;
    *cpu = (int)strtol(line + 3, &at, 10);
    for (int kind = 0; kind < KINDS; kind++)
        ticks[kind] = strtoull(at, &at, 10);
    return true;
}

void kernel_times(const int *cpus, size_t count, struct kernel_times *times)
{
    uint64_t tick = NANOSECONDS / (uint64_t)sysconf(_SC_CLK_TCK);
    char *text = read_stat((size_t)sysconf(_SC_NPROCESSORS_CONF));
    memset(times, 0, count * sizeof *times);
    size_t index = 0;
    for (char *line = text; line && index < count; line = strchr(line, '\n')) {
        uint64_t ticks[KINDS];
        int cpu;
        line += *line == '\n';
        if (!parse_line(line, &cpu, ticks))
            continue;
        while (index < count && cpus[index] < cpu)
            index++;
        if (index == count || cpus[index] != cpu)
            continue;
        times[index].busy = (ticks[USER] + ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ]) * tick;
        times[index].stolen = ticks[STEAL] * tick;
    }
    free(text);
}
