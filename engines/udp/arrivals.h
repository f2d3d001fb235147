/* The trace of a stream: recorded by the server, reported by the client. */
#ifndef RAIL_UDP_ARRIVALS_H
#define RAIL_UDP_ARRIVALS_H

#include "receiver.h"

/* Fails with BAD_PARAMETER if a trace is asked for that there cannot be. */
void check_trace(const struct launch *launch);

/* Server: gives the receivers room for the arrivals, if a trace is asked for. */
void prepare_arrivals(struct receiver_group *group);

/* Server: encodes them for the client. */
void offer_arrivals(struct session *session, const struct receiver_group *group,
                    const struct reception *reception, struct fields *reply);

/* Client: fetches the trace, checks that it agrees with the rest, reports it and what it shows. */
void finish_arrivals(struct client *client, const struct trial *trial, const struct fields *reply,
                     const struct reception *reception, struct result *result);

#endif
