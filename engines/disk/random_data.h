/* Data that no disk or file system makes smaller, by compression or by finding it twice. */
#ifndef RAIL_DISK_RANDOM_DATA_H
#define RAIL_DISK_RANDOM_DATA_H

#include <stddef.h>
#include <stdint.h>

/* A number that no other run has. */
uint64_t unique_number(void);

/* Fills with random data, which goes on from *state; size: a multiple of 8. */
void fill_random(unsigned char *data, size_t size, uint64_t *state);

/* Makes random data, in a buffer of whole pages, unlike any that was in it before. File systems
 * compress up to RECORD bytes together: of smaller blocks everything changes, as several of
 * them may meet in a record; of larger ones some bytes in each sector. */
void refresh_random(unsigned char *data, size_t size, uint64_t *state);

#endif
