/* How many files this process may have open. */
#ifndef RAIL_OPEN_FILES_H
#define RAIL_OPEN_FILES_H

#include <stdbool.h>
#include <sys/resource.h>

/* From now on as many as the hard limit allows. before: takes the limits as they were, or NULL.
 * False with errno if the kernel does not say them. */
bool allow_many_files(struct rlimit *before);

#endif
