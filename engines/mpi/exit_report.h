/* Reports why a process ended when something else ended it: Open MPI leaves with _exit from within
 * MPI_Init when it cannot do what it is asked, and nothing of ours is called. */
#ifndef RAIL_MPI_EXIT_REPORT_H
#define RAIL_MPI_EXIT_REPORT_H

#include "../lib/failure.h"

/* From now on a child of this process waits for its end and then reports that failure. */
void exit_report_arm(enum failure failure, const char *message);

/* There is no need any more. Does nothing where there is no child. */
void exit_report_disarm(void);

/* There is a child that waits. */
bool exit_report_armed(void);

#endif
