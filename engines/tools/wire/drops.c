#include "drops.h"

#include "../../lib/failure.h"
#include "../../lib/json.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 16 /* bytes of a payload: rail-udp's token and sequence number */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;

void drops_open(const char *path)
{
    file = fopen(path, "we");
    if (file == NULL)
        fail(FILE_UNUSABLE, "cannot write the list of drops '%s': %s", path, strerror(errno));
}

static void add_number(struct json *json, const char *key, double number)
{
    json_key(json, key);
    json_number(json, number);
}

static void add_protocol(struct json *json, unsigned protocol)
{
    char number[16];
    snprintf(number, sizeof number, "%u", protocol);
    json_key(json, "protocol");
    json_text(json, protocol == PROTOCOL_UDP   ? "udp"
                    : protocol == PROTOCOL_TCP ? "tcp"
                    : protocol == 1            ? "icmp"
                    : protocol == 58           ? "icmp6"
                                               : number);
}

static void add_address(struct json *json, const char *key, const struct frame *frame,
                        const unsigned char *address, unsigned port)
{
    char ip[INET6_ADDRSTRLEN] = "", text[INET6_ADDRSTRLEN + 16];
    bool six = frame->family == AF_INET6;
    inet_ntop(frame->family, address, ip, sizeof ip);
    if (frame->ports)
        snprintf(text, sizeof text, six ? "[%s]:%u" : "%s:%u", ip, port);
    else
        snprintf(text, sizeof text, "%s", ip);
    json_key(json, key);
    json_text(json, text);
}

static void add_payload(struct json *json, const struct frame *frame)
{
    char hex[2 * SHOWN + 1] = "";
    for (size_t i = 0; i < SHOWN && i < frame->payload_length; i++)
        snprintf(hex + 2 * i, 3, "%02x", frame->payload[i]);
    json_key(json, "payload");
    json_text(json, hex);
}

void drops_add(const char *direction, uint64_t number, const struct frame *frame)
{
    if (file == NULL)
        return;
    pthread_mutex_lock(&lock);
    struct json json = {.out = file};
    json_open(&json, '{');
    json_key(&json, "direction");
    json_text(&json, direction);
    add_number(&json, "number", (double)number);
    add_protocol(&json, frame->protocol);
    add_address(&json, "source", frame, frame->source, frame->source_port);
    add_address(&json, "destination", frame, frame->destination, frame->destination_port);
    add_number(&json, "ip_length", (double)frame->ip_length);
    if (frame->payload)
        add_payload(&json, frame);
    json_close(&json, '}');
    putc('\n', file);
    if (fflush(file) != 0)
        fail(FILE_UNUSABLE, "cannot write the list of drops: %s", strerror(errno));
    pthread_mutex_unlock(&lock);
}
