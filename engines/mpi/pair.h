/* What the modes between two ranks share: their memory, their tags, their ends. */
#ifndef RAIL_MPI_PAIR_H
#define RAIL_MPI_PAIR_H

#include "mpi_engine.h"

enum pair_tag {
    DATA_TAG = 1,
    START_TAG,  /* empty: the receiver is ready; the sender begins */
    END_TAG,    /* stream: the last message; bidirectional: as many follow as are in flight */
    FILLER_TAG, /* empty: meets a receive that was posted ahead */
    STOP_TAG,   /* empty: no more round trips */
    FOUND_TAG,  /* what the other rank found */
    GRANT_TAG,  /* empty: receives are posted for more ready sends */
};

/* When a stream ends: the clock is read once a batch of messages, which takes about a millisecond
 * however small they are. */
struct budget {
    uint64_t count; /* 0: until stop */
    uint64_t stop, batch, batch_began;
    uint64_t messages; /* let go so far, the last one of the stream not among them */
    uint64_t ahead;    /* the first so many leave at once, which says nothing about their time */
};

struct budget budget_begin(const struct attempt *attempt, uint64_t ahead);

/* How many messages come before the clock is to be asked again; 0: only the last one does. */
uint64_t budget_next(struct budget *budget);

/* What messages are sent from, and received into; both ranks have both. */
struct buffers {
    size_t size;   /* of a message */
    size_t window; /* receive buffers, taken in turn, at least one; there is one to send from */
    unsigned char *out, *in;
    size_t stride; /* from one receive buffer to the next */
};

void buffers_open(struct buffers *buffers, size_t size, size_t window);
void buffers_close(struct buffers *buffers);

static inline unsigned char *receive_buffer(const struct buffers *buffers, uint64_t message)
{
    return buffers->in + message % buffers->window * buffers->stride;
}

/* Has the replication send bytes that no other one sends, if they are to be checked. */
void buffers_mark(const struct buffers *buffers, const struct job *job,
                  const struct attempt *attempt);

/* What a receiver has to say when its part is done. */
struct finding {
    double messages, elapsed; /* elapsed: seconds from the beginning to the last arrival */
    double last_size;         /* bytes of the last message */
    double wrong;             /* bytes that are not what was sent */
};

/* Counts the wrong bytes of all that was received. from: the sender's rank. */
double buffers_wrong(const struct buffers *buffers, const struct job *job,
                     const struct attempt *attempt, int from, uint64_t messages);

/* The receiver reports to the sender. */
void finding_send(const struct finding *finding, int to);
struct finding finding_take(int from);

/* If anything is wrong, what and a sentence in problem, empty otherwise. sent: messages. */
enum failure finding_problem(const struct finding *finding, const struct buffers *buffers,
                             double sent, int receiver, char problem[MESSAGE_LIMIT]);

/* Fails if anything is wrong. */
void finding_check(const struct finding *finding, const struct buffers *buffers, double sent,
                   int receiver);

/* Payload bits a second; fails if there was but one message, a warm-up's is NAN then. */
double finding_rate(const struct result *result, const struct finding *finding,
                    const struct buffers *buffers);

#endif
