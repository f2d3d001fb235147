#include "values.h"

#include "file.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST 64 /* bytes in such a file */

static bool read_number(int fd, uint64_t *number)
{
    char bytes[LONGEST];
    ssize_t length = pread(fd, bytes, sizeof bytes, 0);
    struct text text = {bytes, bytes + (length > 0 ? length : 0)};
    return take_number(&text, number);
}

static bool is_followed(const struct values *values, const char *member)
{
    char name[2 * COUNTER_NAME_LIMIT];
    size_t length = values->feed.group_length;
    memcpy(name, values->feed.group, length);
    name[length] = '/';
    strncpy(name + length + 1, member, COUNTER_NAME_LIMIT - 1);
    name[length + COUNTER_NAME_LIMIT] = 0;
    return table_find(values->feed.table, name) != NO_COUNTER;
}

void values_add(struct values *values, const char *path, const char *member,
                enum counter_kind kind, uint32_t factor)
{
    struct file file;
    uint64_t number;
    if (is_followed(values, member) || !file_open(&file, path))
        return;
    if (!read_number(file.fd, &number)) {
        file_close(&file);
        return;
    }
    if (values->count == values->room) {
        values->room = values->room ? 2 * values->room : 64;
        values->files = realloc(values->files, values->room * sizeof *values->files);
        if (values->files == NULL)
            fail(OUT_OF_MEMORY, "no memory for %zu files", values->room);
    }
    uint32_t counter = feed_add(&values->feed, member, number * factor, kind);
    values->files[values->count++] =
        (struct value_file){.fd = file.fd, .number = counter, .factor = factor};
}

static size_t group_length(const struct counter *counter)
{
    size_t length = counter->length;
    while (length && counter->name[length - 1] != '/')
        length--;
    return length;
}

/* A device that was taken away and given back has other counters under the old names. */
static void drop_group(struct table *table, uint32_t number)
{
    const char *name = table->counters[number].name;
    size_t length = group_length(&table->counters[number]);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct counter *counter = &table->counters[i];
        if (!counter->dropped && group_length(counter) == length &&
            memcmp(counter->name, name, length) == 0)
            table_drop(table, i);
    }
}

/* Closes the file and fills its place; the others keep their order. */
static void remove_file(struct values *values, size_t index)
{
    close(values->files[index].fd);
    values->count--;
    memmove(values->files + index, values->files + index + 1,
            (values->count - index) * sizeof *values->files);
}

void values_let_go(struct values *values)
{
    for (size_t i = values->count; i-- > 0;)
        if (values->feed.table->counters[values->files[i].number].dropped)
            remove_file(values, i);
}

bool values_read(struct values *values, uint64_t budget_ns)
{
    struct table *table = values->feed.table;
    uint64_t began = budget_ns ? now_ns() : 0;
    bool dropped = false;
    for (size_t left = values->count; left > 0; left--) {
        if (values->next >= values->count)
            values->next = 0;
        const struct value_file *file = &values->files[values->next];
        uint64_t number;
        if (read_number(file->fd, &number)) {
            table_set(table, file->number, number * file->factor);
            values->next++;
        } else {
            dropped = true;
            drop_group(table, file->number);
            remove_file(values, values->next);
        }
        if (budget_ns && now_ns() - began > budget_ns)
            break;
    }
    return dropped;
}

void values_close(struct values *values)
{
    for (size_t i = 0; i < values->count; i++)
        close(values->files[i].fd);
    free(values->files);
    feed_close(&values->feed);
    *values = (struct values){0};
}
