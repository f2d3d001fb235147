#include "findings.h"

#include "../lib/failure.h"
#include "../lib/parameters.h"
#include "../lib/place.h"
#include "../lib/units.h"
#include "caches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY 1000        /* a level above any cache's */
#define TIMES_CACHE 4      /* arrays under so many times the last-level cache are partly in it */
#define MOST 0.9           /* of the memory in huge pages: what was asked for */

static size_t set_of(const struct job *job)
{
    return job->arrays * job->block + (job->mode == RANDOM ? job->units * sizeof(uint32_t) : 0);
}

/* The nearest cache that holds the sets of all the threads that use it. */
static int level_of(const struct job *job, const struct worker *workers, int cpu)
{
    struct cache caches[CACHE_LEVELS];
    size_t count = caches_of(cpu, caches);
    for (size_t i = 0; i < count; i++) {
        size_t users = 0;
        for (size_t k = 0; k < job->threads; k++)
            users += CPU_ISSET((size_t)workers[k].cpu, &caches[i].shared) ? 1 : 0;
        if (users * set_of(job) <= caches[i].size)
            return caches[i].level;
    }
    return count ? MEMORY : 0;
}

/* Of the threads, the farthest; 0: unknown. */
static void add_level(const struct job *job, const struct worker *workers, struct fields *settings)
{
    char text[32];
    int farthest = 0;
    for (size_t k = 0; k < job->threads; k++) {
        int level = level_of(job, workers, workers[k].cpu);
        farthest = level > farthest ? level : farthest;
    }
    snprintf(text, sizeof text, "L%d", farthest);
    fields_add(settings, "level",
               farthest == 0 ? "unknown" : farthest == MEMORY ? "memory" : text);
}

/* Bytes of all last-level caches that the threads use. */
static size_t last_level(const struct job *job, const struct worker *workers)
{
    struct cache caches[CACHE_LEVELS];
    cpu_set_t counted;
    size_t sum = 0;
    CPU_ZERO(&counted);
    for (size_t k = 0; k < job->threads; k++) {
        size_t count = caches_of(workers[k].cpu, caches);
        if (count == 0 || CPU_ISSET((size_t)workers[k].cpu, &counted))
            continue;
        CPU_OR(&counted, &counted, &caches[count - 1].shared);
        sum += caches[count - 1].size;
    }
    return sum;
}

static void warn(struct fields *settings, const char *code, const char *sentence)
{
    char text[MESSAGE_LIMIT];
    snprintf(text, sizeof text, "%s %s", code, sentence);
    fields_add(settings, "warning", text);
}

static void add_cache(const struct job *job, const struct worker *workers, struct fields *settings)
{
    char sentence[512], arrays[64], cache[64];
    size_t last = last_level(job, workers), total = job->threads * job->arrays * job->block;
    fields_add_number(settings, "total", (double)total);
    if (last)
        fields_add_number(settings, "last_level_cache", (double)last);
    if (last && total >= TIMES_CACHE * last)
        return;
    quantity_text(SIZE, (double)total, arrays, sizeof arrays);
    quantity_text(SIZE, (double)last, cache, sizeof cache);
    if (last)
        snprintf(sentence, sizeof sentence,
                 "the arrays have %s together, less than four times the last-level cache of %s: "
                 "some or all of this is the cache's speed, not the memory's", arrays, cache);
    else
        snprintf(sentence, sizeof sentence,
                 "nothing says how large this host's caches are: the arrays of %s may be in them",
                 arrays);
    warn(settings, "in-cache", sentence);
}

static void add_pages(const struct job *job, const struct worker *workers, struct fields *settings)
{
    struct range *ranges = calloc(2 * job->threads, sizeof *ranges);
    char sentence[256], text[64];
    size_t count = 0;
    if (ranges == NULL)
        fail(OUT_OF_MEMORY, "no memory for a list of %zu threads", job->threads);
    for (size_t k = 0; k < job->threads; k++) {
        ranges[count++] = workers[k].memory;
        if (workers[k].order.size)
            ranges[count++] = workers[k].order;
    }
    struct pages pages = pages_of(ranges, count);
    free(ranges);
    quantity_text(SIZE, (double)pages.page, text, sizeof text);
    fields_add(settings, "page_size", text);
    fields_add_number(settings, "huge_share", pages.huge_share);
    if (*pages.nodes)
        fields_add(settings, "numa_nodes", pages.nodes);
    if (strcmp(text_of(job->launch, "huge_pages"), "transparent") != 0 || pages.huge_share >= MOST)
        return;
    snprintf(sentence, sizeof sentence,
             "the kernel gave huge pages to %.0f %% of the memory only: is it fragmented, or is "
             "/sys/kernel/mm/transparent_hugepage/enabled on never?", 100 * pages.huge_share);
    warn(settings, "few-huge-pages", sentence);
}

static void warn_shared_cpus(const struct job *job, struct fields *settings)
{
    char sentence[160];
    if (job->threads <= job->cpus)
        return;
    snprintf(sentence, sizeof sentence, "%zu threads take turns on %zu CPU%s", job->threads,
             job->cpus, job->cpus == 1 ? "" : "s");
    warn(settings, "shared-cpus", sentence);
}

void add_findings(const struct job *job, const struct worker *workers, struct fields *settings)
{
    if (job->vector)
        fields_add(settings, "vector", job->vector->name);
    add_cpus(job->launch, false, settings);
    add_level(job, workers, settings);
    add_cache(job, workers, settings);
    add_pages(job, workers, settings);
    warn_shared_cpus(job, settings);
}
