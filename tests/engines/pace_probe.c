/* Waits for a moment, prints by how many ns the kernel may wake this thread late on purpose. */
#include "pace.h"

#include <stdio.h>
#include <sys/prctl.h>

int main(void)
{
    wait_until(now_ns() + 1000000);
    printf("%d\n", prctl(PR_GET_TIMERSLACK));
    return 0;
}
