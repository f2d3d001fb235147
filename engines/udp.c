/* rail-udp: UDP stream throughput and round-trip latency. The tests themselves are in udp/. */
#include "udp/udp.h"

#include "lib/engine.h"
#include "lib/parameters.h"
#include "lib/place.h"
#include "lib/round_trips.h"
#include "lib/sides.h"

static const struct parameter parameters[] = {
    {"mode", CHOICE, "stream", 0, 0, "stream|latency", NULL, "udptest -a: latency",
     "stream: the client sends as fast as it can; latency: one datagram back and forth"},
    {"ip", CHOICE, "any", 0, 0, "any|4|6", NULL, NULL, "IP version; any: what the name gives"},
    {"duration", TIME, "5", 0.01, 86400, NULL, NULL, "udptest -t", "length of a replication"},
    {"count", INT, "0", 0, 1e12, NULL, NULL, NULL,
     "datagrams (stream) or round trips (latency) to do instead of duration; 0: by duration"},
    {"datagram", SIZE, "1460", 24, 65507, NULL, NULL, "udptest -l, -d, -A",
     "payload of each datagram, 24 bytes of header included; Hpcbench's -d below -l just sent "
     "datagrams of -d bytes, so both are this"},
    {"batch", INT, "1", 1, 1024, NULL, "stream", NULL,
     "datagrams handed to the kernel in one call (sendmmsg); 1: one send for each"},
    {"threads", INT, "1", 1, MAX_THREADS, NULL, NULL, NULL,
     "streams side by side, each with a thread and a socket of its own on both ends"},
    {"sockbuf", SIZE, "0", 0, 1 << 29, NULL, NULL, "udptest -b, -B",
     "socket buffers asked of the kernel (SO_SNDBUF and SO_RCVBUF), on both ends; 0: leave its "
     "own; Linux grants twice what is asked, and Hpcbench asked for half of its -b"},
    {"server_sockbuf", SIZE, "0", 0, 1 << 29, NULL, NULL, "udptest -B",
     "the server's socket buffers, where they differ; 0: as sockbuf"},
    {"tos", INT, "0", 0, 255, NULL, NULL, "udptest -q",
     "TOS or traffic class byte (DSCP * 4) of the test's packets, on both ends"},
    {"data_port", INT, "0", 0, 65535, NULL, NULL, NULL,
     "the server's port for test data, the first of as many as there are threads; 0: the system "
     "picks"},
    ROUND_TRIP_PARAMETERS,
    PLACE_PARAMETERS(NULL),
    {"warmup", TIME, "0", 0, 86400, NULL, NULL, NULL,
     "length of one replication done first and reported as number 0; 0: none"},
    {0},
};

static const struct metric metrics[] = {
    {"throughput", "bit/s", "higher", "stream",
     "network throughput: unique payload bits that reached the receiver after the first datagram, "
     "over the receiver's time from its first to its last datagram",
     "network Mbit/s", 1e6, 3},
    {"local_throughput", "bit/s", "neither", "stream",
     "payload bits the sender handed to its kernel, over the sender's time", "local Mbit/s", 1e6,
     3},
    {"sent_packets", "", "neither", "stream", "datagrams sent", "sent", 1, 0},
    {"sent_bytes", "B", "neither", "stream", "payload bytes sent", NULL, 1, 0},
    {"received_packets", "", "neither", "stream", "different datagrams received", "received", 1,
     0},
    {"received_bytes", "B", "neither", "stream", "payload bytes of those", NULL, 1, 0},
    {"lost_packets", "", "lower", NULL,
     "stream: sent less received, the last ones included; latency: round trips without an answer "
     "within 1 s",
     "lost", 1, 0},
    {"loss_rate", "", "lower", "stream", "lost datagrams / sent datagrams, 0 to 1", "loss %",
     0.01, 4},
    {"duplicate_packets", "", "lower", "stream", "datagrams received again; never set off against "
     "losses", "dup", 1, 0},
    {"reordered_packets", "", "lower", "stream",
     "datagrams that came after one sent later; they are not lost", "reorder", 1, 0},
    {"receiver_drops", "", "lower", "stream",
     "datagrams the receiving kernel dropped at the socket, its buffer being full; part of "
     "lost_packets", "drops", 1, 0},
    {"sender_retries", "", "lower", "stream",
     "sends that the sending kernel refused for want of memory (ENOBUFS) and that were repeated",
     NULL, 1, 0},
    {"round_trips", "", "neither", "latency", "datagrams that came back", "trips", 1, 0},
    ROUND_TRIP_METRICS,
    LATE_METRIC,
    SIDE_METRICS(NULL),
    {0},
};

static void client_open(struct client *client, struct fields *settings, struct fields *server)
{
    (void)server;
    open_udp_client(client, settings);
}

static void client_measure(struct client *client, const struct trial *trial, struct fields *end,
                           struct result *result)
{
    if (is_mode(client->launch, "stream"))
        send_udp_stream(client, trial, end, result);
    else
        measure_udp_round_trips(client, trial, end, result);
}

static void client_finish(struct client *client, const struct fields *reply,
                          struct result *result)
{
    if (is_mode(client->launch, "stream"))
        finish_udp_stream(client, reply, result);
}

static void session_open(struct session *session, struct fields *settings)
{
    open_udp_session(session, settings);
}

static void session_ready(struct session *session, const struct trial *trial)
{
    ready_udp_session(session, trial);
    if (is_mode(&session->launch, "stream"))
        prepare_udp_receiver(session, trial);
    else
        prepare_udp_echo(session, trial);
}

static void session_measure(struct session *session, const struct trial *trial,
                            struct fields *reply)
{
    if (is_mode(&session->launch, "stream"))
        receive_udp_stream(session, trial, reply);
    else
        echo_datagrams(session, trial, reply);
}

static const struct network network = {
    .client_open = client_open,
    .client_measure = client_measure,
    .client_finish = client_finish,
    .session_open = session_open,
    .session_ready = session_ready,
    .session_measure = session_measure,
};

static int client(const struct launch *launch)
{
    return network_client(launch, &network);
}

static int server(const struct launch *launch)
{
    return network_server(launch, &network);
}

static const struct engine udp = {
    .name = "udp",
    .summary = "UDP stream throughput with loss, and round-trip latency",
    .parameters = parameters,
    .metrics = metrics,
    .port = 5678,
    .optional = "late_sends",
    .client = client,
    .server = server,
};

int main(int argc, char **argv)
{
    return engine_main(&udp, argc, argv);
}
