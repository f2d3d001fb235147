/* Reads lines "KEY MESSAGE" in hex, KEY - for none; writes the SHA-256 or HMAC of each message,
 * which is taken in two pieces. Of "= MESSAGE": whether its two digests are equal. */
#include "sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *bytes_of(const char *hex, size_t *size)
{
    *size = strspn(hex, "0123456789abcdef") / 2;
    unsigned char *bytes = malloc(*size + 1);
    for (size_t i = 0; i < *size; i++) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (unsigned char)strtol(digits, NULL, 16);
    }
    return bytes;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        unsigned char digest[DIGEST_SIZE];
        size_t key_size, size;
        struct sha256 hash;
        struct hmac hmac;
        unsigned char *key = bytes_of(line, &key_size);
        unsigned char *message = bytes_of(strchr(line, ' ') + 1, &size);
        if (*line == '=') {
            puts(digests_equal(message, message + DIGEST_SIZE) ? "equal" : "different");
            free(key);
            free(message);
            continue;
        }
        if (*line == '-') {
            sha256_begin(&hash);
            sha256_add(&hash, message, size / 3);
            sha256_add(&hash, message + size / 3, size - size / 3);
            sha256_end(&hash, digest);
        } else {
            hmac_begin(&hmac, key, key_size);
            hmac_add(&hmac, message, size / 3);
            hmac_add(&hmac, message + size / 3, size - size / 3);
            hmac_end(&hmac, digest);
        }
        for (int i = 0; i < DIGEST_SIZE; i++)
            printf("%02x", digest[i]);
        putchar('\n');
        free(key);
        free(message);
    }
    free(line);
    return 0;
}
