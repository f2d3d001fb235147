/* SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104), for who proves to know a secret. */
#ifndef RAIL_SHA256_H
#define RAIL_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_SIZE 32
#define SHA256_BLOCK 64

struct sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    unsigned char block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t size);
void sha256_end(struct sha256 *hash, unsigned char digest[DIGEST_SIZE]);

/* A copy of what hmac_begin makes of a key begins any number of messages. */
struct hmac {
    struct sha256 inner, outer;
};

void hmac_begin(struct hmac *hmac, const void *key, size_t size);
void hmac_add(struct hmac *hmac, const void *data, size_t size);
void hmac_end(struct hmac *hmac, unsigned char digest[DIGEST_SIZE]);

/* Equal, in a time that reveals nothing about where they differ. */
bool digests_equal(const unsigned char a[DIGEST_SIZE], const unsigned char b[DIGEST_SIZE]);

#endif
