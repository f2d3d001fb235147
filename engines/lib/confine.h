/* Takes away from a process what it does not need: whoever takes over a server by what it sends
 * gets no file and starts no program. */
#ifndef RAIL_CONFINE_H
#define RAIL_CONFINE_H

/* From now on this thread, and all threads and processes that it starts, open no file but a few of
 * the kernel's that say how many CPUs and how much memory there are, and how TCP is set; and
 * execute nothing. What is open stays so. By Landlock, which costs sockets nothing; does nothing
 * where the kernel has none (before Linux 5.13, or switched off). */
void confine(void);

#endif
