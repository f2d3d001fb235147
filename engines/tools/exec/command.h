/* Somebody else's command, in a process group of its own. It ends with all that it started whenever
 * this process does. */
#ifndef RAIL_EXEC_COMMAND_H
#define RAIL_EXEC_COMMAND_H

#include "capture.h"

#include <sys/resource.h>
#include <sys/types.h>

struct command {
    pid_t child;
    int process; /* its descriptor, -1 before Linux 5.3 */
};

/* From now on signals and the guard end what runs first. Of the environment commands get what any
 * program needs and what is in the list, "NAME,BEGINNING*": it may hold what is nobody else's. */
void command_guard(const char *inherited);

/* Ends what runs, first asking it to: an mpirun asked so ends its ranks elsewhere. For a guard's
 * thread, which ends the process next: no other command is started. */
void command_end_for_good(void);

/* Starts it, in folder if there is one; fails if there is no such program. */
struct command command_start(char **argv, const char *folder, struct capture *capture);

/* Kills it and all that it started. */
void command_kill(void);

/* Waits for its end, ends what it left behind, and gives its status and usage. */
int command_reap(const struct command *command, struct rusage *used, uint64_t *end);

/* Fails unless it ended with status 0, in the words of what it wrote. */
void command_check(int status, const struct capture *capture, const char *title);

#endif
