#include "ring.h"

#include "../lib/failure.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel this is built for may be older than the one it runs on, and than io_uring. */
#if defined(__has_include) && __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#endif

#ifdef IORING_FEAT_RW_CUR_POS /* from Linux 5.6 on, with reads and writes of one buffer */

#ifndef IORING_SETUP_COOP_TASKRUN /* Linux 5.19 */
#define IORING_SETUP_COOP_TASKRUN (1U << 8)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN /* Linux 6.1 */
#define IORING_SETUP_SINGLE_ISSUER (1U << 12)
#define IORING_SETUP_DEFER_TASKRUN (1U << 13)
#endif
#ifndef IORING_ENTER_REGISTERED_RING /* Linux 5.18 */
#define IORING_ENTER_REGISTERED_RING (1U << 4)
#define IORING_REGISTER_RING_FDS 20
#endif
#define NEEDED (IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_RW_CUR_POS)
#define REGISTERED_LIMIT (1ull << 30) /* of memory in one piece */

typedef _Atomic(uint32_t) counter;

struct ring {
    int fd;
    int entrance; /* fd, or its number among those that the thread registered */
    unsigned int entrance_flags;
    void *map;
    size_t map_size, entries_size;
    struct io_uring_sqe *entries;
    counter *submit_tail, *done_head, *done_tail;
    uint32_t submit_mask, done_mask;
    const struct io_uring_cqe *done;
    uint32_t added; /* and not handed over yet */
    int file;       /* as an operation names it */
    uint8_t file_flags;
    bool registered; /* the memory is */
};

/* No interrupt of the thread for what it will fetch anyway, and no locks against other threads;
 * older kernels refuse the flags. */
static int setup(unsigned int depth, bool own, struct io_uring_params *params)
{
    const unsigned int flags[] = {
        own ? IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN : IORING_SETUP_COOP_TASKRUN,
        IORING_SETUP_COOP_TASKRUN,
        0,
    };
    int fd = -1;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        *params = (struct io_uring_params){.flags = flags[i]};
        fd = (int)syscall(SYS_io_uring_setup, depth, params);
        if (fd >= 0 || errno != EINVAL)
            return fd;
    }
    return fd;
}

/* Saves looking the ring up in each call, for this thread. */
static void register_entrance(struct ring *ring)
{
    struct io_uring_rsrc_update update = {.offset = UINT32_MAX, .data = (uint32_t)ring->fd};
    if (syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_RING_FDS, &update, 1) != 1)
        return;
    ring->entrance = (int)update.offset;
    ring->entrance_flags = IORING_ENTER_REGISTERED_RING;
}

static void explain_error(int error, char *reason, size_t size)
{
    if (error == ENOSYS)
        snprintf(reason, size, "this kernel has no io_uring");
    else if (error == EPERM)
        snprintf(reason, size, "io_uring is forbidden to this process (kernel.io_uring_disabled, "
                 "or a container's filter of system calls)");
    else if (error == ENOMEM)
        snprintf(reason, size, "the kernel has no memory for a ring: raise 'ulimit -l', or lower "
                 "depth or threads");
    else
        snprintf(reason, size, "the kernel refuses a ring: %s", strerror(error));
}

static counter *at(const struct ring *ring, uint32_t offset)
{
    return (counter *)((char *)ring->map + offset);
}

static bool map_ring(struct ring *ring, const struct io_uring_params *params)
{
    size_t submitting = params->sq_off.array + params->sq_entries * sizeof(uint32_t);
    size_t done = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
    ring->map_size = submitting > done ? submitting : done;
    ring->entries_size = params->sq_entries * sizeof(struct io_uring_sqe);
    ring->map = mmap(NULL, ring->map_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                     ring->fd, IORING_OFF_SQ_RING);
    ring->entries = mmap(NULL, ring->entries_size, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQES);
    if (ring->map == MAP_FAILED || ring->entries == MAP_FAILED)
        return false;
    ring->submit_tail = at(ring, params->sq_off.tail);
    ring->done_head = at(ring, params->cq_off.head);
    ring->done_tail = at(ring, params->cq_off.tail);
    ring->submit_mask = *(uint32_t *)at(ring, params->sq_off.ring_mask);
    ring->done_mask = *(uint32_t *)at(ring, params->cq_off.ring_mask);
    ring->done = (const struct io_uring_cqe *)at(ring, params->cq_off.cqes);
    uint32_t *places = (uint32_t *)at(ring, params->sq_off.array);
    for (uint32_t i = 0; i < params->sq_entries; i++)
        places[i] = i;
    return true;
}

struct ring *ring_open(unsigned int depth, bool own, char *reason, size_t size)
{
    struct io_uring_params params;
    int fd = setup(depth, own, &params);
    if (fd < 0) {
        explain_error(errno, reason, size);
        return NULL;
    }
    struct ring *ring = calloc(1, sizeof *ring);
    if (ring == NULL)
        fail(OUT_OF_MEMORY, "no memory for a ring");
    ring->fd = ring->entrance = fd;
    if ((params.features & NEEDED) != NEEDED) {
        snprintf(reason, size, "this kernel's io_uring is older than Linux 5.6");
        close(fd);
        free(ring);
        return NULL;
    }
    if (!map_ring(ring, &params))
        fail(OUT_OF_MEMORY, "cannot map a ring of %u operations: %s", depth, strerror(errno));
    if (own)
        register_entrance(ring);
    return ring;
}

bool ring_register(struct ring *ring, int fd, void *memory, size_t size)
{
    struct iovec all = {.iov_base = memory, .iov_len = size};
    ring->file = fd;
    if (syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_FILES, &fd, 1) == 0) {
        ring->file = 0;
        ring->file_flags = IOSQE_FIXED_FILE;
    }
    ring->registered =
        size <= REGISTERED_LIMIT &&
        syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_BUFFERS, &all, 1) == 0;
    return ring->registered;
}

void ring_close(struct ring *ring)
{
    /* At once: the kernel takes its time with a closed ring, and until then the file takes room. */
    if (ring->file_flags)
        syscall(SYS_io_uring_register, ring->fd, IORING_UNREGISTER_FILES, NULL, 0);
    munmap(ring->map, ring->map_size);
    munmap(ring->entries, ring->entries_size);
    close(ring->fd);
    free(ring);
}

void ring_add(struct ring *ring, const struct operation *operation)
{
    /* Only this thread moves the tail; the kernel reads an entry once the tail is past it. */
    uint32_t tail = atomic_load_explicit(ring->submit_tail, memory_order_relaxed);
    struct io_uring_sqe *entry = &ring->entries[tail & ring->submit_mask];
    memset(entry, 0, sizeof *entry);
    if (ring->registered)
        entry->opcode = operation->write ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED;
    else
        entry->opcode = operation->write ? IORING_OP_WRITE : IORING_OP_READ;
    entry->flags = ring->file_flags;
    entry->fd = ring->file;
    entry->addr = (uintptr_t)operation->buffer;
    entry->len = operation->length;
    entry->off = operation->offset;
    entry->rw_flags = operation->durable ? RWF_DSYNC : 0;
    entry->user_data = operation->tag;
    atomic_store_explicit(ring->submit_tail, tail + 1, memory_order_release);
    ring->added++;
}

static long enter(const struct ring *ring, uint32_t submitted, uint32_t done)
{
    return syscall(SYS_io_uring_enter, ring->entrance, submitted, done,
                   ring->entrance_flags | (done ? IORING_ENTER_GETEVENTS : 0), NULL, 0);
}

int ring_submit(struct ring *ring, bool wait)
{
    for (;;) {
        long submitted = enter(ring, ring->added, wait);
        if (submitted >= 0) {
            ring->added -= (uint32_t)submitted;
            return 0;
        }
        /* What it has no room for now is handed over with the next; room comes of what is done. */
        if (errno == EAGAIN || errno == EBUSY) {
            enter(ring, 0, wait);
            return 0;
        }
        if (errno != EINTR)
            return errno;
    }
}

bool ring_take(struct ring *ring, uint64_t *tag, int *moved)
{
    uint32_t head = atomic_load_explicit(ring->done_head, memory_order_relaxed);
    if (head == atomic_load_explicit(ring->done_tail, memory_order_acquire))
        return false;
    const struct io_uring_cqe *entry = &ring->done[head & ring->done_mask];
    *tag = entry->user_data;
    *moved = entry->res;
    atomic_store_explicit(ring->done_head, head + 1, memory_order_release);
    return true;
}

#else

struct ring *ring_open(unsigned int depth, bool own, char *reason, size_t size)
{
    (void)depth, (void)own;
    snprintf(reason, size, "rail-disk was built where the kernel's headers have no io_uring");
    return NULL;
}

/* Without a ring nothing below is called. */
bool ring_register(struct ring *ring, int fd, void *memory, size_t size)
{
    (void)ring, (void)fd, (void)memory, (void)size;
    abort();
}

void ring_close(struct ring *ring)
{
    (void)ring;
    abort();
}

void ring_add(struct ring *ring, const struct operation *operation)
{
    (void)ring, (void)operation;
    abort();
}

int ring_submit(struct ring *ring, bool wait)
{
    (void)ring, (void)wait;
    abort();
}

bool ring_take(struct ring *ring, uint64_t *tag, int *moved)
{
    (void)ring, (void)tag, (void)moved;
    abort();
}

#endif
