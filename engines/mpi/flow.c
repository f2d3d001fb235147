#include "flow.h"

#include "../lib/parameters.h"

#include <stdlib.h>

size_t window_of(const struct launch *launch)
{
    return number_of(launch, "blocking") != 0 ? 0 : size_of(launch, "window");
}

void ring_open(struct ring *ring, const struct buffers *buffers, size_t window)
{
    *ring = (struct ring){.buffers = buffers, .window = window};
    if (window == 0)
        return;
    ring->sends = malloc(window * sizeof *ring->sends);
    ring->receives = malloc(window * sizeof *ring->receives);
    if (ring->sends == NULL || ring->receives == NULL)
        fail(OUT_OF_MEMORY, "no memory for %zu messages in flight", window);
}

void ring_close(struct ring *ring)
{
    free(ring->sends);
    free(ring->receives);
    *ring = (struct ring){0};
}

void ring_fill_up(struct ring *ring, int to)
{
    for (size_t i = 1; i < ring->window; i++)
        ring_send(ring, to, FILLER_TAG);
}

void ring_finish(struct ring *ring, uint64_t messages)
{
    size_t waiting = ring->sent < ring->window ? (size_t)ring->sent : ring->window;
    for (; messages < ring->posted; messages++)
        ring_wait(ring, messages, MPI_STATUS_IGNORE);
    MPI_Waitall((int)waiting, ring->sends, MPI_STATUSES_IGNORE);
}

struct finding finding_of(const struct arrivals *arrivals)
{
    int size = 0;
    MPI_Get_count(&arrivals->last, MPI_BYTE, &size);
    return (struct finding){
        .messages = (double)arrivals->messages,
        .elapsed = ns_seconds(arrivals->last_at - arrivals->began),
        .last_size = size,
    };
}

void result_set_sent(struct result *result, const struct buffers *buffers, double messages,
                     double elapsed)
{
    double bytes = messages * (double)buffers->size;
    if (elapsed <= 0)
        fail(TOO_SHORT, "%.0f messages went in no time: give it more time or a higher count",
             messages);
    result_set(result, "sent_messages", messages);
    result_set(result, "sent_bytes", bytes);
    result_set(result, "local_throughput", bytes * 8 / elapsed);
}
