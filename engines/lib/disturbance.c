#include "disturbance.h"

#include "failure.h"
#include "report.h"

#include <stdio.h>

#define UNDISTURBED 0.95 /* of the CPUs' time, or others used them */

double share_of_cpus(const struct usage *usage, size_t cpus)
{
    return usage->ran / (usage->elapsed * (double)cpus);
}

void warn_if_disturbed(double least)
{
    char sentence[MESSAGE_LIMIT];
    if (least >= UNDISTURBED)
        return;
    snprintf(sentence, sizeof sentence,
             "in one of the replications the threads had their CPUs for %.0f %% of the time: "
             "others used them in between",
             100 * least);
    report_warning("busy-cpus", "client", sentence);
}
