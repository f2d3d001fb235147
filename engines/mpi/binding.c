/* Ranks on one machine take its CPUs in turn. A machine is a kernel: hosts that are namespaces or
 * containers of one machine share its CPUs, and a launcher that binds ranks host by host would put
 * all of them on the first. */
#include "binding.h"

#include "../lib/parameters.h"
#include "../lib/place.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOOT_ID 40 /* longer than any, with its final zero */

/* What the ranks exchange about where they run. */
struct location {
    char boot[BOOT_ID]; /* the kernel's; empty: unknown */
    cpu_set_t allowed;
};

static void read_location(struct location *location)
{
    memset(location, 0, sizeof *location);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file) {
        if (fgets(location->boot, sizeof location->boot, file) == NULL)
            location->boot[0] = '\0';
        fclose(file);
    }
    sched_getaffinity(0, sizeof location->allowed, &location->allowed);
}

/* The first CPU of the core that a CPU is part of; itself if the kernel doesn't say. */
static int core_of(int cpu)
{
    char path[128];
    int first = cpu;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return cpu;
    if (fscanf(file, "%d", &first) != 1 || first < 0 || first >= CPU_SETSIZE)
        first = cpu;
    fclose(file);
    return first;
}

/* How often CPUs and cores have been given away on this machine. */
struct occupancy {
    int cpus[CPU_SETSIZE], cores[CPU_SETSIZE], core[CPU_SETSIZE];
};

/* Of the CPUs a rank may use, the first of those that the fewest ranks have, on cores that the
 * fewest have; -1 if it may use none. */
static int choose(struct occupancy *occupancy, const cpu_set_t *allowed)
{
    int best = -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, allowed))
            continue;
        int more = best < 0 ? -1 : occupancy->cpus[cpu] - occupancy->cpus[best];
        if (more == 0)
            more = occupancy->cores[occupancy->core[cpu]] - occupancy->cores[occupancy->core[best]];
        if (more < 0)
            best = cpu;
    }
    return best;
}

/* The neighbours: this rank's place among the ranks of its machine, how many they are, and the CPU
 * that is its turn. */
struct turn {
    int place, ranks, cpu;
    bool shared; /* two of them got the same CPU */
};

static struct turn take_turn(const struct job *job, const struct location *locations)
{
    static struct occupancy occupancy;
    const char *boot = locations[job->rank].boot;
    struct turn turn = {.cpu = -1};
    memset(&occupancy, 0, sizeof occupancy);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        occupancy.core[cpu] =
            CPU_ISSET((size_t)cpu, &locations[job->rank].allowed) ? core_of(cpu) : cpu;
    for (int rank = 0; rank < job->ranks; rank++) {
        if (strcmp(locations[rank].boot, boot) != 0)
            continue;
        int cpu = choose(&occupancy, &locations[rank].allowed);
        if (rank == job->rank) {
            turn.place = turn.ranks;
            turn.cpu = cpu;
        }
        turn.ranks++;
        if (cpu < 0)
            continue;
        turn.shared = turn.shared || occupancy.cpus[cpu] > 0;
        occupancy.cpus[cpu]++;
        occupancy.cores[occupancy.core[cpu]]++;
    }
    return turn;
}

/* Returns a sentence in problem if it cannot be. */
static void bind_to(int cpu, char *problem, size_t size)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        snprintf(problem, size, "cannot bind a rank to CPU %d: %s", cpu, strerror(errno));
}

static void add_cpu(struct fields *settings)
{
    char text[512] = "";
    cpu_set_t now;
    if (sched_getaffinity(0, sizeof now, &now) == 0)
        cpu_list(&now, text, sizeof text);
    fields_add(settings, "cpu", text);
}

static void warn_of_sharing(const struct job *job, const struct turn *turn, int cpus,
                            struct fields *settings)
{
    char text[512];
    snprintf(text, sizeof text,
             "oversubscribed %d ranks of this machine share %d CPUs, so that they wait for one "
             "another's turns: what is measured is the scheduler%s",
             turn->ranks, cpus,
             number_of(job->launch, "yield") != 0 ? "" : "; set yield to have them give way");
    fields_add(settings, "warning", text);
}

void take_cpus(const struct job *job, struct fields *settings)
{
    int cpus[CPU_LIMIT], sharing, any_sharing;
    char problem[MESSAGE_LIMIT] = "";
    struct location own, *locations = calloc((size_t)job->ranks, sizeof *locations);
    if (locations == NULL)
        fail(OUT_OF_MEMORY, "no memory for what %d ranks say of themselves", job->ranks);
    size_t listed = read_cpus("cpus", text_of(job->launch, "cpus"), cpus);
    read_location(&own);
    MPI_Allgather(&own, sizeof own, MPI_BYTE, locations, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    struct turn turn = take_turn(job, locations);
    int available = listed ? (int)listed : CPU_COUNT(&own.allowed);
    free(locations);
    if (listed) {
        turn.cpu = cpus[(size_t)turn.place % listed];
        turn.shared = (size_t)turn.ranks > listed;
    }
    if (strcmp(text_of(job->launch, "binding"), "core") == 0 && turn.cpu >= 0)
        bind_to(turn.cpu, problem, sizeof problem);
    must_agree(job, BAD_PARAMETER, *problem ? problem : NULL);
    add_cpu(settings);
    fields_add_number(settings, "ranks_here", turn.ranks);
    if (turn.shared && (job->rank == 0 || job->rank == job->ranks - 1))
        warn_of_sharing(job, &turn, available, settings);
    sharing = turn.shared;
    MPI_Allreduce(&sharing, &any_sharing, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any_sharing && !sharing && job->rank == 0)
        fields_add(settings, "warning",
                   "oversubscribed on another machine of this job, ranks share CPUs");
}
