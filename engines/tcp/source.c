#include "source.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/open_files.h"
#include "../lib/parameters.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_LIMIT 65536
#define PIECE 65536 /* by which files are made */

static struct source source;

static void close_source(void)
{
    for (size_t i = 0; i < source.count; i++) {
        struct item *item = &source.items[i];
        if (item->map)
            munmap(item->map, item->size);
        close(item->fd);
        free(item->name);
    }
    free(source.items);
    source = (struct source){0};
}

/* Adds a file that is open, or fails. */
static void add_item(int fd, const char *name, size_t size, bool mapped)
{
    struct item *items = realloc(source.items, (source.count + 1) * sizeof *items);
    char *copy = strdup(name);
    if (items == NULL || copy == NULL)
        fail(OUT_OF_MEMORY, "no memory for a list of %zu files", source.count + 1);
    source.items = items;
    struct item *item = &items[source.count++];
    *item = (struct item){.fd = fd, .size = size, .name = copy};
    if (!mapped)
        return;
    item->map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (item->map == MAP_FAILED)
        fail(SYSTEM_ERROR, "cannot map the file '%s' into memory: %s", name, strerror(errno));
}

/* False if it is no regular file, which a folder may have too. */
static bool add_file(const char *path, bool mapped)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        fail(FILE_UNUSABLE, "cannot open more than %zu files at once: use fewer, or raise "
             "'ulimit -n'", source.count);
    if (fd < 0 || fstat(fd, &about) != 0)
        fail(FILE_UNUSABLE, "cannot read the file '%s': %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode)) {
        close(fd);
        return false;
    }
    if (about.st_size == 0)
        fail(FILE_UNUSABLE, "the file '%s' is empty, so that sending it sends nothing: leave it "
             "out", path);
    if (source.count == FILES_LIMIT)
        fail(FILE_UNUSABLE, "more than %d files: use fewer", FILES_LIMIT);
    add_item(fd, path, (size_t)about.st_size, mapped);
    return true;
}

static int in_name_order(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Sockets and devices must not even be opened. */
static bool is_regular(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static void add_folder(const char *path, bool mapped)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, in_name_order);
    if (count < 0)
        fail(FILE_UNUSABLE, "cannot read the folder '%s': %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        char name[TEXT_LIMIT + sizeof entries[i]->d_name + 1];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (is_regular(name))
            add_file(name, mapped);
        free(entries[i]);
    }
    free(entries);
    if (source.count == 0)
        fail(FILE_UNUSABLE, "the folder '%s' has no regular file to send", path);
}

/* A file of that size without a disk beneath it. */
static void make_file(size_t size, bool mapped)
{
    unsigned char piece[PIECE];
    memset(piece, TEST_BYTE, sizeof piece);
    int fd = memfd_create("railgauge", MFD_CLOEXEC);
    if (fd < 0)
        fail(SYSTEM_ERROR, "cannot make a file in memory: %s", strerror(errno));
    for (size_t written = 0; written < size;) {
        size_t left = size - written;
        ssize_t step = write(fd, piece, left < PIECE ? left : PIECE);
        if (step <= 0)
            fail(OUT_OF_MEMORY, "no memory for files of %zu bytes: use smaller or fewer", size);
        written += (size_t)step;
    }
    add_item(fd, "in memory", size, mapped);
}

static bool wants_files(const struct launch *launch)
{
    const char *method = text_of(launch, "send");
    return strcmp(text_of(launch, "source"), "file") == 0 || *text_of(launch, "file") ||
           strcmp(method, "sendfile") == 0 || strcmp(method, "splice") == 0;
}

void open_source(const struct launch *launch, bool named)
{
    const char *path = named ? text_of(launch, "file") : "";
    bool mapped = strcmp(text_of(launch, "send"), "zerocopy") == 0;
    struct stat about;
    close_source();
    if (!wants_files(launch))
        return;
    allow_many_files(NULL);
    if (*path == '\0') {
        must_fit(size_of(launch, "files"), size_of(launch, "message"));
        for (int i = 0; i < int_of(launch, "files"); i++)
            make_file(size_of(launch, "message"), mapped);
    } else if (stat(path, &about) != 0) {
        fail(FILE_UNUSABLE, "cannot read the file '%s': %s", path, strerror(errno));
    } else if (S_ISDIR(about.st_mode)) {
        add_folder(path, mapped);
    } else if (!S_ISREG(about.st_mode) || !add_file(path, mapped)) {
        fail(FILE_UNUSABLE, "'%s' is neither a regular file nor a folder", path);
    }
}

const struct source *opened_source(void)
{
    return &source;
}

void add_source(struct fields *settings)
{
    double bytes = 0;
    fields_add(settings, "source", source.items ? "file" : "memory");
    for (size_t i = 0; i < source.count; i++)
        bytes += (double)source.items[i].size;
    if (source.items) {
        fields_add_number(settings, "files", (double)source.count);
        fields_add_number(settings, "file_bytes", bytes);
    }
}

void file_changed(const struct item *item)
{
    fail(FILE_CHANGED, "the file '%s' had %zu bytes when the test began and can no longer be read "
         "to that end: it was cut short or its disk failed", item->name, item->size);
}
