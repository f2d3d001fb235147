/* The files that are read and written: without a name, so that nothing can be left behind. */
#ifndef RAIL_DISK_SCRATCH_H
#define RAIL_DISK_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes an empty file in the folder that has no name there: it is gone with its descriptor, however
 * the process ends. path: of the folder, for messages. */
int scratch_open(int folder, const char *path);

/* Has reads and writes go past the page cache; false if the file system can't. */
bool scratch_bypass(int fd, bool bypass);

/* What offsets and lengths have to be multiples of then, as far as it is known; else 0. */
uint32_t scratch_alignment(int fd);

/* Has the file system set space aside, where it can; fails with NO_SPACE if there is none. */
void scratch_reserve(int fd, const char *path, uint64_t size);

/* Fills the file with random data, from *state on, as far as the device. */
void scratch_lay_out(int fd, const char *path, uint64_t size, uint64_t *state);

/* Waits until what was written is on the device, and has the page cache forget the file. */
void scratch_settle(int fd, const char *path);

/* Tells the page cache in which order the file will be used: what is read in order is read ahead,
 * what isn't, not. */
void scratch_announce(int fd, bool random);

/* Has the page cache forget what it needn't write any more. */
void scratch_forget(int fd);

/* Fails with NO_SPACE or SYSTEM_ERROR; doing: such as "write to". */
_Noreturn void scratch_failed(int error, const char *doing, const char *path);

#endif
