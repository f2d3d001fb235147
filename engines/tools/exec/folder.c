#include "folder.h"

#include "orphans.h"

#include "../../lib/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTORS 16 /* that the removal may have open */
#define ATTEMPTS 50    /* as the command may be writing its last for a moment */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    remove(path); /* what stays makes its folder stay, which the next attempt sees */
    return 0;
}

/* What the janitor answers. */
struct made {
    int error; /* why there is no folder, or 0 */
    char path[sizeof ((struct folder *)NULL)->path];
};

/* In a session of its own, so that whatever ends us doesn't end it. It makes the folder itself: no
 * instant is left in which one has been made and nobody removes it. */
static _Noreturn void be_janitor(char *path, int end)
{
    char byte;
    struct made made = {0};
    int null_device = open("/dev/null", O_RDWR);
    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        dup2(null_device, fd);
    made.error = mkdtemp(path) ? 0 : errno;
    strcpy(made.path, path);
    if (send(end, &made, sizeof made, MSG_NOSIGNAL) < 0 && made.error == 0)
        rmdir(path);
    if (made.error)
        _exit(1);
    while (read(end, &byte, 1) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < ATTEMPTS; i++) {
        nftw(path, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
        if (access(path, F_OK) != 0)
            _exit(0);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    _exit(1);
}

static _Noreturn void refuse(const char *above, int error)
{
    fail(FILE_UNUSABLE, "cannot make a working folder in %.256s: %s", above, strerror(error));
}

void folder_make(struct folder *folder, const char *above)
{
    int ends[2];
    if (*above == '\0')
        above = getenv("TMPDIR");
    if (above == NULL || *above != '/')
        above = "/tmp";
    struct made made = {.error = ENAMETOOLONG};
    int length = snprintf(folder->path, sizeof folder->path, "%s/railgauge-work.XXXXXX", above);
    if (length >= (int)sizeof folder->path)
        refuse(above, made.error);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
        (folder->janitor = fork()) < 0)
        fail(SYSTEM_ERROR, "cannot start a process: %s", strerror(errno));
    if (folder->janitor == 0) {
        close(ends[1]);
        orphans_leave();
        be_janitor(folder->path, ends[0]);
    }
    close(ends[0]);
    folder->end = ends[1];
    if (recv(folder->end, &made, sizeof made, MSG_WAITALL) != sizeof made)
        made.error = ECHILD;
    if (made.error)
        refuse(above, made.error);
    memcpy(folder->path, made.path, sizeof folder->path);
}

/* No file's name leads out of the folder. */
static int open_in(const struct folder *folder, const char *name, int flags)
{
    char path[sizeof folder->path + 256];
    if (*name == '\0' || strchr(name, '/') || strlen(name) > 255)
        fail(BAD_PARAMETER, "'%.64s' is no file's name in the working folder", name);
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0 && errno == ENOENT)
        fail(FILE_UNUSABLE, "the command wrote no file '%.255s'", name);
    if (fd < 0)
        fail(FILE_UNUSABLE, "cannot open '%.255s' in the working folder: %s", name,
             strerror(errno));
    return fd;
}

void folder_write(const struct folder *folder, const char *name, const char *text)
{
    int fd = open_in(folder, name, O_WRONLY | O_CREAT | O_EXCL);
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t written = write(fd, text, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            fail(FILE_UNUSABLE, "cannot write '%.255s': %s", name, strerror(errno));
        text += written;
        left -= (size_t)written;
    }
    if (close(fd) != 0)
        fail(FILE_UNUSABLE, "cannot write '%.255s': %s", name, strerror(errno));
}

size_t folder_read(const struct folder *folder, const char *name, char *text, size_t limit)
{
    int fd = open_in(folder, name, O_RDONLY);
    size_t length = 0;
    while (length < limit) {
        ssize_t received = read(fd, text + length, limit - length);
        if (received < 0 && errno == EINTR)
            continue;
        if (received < 0)
            fail(FILE_UNUSABLE, "cannot read '%.255s': %s", name, strerror(errno));
        if (received == 0)
            break;
        length += (size_t)received;
    }
    close(fd);
    return length;
}

void folder_remove(struct folder *folder)
{
    int status;
    close(folder->end);
    while (waitpid(folder->janitor, &status, 0) < 0 && errno == EINTR)
        ;
    if (status != 0)
        fail(FILE_UNUSABLE, "cannot remove the working folder %.256s", folder->path);
}
