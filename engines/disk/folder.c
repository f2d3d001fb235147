#include "folder.h"

#include "../lib/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SPARE_LIMIT (1ull << 30) /* what stays free, or SPARE_SHARE if that is less */
#define SPARE_SHARE 20           /* a twentieth: 5 % */
#define MIB 1048576.0

int folder_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        fail(FILE_UNUSABLE,
             "cannot use the folder '%s': %s; it has to be there already", path, strerror(errno));
    return fd;
}

uint64_t folder_check_space(int folder, const char *path, uint64_t files, uint64_t size)
{
    struct statvfs filesystem;
    if (fstatvfs(folder, &filesystem) != 0)
        fail(FILE_UNUSABLE, "cannot find out how much space is free in '%s': %s", path,
             strerror(errno));
    uint64_t unused = (uint64_t)filesystem.f_bavail * filesystem.f_frsize;
    uint64_t spare = (uint64_t)filesystem.f_blocks * filesystem.f_frsize / SPARE_SHARE;
    if (spare > SPARE_LIMIT)
        spare = SPARE_LIMIT;
    double required = (double)files * (double)size + (double)spare;
    if (required > (double)unused)
        fail(NO_SPACE,
             "%llu file%s of %.1f MiB and %.1f MiB that stay free need %.1f MiB, and '%s' has "
             "%.1f MiB free: use a smaller size or fewer threads, or make room",
             (unsigned long long)files, files == 1 ? "" : "s", (double)size / MIB,
             (double)spare / MIB, required / MIB, path, (double)unused / MIB);
    return unused;
}

/* The number of the mount that the folder is in; -1: this kernel doesn't report it. */
static long mount_of(int folder)
{
#ifdef STATX_MNT_ID
    struct statx about;
    if (statx(folder, "", AT_EMPTY_PATH, STATX_MNT_ID, &about) == 0 &&
        (about.stx_mask & STATX_MNT_ID))
        return (long)about.stx_mnt_id;
#else
    (void)folder;
#endif
    return -1;
}

/* A line: "36 35 98:0 /root /point options optional... - type source super-options". */
static void add_mount(long mount, struct fields *settings)
{
    char line[4096], type[64], source[512], options[256];
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    while (mounts && fgets(line, sizeof line, mounts)) {
        const char *rest = strstr(line, " - ");
        long number;
        if (sscanf(line, "%ld %*s %*s %*s %*s %255s", &number, options) != 2 || number != mount)
            continue;
        if (rest == NULL || sscanf(rest, " - %63s %511s", type, source) != 2)
            break;
        fields_add(settings, "file_system", type);
        fields_add(settings, "device", source);
        fields_add(settings, "mount_options", options);
        break;
    }
    if (mounts)
        fclose(mounts);
}

/* Of several words the one in brackets, or the whole line. */
static char *chosen(char *line)
{
    char *open = strchr(line, '[');
    if (open == NULL)
        line[strcspn(line, "\n")] = '\0';
    else
        open[strcspn(open, "]")] = '\0';
    return open ? open + 1 : line;
}

/* A partition's queue is that of its disk. */
static void add_queue(dev_t device, const char *file, const char *name, struct fields *settings)
{
    static const char *const places[] = {"queue", "../queue"};
    for (size_t i = 0; i < 2; i++) {
        char path[128], value[256] = "";
        snprintf(path, sizeof path, "/sys/dev/block/%u:%u/%s/%s", major(device), minor(device),
                 places[i], file);
        FILE *about = fopen(path, "re");
        if (about == NULL)
            continue;
        if (fgets(value, sizeof value, about))
            fields_add(settings, name, chosen(value));
        fclose(about);
        return;
    }
}

void folder_describe(int folder, struct fields *settings)
{
    struct stat about;
    long mount = mount_of(folder);
    if (mount >= 0)
        add_mount(mount, settings);
    if (fstat(folder, &about) != 0)
        return;
    add_queue(about.st_dev, "rotational", "rotational", settings);
    add_queue(about.st_dev, "scheduler", "io_scheduler", settings);
    add_queue(about.st_dev, "write_cache", "write_cache", settings);
}
