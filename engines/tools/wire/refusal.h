/* What to say of a device that the kernel refuses. */
#ifndef RAIL_WIRE_REFUSAL_H
#define RAIL_WIRE_REFUSAL_H

#include "../../lib/failure.h"

/* NOT_PERMITTED or SYSTEM_ERROR. */
enum failure failure_of(int error);

/* What would allow it, to follow a message; may be empty. */
const char *remedy_of(int error);

/* Fails with what came of making a device. */
_Noreturn void device_refused(const char *netns, const char *name, int error);

#endif
