/* A command's working folder: fresh, and gone when this process is, however that ends. */
#ifndef RAIL_EXEC_FOLDER_H
#define RAIL_EXEC_FOLDER_H

#include <stddef.h>
#include <sys/types.h>

struct folder {
    char path[4096];
    int end;       /* closed: it is to be removed */
    pid_t janitor; /* who does that */
};

/* Makes one in the folder above, "": TMPDIR, else /tmp; fails if that can't be. */
void folder_make(struct folder *folder, const char *above);

/* Writes a file into it. */
void folder_write(const struct folder *folder, const char *name, const char *text);

/* Reads the beginning of a file in it, no link; fails if there is none. Returns its length. */
size_t folder_read(const struct folder *folder, const char *name, char *text, size_t limit);

/* Removes it with all that is in it. */
void folder_remove(struct folder *folder);

#endif
