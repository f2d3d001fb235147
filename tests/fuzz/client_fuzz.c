/* What a client makes of a hostile server's answers: any bytes, from its welcome to the trace of a
 * replication. It fails or takes values that can be; a trace is decoded like any other. */
#include "attempt.h"
#include "trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>

/* What a call has allocated when it fails ends with the engine's process; here it is kept, to be
 * freed after each input. */
static unsigned char *bytes;

static void *allocate(size_t size)
{
    must(bytes == NULL);
    return bytes = malloc(size);
}

#define malloc allocate
#include "client.c"
#undef malloc

static const struct parameter parameters[] = {
    {"mode", CHOICE, "stream", 0, 0, "stream|latency", NULL, NULL, ""},
    {"datagram", SIZE, "1460", 24, 65507, NULL, NULL, NULL, ""},
    {0},
};
static const struct engine engine = {.name = "udp", .parameters = parameters};
static const struct launch launch = {.engine = &engine, .values = {{.text = "stream"}, {.number = 1460}}};

static void open_session(void *context)
{
    static struct fields settings, own;
    struct client *client = context;
    greet(&launch, client->control);
    set_up(client, &settings);
    must(client->ports[0] > 0 && client->ports[0] <= 65535);
    fields_clear(&own);
    compare_clocks(client, &own);
}

static void take_trace(void *context)
{
    static struct fields reply;
    struct client *client = context;
    struct trace trace;
    const char *problem;
    size_t length;
    control_receive(client->control, RESULT, &reply, 1);
    const unsigned char *received = receive_trace(client, &reply, &length);
    if (received && trace_decode(received, length, &trace, &problem))
        free(trace.arrivals);
}

/* A first byte of 1 leaves out the beginning of the session. What the server says is sealed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct seal seal = {.received = 1};
    struct client client = {.launch = &launch};
    int ends[2];
    if (size < 2 || size > 16384 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 0;
    /* Nobody reads what the client asks: when no more of it fits, the server is lost. */
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    must(send(ends[1], data + 1, size - 1, 0) == (ssize_t)size - 1);
    shutdown(ends[1], SHUT_WR);
    client.control = ends[0];
    any_seal = true;
    control_resume(&seal);
    if (*data == 1 || attempt(open_session, &client, NULL))
        attempt(take_trace, &client, NULL);
    free(bytes);
    bytes = NULL;
    close(ends[0]);
    close(ends[1]);
    return 0;
}
