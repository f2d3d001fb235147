#include "prepare.h"

#include "folder.h"
#include "random_data.h"
#include "scratch.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/open_files.h"
#include "../lib/parameters.h"
#include "../lib/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096          /* buffers begin at a multiple, which suits every device */
#define SHORTEST 0.01      /* s, of a replication */
#define GIB 1073741824.0
#define ORDER_KEY 0x7261696c /* random orders are the same in each launch */

static bool asks(const struct launch *launch, const char *name, const char *value)
{
    return strcmp(text_of(launch, name), value) == 0;
}

static void check(const struct work *work, uint64_t size)
{
    if (*work->folder == '\0')
        fail(BAD_PARAMETER, "folder: name a folder that exists, where files may be made");
    if (work->size == 0)
        fail(BAD_PARAMETER, "size: a file of %llu bytes has no room for a block of %zu",
             (unsigned long long)size, work->block);
    if (work->duration > 0 && work->duration < SHORTEST)
        fail(BAD_PARAMETER, "duration: %g s is too short: at least 10 ms, or 0 for every block "
             "once", work->duration);
    if (asks(work->launch, "io", "psync") && work->depth > 1)
        fail(BAD_PARAMETER, "depth: psync does one operation at a time in each thread: set depth "
             "to 1, io to io_uring, or use more threads");
    if (work->batch > work->depth)
        fail(BAD_PARAMETER, "batch: %zu operations can't be handed over at once when %zu may be "
             "under way: set it to depth or less", work->batch, work->depth);
}

static void read_work(struct work *work, const struct launch *launch)
{
    uint64_t size = size_of(launch, "size");
    *work = (struct work){
        .launch = launch,
        .folder = text_of(launch, "folder"),
        .write = is_mode(launch, "write") || is_mode(launch, "random_write"),
        .random = is_mode(launch, "random_read") || is_mode(launch, "random_write"),
        .direct = number_of(launch, "direct") != 0,
        .threads = size_of(launch, "threads"),
        .depth = size_of(launch, "depth"),
        .batch = size_of(launch, "batch"),
        .block = size_of(launch, "block"),
        .duration = number_of(launch, "duration"),
    };
    work->sync_each = work->write && asks(launch, "fsync", "each");
    work->sync_end = work->write && asks(launch, "fsync", "end");
    work->size = size / work->block * work->block;
    check(work, size);
}

static void open_file(struct worker *worker, int folder)
{
    const struct work *work = worker->work;
    worker->fd = scratch_open(folder, work->folder);
    if (!work->direct)
        return;
    if (!scratch_bypass(worker->fd, true))
        fail(FILE_UNUSABLE, "the file system of '%s' has no O_DIRECT: set direct to false, or name "
             "a folder elsewhere", work->folder);
    scratch_bypass(worker->fd, false); /* the layout needs no alignment */
    uint32_t alignment = scratch_alignment(worker->fd);
    if (alignment > 0 && work->block % alignment != 0)
        fail(BAD_PARAMETER, "block: past the page cache, '%s' takes multiples of %u bytes, and %zu "
             "is none: change it, or set direct to false", work->folder, alignment, work->block);
}

/* A ring for each thread, where io asks for it or the kernel has it. */
static void open_rings(struct work *work, struct worker *workers, struct fields *settings)
{
    char reason[256];
    for (size_t i = 0; i < work->threads && !asks(work->launch, "io", "psync"); i++) {
        workers[i].ring = ring_open((unsigned int)work->depth, work->threads == 1, reason,
                                    sizeof reason);
        work->ring = workers[i].ring != NULL;
        if (work->ring)
            continue;
        if (i > 0 || work->depth > 1 || asks(work->launch, "io", "io_uring"))
            fail(NO_IO_URING, "%s%s", reason,
                 work->depth > 1 ? "; a depth above 1 needs it" : "; use io psync");
        fields_add(settings, "io_reason", reason);
        break;
    }
    fields_add(settings, "io", work->ring ? "io_uring" : "psync");
}

/* From one operation's buffer to the next. */
static size_t stride_of(const struct work *work)
{
    return (work->block + PAGE - 1) / PAGE * PAGE;
}

static void make_buffers(struct worker *worker)
{
    const struct work *work = worker->work;
    worker->stride = stride_of(work);
    worker->buffers = test_buffer(worker->stride * work->depth);
    fill_random(worker->buffers, worker->stride * work->depth, &worker->data_state);
}

/* How the page cache makes the figure something else than the device's. */
static const char *what_counts(const struct work *work)
{
    if (!work->write && work->block % (size_t)sysconf(_SC_PAGESIZE) != 0)
        return "whose pages hold several blocks: those that another one brought in come from "
               "there, also where cached_share says nothing of it";
    if (!work->write)
        return "and cached_share says how much that had already";
    if (work->sync_each)
        return "but each write counts only once it is on the device";
    if (work->sync_end && work->duration > 0)
        return "the time until it is on the device counts too, but what is written again before "
               "never gets there: with duration 0 all does";
    return work->sync_end ? "but the time until all is on the device counts too"
                          : "and without fsync the figure is mostly the memory's";
}

static void warn_of_cache(const struct work *work, struct fields *settings)
{
    char text[512];
    double files = (double)work->threads * (double)work->size;
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    fields_add_number(settings, "files", (double)work->threads);
    fields_add_number(settings, "file_bytes", files);
    fields_add_number(settings, "memory_bytes", memory);
    if (work->direct)
        return;
    snprintf(text, sizeof text,
             "page-cache buffered, %.5g GiB of files against %.5g GiB of memory: %s goes through "
             "the page cache, %s",
             files / GIB, memory / GIB, work->write ? "what is written" : "what is read",
             what_counts(work));
    fields_add(settings, "warning", text);
}

static void use_rings(const struct work *work, struct worker *workers, struct fields *settings)
{
    bool registered = work->ring;
    for (size_t i = 0; i < work->threads && work->ring; i++) {
        struct worker *worker = &workers[i];
        registered = ring_register(worker->ring, worker->fd, worker->buffers,
                                   worker->stride * work->depth) && registered;
    }
    fields_add(settings, "registered_buffers", registered ? "true" : "false");
}

struct worker *prepare_workers(struct work *work, struct fields *settings)
{
    read_work(work, work->launch);
    int folder = folder_open(work->folder);
    uint64_t unused = folder_check_space(folder, work->folder, work->threads, work->size);
    must_fit(work->threads * work->depth, stride_of(work));
    struct worker *workers = calloc(work->threads, sizeof *workers);
    if (workers == NULL)
        fail(OUT_OF_MEMORY, "no memory for %zu threads", work->threads);
    allow_many_files(NULL); /* a file and a ring in each thread */
    open_rings(work, workers, settings);
    for (size_t i = 0; i < work->threads; i++) {
        workers[i].work = work;
        workers[i].data_state = unique_number();
        open_file(&workers[i], folder);
        make_buffers(&workers[i]);
        order_begin(&workers[i].order, work->size / work->block, work->random, ORDER_KEY + i);
    }
    use_rings(work, workers, settings);
    folder_describe(folder, settings);
    fields_add_number(settings, "free_bytes", (double)unused);
    warn_of_cache(work, settings);
    add_cpus(work->launch, false, settings);
    close(folder);
    return workers;
}

void lay_out_files(const struct work *work, struct worker *workers)
{
    uint64_t state = unique_number();
    for (size_t i = 0; i < work->threads; i++)
        scratch_reserve(workers[i].fd, work->folder, work->size);
    for (size_t i = 0; i < work->threads; i++)
        scratch_lay_out(workers[i].fd, work->folder, work->size, &state);
    for (size_t i = 0; i < work->threads; i++)
        if (work->direct)
            scratch_bypass(workers[i].fd, true);
        else
            scratch_announce(workers[i].fd, work->random);
}

void release_workers(const struct work *work, struct worker *workers)
{
    for (size_t i = 0; i < work->threads; i++) {
        if (workers[i].ring)
            ring_close(workers[i].ring);
        free(workers[i].buffers);
        close(workers[i].fd);
    }
    free(workers);
}
