#include "replications.h"

#include "../../lib/failure.h"

#include <stdlib.h>
#include <string.h>

static struct replication *find_open(struct replications *all, uint64_t launch, uint64_t number)
{
    for (size_t i = 0; i < all->open_count; i++)
        if (all->open[i].launch == launch && all->open[i].number == number)
            return &all->open[i];
    return NULL;
}

static void remove_open(struct replications *all, struct replication *replication)
{
    size_t behind = all->open_count - 1 - (size_t)(replication - all->open);
    memmove(replication, replication + 1, behind * sizeof *replication);
    all->open_count--;
}

void replication_begins(struct replications *all, const struct soakers *soakers, uint64_t launch,
                        uint64_t number)
{
    struct replication *replication = find_open(all, launch, number);
    if (replication == NULL) {
        if (all->open_count == OPEN_LIMIT) {
            free(all->open[0].begin);
            remove_open(all, &all->open[0]);
        }
        replication = &all->open[all->open_count++];
        *replication = (struct replication){
            .launch = launch, .number = number, .begin = readings_new(soakers, 2)};
        replication->end = replication->begin + soakers->count;
    }
    soakers_read(soakers, replication->begin);
}

static void keep(struct replications *all, const struct replication *ended)
{
    if (all->closed_count == all->closed_room) {
        size_t room = all->closed_room ? 2 * all->closed_room : 64;
        struct replication *grown = realloc(all->closed, room * sizeof *grown);
        if (grown == NULL)
            fail(OUT_OF_MEMORY, "no memory for %zu replications", room);
        all->closed = grown;
        all->closed_room = room;
    }
    all->closed[all->closed_count++] = *ended;
}

void replication_ends(struct replications *all, const struct soakers *soakers, uint64_t launch,
                      uint64_t number)
{
    struct replication *replication = find_open(all, launch, number);
    if (replication == NULL)
        return;
    soakers_read(soakers, replication->end);
    keep(all, replication);
    remove_open(all, replication);
}

void replications_clear(struct replications *all)
{
    for (size_t i = 0; i < all->closed_count; i++)
        free(all->closed[i].begin);
    all->closed_count = 0;
}
