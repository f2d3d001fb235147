#include "scratch.h"

#include "random_data.h"

#include "../lib/failure.h"
#include "../lib/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (1 << 20)       /* written at a time */
#define BEHIND (64ull << 20)  /* the device is set to work every so often */
#define NAME_TRIES 16

void scratch_failed(int error, const char *doing, const char *path)
{
    if (error == ENOSPC || error == EDQUOT)
        fail(NO_SPACE, "cannot %s a file in '%s': %s; nothing was left behind", doing, path,
             strerror(error));
    if (error == EFBIG)
        fail(NO_SPACE,
             "cannot %s a file in '%s': it is larger than the file system or 'ulimit -f' allows",
             doing, path);
    fail(SYSTEM_ERROR, "cannot %s a file in '%s': %s", doing, path, strerror(error));
}

static _Noreturn void cannot_make(const char *path)
{
    if (errno == ENOSPC || errno == EDQUOT)
        scratch_failed(errno, "make", path);
    fail(FILE_UNUSABLE, "cannot make a file in '%s': %s", path, strerror(errno));
}

/* Where files can't be made without a name (NFS, FUSE), it has one for an instant. */
static int open_with_name(int folder, const char *path)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        char name[64];
        snprintf(name, sizeof name, ".rail-disk-%016llx", (unsigned long long)unique_number());
        int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            cannot_make(path);
        if (unlinkat(folder, name, 0) != 0)
            fail(SYSTEM_ERROR, "cannot remove '%s' in '%s': %s; remove it by hand", name, path,
                 strerror(errno));
        return fd;
    }
    errno = EEXIST;
    cannot_make(path);
}

int scratch_open(int folder, const char *path)
{
    int fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT)
        return open_with_name(folder, path);
    cannot_make(path);
}

bool scratch_bypass(int fd, bool bypass)
{
    int flags = fcntl(fd, F_GETFL);
    return fcntl(fd, F_SETFL, bypass ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

uint32_t scratch_alignment(int fd)
{
#ifdef STATX_DIOALIGN /* Linux 6.1 */
    struct statx about;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) == 0 &&
        (about.stx_mask & STATX_DIOALIGN))
        return about.stx_dio_offset_align;
#else
    (void)fd;
#endif
    return 0;
}

void scratch_reserve(int fd, const char *path, uint64_t size)
{
    if (fallocate(fd, 0, 0, (off_t)size) == 0 || errno == EOPNOTSUPP || errno == ENOSYS)
        return;
    scratch_failed(errno, "set space aside for", path);
}

static void write_all(int fd, const char *path, const unsigned char *data, size_t size,
                      uint64_t offset)
{
    while (size > 0) {
        ssize_t done = pwrite(fd, data, size, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            scratch_failed(done < 0 ? errno : ENOSPC, "write to", path);
        data += done;
        size -= (size_t)done;
        offset += (uint64_t)done;
    }
}

void scratch_lay_out(int fd, const char *path, uint64_t size, uint64_t *state)
{
    unsigned char *piece = test_buffer(PIECE);
    for (uint64_t at = 0; at < size;) {
        size_t step = size - at < PIECE ? (size_t)(size - at) : PIECE;
        fill_random(piece, PIECE, state);
        write_all(fd, path, piece, step, at);
        at += step;
        if (at % BEHIND == 0)
            sync_file_range(fd, (off_t)(at - BEHIND), (off_t)BEHIND, SYNC_FILE_RANGE_WRITE);
    }
    free(piece);
    scratch_settle(fd, path);
}

void scratch_settle(int fd, const char *path)
{
    if (fdatasync(fd) != 0)
        scratch_failed(errno, "bring to the device", path);
    scratch_forget(fd);
}

void scratch_announce(int fd, bool random)
{
    posix_fadvise(fd, 0, 0, random ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
}

void scratch_forget(int fd)
{
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}
