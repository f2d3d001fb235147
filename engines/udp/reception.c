#include "reception.h"

#include "header.h"
#include "udp.h"

#include "../lib/failure.h"
#include "../lib/parameters.h"

#include <math.h>
#include <stdio.h>

void add_reception(struct fields *fields, const struct reception *reception)
{
    fields_add_number(fields, "received", (double)reception->received);
    fields_add_number(fields, "timed", (double)reception->timed);
    fields_add_number(fields, "duplicates", (double)reception->duplicates);
    fields_add_number(fields, "reordered", (double)reception->reordered);
    fields_add_number(fields, "polling_time", reception->polled);
    fields_add_number(fields, "drain_time", reception->drain);
    if (reception->drops_known)
        fields_add_number(fields, "drops", (double)reception->drops);
}

struct reception take_reception(const struct fields *fields, uint64_t sent)
{
    char text[VALUE_LIMIT];
    struct reception reception = {.received = fields_count(fields, "received", (double)sent)};
    reception.timed = fields_count(fields, "timed", (double)reception.received);
    reception.duplicates = fields_count(fields, "duplicates", COUNT_LIMIT);
    reception.reordered = fields_count(fields, "reordered", (double)reception.received);
    reception.drops_known = fields_find(fields, "drops", text);
    if (reception.drops_known)
        reception.drops = fields_count(fields, "drops", COUNT_LIMIT);
    reception.elapsed = fields_number(fields, "elapsed", 0, 1e9);
    reception.polled = fields_number(fields, "polling_time", 0, 1e9);
    reception.drain = fields_number(fields, "drain_time", 0, 1e9);
    reception.arrived = reception.received + reception.duplicates;
    return reception;
}

static void set_prefixed(struct result *result, const char *prefix, const char *name, double value)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    result_set(result, full, value);
}

void reception_result(const struct launch *launch, const struct reception *reception,
                      const char *prefix, uint64_t sent, struct result *result)
{
    double size = number_of(launch, "datagram"), received = (double)reception->received;
    double lost = (double)(sent - reception->received);
    bool has_rate = reception->elapsed >= LEAST_SECONDS && reception->timed > 0;
    if (!has_rate && !result->warmup)
        fail(TOO_SHORT, "only %g datagram%s arrived, and all at once, which has no rate: send more",
             received, received == 1 ? "" : "s");
    set_prefixed(result, prefix, "throughput",
                 has_rate ? (double)reception->timed * size * 8 / reception->elapsed : NAN);
    set_prefixed(result, prefix, "received_packets", received);
    set_prefixed(result, prefix, "received_bytes", received * size);
    set_prefixed(result, prefix, "untimed_bytes",
                 (double)(reception->received - reception->timed) * size);
    set_prefixed(result, prefix, "lost_packets", lost);
    set_prefixed(result, prefix, "loss_rate", lost / (double)sent);
    if (reception->drops_known)
        set_prefixed(result, prefix, "receiver_drops", (double)reception->drops);
    if (header_of(size_of(launch, "datagram")) == COUNTED)
        return;
    set_prefixed(result, prefix, "duplicate_packets", (double)reception->duplicates);
    set_prefixed(result, prefix, "reordered_packets", (double)reception->reordered);
}
