#include "lock.h"

#include "../../lib/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* In memory, where everybody may write and network namespaces look too. */
#define LOCK_FILE "/dev/shm/rail-soak.lock"

/* Opened for reading only, which is enough for a lock: it may be somebody else's file, and the
 * kernel lets nobody write or create over one of those in such a folder. */
static int open_file(void)
{
    int fd = open(LOCK_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        fd = open(LOCK_FILE, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    if (fd >= 0)
        (void)fchmod(fd, 0444); /* whatever the umask; if it is another's, that has done it */
    return fd;
}

/* Whether the open file is still the one of that name. */
static bool is_current(int fd)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && lstat(LOCK_FILE, &named) == 0 && S_ISREG(named.st_mode) &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

int machine_lock(void)
{
    /* Who held it before may just be taking the file away. */
    for (int attempt = 0; attempt < 100; attempt++) {
        int fd = open_file();
        if (fd < 0 && errno != EEXIST && errno != ENOENT)
            fail(SYSTEM_ERROR, "cannot open %s: %s", LOCK_FILE, strerror(errno));
        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) != 0)
            fail(SOAK_BUSY, "another rail-soak runs on this machine, and the soakers of both would "
                            "take the CPUs from each other: wait for its end; for two hosts that "
                            "are one machine one rail-soak reports both hosts' load");
        if (is_current(fd))
            return fd;
        close(fd);
    }
    fail(SYSTEM_ERROR, "cannot lock %s: it is no plain file or changes all the time", LOCK_FILE);
}

void machine_unlock(void)
{
    unlink(LOCK_FILE); /* no harm if it stays: it may be another user's */
}
