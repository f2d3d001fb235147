/* Threads that measure side by side: placed, then started together, each with its own share. */
#ifndef RAIL_TEAM_H
#define RAIL_TEAM_H

#include "clock.h"
#include "network.h"

struct team;

/* One member's work, and what it is about. first: the number by which place_thread chooses its
 * CPU. */
struct task {
    void (*work)(void *share);
    void *share;
    int number;
};

/* How many messages, round trips or the like each thread of a launch has to do; 0: by duration.
 * Strong scaling shares the count among them, and the first ones have one more where it does not
 * divide; weak scaling gives each of them the count. */
uint64_t share_of_count(const struct launch *launch, const struct trial *trial, size_t thread);

/* Starts the tasks, each in a thread of its own; they begin together. */
struct team *team_start(const struct launch *launch, bool server, const struct task *tasks,
                        size_t count);

/* Waits for all; their CPU times are summed, elapsed is the longest. */
struct usage team_join(struct team *team);

/* Likewise, of threads that allow interrupts: it wakes up those that wait in a call. */
struct usage team_interrupt(struct team *team);

/* Has the tasks' memory made and touched where their threads will run, so that it is on the nodes
 * of these: each work in a thread placed by its number, all over when this returns. */
void team_prepare(const struct launch *launch, bool server, const struct task *tasks,
                  size_t count);

/* Start and join. One task alone runs in the calling thread, which is placed already. */
struct usage team_run(const struct launch *launch, bool server, const struct task *tasks,
                      size_t count);

#endif
