#include "random_data.h"

#include "../lib/clock.h"
#include "../lib/splitmix.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define RECORD (128u << 10)
#define SECTOR 512

/* As wide as vectors commonly are; the compiler does it by pieces where they are narrower. */
typedef uint64_t wide __attribute__((vector_size(32), may_alias));

uint64_t unique_number(void)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
        number = splitmix_at(wall_ns() ^ (uint64_t)getpid() << 40, 1);
    return number;
}

void fill_random(unsigned char *data, size_t size, uint64_t *state)
{
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = splitmix_at((*state)++, 1);
        memcpy(data + at, &word, sizeof word);
    }
}

void refresh_random(unsigned char *data, size_t size, uint64_t *state)
{
    uint64_t key = splitmix_at((*state)++, 1);
    if (size < RECORD) {
        const wide keys = {key, key, key, key};
        for (size_t at = 0; at < size; at += sizeof keys)
            *(wide *)(void *)(data + at) ^= keys;
    } else {
        for (size_t at = 0; at + sizeof key <= size; at += SECTOR) {
            memcpy(data + at, &key, sizeof key);
            key += SPLITMIX_STEP;
        }
    }
}
