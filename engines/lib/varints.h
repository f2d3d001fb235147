/* Numbers as traces have them (docs/trace.md): seven bits a byte, the lowest first. */
#ifndef RAIL_VARINTS_H
#define RAIL_VARINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where bytes go; a NULL out only counts them. */
struct byte_sink {
    unsigned char *out;
    size_t length;
};

/* What is left to read; broken once something was no varint. */
struct byte_source {
    const unsigned char *at, *end;
    bool broken;
};

void put_byte(struct byte_sink *sink, unsigned char byte);
void put_varint(struct byte_sink *sink, uint64_t value);
uint64_t get_varint(struct byte_source *source);

/* A difference modulo 2^64, small ones of either sign first. */
void put_zigzag(struct byte_sink *sink, uint64_t difference);
uint64_t get_zigzag(struct byte_source *source);

#endif
