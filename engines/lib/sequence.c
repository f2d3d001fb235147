#include "sequence.h"

#include <string.h>

void sequence_clear(struct sequence *sequence)
{
    memset(sequence, 0, sizeof *sequence);
}

static uint64_t *word_of(struct sequence *sequence, uint64_t number)
{
    return &sequence->bits[number % WINDOW / 64];
}

/* Forgets what the places of the numbers that were skipped said a window ago. */
static void skip_to(struct sequence *sequence, uint64_t number)
{
    if (number - sequence->next >= WINDOW) {
        memset(sequence->bits, 0, sizeof sequence->bits);
        return;
    }
    for (uint64_t skipped = sequence->next; skipped < number; skipped++)
        *word_of(sequence, skipped) &= ~(1ull << skipped % 64);
}

bool sequence_add_other(struct sequence *sequence, uint64_t number)
{
    uint64_t bit = 1ull << number % 64;
    if (number >= sequence->next) {
        skip_to(sequence, number);
        *word_of(sequence, number) |= bit;
        sequence->next = number + 1;
        sequence->unique++;
        return true;
    }
    if (sequence->next - number > WINDOW) {
        sequence->too_late++;
        return false;
    }
    if (*word_of(sequence, number) & bit) {
        sequence->duplicates++;
        return false;
    }
    *word_of(sequence, number) |= bit;
    sequence->unique++;
    sequence->reordered++;
    return true;
}
