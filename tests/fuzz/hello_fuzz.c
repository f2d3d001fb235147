/* A server's pending client: any bytes, in pieces of any length, as its hello and proof. Without a
 * valid seal none is welcome; every other connection is closed, with a well-formed refusal or
 * without a word. */
#include "server.c"

#include "attempt.h"

#include <sys/socket.h>

static void receive(void *context)
{
    static struct fields fields;
    control_receive_any(*(int *)context, &fields, 1);
}

/* What a server may say to a client before it serves it. */
static void check_last_words(int fd)
{
    enum failure failure;
    while (attempt(receive, &fd, &failure)) /* its challenge, if the hello was one */
        ;
    must(failure == PEER_LOST || failure == VERSION_MISMATCH || failure == BAD_SECRET ||
         failure == WRONG_ENGINE);
}

static void check_welcome(const struct pending *client)
{
    static struct fields proof;
    char value[VALUE_LIMIT];
    struct header header = header_unpack(client->frame);
    must(any_seal && client->challenged);
    must(header.magic == CONTROL_MAGIC && header.kind == PROOF &&
         client->received == HEADER_SIZE + header.length + SEAL_SIZE);
    proof.length = header.length;
    memcpy(proof.text, client->frame + HEADER_SIZE, header.length);
    must(fields_valid(&proof));
    must(fields_find(&proof, "engine", value) && strcmp(value, "udp") == 0);
}

/* The first byte says how long the pieces are, its highest bit that every seal is valid. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct engine engine = {.name = "udp"};
    static const struct launch launch = {.engine = &engine, .secret = "open sesame"};
    static struct server server = {.launch = &launch};
    struct pending *client = &server.clients[0];
    int ends[2];
    if (size == 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 0;
    size_t piece = *data & 0x7f ? *data & 0x7f : size;
    any_seal = *data >> 7;
    *client = (struct pending){.fd = ends[0]};
    for (size_t at = 1; at < size && client->fd >= 0 && !client->welcome; at += piece) {
        size_t length = size - at < piece ? size - at : piece;
        must(send(ends[1], data + at, length, MSG_NOSIGNAL) == (ssize_t)length);
        /* A piece may hold two headers and more, which are read one after the other. */
        for (int i = 0; i < 5 && client->fd >= 0 && !client->welcome; i++)
            receive_hello(&server, client);
        must(client->received <= sizeof client->frame);
    }
    if (client->fd < 0) {
        check_last_words(ends[1]);
    } else {
        if (client->welcome)
            check_welcome(client);
        close(ends[0]);
    }
    close(ends[1]);
    return 0;
}
