/* The control channel's reader: any bytes are taken as frames until they end or are refused. What
 * is taken must be readable in every way a caller reads it, and go out again as it came in.
 * The first byte says whether frames have seals (1, 2), and whether these are valid (1). */
#include "control.c"

#include "attempt.h"

#include <stdlib.h>
#include <unistd.h>

struct reading {
    int fd;
    enum message kind;
    struct fields fields;
    const char *name; /* to look up as a number of some kind */
};

static void receive(void *context)
{
    struct reading *reading = context;
    reading->kind = control_receive_any(reading->fd, &reading->fields, 1);
}

static void read_number(void *context)
{
    const struct reading *reading = context;
    double number = fields_number(&reading->fields, reading->name, -5, 1e15);
    must(number >= -5 && number <= 1e15);
}

static void read_count(void *context)
{
    const struct reading *reading = context;
    must(fields_count(&reading->fields, reading->name, 1e15) <= 1000000000000000);
}

static void read_token(void *context)
{
    const struct reading *reading = context;
    uint64_t token = fields_token(&reading->fields, reading->name);
    struct fields again;
    char value[VALUE_LIMIT], before[VALUE_LIMIT];
    fields_clear(&again);
    fields_add_token(&again, reading->name, token);
    must(fields_find(&reading->fields, reading->name, before));
    must(fields_find(&again, reading->name, value));
    must(strcmp(value, before) == 0);
}

static void read_every_line(struct reading *reading)
{
    static struct fields again;
    char name[NAME_LIMIT], value[VALUE_LIMIT], found[VALUE_LIMIT];
    const struct fields *fields = &reading->fields;
    must(fields_valid(fields));
    fields_clear(&again);
    for (size_t cursor = 0; fields_next(fields, &cursor, name, value);) {
        must(cursor <= fields->length);
        must(fields_find(fields, name, found));
        reading->name = name;
        attempt(read_number, reading, NULL);
        attempt(read_count, reading, NULL);
        attempt(read_token, reading, NULL);
        if (fields->length < FIELDS_LIMIT)
            fields_add(&again, name, value);
    }
    if (fields->length < FIELDS_LIMIT)
        must(again.length == fields->length &&
             memcmp(again.text, fields->text, again.length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct reading reading;
    int ends[2];
    static const struct seal seal;
    if (size == 0 || size > 100000 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 0;
    control_resume(&seal);
    channel.sealed = *data == 1 || *data == 2;
    any_seal = *data == 1;
    data++;
    size--;
    ssize_t sent = size ? send(ends[1], data, size, MSG_DONTWAIT) : 0;
    must(sent == (ssize_t)size);
    shutdown(ends[1], SHUT_WR);
    reading.fd = ends[0];

    const uint8_t *frame = data;
    while (attempt(receive, &reading, NULL)) {
        unsigned char packed[HEADER_SIZE];
        struct header header = header_unpack(frame);
        header_pack(&header, packed);
        must(memcmp(packed, frame, HEADER_SIZE) == 0);
        must(header.kind == reading.kind && header.length == reading.fields.length);
        must(!channel.sealed || any_seal);
        frame += HEADER_SIZE + header.length + (channel.sealed ? SEAL_SIZE : 0);
        must(frame <= data + size);
        if (reading.kind != PART && reading.kind != CHALLENGE) /* which are bytes, and no fields */
            read_every_line(&reading);
    }
    close(ends[0]);
    close(ends[1]);
    return 0;
}
