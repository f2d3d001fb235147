/* How the soakers do on the idle machine: measured before and after, for the clock drifts. */
#ifndef RAIL_SOAK_CALIBRATION_H
#define RAIL_SOAK_CALIBRATION_H

#include "load.h"

#include <stdbool.h>

struct calibration {
    uint64_t at;       /* now_ns() in its middle */
    double elapsed;    /* seconds */
    struct pace *idle; /* one a CPU */
};

/* Sleeps, and does what else has to be done meanwhile, until that moment; false if it is to end. */
typedef bool wait_until(void *context, uint64_t moment);

enum calibrated { CALIBRATED, NOT_QUITE_IDLE, TOLD_TO_END };

/* Measures for so many seconds, and again, up to three times, while the soakers get less than
 * 1 - tolerance of a CPU. If they never do: a sentence about it in problem. */
enum calibrated calibrate(const struct soakers *soakers, double seconds, double tolerance,
                          wait_until *wait, void *context, struct calibration *result,
                          char *problem, size_t size);

void calibration_free(struct calibration *calibration);

/* The pace of CPU number index at that moment, on the line between the two; after may be NULL, for
 * there was none. */
struct pace pace_at(const struct calibration *before, const struct calibration *after,
                    size_t index, uint64_t moment);

/* False with a sentence in problem if loops per second differ by more than the tolerance. */
bool calibrations_agree(const struct soakers *soakers, const struct calibration *before,
                        const struct calibration *after, double tolerance, char *problem,
                        size_t size);

#endif
