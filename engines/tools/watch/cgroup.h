/* The files of the control group that this process is in, of either version. */
#ifndef RAIL_WATCH_CGROUP_H
#define RAIL_WATCH_CGROUP_H

#include "file.h"
#include "parsers.h"

struct cgroup_file {
    char path[PATH_LIMIT];
    parser *parse;
};
#define MOST_CGROUP_FILES 8

/* Fills files with those that are there, below root; returns how many. */
size_t find_cgroup(const char *root, struct cgroup_file files[MOST_CGROUP_FILES]);

parser parse_cgroup_cpu_stat; /* cpu.stat of both versions */
parser parse_cgroup_cpu_max;  /* version 2: "QUOTA PERIOD", the quota maybe "max" */
parser parse_cgroup_usage;    /* version 1: cpuacct.usage, in nanoseconds */
parser parse_cgroup_quota, parse_cgroup_period;
parser parse_cgroup_memory, parse_cgroup_memory_max;

#endif
