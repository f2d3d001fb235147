#include "pace.h"

#include <stdbool.h>
#include <sys/prctl.h>

#define SPIN_NS 60000 /* waking up takes the kernel less than this, mostly */

/* Or the kernel wakes this thread up to 50 us late, to save itself wake-ups. */
static void be_punctual(void)
{
    static _Thread_local bool is_punctual;
    if (!is_punctual)
        prctl(PR_SET_TIMERSLACK, 1);
    is_punctual = true;
}

void pace_begin(struct pace *pace, double interval_ns)
{
    *pace = (struct pace){.interval = interval_ns, .begin = now_ns()};
}

uint64_t wait_spinning(uint64_t due, uint64_t *spun)
{
    uint64_t now = now_ns();
    be_punctual();
    while (due > now) {
        uint64_t left = due - now, before = now;
        if (left > 2 * SPIN_NS) {
            uint64_t sleep = left - SPIN_NS;
            nanosleep(&(struct timespec){.tv_sec = (time_t)(sleep / NANOSECONDS),
                                         .tv_nsec = (long)(sleep % NANOSECONDS)},
                      NULL);
        }
        now = now_ns();
        if (left <= 2 * SPIN_NS)
            *spun += spinning_ns(before, now);
    }
    return now;
}

uint64_t wait_until(uint64_t due)
{
    uint64_t spun = 0;
    return wait_spinning(due, &spun);
}

static uint64_t wait_for(struct pace *pace, uint64_t due, uint64_t stop)
{
    pace->last = wait_spinning(due < stop ? due : stop, &pace->spun);
    return pace->last;
}

uint64_t pace_to(struct pace *pace, double offset_ns, double last_ns, uint64_t stop)
{
    uint64_t due = pace->begin + (uint64_t)offset_ns;
    uint64_t soonest = pace->last + (uint64_t)(last_ns / 2);
    return wait_for(pace, pace->last && soonest > due ? soonest : due, stop);
}

uint64_t pace_next(struct pace *pace, uint64_t stop)
{
    double offset = (double)pace->number++ * pace->interval;
    return pace_to(pace, offset, pace->interval, stop);
}

uint64_t pace_after(struct pace *pace, uint64_t stop)
{
    return wait_for(pace, pace->last ? pace->last + (uint64_t)pace->interval : 0, stop);
}
