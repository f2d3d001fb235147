/* What rail-mem does to memory. */
#ifndef RAIL_MEM_MODE_H
#define RAIL_MEM_MODE_H

enum mode { READ, WRITE, COPY, SCALE, ADD, TRIAD, SEQUENTIAL, RANDOM, LATENCY, MODES };

#endif
