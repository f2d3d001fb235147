/* What a pair of a matrix's round measures: one of the two asks or sends, the other one answers or
 * receives at the same time. */
#ifndef RAIL_MPI_MATRIX_PAIR_H
#define RAIL_MPI_MATRIX_PAIR_H

#include "mpi_engine.h"

void pair_open(const struct job *job);
void pair_close(void);

/* Connects the two, untimed. */
void pair_meet(int partner);

/* Round trips for so many seconds, once the partner is ready to answer: half of the median one, in
 * seconds. */
double pair_ask(int partner, double seconds);
void pair_answer(int partner);

/* A stream for so many seconds; what is under way then is still waited for. */
void pair_send(int partner, double seconds);
/* bit/s: all messages, over the time from their beginning (flow.h) to the arrival of the last one.
 * If they are not those that were sent, a sentence in problem. */
double pair_receive(int partner, char problem[MESSAGE_LIMIT]);

#endif
