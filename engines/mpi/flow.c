#include "flow.h"

#include "../lib/parameters.h"

#include <stdlib.h>
#include <string.h>

bool is_persistent(const struct launch *launch)
{
    return number_of(launch, "persistent") != 0;
}

size_t window_of(const struct launch *launch)
{
    return number_of(launch, "blocking") != 0 ? 0 : size_of(launch, "window");
}

static MPI_Request *requests(size_t count)
{
    MPI_Request *made = malloc(count * sizeof *made);
    if (made == NULL)
        fail(OUT_OF_MEMORY, "no memory for %zu messages in flight", count);
    return made;
}

static void make_persistent(struct ring *ring)
{
    const struct buffers *buffers = ring->buffers;
    int size = (int)buffers->size;
    ring->made_sends = requests(ring->window);
    ring->made_receives = requests(ring->ahead);
    for (size_t i = 0; i < ring->window; i++)
        ring->kind->init(buffers->out, size, MPI_BYTE, ring->peer, DATA_TAG, MPI_COMM_WORLD,
                         &ring->made_sends[i]);
    for (size_t i = 0; i < ring->ahead; i++)
        MPI_Recv_init(receive_buffer(buffers, i), size, MPI_BYTE, ring->peer, ring->receive_tag,
                      MPI_COMM_WORLD, &ring->made_receives[i]);
}

void ring_open(struct ring *ring, struct buffers *buffers, const struct launch *launch,
               const struct ring_plan *plan)
{
    *ring = (struct ring){
        .buffers = buffers,
        .kind = send_kind_of(launch),
        .peer = plan->peer,
        .receive_tag = plan->receive_tag,
        .window = plan->window,
        .ahead = plan->ahead,
        .first_limit = UINT64_MAX,
    };
    bool reuse = strcmp(text_of(launch, "buffers"), "reuse") == 0;
    buffers_open(buffers, size_of(launch, "size"), reuse ? 1 : ring->ahead);
    ring->sends = ring->window ? requests(ring->window) : NULL;
    ring->receives = ring->ahead ? requests(ring->ahead) : NULL;
    if (is_persistent(launch))
        make_persistent(ring);
    if (ring->kind->buffered) {
        ring->first_limit = size_of(launch, "window");
        send_memory_attach(ring->first_limit, buffers->size);
    }
    if (ring->kind->ready && plan->announced) {
        ring->grant = ring->ahead > 1 ? ring->ahead / 2 : 1;
        ring->first_limit = 0;
    }
}

static void free_persistent(MPI_Request *made, size_t count)
{
    for (size_t i = 0; made && i < count; i++)
        MPI_Request_free(&made[i]);
    free(made);
}

void ring_close(struct ring *ring, struct buffers *buffers)
{
    if (ring->kind->buffered)
        send_memory_detach();
    free_persistent(ring->made_sends, ring->window);
    free_persistent(ring->made_receives, ring->ahead);
    free(ring->sends);
    free(ring->receives);
    *ring = (struct ring){0};
    buffers_close(buffers);
}

void ring_make_room(struct ring *ring)
{
    if (ring->kind->buffered) {
        send_memory_clear();
        ring->limit += ring->first_limit;
        return;
    }
    MPI_Recv(NULL, 0, MPI_BYTE, ring->peer, GRANT_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ring->limit += ring->grants == 0 ? ring->ahead : ring->grant;
    ring->grants++;
}

/* All of them first, then half of them again and again, so that the sender need not wait. */
void ring_announce(struct ring *ring)
{
    if (ring->posted < ring->ahead || (ring->posted - ring->ahead) % ring->grant != 0)
        return;
    MPI_Send(NULL, 0, MPI_BYTE, ring->peer, GRANT_TAG, MPI_COMM_WORLD);
}

void ring_fill_up(struct ring *ring)
{
    for (size_t i = 1; i < ring->ahead; i++)
        MPI_Send(NULL, 0, MPI_BYTE, ring->peer, FILLER_TAG, MPI_COMM_WORLD);
}

void ring_cancel(struct ring *ring, uint64_t messages)
{
    for (; ring->posted > messages; ring->posted--) {
        MPI_Request *request = &ring->receives[(ring->posted - 1) % ring->ahead];
        MPI_Cancel(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
}

void ring_finish(struct ring *ring, uint64_t messages)
{
    size_t waiting = ring->sent < ring->window ? (size_t)ring->sent : ring->window;
    for (; messages < ring->posted; messages++)
        ring_wait(ring, messages, MPI_STATUS_IGNORE);
    MPI_Waitall((int)waiting, ring->sends, MPI_STATUSES_IGNORE);
    if (ring->kind->buffered)
        send_memory_clear();
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

size_t stream_ahead(const struct launch *launch, size_t window)
{
    return send_kind_of(launch)->ready ? size_of(launch, "window") : window;
}

/* The last message has a tag of its own, so that the receiver learns of the end without another
 * word between. */
uint64_t stream_send(struct ring *ring, const struct attempt *attempt)
{
    ring_begin(ring);
    MPI_Send(NULL, 0, MPI_BYTE, ring->peer, START_TAG, MPI_COMM_WORLD);
    struct budget budget = budget_begin(attempt, ring->window);
    uint64_t batch;
    if (ring->window) {
        while ((batch = budget_next(&budget)) > 0)
            for (; batch > 0; batch--)
                ring_send(ring, DATA_TAG);
        ring_send(ring, END_TAG);
    } else {
        while ((batch = budget_next(&budget)) > 0)
            for (; batch > 0; batch--)
                ring_send_singly(ring, DATA_TAG);
        ring_send_singly(ring, END_TAG);
    }
    while (ring->grant && ring->grants <= (ring->sent - 1) / ring->grant)
        ring_make_room(ring);
    ring_fill_up(ring);
    ring_finish(ring, 0);
    return ring->sent;
}

void await_receiver(int peer)
{
    MPI_Recv(NULL, 0, MPI_BYTE, peer, START_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void await_sender(int peer, MPI_Request *start, struct arrivals *arrivals)
{
    int begun = 0;
    uint64_t look = now_ns();
    MPI_Send(NULL, 0, MPI_BYTE, peer, START_TAG, MPI_COMM_WORLD);
    while (!begun) {
        arrivals->began = look;
        look = now_ns();
        MPI_Test(start, &begun, MPI_STATUS_IGNORE);
    }
}

static void receive_one_by_one(struct ring *ring, struct arrivals *arrivals)
{
    const struct buffers *buffers = ring->buffers;
    do {
        MPI_Recv(receive_buffer(buffers, arrivals->messages), (int)buffers->size, MPI_BYTE,
                 ring->peer, MPI_ANY_TAG, MPI_COMM_WORLD, &arrivals->last);
        arrived(arrivals, is_end(arrivals));
    } while (!is_end(arrivals));
}

static void receive_ahead(struct ring *ring, struct arrivals *arrivals)
{
    for (;;) {
        ring_wait(ring, arrivals->messages, &arrivals->last);
        arrived(arrivals, is_end(arrivals));
        if (is_end(arrivals))
            break;
        ring_post(ring);
    }
    ring_finish(ring, arrivals->messages);
}

void stream_receive(struct ring *ring, struct arrivals *arrivals)
{
    MPI_Request start;
    ring_begin(ring);
    MPI_Irecv(NULL, 0, MPI_BYTE, ring->peer, START_TAG, MPI_COMM_WORLD, &start);
    for (size_t i = 0; i < ring->ahead; i++)
        ring_post(ring);
    await_sender(ring->peer, &start, arrivals);
    if (ring->ahead)
        receive_ahead(ring, arrivals);
    else
        receive_one_by_one(ring, arrivals);
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
