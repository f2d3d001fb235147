/* Intervals as bytes, whose format is in docs/trace.md. */
#ifndef RAIL_INTERVALS_FORMAT_H
#define RAIL_INTERVALS_FORMAT_H

#include "intervals.h"

/* The bytes of one end's or both ends', to be freed. */
unsigned char *intervals_encode(const struct intervals *const ends[], size_t count,
                                size_t *length);

/* One end's, of which the prepared ones say everything but the readings; false if the bytes are not
 * of such. */
bool intervals_decode(const unsigned char *bytes, size_t size, struct intervals *intervals);

/* Server: hands them to the client. Client: fetches those that it prepared; they are of this
 * replication, but what they have counted is the peer's word. */
void offer_intervals(struct session *session, const struct intervals *intervals,
                     struct fields *reply);
void receive_intervals(struct client *client, const struct fields *reply,
                       struct intervals *intervals);

#endif
