/* What the threads' memory turned out to be. */
#ifndef RAIL_MEM_FINDINGS_H
#define RAIL_MEM_FINDINGS_H

#include "work.h"

#include "../lib/fields.h"

/* Adds the settings of a job whose workers are prepared, warnings among them. */
void add_findings(const struct job *job, const struct worker *workers, struct fields *settings);

#endif
