#include "under_rate.h"

#include "parameters.h"
#include "report.h"

#include <stdio.h>

#define UNDER_RATE 0.01 /* so much below the rate brings a warning; a plan's default too */

void warn_under_rate(const struct launch *launch, const struct achieved *achieved)
{
    char message[MESSAGE_LIMIT];
    double rate = number_of(launch, "rate");
    if (launch->json || achieved->due >= (1 - UNDER_RATE) * rate)
        return;
    snprintf(message, sizeof message,
             "replication %ld sent %.4g of the %.10g Mbit/s asked for: ask for less, or %s",
             achieved->replication, achieved->throughput / 1e6, rate / 1e6, achieved->advice);
    report_warning("under-rate", achieved->side, message);
}
