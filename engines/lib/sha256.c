#include "sha256.h"

#include <string.h>

/* The first 32 bits of the fractions of the first 64 primes' cube roots. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

static void compress(uint32_t state[8], const unsigned char block[SHA256_BLOCK])
{
    uint32_t schedule[64], v[8];
    for (int i = 0; i < 16; i++)
        schedule[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                      (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t late = schedule[i - 2], early = schedule[i - 15];
        schedule[i] = schedule[i - 16] + schedule[i - 7] +
                      (rotated(early, 7) ^ rotated(early, 18) ^ early >> 3) +
                      (rotated(late, 17) ^ rotated(late, 19) ^ late >> 10);
    }
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t first = v[7] + (rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25)) +
                         choice + constants[i] + schedule[i];
        uint32_t second = (rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22)) + majority;
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

void sha256_begin(struct sha256 *hash)
{
    *hash = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                      0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *hash, const void *data, size_t size)
{
    const unsigned char *from = data;
    while (size > 0) {
        size_t at = hash->length % SHA256_BLOCK, room = SHA256_BLOCK - at;
        size_t step = size < room ? size : room;
        memcpy(hash->block + at, from, step);
        hash->length += step;
        from += step;
        size -= step;
        if (step == room)
            compress(hash->state, hash->block);
    }
}

void sha256_end(struct sha256 *hash, unsigned char digest[DIGEST_SIZE])
{
    static const unsigned char padding[SHA256_BLOCK] = {0x80};
    unsigned char bits[8];
    for (int i = 0; i < 8; i++)
        bits[i] = (unsigned char)(hash->length * 8 >> (56 - 8 * i));
    size_t at = hash->length % SHA256_BLOCK;
    sha256_add(hash, padding, (at < 56 ? 56 : 120) - at);
    sha256_add(hash, bits, sizeof bits);
    for (int i = 0; i < DIGEST_SIZE; i++)
        digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

static void begin_padded(struct sha256 *hash, const unsigned char key[SHA256_BLOCK],
                         unsigned char pad)
{
    unsigned char block[SHA256_BLOCK];
    for (int i = 0; i < SHA256_BLOCK; i++)
        block[i] = key[i] ^ pad;
    sha256_begin(hash);
    sha256_add(hash, block, sizeof block);
}

void hmac_begin(struct hmac *hmac, const void *key, size_t size)
{
    unsigned char block[SHA256_BLOCK] = {0};
    if (size > SHA256_BLOCK) {
        sha256_begin(&hmac->inner);
        sha256_add(&hmac->inner, key, size);
        sha256_end(&hmac->inner, block);
    } else if (size > 0) {
        memcpy(block, key, size);
    }
    begin_padded(&hmac->inner, block, 0x36);
    begin_padded(&hmac->outer, block, 0x5c);
}

void hmac_add(struct hmac *hmac, const void *data, size_t size)
{
    sha256_add(&hmac->inner, data, size);
}

void hmac_end(struct hmac *hmac, unsigned char digest[DIGEST_SIZE])
{
    sha256_end(&hmac->inner, digest);
    sha256_add(&hmac->outer, digest, DIGEST_SIZE);
    sha256_end(&hmac->outer, digest);
}

bool digests_equal(const unsigned char a[DIGEST_SIZE], const unsigned char b[DIGEST_SIZE])
{
    volatile unsigned char difference = 0;
    for (int i = 0; i < DIGEST_SIZE; i++)
        difference = (unsigned char)(difference | (a[i] ^ b[i]));
    return difference == 0;
}
