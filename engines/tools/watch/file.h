/* A file of the kernel's, opened once and read from its beginning again and again. */
#ifndef RAIL_WATCH_FILE_H
#define RAIL_WATCH_FILE_H

#include "text.h"

#define PATH_LIMIT 1024 /* longest path, with its final zero */

struct file {
    int fd; /* -1: not there */
    char *bytes, *before; /* of this reading and of the one before it */
    size_t room, length, length_before;
};

/* False if it isn't there or may not be read. */
bool file_open(struct file *file, const char *path);

/* The whole file as it is now; false if it can't be read, as when its device is gone. The text is
 * good until the next reading. */
bool file_read(struct file *file, struct text *text);

/* The last reading was the same as the one before it. */
bool file_unchanged(const struct file *file);

void file_close(struct file *file);

/* A file that is read once, into at most size bytes; false if it can't be. */
bool file_peek(const char *path, char *bytes, size_t size, struct text *text);

#endif
