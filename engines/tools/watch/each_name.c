#include "devices.h"

#include <dirent.h>
#include <stdlib.h>

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

void each_name(const char *folder, void (*visit)(const char *name, void *context), void *context)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, versionsort);
    for (int i = 0; i < count; i++) {
        visit(entries[i]->d_name, context);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}
