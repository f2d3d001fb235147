/* What keeps the control channel to two ends that share a secret. Each frame of theirs ends with
 * its seal: an HMAC over its number in that direction, its header and its payload. The keys, one a
 * direction, come from the secret and the two frames that began the session, with both ends'
 * random bytes: a frame that was altered, left out, repeated, sent back to who made it, or recorded
 * in another session bears no valid seal. */
#ifndef RAIL_SEAL_H
#define RAIL_SEAL_H

#include "sha256.h"

#include <stdatomic.h>

#define HEADER_SIZE 12
#define NONCE_SIZE 32                         /* random bytes of each end */
#define OPENING_SIZE (HEADER_SIZE + NONCE_SIZE) /* a frame that carries them */
#define SEAL_SIZE DIGEST_SIZE

struct seal {
    bool server;
    struct hmac outgoing, incoming, data; /* nothing but the key is in them */
    atomic_uint_least64_t sent; /* a failure may be sent by any thread */
    uint64_t received;          /* frames whose seal was valid */
};

/* hello is the client's frame, challenge the server's answer. */
void seal_begin(struct seal *seal, const char *secret, bool server,
                const unsigned char hello[OPENING_SIZE],
                const unsigned char challenge[OPENING_SIZE]);

/* Seals the next frame that is sent. */
void seal_make(struct seal *seal, const unsigned char header[HEADER_SIZE], const void *payload,
               size_t size, unsigned char out[SEAL_SIZE]);

/* True if the next frame that was received is the other end's. */
bool seal_valid(struct seal *seal, const unsigned char header[HEADER_SIZE], const void *payload,
                size_t size, const unsigned char in[SEAL_SIZE]);

/* What test data can be known by, at both ends after the client's latest frame: another one after
 * each. Who reads it in the test data learns nothing of the keys. */
uint64_t seal_token(const struct seal *seal);

#endif
