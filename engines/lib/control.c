#include "control.h"

#include "clock.h"
#include "engine.h"
#include "failure.h"
#include "sockets.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static struct {
    bool sealed;
    struct seal seal;
} channel;

static void put(unsigned char *out, uint32_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--, value >>= 8)
        out[i] = (unsigned char)value;
}

static uint32_t get(const unsigned char *in, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | in[i];
    return value;
}

void header_pack(const struct header *header, unsigned char out[HEADER_SIZE])
{
    put(out, header->magic, 4);
    put(out + 4, header->version, 2);
    put(out + 6, header->kind, 2);
    put(out + 8, header->length, 4);
}

struct header header_unpack(const unsigned char in[HEADER_SIZE])
{
    return (struct header){
        .magic = get(in, 4),
        .version = (uint16_t)get(in + 4, 2),
        .kind = (uint16_t)get(in + 6, 2),
        .length = get(in + 8, 4),
    };
}

static bool send_all(int fd, const unsigned char *frame, size_t size, int flags)
{
    for (size_t sent = 0; sent < size;) {
        ssize_t step = send(fd, frame + sent, size - sent, flags | MSG_NOSIGNAL);
        if (step < 0 && errno == EINTR)
            continue;
        if (step <= 0)
            return false;
        sent += (size_t)step;
    }
    return true;
}

/* Sends the whole frame in one call, so that it leaves in one segment; false if it did not. */
static bool send_frame(int fd, enum message kind, const struct fields *fields, int flags)
{
    unsigned char frame[HEADER_SIZE + FIELDS_LIMIT + SEAL_SIZE];
    struct header header = {CONTROL_MAGIC, CONTROL_VERSION, (uint16_t)kind,
                            fields ? (uint32_t)fields->length : 0};
    header_pack(&header, frame);
    if (fields)
        memcpy(frame + HEADER_SIZE, fields->text, fields->length);
    size_t size = HEADER_SIZE + header.length;
    if (channel.sealed) {
        seal_make(&channel.seal, frame, frame + HEADER_SIZE, header.length, frame + size);
        size += SEAL_SIZE;
    }
    return send_all(fd, frame, size, flags);
}

void control_send(int fd, enum message kind, const struct fields *fields)
{
    if (send_frame(fd, kind, fields, 0))
        return;
    /* It may have said why before it hung up. */
    struct fields final_message;
    control_receive_any(fd, &final_message, 1);
    fail(PEER_LOST, "the other end hung up");
}

void control_send_failure(int fd, const char *code, const char *message)
{
    struct fields fields;
    fields_clear(&fields);
    fields_add(&fields, "code", code);
    fields_add(&fields, "message", message);
    send_frame(fd, FAILED, &fields, MSG_DONTWAIT);
}

static void receive_exactly(int fd, void *out, size_t size, uint64_t deadline)
{
    for (size_t received = 0; received < size;) {
        if (!wait_readable(fd, deadline))
            fail(NO_ANSWER, "the other end is connected but says nothing");
        ssize_t step = recv(fd, (char *)out + received, size - received, MSG_DONTWAIT);
        if (step < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (step <= 0)
            fail(PEER_LOST, "the other end died or hung up%s%s", step < 0 ? ": " : "",
                 step < 0 ? strerror(errno) : "");
        received += (size_t)step;
    }
}

static _Noreturn void fail_as_peer(const struct fields *fields)
{
    char code[VALUE_LIMIT] = "", message[VALUE_LIMIT] = "";
    fields_find(fields, "code", code);
    fields_find(fields, "message", message);
    fail(failure_named(code), "the server says: %.900s", message);
}

/* The seal of a frame whose header and payload are here. Only the client's first answer may come
 * without: a server that does not serve it has no key to say so with. */
static void check_seal(int fd, const unsigned char raw[HEADER_SIZE], const struct header *header,
                       const struct fields *fields, uint64_t deadline)
{
    unsigned char seal[SEAL_SIZE];
    bool first = channel.seal.received == 0;
    if (!channel.sealed || (first && header->kind == FAILED))
        return;
    receive_exactly(fd, seal, sizeof seal, deadline);
    if (seal_valid(&channel.seal, raw, fields->text, fields->length, seal))
        return;
    if (first)
        fail(BAD_SECRET, "the server did not prove that it has the secret: it is another one, or "
                         "somebody between altered what was said");
    fail(FORGED, "a message of the other end bears no valid seal: somebody between altered, "
                 "repeated or made it up");
}

enum message control_receive_any(int fd, struct fields *fields, double seconds)
{
    unsigned char raw[HEADER_SIZE];
    uint64_t deadline = now_ns() + seconds_ns(seconds);
    receive_exactly(fd, raw, sizeof raw, deadline);
    struct header header = header_unpack(raw);
    if (header.magic != CONTROL_MAGIC)
        fail(BAD_PEER, "the other end is no railgauge engine");
    if (header.length > FIELDS_LIMIT)
        fail(BAD_PEER, "the other end announced a message of %u bytes", header.length);
    fields->length = header.length;
    receive_exactly(fd, fields->text, header.length, deadline);
    check_seal(fd, raw, &header, fields, deadline);
    if (header.kind != PART && header.kind != CHALLENGE && !fields_valid(fields))
        fail(BAD_PEER, "the other end sent a message that cannot be read");
    if (header.kind == FAILED)
        fail_as_peer(fields);
    if (header.version != CONTROL_VERSION)
        fail(VERSION_MISMATCH,
             "the other end speaks version %d of the protocol, this one %d: build both from the "
             "same sources",
             header.version, CONTROL_VERSION);
    return (enum message)header.kind;
}

void control_receive(int fd, enum message kind, struct fields *fields, double seconds)
{
    enum message received = control_receive_any(fd, fields, seconds);
    if (received != kind)
        fail(BAD_PEER, "the other end sent message %d where %d was due", (int)received, (int)kind);
}

void control_request(int fd, enum message request, const struct fields *fields,
                     enum message answer, struct fields *reply, double seconds)
{
    control_send(fd, request, fields);
    control_receive(fd, answer, reply, seconds);
}

bool control_pending(int fd)
{
    struct pollfd poll_entry = {.fd = fd, .events = POLLIN};
    return poll(&poll_entry, 1, 0) > 0;
}

bool control_alive(int fd)
{
    char byte;
    ssize_t received = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return received > 0 || (received < 0 && (errno == EAGAIN || errno == EINTR));
}

void opening_pack(enum message kind, unsigned char out[OPENING_SIZE])
{
    header_pack(&(struct header){CONTROL_MAGIC, CONTROL_VERSION, (uint16_t)kind, NONCE_SIZE}, out);
    random_bytes(out + HEADER_SIZE, NONCE_SIZE);
}

void control_begin(int fd, const char *secret, double seconds)
{
    static struct fields answer;
    unsigned char hello[OPENING_SIZE], challenge[OPENING_SIZE];
    channel.sealed = false;
    opening_pack(HELLO, hello);
    send_all(fd, hello, sizeof hello, 0); /* who hung up may have said why */
    control_receive(fd, CHALLENGE, &answer, seconds);
    if (answer.length != NONCE_SIZE)
        fail(BAD_PEER, "the other end sent a challenge of %zu bytes", answer.length);
    header_pack(&(struct header){CONTROL_MAGIC, CONTROL_VERSION, CHALLENGE, NONCE_SIZE},
                challenge);
    memcpy(challenge + HEADER_SIZE, answer.text, NONCE_SIZE);
    seal_begin(&channel.seal, secret, false, hello, challenge);
    channel.sealed = true;
}

void control_resume(const struct seal *seal)
{
    channel.seal = *seal;
    channel.sealed = true;
}

uint64_t control_token(void)
{
    return seal_token(&channel.seal);
}
