#include "load.h"

#include "../../lib/clock.h"

/* Seconds between two values of a clock; those of a CPU that was switched off fall to 0. */
static double seconds_between(uint64_t before, uint64_t after)
{
    return after > before ? ns_seconds(after - before) : 0;
}

/* What was stolen is nobody's time. It comes in whole ticks, so in a short interval it may seem to
 * leave less than the soaker is known to have had. */
static double available_time(const struct reading *before, const struct reading *after)
{
    double elapsed = seconds_between(before->at, after->at);
    double ran = seconds_between(before->ran, after->ran);
    double available = elapsed - seconds_between(before->stolen, after->stolen);
    if (available < ran)
        available = ran;
    return available > 0 ? available : elapsed;
}

struct pace pace_between(const struct reading *before, const struct reading *after)
{
    double ran = seconds_between(before->ran, after->ran);
    double loops = (double)(after->loops - before->loops);
    double available = available_time(before, after);
    return (struct pace){.share = available > 0 ? ran / available : 0,
                         .rate = ran > 0 ? loops / ran : 0};
}

struct load load_between(const struct reading *before, const struct reading *after,
                         const struct pace *idle)
{
    struct pace now = pace_between(before, after);
    double elapsed = seconds_between(before->at, after->at);
    if (elapsed <= 0)
        return (struct load){0};
    struct load load = {
        .lost = 1 - now.share / idle->share,
        .slowdown = now.share > 0 ? 1 - now.rate / idle->rate : 0,
        .steal = seconds_between(before->stolen, after->stolen) / elapsed,
        .kernel = seconds_between(before->busy, after->busy) / elapsed,
        .elapsed = elapsed,
    };
    load.load = 1 - (1 - load.lost) * (1 - load.slowdown);
    load.seconds = load.load * available_time(before, after);
    return load;
}

struct load load_of_all(const struct load *loads, size_t count)
{
    struct load all = {0};
    for (size_t i = 0; i < count; i++) {
        all.load += loads[i].load / (double)count;
        all.lost += loads[i].lost / (double)count;
        all.slowdown += loads[i].slowdown / (double)count;
        all.steal += loads[i].steal / (double)count;
        all.kernel += loads[i].kernel / (double)count;
        all.elapsed += loads[i].elapsed / (double)count;
        all.seconds += loads[i].seconds;
    }
    return all;
}
