/* Reads traces in hexadecimal, one a line, and prints what each holds: "refused", or its clock and
 * counts, arrivals, loss runs, jitter, the bytes it is written as again. */
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_loss(void *context, int64_t after, uint64_t lost)
{
    (void)context;
    printf("%" PRId64 ":%" PRIu64 " ", after, lost);
}

static void print_trace(const struct trace *trace)
{
    printf("%d %" PRIu64 " %" PRIu64 " %" PRIu64 ",", (int)trace->clock, trace->sent,
           trace->arrived, trace->recorded);
    for (uint64_t i = 0; i < trace->recorded; i++)
        printf("%" PRIu64 ":%" PRIu64 ":%" PRIu64 " ", trace->arrivals[i].number,
               trace->arrivals[i].received, trace->arrivals[i].sent);
    putchar(',');
    trace_loss_runs(trace, print_loss, NULL);
    printf(",%.17g,", trace_jitter(trace));
    size_t length = trace_length(trace);
    unsigned char *bytes = malloc(length);
    trace_encode(trace, bytes);
    for (size_t i = 0; i < length; i++)
        printf("%02x", bytes[i]);
    putchar('\n');
    free(bytes);
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        size_t length = strcspn(line, "\n") / 2;
        unsigned char *bytes = malloc(length + 1);
        struct trace trace;
        const char *problem;
        for (size_t i = 0; i < length; i++)
            sscanf(line + 2 * i, "%2hhx", &bytes[i]);
        if (trace_decode(bytes, length, &trace, &problem)) {
            print_trace(&trace);
            free(trace.arrivals);
        } else {
            puts("refused");
        }
        free(bytes);
    }
    free(line);
    return 0;
}
