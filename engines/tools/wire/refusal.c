#include "refusal.h"

#include <errno.h>
#include <string.h>

enum failure failure_of(int error)
{
    return error == EPERM || error == EACCES ? NOT_PERMITTED : SYSTEM_ERROR;
}

const char *remedy_of(int error)
{
    return error == EPERM ? "; it takes root, or `unshare -Urnm`" : "";
}

_Noreturn void device_refused(const char *netns, const char *name, int error)
{
    if (error == EBUSY || error == EEXIST)
        fail(BAD_PARAMETER, "there is a device '%s' in %s already: choose another name", name,
             netns);
    fail(failure_of(error), "cannot make the device '%s' in %s: %s%s", name, netns,
         error == EOPNOTSUPP ? "this kernel has no veth" : strerror(error), remedy_of(error));
}
