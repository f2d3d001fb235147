#include "file.h"

#include "../../lib/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_ROOM 8192
#define MOST_ROOM (256u << 20)

bool file_open(struct file *file, const char *path)
{
    *file = (struct file){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (file->fd < 0 && (errno == EMFILE || errno == ENFILE))
        fail(SYSTEM_ERROR, "too many open files at %s: raise the limit (ulimit -n)", path);
    return file->fd >= 0;
}

static void grow(struct file *file)
{
    file->room = file->room ? 2 * file->room : FIRST_ROOM;
    bool may = file->room <= MOST_ROOM;
    file->bytes = may ? realloc(file->bytes, file->room) : NULL;
    file->before = may ? realloc(file->before, file->room) : NULL;
    if (file->bytes == NULL || file->before == NULL)
        fail(OUT_OF_MEMORY, "no memory for a file of the kernel's of %zu bytes", file->room);
}

bool file_read(struct file *file, struct text *text)
{
    size_t length = 0;
    char *before = file->bytes;
    file->bytes = file->before;
    file->before = before;
    file->length_before = file->length;
    file->length = 0;
    for (;;) {
        if (length == file->room)
            grow(file);
        ssize_t received =
            pread(file->fd, file->bytes + length, file->room - length, (off_t)length);
        if (received == 0)
            break;
        if (received < 0 && errno == EINTR)
            continue;
        if (received < 0)
            return false;
        length += (size_t)received;
    }
    file->length = length;
    *text = (struct text){file->bytes, file->bytes + length};
    return true;
}

bool file_unchanged(const struct file *file)
{
    return file->length && file->length == file->length_before &&
           memcmp(file->bytes, file->before, file->length) == 0;
}

void file_close(struct file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->bytes);
    free(file->before);
    *file = (struct file){.fd = -1};
}

bool file_peek(const char *path, char *bytes, size_t size, struct text *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t received = read(fd, bytes, size);
    close(fd);
    if (received < 0)
        return false;
    *text = (struct text){bytes, bytes + received};
    return true;
}
