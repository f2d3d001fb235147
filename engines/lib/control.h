/* The control channel: framed messages over TCP.
 * A frame is a header of 12 bytes, all big-endian: magic (4), version (2), kind (2), length (4),
 * then that many bytes of fields, then its seal (seal.h), from PROOF and WELCOME on. Of what
 * should have a seal nothing but magic and length is looked at before that is valid.
 * The header and a FAILED without a seal stay as they are in every version, so that two versions
 * recognise each other. A process has one such channel at a time, with its keys. */
#ifndef RAIL_CONTROL_H
#define RAIL_CONTROL_H

#include "fields.h"
#include "seal.h"

#define CONTROL_MAGIC 0x5241494cu /* "RAIL" */
#define CONTROL_VERSION 3

enum message {
    HELLO = 1, /* client: NONCE_SIZE random bytes, no fields */
    WELCOME,   /* server: its seal proves that it has the secret; go on */
    SETUP,     /* client: every parameter */
    SETTINGS,  /* server: data_port, what its kernel granted, warnings */
    START,     /* client: one replication's duration, count ... */
    READY,     /* server: send */
    END,       /* client: all is sent; what that was */
    RESULT,    /* server: what arrived */
    FAILED,    /* either: code, message; the last thing it says */
    BYE,       /* client: no more replications */
    CLOCK,     /* client: what time is it? */
    TIME_IS,   /* server: its now_ns() */
    TRACE,     /* client: go on with the trace from this offset */
    PART,      /* server: bytes of the trace, no fields; how many is the frame's length */
    CHALLENGE, /* server: likewise, in answer to HELLO */
    PROOF,     /* client: engine, version; its seal proves that it has the secret */
};

struct header {
    uint32_t magic;
    uint16_t version, kind;
    uint32_t length;
};

void header_pack(const struct header *header, unsigned char out[HEADER_SIZE]);
struct header header_unpack(const unsigned char in[HEADER_SIZE]);

/* A HELLO or CHALLENGE with fresh random bytes. */
void opening_pack(enum message kind, unsigned char out[OPENING_SIZE]);

/* A client's first words: from then on all frames are sealed. */
void control_begin(int fd, const char *secret, double seconds);

/* Goes on with the keys that the client's PROOF was sealed with. */
void control_resume(const struct seal *seal);

/* What the test data of a replication is known by; the server's once it has read START, the
 * client's once it has sent it. */
uint64_t control_token(void);

/* Sends one message, or fails with PEER_LOST. */
void control_send(int fd, enum message kind, const struct fields *fields);

/* As far as the socket takes it at once: for last words, which must not wait for anyone. */
void control_send_failure(int fd, const char *code, const char *message);

/* Receives the message of that kind within the time; every other course of events fails, a
 * FAILED from the peer as the peer's own code and sentence. */
void control_receive(int fd, enum message kind, struct fields *fields, double seconds);

/* Likewise, but of any kind; returns which. Only a PART's content is unchecked bytes. */
enum message control_receive_any(int fd, struct fields *fields, double seconds);

/* Sends one message and receives the answer to it. */
void control_request(int fd, enum message request, const struct fields *fields,
                     enum message answer, struct fields *reply, double seconds);

/* False once the peer has closed the connection or it broke; takes nothing from it. */
bool control_alive(int fd);

/* True if something can be received. */
bool control_pending(int fd);

#endif
