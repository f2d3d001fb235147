/* Small files that the kernel writes. */
#ifndef RAIL_MEM_FILES_H
#define RAIL_MEM_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* The first line, without its end; false if it can't be read. */
bool read_line(const char *path, char *out, size_t size);

/* The number that a file consists of, -1 if it is none. */
double read_number(const char *path);

/* The number after the first `key` that stands in the file as a word of its own ("MemFree:"),
 * -1 if there is none. */
double read_key(const char *path, const char *key);

#endif
