/* What a session takes from its client: the parameters of a SETUP, the numbers of a START, the
 * offset in a request for the trace. The first byte chooses which, the rest is the message. */
#include "session.c"

#include "attempt.h"

#include <sys/socket.h>

static const struct parameter parameters[] = {
    {"mode", CHOICE, "stream", 0, 0, "stream|latency", NULL, NULL, ""},
    {"duration", TIME, "5", 0.01, 86400, NULL, NULL, NULL, ""},
    {"datagram", SIZE, "1460", 24, 65507, NULL, NULL, NULL, ""},
    {"rate", RATE, "0", 0, 1e15, NULL, NULL, NULL, ""},
    {"count", INT, "0", 0, 1e12, NULL, NULL, NULL, ""},
    {"poll", BOOL, "false", 0, 0, NULL, NULL, NULL, ""},
    {"congestion", TEXT, "", 0, 0, NULL, NULL, NULL, ""},
    {0},
};
static const struct engine engine = {.name = "any", .parameters = parameters};

static void set_up(void *message)
{
    static struct launch launch = {.engine = &engine};
    for (int i = 0; parameters[i].name; i++)
        parameter_default(&parameters[i], &launch.values[i]);
    take_parameters(&launch, message);
    must(is_mode(&launch, "stream") || is_mode(&launch, "latency"));
    must(number_of(&launch, "duration") >= 0.01 && number_of(&launch, "duration") <= 86400);
    must(size_of(&launch, "datagram") >= 24 && size_of(&launch, "datagram") <= 65507);
}

static void start(void *message)
{
    static const struct launch launch = {.engine = &engine, .limits = {[LIMIT_DURATION] = 3600}};
    struct trial trial = take_trial(&launch, message);
    struct fields again;
    int ports[MAX_THREADS];
    must(trial.number >= 0 && trial.duration >= 0 && trial.duration <= 3600);
    for (int i = 0; i < MAX_THREADS; i++)
        must(trial.ports[i] >= 0 && trial.ports[i] <= 65535);
    fields_clear(&again);
    add_ports(&again, "client_ports", trial.ports);
    take_ports(&again, "client_ports", ports);
    must(memcmp(ports, trial.ports, sizeof ports) == 0);
}

/* The client has hung up: what it asked for has to be found before that shows. */
static void ask_for_trace(void *message)
{
    static unsigned char bytes[100];
    static struct session session = {.trace = bytes, .trace_length = sizeof bytes};
    static int ends[2];
    if (session.control == 0) {
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        close(ends[1]);
        session.control = ends[0];
    }
    send_trace_part(&session, message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fields message;
    void (*const takes[])(void *) = {set_up, start, ask_for_trace};
    if (size == 0 || size - 1 > sizeof message.text)
        return 0;
    message.length = size - 1;
    memcpy(message.text, data + 1, message.length);
    if (fields_valid(&message))
        attempt(takes[*data % 3], &message, NULL);
    return 0;
}
