/* The folder that files are made in: what it is, and whether there is room. */
#ifndef RAIL_DISK_FOLDER_H
#define RAIL_DISK_FOLDER_H

#include "../lib/fields.h"

#include <stdint.h>

/* Opens the folder, which has to exist; or fails with FILE_UNUSABLE. */
int folder_open(const char *path);

/* Fails with NO_SPACE unless so many files of that size leave some of the file system free; returns
 * how many bytes are free now. */
uint64_t folder_check_space(int folder, const char *path, uint64_t files, uint64_t size);

/* Adds what the folder stands on: file_system, device, mount_options, and of the device rotational,
 * io_scheduler and write_cache; each where the kernel reports it. */
void folder_describe(int folder, struct fields *settings);

#endif
