/* One rail-soak a machine: the soakers of two would take the CPUs from each other. */
#ifndef RAIL_SOAK_LOCK_H
#define RAIL_SOAK_LOCK_H

/* Returns the descriptor that holds it; fails with SOAK_BUSY if another holds it. Network
 * namespaces of one machine share it, containers don't. */
int machine_lock(void);

/* Takes the lock's file away. */
void machine_unlock(void);

#endif
