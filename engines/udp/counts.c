#include "counts.h"

#include "../lib/clock.h"

#include <string.h>

enum { COLUMNS = 2 };
static const enum quantity quantities[COLUMNS] = {RECEIVED_PACKETS, LOST_PACKETS};

void counts_prepare_sum(struct intervals *sum, const struct launch *launch,
                        const struct trial *trial)
{
    intervals_prepare(sum, launch, trial, quantities, COLUMNS);
}

void counts_prepare(struct counts *counts, const struct launch *launch, const struct trial *trial)
{
    sequence_clear(&counts->sequence);
    counts->omitted.unique = counts->omitted.next = 0;
    intervals_prepare(&counts->intervals, launch, trial, quantities, COLUMNS);
    if (trial->omit > 0)
        sequence_clear(&counts->omitted);
}

/* Those of the omitted part have its datagrams alone, late as they may be. */
void counts_close(struct counts *counts, uint64_t now)
{
    const struct sequence *sequence = &counts->sequence, *omitted = &counts->omitted;
    uint64_t counts_from = counts->intervals.origin + counts->intervals.omit;
    intervals_close(&counts->intervals, now < counts_from ? now : counts_from,
                    (uint64_t[]){omitted->unique, omitted->next - omitted->unique});
    intervals_close(&counts->intervals, now,
                    (uint64_t[]){sequence->unique, sequence->next - sequence->unique});
}

void counts_begin(struct counts *counts, atomic_uint_fast64_t *origin, uint64_t now)
{
    uint_fast64_t first = 0;
    if (atomic_compare_exchange_strong(origin, &first, now))
        first = now;
    intervals_begin(&counts->intervals, first);
}

void counts_finish(struct counts *counts, atomic_uint_fast64_t *origin, uint64_t last_at,
                   uint64_t sent)
{
    struct intervals *intervals = &counts->intervals;
    uint64_t unique = counts->sequence.unique;
    uint64_t omitted[] = {counts->omitted.unique, counts->omitted.next - counts->omitted.unique};
    if (last_at == 0)
        counts_begin(counts, origin, now_ns());
    uint64_t counts_from = intervals->origin + intervals->omit;
    counts_close(counts, last_at > counts_from ? last_at : counts_from);
    intervals_finish(intervals, last_at, (uint64_t[]){unique, sent - unique});
    for (size_t column = 0; column < COLUMNS; column++)
        intervals_raise(intervals, false, column, omitted[column]);
    uint64_t *end = intervals_omitted(intervals);
    if (end)
        memcpy(end, omitted, sizeof omitted);
}
