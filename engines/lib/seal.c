#include "seal.h"

#include <string.h>

static void derive(struct hmac *key, const char *secret, const char *purpose,
                   const unsigned char hello[OPENING_SIZE],
                   const unsigned char challenge[OPENING_SIZE])
{
    unsigned char derived[DIGEST_SIZE];
    hmac_begin(key, secret, strlen(secret));
    hmac_add(key, purpose, strlen(purpose) + 1);
    hmac_add(key, hello, OPENING_SIZE);
    hmac_add(key, challenge, OPENING_SIZE);
    hmac_end(key, derived);
    hmac_begin(key, derived, sizeof derived);
}

void seal_begin(struct seal *seal, const char *secret, bool server,
                const unsigned char hello[OPENING_SIZE],
                const unsigned char challenge[OPENING_SIZE])
{
    seal->server = server;
    atomic_init(&seal->sent, 0);
    seal->received = 0;
    derive(server ? &seal->incoming : &seal->outgoing, secret, "client", hello, challenge);
    derive(server ? &seal->outgoing : &seal->incoming, secret, "server", hello, challenge);
    derive(&seal->data, secret, "data", hello, challenge);
}

static void authenticate(const struct hmac *key, uint64_t number, const void *header,
                         size_t header_size, const void *payload, size_t size,
                         unsigned char out[DIGEST_SIZE])
{
    struct hmac hmac = *key;
    unsigned char count[8];
    for (int i = 0; i < 8; i++)
        count[i] = (unsigned char)(number >> (56 - 8 * i));
    hmac_add(&hmac, count, sizeof count);
    hmac_add(&hmac, header, header_size);
    hmac_add(&hmac, payload, size);
    hmac_end(&hmac, out);
}

void seal_make(struct seal *seal, const unsigned char header[HEADER_SIZE], const void *payload,
               size_t size, unsigned char out[SEAL_SIZE])
{
    authenticate(&seal->outgoing, atomic_fetch_add(&seal->sent, 1), header, HEADER_SIZE, payload,
                 size, out);
}

bool seal_valid(struct seal *seal, const unsigned char header[HEADER_SIZE], const void *payload,
                size_t size, const unsigned char in[SEAL_SIZE])
{
    unsigned char expected[SEAL_SIZE];
    authenticate(&seal->incoming, seal->received, header, HEADER_SIZE, payload, size, expected);
    if (!digests_equal(expected, in))
        return false;
    seal->received++;
    return true;
}

uint64_t seal_token(const struct seal *seal)
{
    unsigned char digest[DIGEST_SIZE];
    uint64_t token = 0;
    authenticate(&seal->data, seal->server ? seal->received : atomic_load(&seal->sent), NULL, 0,
                 NULL, 0, digest);
    for (int i = 0; i < 8; i++)
        token = token << 8 | digest[i];
    return token;
}
