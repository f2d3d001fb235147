/* Processes that a command leaves behind, also those that left its process group, as an mpirun's
 * ranks and daemons do. */
#ifndef RAIL_EXEC_ORPHANS_H
#define RAIL_EXEC_ORPHANS_H

#include <sys/types.h>

/* For each launch, while no command runs: what commands leave behind becomes this process's
 * children. Where that is killed with SIGKILL, a keeper ends them: all that have the variable which
 * this puts into the environment. From the main thread. */
void orphans_adopt(void);

/* For a child that is to outlive this process: leaves the keeper to its parent. */
void orphans_leave(void);

/* A child that is none of them; 0: there is none. */
void orphans_spare(pid_t child);

/* Kills them and all that they leave behind in turn, once the command is dead, for which it waits a
 * moment; that is left for its own wait. Signal handlers may call it. */
void orphans_kill(pid_t command);

#endif
