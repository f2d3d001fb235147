/* A server's guest: any bytes, in pieces of any length, as its hello. Only who knows the secret
 * is welcome; everyone else is hung up on, with a well-formed refusal or without a word. */
#include "server.c"

#include "attempt.h"

#include <sys/socket.h>

#define SECRET "open sesame"

static void receive(void *context)
{
    static struct fields fields;
    control_receive_any(*(int *)context, &fields, 1);
}

/* What a server may say to a guest before it serves it. */
static void check_last_words(int fd)
{
    enum failure told;
    bool well = attempt(receive, &fd, &told);
    must(!well);
    must(told == PEER_LOST || told == VERSION_MISMATCH || told == BAD_SECRET ||
         told == WRONG_ENGINE);
}

static void check_welcome(const struct guest *guest)
{
    static struct fields hello;
    char value[VALUE_LIMIT];
    struct header header = header_unpack(guest->frame);
    must(header.magic == CONTROL_MAGIC && header.version == CONTROL_VERSION &&
         header.kind == HELLO && guest->got == HEADER_SIZE + header.length);
    hello.length = header.length;
    memcpy(hello.text, guest->frame + HEADER_SIZE, header.length);
    must(fields_valid(&hello));
    must(fields_find(&hello, "secret", value) && strcmp(value, SECRET) == 0);
    must(fields_find(&hello, "engine", value) && strcmp(value, "udp") == 0);
}

/* The first byte says how long the pieces are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct engine engine = {.name = "udp"};
    static struct launch launch = {.engine = &engine, .secret = SECRET};
    static struct server server = {.launch = &launch};
    struct guest *guest = &server.guests[0];
    int ends[2];
    if (size == 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 0;
    size_t piece = *data ? *data : size;
    *guest = (struct guest){.fd = ends[0]};
    for (size_t at = 1; at < size && guest->fd >= 0 && !guest->welcome; at += piece) {
        size_t length = size - at < piece ? size - at : piece;
        must(send(ends[1], data + at, length, MSG_NOSIGNAL) == (ssize_t)length);
        /* A piece may hold the header and more, which are read one after the other. */
        for (int i = 0; i < 3 && guest->fd >= 0 && !guest->welcome; i++)
            listen_to(&server, guest);
        must(guest->got <= sizeof guest->frame);
    }
    if (guest->fd < 0) {
        check_last_words(ends[1]);
    } else {
        if (guest->welcome)
            check_welcome(guest);
        close(ends[0]);
    }
    close(ends[1]);
    return 0;
}
