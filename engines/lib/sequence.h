/* Tells new packets from duplicates and sees reordering, in fixed memory: one bit for each of the
 * last WINDOW sequence numbers. */
#ifndef RAIL_SEQUENCE_H
#define RAIL_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW (1u << 20) /* a packet later than this many is neither new nor a duplicate */

struct sequence {
    uint64_t next; /* one past the highest number seen */
    uint64_t unique, duplicates, reordered, too_late;
    uint64_t bits[WINDOW / 64];
};

void sequence_clear(struct sequence *sequence);

/* Likewise for a number that is not the next one. */
bool sequence_add_other(struct sequence *sequence, uint64_t number);

/* True if that number was not seen before. */
static inline bool sequence_add(struct sequence *sequence, uint64_t number)
{
    if (number != sequence->next)
        return sequence_add_other(sequence, number);
    sequence->bits[number % WINDOW / 64] |= 1ull << number % 64;
    sequence->next = number + 1;
    sequence->unique++;
    return true;
}

#endif
