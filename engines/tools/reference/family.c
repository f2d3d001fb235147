#include "family.h"

#include "system.h"

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct relation {
    pid_t pid, parent;
};

/* Of each process there is, but this one: it and its parent. Returns how many. */
static size_t read_processes(struct relation *processes, size_t most)
{
    size_t count = 0;
    DIR *folder = opendir("/proc");
    if (folder == NULL)
        give_up("/proc");
    for (struct dirent *entry; count < most && (entry = readdir(folder)) != NULL;) {
        char path[32], text[512];
        int pid = atoi(entry->d_name), parent;
        if (pid <= 0 || pid == getpid())
            continue;
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *stat = fopen(path, "re");
        size_t length = stat == NULL ? 0 : fread(text, 1, sizeof text - 1, stat);
        if (stat != NULL)
            fclose(stat);
        text[length] = '\0';
        /* A program's name may hold brackets, too. */
        const char *behind = strrchr(text, ')');
        if (behind != NULL && sscanf(behind + 1, " %*c %d", &parent) == 1)
            processes[count++] = (struct relation){.pid = pid, .parent = parent};
    }
    closedir(folder);
    return count;
}

static bool is_among(const pid_t *pids, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

/* A soaker's CPU time is no load: it is what nobody wants. */
static bool takes_what_is_left(pid_t pid)
{
    return (sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK) == SCHED_IDLE;
}

void look_at_family(pid_t root, struct family *family)
{
    static struct relation processes[MOST_PROCESSES];
    static pid_t pids[MOST_PROCESSES + 1];
    size_t count = read_processes(processes, MOST_PROCESSES), members = 0, before;
    pids[members++] = root;
    do {
        before = members;
        for (size_t i = 0; i < count; i++)
            if (!is_among(pids, members, processes[i].pid) &&
                is_among(pids, members, processes[i].parent))
                pids[members++] = processes[i].pid;
    } while (members > before);
    family->count = 0;
    for (size_t i = 0; i < members; i++) {
        clockid_t clock;
        struct timespec used;
        if (!takes_what_is_left(pids[i]) && clock_getcpuclockid(pids[i], &clock) == 0 &&
            clock_gettime(clock, &used) == 0)
            family->members[family->count++] = (struct member){
                .pid = pids[i], .seconds = (double)used.tv_sec + (double)used.tv_nsec / 1e9};
    }
}

double family_seconds(const struct family *before, const struct family *now)
{
    double seconds = 0;
    for (size_t i = 0; i < now->count; i++) {
        double first = 0, last = now->members[i].seconds;
        for (size_t k = 0; k < before->count; k++)
            if (before->members[k].pid == now->members[i].pid)
                first = before->members[k].seconds;
        /* With fewer seconds than before it is another one, of the same number. */
        seconds += last < first ? last : last - first;
    }
    return seconds;
}
