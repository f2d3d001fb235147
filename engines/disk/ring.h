/* io_uring without a library: one ring, used by one thread at a time. */
#ifndef RAIL_DISK_RING_H
#define RAIL_DISK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring;

/* A ring for so many operations at once; NULL with the reason if the kernel has none for us. own:
 * no thread but this one will use it, which saves the kernel work. */
struct ring *ring_open(unsigned int depth, bool own, char *reason, size_t size);

/* Tells the kernel of the one file and of the memory that all operations use, which saves it the
 * looking up; each may be refused, and everything works without. Returns whether the memory was
 * taken. */
bool ring_register(struct ring *ring, int fd, void *memory, size_t size);

void ring_close(struct ring *ring);

struct operation {
    bool write, durable; /* durable: done only once the data can't be lost any more */
    void *buffer;
    uint32_t length;
    uint64_t offset;
    uint64_t tag; /* comes back with its result */
};

/* Adds an operation, at most as many as the ring's depth are under way. */
void ring_add(struct ring *ring, const struct operation *operation);

/* Hands over what was added, as far as there is room, and, if asked to, waits until at least one
 * operation is done; 0 or an errno. Call it again as long as operations are under way. */
int ring_submit(struct ring *ring, bool wait);

/* Takes a finished operation: its tag, and the bytes that it moved or a negative errno. False if
 * there is none. */
bool ring_take(struct ring *ring, uint64_t *tag, int *moved);

#endif
