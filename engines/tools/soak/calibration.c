#include "calibration.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ATTEMPTS 3

static struct pace *paces_between(const struct soakers *soakers, const struct reading *readings)
{
    struct pace *idle = calloc(soakers->count, sizeof *idle);
    for (size_t i = 0; idle && i < soakers->count; i++)
        idle[i] = pace_between(&readings[i], &readings[soakers->count + i]);
    return idle;
}

/* The CPU whose soaker got least; -1 if all got enough. */
static int busiest(const struct soakers *soakers, const struct pace *idle, double tolerance)
{
    int worst = -1;
    for (size_t i = 0; i < soakers->count; i++)
        if ((idle[i].share < 1 - tolerance || idle[i].rate <= 0) &&
            (worst < 0 || idle[i].share < idle[worst].share))
            worst = (int)i;
    return worst;
}

static void describe_busy(int cpu, double share, double tolerance, char *problem, size_t size)
{
    snprintf(problem, size,
             "CPU %d is not idle: others took %.1f %% of it while it was calibrated, %d times in a "
             "row more than %g %%: end what runs there (top shows it) or wait; by hand, allow more "
             "with --tolerance",
             cpu, (1 - share) * 100, ATTEMPTS, tolerance * 100);
}

enum calibrated calibrate(const struct soakers *soakers, double seconds, double tolerance,
                          wait_until *wait, void *context, struct calibration *result,
                          char *problem, size_t size)
{
    struct reading *readings = readings_new(soakers, 2);
    enum calibrated outcome = NOT_QUITE_IDLE;
    for (int attempt = 0; attempt < ATTEMPTS && outcome == NOT_QUITE_IDLE; attempt++) {
        soakers_read(soakers, readings);
        if (!wait(context, now_ns() + seconds_ns(seconds))) {
            outcome = TOLD_TO_END;
            break;
        }
        soakers_read(soakers, readings + soakers->count);
        soakers_check(soakers);
        struct pace *idle = paces_between(soakers, readings);
        if (idle == NULL)
            fail(OUT_OF_MEMORY, "no memory for a calibration");
        int busy = busiest(soakers, idle, tolerance);
        if (busy < 0) {
            uint64_t lasted = readings[soakers->count].at - readings[0].at;
            *result = (struct calibration){
                .at = readings[0].at + lasted / 2, .elapsed = ns_seconds(lasted), .idle = idle};
            outcome = CALIBRATED;
        } else {
            describe_busy(soakers->cpus[busy], idle[busy].share, tolerance, problem, size);
            free(idle);
        }
    }
    free(readings);
    return outcome;
}

void calibration_free(struct calibration *calibration)
{
    free(calibration->idle);
    calibration->idle = NULL;
}

struct pace pace_at(const struct calibration *before, const struct calibration *after,
                    size_t index, uint64_t moment)
{
    if (after == NULL || moment <= before->at)
        return before->idle[index];
    if (moment >= after->at)
        return after->idle[index];
    double way = (double)(moment - before->at) / (double)(after->at - before->at);
    const struct pace *from = &before->idle[index], *to = &after->idle[index];
    return (struct pace){.share = from->share + way * (to->share - from->share),
                         .rate = from->rate + way * (to->rate - from->rate)};
}

bool calibrations_agree(const struct soakers *soakers, const struct calibration *before,
                        const struct calibration *after, double tolerance, char *problem,
                        size_t size)
{
    for (size_t i = 0; i < soakers->count; i++) {
        double change = after->idle[i].rate / before->idle[i].rate - 1;
        if (fabs(change) <= tolerance)
            continue;
        snprintf(problem, size,
                 "the soaker of CPU %d is by %.1f %% %s than when it was calibrated before, more "
                 "than %g %%: the CPU's clock changed, or something shares the CPU's cache or "
                 "core; loads in between may be off by as much",
                 soakers->cpus[i], fabs(change) * 100, change < 0 ? "slower" : "faster",
                 tolerance * 100);
        return false;
    }
    return true;
}
