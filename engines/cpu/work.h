/* One replication: the threads, their batches, and what each of them achieved. */
#ifndef RAIL_CPU_WORK_H
#define RAIL_CPU_WORK_H

#include "../lib/clock.h"
#include "../lib/engine.h"
#include "../lib/result.h"
#include "kernels.h"

struct work;

/* Lets the CPU reach its clock, finds how many rounds make a batch, and computes what a batch has
 * to come to. The calling thread has been placed. */
struct work *work_prepare(const struct launch *launch, const struct kernel *kernel);

/* One replication after lead seconds of the same load, which don't count. Returns the time that the
 * threads took, with that lead. */
struct usage work_measure(struct work *work, double lead, struct result *result);

void work_free(struct work *work);

#endif
