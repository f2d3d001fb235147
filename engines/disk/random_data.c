#include "random_data.h"

#include "../lib/clock.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

uint64_t fresh_number(void)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
        number = mixed(wall_ns() ^ (uint64_t)getpid() << 40);
    return number;
}

void fill_random(unsigned char *data, size_t size, uint64_t *state)
{
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = mixed((*state)++);
        memcpy(data + at, &word, sizeof word);
    }
}
