/* Where and how threads run: CPUs and scheduling class, as the plan asks. */
#ifndef RAIL_PLACE_H
#define RAIL_PLACE_H

#include "cores.h"
#include "engine.h"
#include "fields.h"

#include <sched.h>

/* modes: those that have a server. */
#define PLACE_PARAMETERS(modes)                                                                   \
    {"client_cpu", TEXT, "", 0, 0, NULL, NULL, "zcc -B; UDPmon's CPU mask; run_on_cpu",           \
     "CPUs of the client's threads, such as 0 or 0,2-3: the first thread is pinned to the first " \
     "of them, and so on, round and round; +0,2-3: counted from 0 among those that the process "  \
     "may use, one of each core first, round and round; empty: the kernel chooses"},              \
    {"server_cpu", TEXT, "", 0, 0, NULL, modes, "run_on_cpu; UDPmon's CPU mask",                  \
     "CPUs of the server's threads, likewise"},                                                   \
    {"scheduler", CHOICE, "other", 0, 0, "other|rr|fifo", NULL, "run_rr",                         \
     "scheduling class of both ends' test threads; rr and fifo (real time, priority 1) need the " \
     "right to it and a --deadline on both ends"}

/* For an engine that measures its own host, which has a parameter "threads" too. */
#define HOST_PLACE_PARAMETERS                                                                     \
    {"cpus", TEXT, "", 0, 0, NULL, NULL, NULL,                                                    \
     "CPUs of the threads, such as 0 or 0,2-3: the first thread is pinned to the first of them, " \
     "and so on, round and round; +0,2-3: counted from 0 among those that the process may use, "  \
     "one of each core first, round and round; empty: all of these"},                             \
    {"scheduler", CHOICE, "other", 0, 0, "other|rr|fifo", NULL, NULL,                             \
     "scheduling class of the test threads; rr and fifo (real time, priority 1) need the right "  \
     "to it and a --deadline"}

/* Pins the calling thread to the CPU that its number has and gives it its scheduling class; fails
 * with BAD_PARAMETER or NOT_PERMITTED. */
void place_thread(const struct launch *launch, bool server, int number);

/* For a thread that only waits beside test threads of a real-time class: it gets the CPU when it
 * has something to do, even if they never sleep. */
void place_above(const struct launch *launch);

/* The setting "cpu": the CPUs that this process's test threads are pinned to, or that it is
 * confined to. */
void add_cpus(const struct launch *launch, bool server, struct fields *settings);

/* On how many CPUs the threads of an engine that measures its own host are: a list may name one
 * twice. */
size_t place_width(const struct launch *launch);

/* The CPUs of a list such as 0,2-3, in its order; returns how many. Fails with BAD_PARAMETER; name:
 * the parameter's. */
size_t read_cpus(const char *name, const char *list, int cpus[CPU_LIMIT]);

/* Writes such a list for the CPUs in the set. */
void cpu_list(const cpu_set_t *set, char *out, size_t size);

#endif
