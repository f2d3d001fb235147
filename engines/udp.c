/* rail-udp: UDP streams, round-trip latency, and a load generator. Its modes are in udp/. */
#include "udp/arrivals.h"
#include "udp/sender.h"
#include "udp/udp.h"

#include "lib/engine.h"
#include "lib/omit.h"
#include "lib/packet.h"
#include "lib/parameters.h"
#include "lib/place.h"
#include "lib/round_trips.h"
#include "lib/sides.h"
#include "lib/sockopts.h"

#define STREAMS "stream|bidirectional"
#define SENDERS "stream|bidirectional|generator"
#define SERVED "stream|bidirectional|latency"

static const struct parameter parameters[] = {
    {"mode", CHOICE, "stream", 0, 0, "stream|bidirectional|exponential|latency|generator", NULL,
     "udptest -i: bidirectional, -e: exponential, -a: latency, -g: generator",
     "stream: from the client to the server; bidirectional: both ways at once; exponential: a "
     "stream for each datagram size 1, 2, 4 ... up to datagram; latency: one datagram back and "
     "forth; generator: to any host of the plan, without a server there (see --plan-hosts)"},
    {"ip", CHOICE, "any", 0, 0, "any|4|6", NULL, NULL, "IP version; any: what the name gives"},
    {"duration", TIME, "5", 0.01, 86400, NULL, NULL, "udptest -t", "length of a replication"},
    {"count", INT, "0", 0, 1e12, NULL, SERVED, "UDPmon's number of packets",
     "datagrams (stream) or round trips (latency) to do instead of duration; 0: by duration"},
    {"scaling", CHOICE, "weak", 0, 0, "strong|weak", SERVED, NULL,
     "with count and threads: strong: the threads share the count, as evenly as whole numbers "
     "allow; weak: each of them does as much"},
    {"datagram", SIZE, "1460", 1, 65507, NULL, NULL, "udptest -l, -d, -A; UDPmon's packet size",
     "payload of each datagram. Streams put a header into it: from 24 bytes, all of it (token, "
     "sequence number, time); from 16, no time, so no trace; from 8, the number alone; from 4, "
     "half of it; below, datagrams are only counted, and neither duplicates nor reordering are "
     "seen. Hpcbench's -d below -l just sent datagrams of -d bytes, so both are this"},
    {"rate", RATE, "0", 0, 1e12, NULL, SENDERS, "udptest -T",
     "payload bits a second that the sender, or each of the two, sends evenly spaced, over all "
     "threads together; with batch or gso, it is the calls that are evenly spaced; 0: as fast as "
     "it can"},
    {"wait", TIME, "0", 0, 1, NULL, SENDERS, "UDPmon -w",
     "time from one send to the next, in each thread; 0: none; not together with rate"},
    {"batch", INT, "1", 1, 1024, NULL, SENDERS, NULL,
     "datagrams handed to the kernel in one call (sendmmsg); 1: one send for each"},
    {"gso", INT, "0", 0, 128, NULL, SENDERS, "iperf3 --gsro",
     "datagrams in one send that the kernel, or the network card, cuts apart (UDP_SEGMENT): "
     "together at most 65507 bytes, and each within the link's MTU; 0: off"},
    {"gro", BOOL, "false", 0, 0, NULL, STREAMS, "iperf3 --gsro",
     "the receiver takes datagrams that the kernel holds together (UDP_GRO); each is looked at "
     "and counted as a datagram"},
    {"trace", INT, "0", 0, TRACE_LIMIT, NULL, "stream|latency", "UDPmon's packets to record: 5000",
     "what to record, the first so many: stream: arrivals, each with its number, receive and send "
     "time; no gro, datagrams of at least 24 bytes; latency: round trips, each with its number and "
     "when it was due and over; one thread; a warm-up has none; 0: none"},
    {"timestamp", CHOICE, "kernel", 0, 0, "kernel|user", "stream", NULL,
     "who stamps when a datagram of a trace arrived: kernel: the receiving kernel, by its wall "
     "clock; user: the receiver after each datagram, taken one a call, by a clock that nothing "
     "moves"},
    {"threads", INT, "1", 1, MAX_THREADS, NULL, NULL, NULL,
     "streams side by side, each with a thread and a socket of its own on both ends"},
    {"sockbuf", SIZE, "0", 0, 1 << 29, NULL, NULL, "udptest -b, -B",
     "socket buffers asked of the kernel (SO_SNDBUF and SO_RCVBUF), on both ends; 0: leave its "
     "own; Linux grants twice what is asked, and Hpcbench asked for half of its -b. A receiver that "
     "waits for its CPU drops what they cannot hold: 40 Gbit/s fill 8 MiB in 2 ms"},
    {"server_sockbuf", SIZE, "0", 0, 1 << 29, NULL, SERVED, "udptest -B",
     "the server's socket buffers, where they differ; 0: as sockbuf"},
    BUFFER_PARAMETERS(SERVED),
    {"receive", CHOICE, "block", 0, 0, "block|adaptive|poll", STREAMS, NULL,
     "how receivers wait for datagrams: block: in the kernel, which wakes the thread up, as other "
     "tools do; adaptive: they look some 5 us for more before that, where this finds any, as from a "
     "sender on the same host; poll: they look without sleeping, which takes a CPU for each thread",
     .implied = "adaptive"},
    {"truncate", BOOL, "false", 0, 0, NULL, STREAMS, NULL,
     "true: receivers have the kernel copy no more than each datagram's header (MSG_TRUNC), which "
     "takes less CPU time than in a program that reads its data; not with gro",
     .implied = "false"},
    {"send", CHOICE, "send", 0, 0, "send|zerocopy", "stream|generator", NULL,
     "zerocopy: the kernel takes data where they lie (MSG_ZEROCOPY), as many devices can; those of "
     "64 sends in turn, each of which waits until the last one there is done; not with batch",
     .implied = "send"},
    {"blocking", BOOL, "true", 0, 0, NULL, SENDERS, "tcptest -n: false",
     "false: non-blocking test sockets on both ends, waited for with poll",
     .implied = "true"},
    {"tos", INT, "0", 0, 255, NULL, NULL, "udptest -q",
     "TOS or traffic class byte (DSCP * 4) of the test's packets, on both ends"},
    {"data_port", INT, "0", 0, 65535, NULL, NULL, "udptest -p, for its generator",
     "the server's port for test data, the first of as many as there are threads, 0: the system "
     "picks; generator: the target's port, 0: 5678"},
    ROUND_TRIP_PARAMETERS,
    PLACE_PARAMETERS(SERVED),
    {"warmup", TIME, "0", 0, 86400, NULL, NULL, NULL,
     "length of one replication done first and reported as number 0; 0: none"},
    OMIT_PARAMETER,
    SERIES_PARAMETER,
    {0},
};

static const struct metric metrics[] = {
    {"throughput", "bit/s", "higher", STREAMS,
     "network throughput, client to server: unique payload bits that reached the receiver without "
     "untimed_bytes, over the time from the first of them to the last one, which is taken for no "
     "less than that between their sends",
     "network Mbit/s", 1e6, 3, .headline = 1, .judged = true},
    {"local_throughput", "bit/s", "neither", SENDERS,
     "payload bits the client handed to its kernel, over the client's time: the rate achieved",
     "local Mbit/s", 1e6, 3, .headline = 4},
    {"sent_packets", "", "neither", SENDERS,
     "datagrams the client sent, those that gso cut apart counted each", "sent", 1, 0,
     .kind = KIND_COUNT},
    {"sent_bytes", "B", "neither", SENDERS, "payload bytes of those", NULL, 1, 0},
    {"received_packets", "", "neither", STREAMS,
     "different datagrams the server received; those that came together with gro counted each",
     "received", 1, 0, .kind = KIND_COUNT},
    {"received_bytes", "B", "neither", STREAMS, "payload bytes of those", NULL, 1, 0},
    {"untimed_bytes", "B", "neither", STREAMS,
     "of received_bytes, what had come when the receiver had taken all that lay there for the "
     "first time: the first datagram, and more where it got its CPU late; and what came after it "
     "had done so last, where it took that late; the first datagram (with gro or omit: call) alone "
     "where that would be more than half", NULL, 1, 0},
    {"lost_packets", "", "lower", SERVED,
     "streams: sent less received, the last ones included; latency: round trips without an answer "
     "within 1 s, which count as longer than any in percentiles: one that falls among them is "
     "left out; all else is of those that came back",
     "lost", 1, 0, .kind = KIND_COUNT},
    {"loss_rate", "", "lower", SERVED,
     "streams: lost datagrams / sent datagrams; latency: round trips without an answer / all of "
     "them; 0 to 1",
     "loss %", 0.01, 4, .kind = KIND_SHARE, .headline = 10, .judged = true},
    {"duplicate_packets", "", "lower", STREAMS, "datagrams received again; never set off against "
     "losses; not measured with datagrams below 4 bytes", "dup", 1, 0, .kind = KIND_COUNT},
    {"reordered_packets", "", "lower", STREAMS,
     "datagrams that came after one sent later; they are not lost; not measured below 4 bytes",
     "reorder", 1, 0, .kind = KIND_COUNT},
    {"receiver_drops", "", "lower", STREAMS,
     "datagrams the receiving kernel dropped at the socket, its buffer being full; part of "
     "lost_packets; with gro the kernel counts what it holds together as one, so it is left out "
     "where datagrams were dropped but those that arrived were held together unevenly",
     "drops", 1, 0, .kind = KIND_COUNT},
    {"sender_retries", "", "lower", SENDERS,
     "sends that the sending kernel refused for want of memory (ENOBUFS) and that were repeated; "
     "what a full queue of the sending interface drops it does not refuse: that is in lost_packets",
     NULL, 1, 0, .kind = KIND_COUNT},
    {"send_gap_p50", "s", "neither", SENDERS,
     "median time from one of a thread's sends to its next, with rate or wait", "gap p50 us", 1e-6,
     2},
    {"send_gap_p99", "s", "lower", SENDERS,
     "99th percentile of the time from one of a thread's sends to its next, with rate or wait",
     "gap p99 us", 1e-6, 2},
    {"reverse_throughput", "bit/s", "higher", "bidirectional",
     "network throughput, server to client, likewise", "reverse Mbit/s", 1e6, 3,
     .headline = 2, .judged = true},
    {"reverse_local_throughput", "bit/s", "neither", "bidirectional",
     "payload bits the server handed to its kernel, over its sending time", NULL, 1e6, 3},
    {"reverse_sent_packets", "", "neither", "bidirectional", "datagrams the server sent",
     "rev sent", 1, 0, .kind = KIND_COUNT},
    {"reverse_sent_bytes", "B", "neither", "bidirectional", "payload bytes of those", NULL, 1, 0},
    {"reverse_received_packets", "", "neither", "bidirectional",
     "different datagrams the client received", "rev received", 1, 0, .kind = KIND_COUNT},
    {"reverse_received_bytes", "B", "neither", "bidirectional", "payload bytes of those", NULL, 1,
     0},
    {"reverse_untimed_bytes", "B", "neither", "bidirectional",
     "as untimed_bytes, of what the client received", NULL, 1, 0},
    {"reverse_lost_packets", "", "lower", "bidirectional",
     "datagrams the server sent less those the client received", "rev lost", 1, 0,
     .kind = KIND_COUNT},
    {"reverse_loss_rate", "", "lower", "bidirectional",
     "datagrams of the server that were lost / those it sent, 0 to 1", "rev loss %", 0.01, 4,
     .kind = KIND_SHARE, .headline = 11, .judged = true},
    {"reverse_duplicate_packets", "", "lower", "bidirectional",
     "as duplicate_packets, of the client", NULL, 1, 0, .kind = KIND_COUNT},
    {"reverse_reordered_packets", "", "lower", "bidirectional",
     "as reordered_packets, of the client", NULL, 1, 0, .kind = KIND_COUNT},
    {"reverse_receiver_drops", "", "lower", "bidirectional", "as receiver_drops, of the client",
     NULL, 1, 0, .kind = KIND_COUNT},
    {"reverse_sender_retries", "", "lower", "bidirectional", "as sender_retries, of the server",
     NULL, 1, 0, .kind = KIND_COUNT},
    {"total_throughput", "bit/s", "higher", "bidirectional",
     "throughput and reverse_throughput together, as udptest -i printed network throughput",
     "total Mbit/s", 1e6, 3, .headline = 3, .judged = true},
    {"total_local_throughput", "bit/s", "neither", "bidirectional",
     "local_throughput and reverse_local_throughput together, as udptest -i printed local "
     "throughput",
     NULL, 1e6, 3},
    {"jitter", "s", "lower", "stream",
     "interarrival jitter at the trace's end (RFC 3550, section 6.4.1)", "jitter us", 1e-6, 3},
    {"interarrival_p50", "s", "neither", "stream",
     "trace: median time from one arrival to the next, within 0.1 %", "arrive p50 us", 1e-6, 3},
    {"interarrival_p99", "s", "lower", "stream", "trace: 99th percentile of it, within 0.1 %", NULL,
     1e-6, 3},
    {"relative_delay_p50", "s", "lower", "stream",
     "trace: median one-way delay above the smallest one, within 0.1 %; the clocks need not agree, "
     "and clock_skew is removed where it is more than twice its error and at most 0.0005",
     NULL, 1e-6, 3},
    {"relative_delay_p99", "s", "lower", "stream",
     "trace: 99th percentile of it, within 0.1 %", NULL, 1e-6, 3},
    {"clock_skew", "", "neither", "stream",
     "trace: by how much the receiver's clock is faster than the sender's, 1e-6 being 1 us a "
     "second: the slope of the line just below the one-way delays", NULL, 1e-6, 3,
     .kind = KIND_RATIO},
    {"clock_skew_error", "", "lower", "stream",
     "trace: standard error of clock_skew: half of what the trace's halves differ by", NULL, 1e-6,
     3, .kind = KIND_RATIO},
    {"loss_runs", "", "lower", "stream",
     "trace: stretches of numbers that never arrived", "loss runs", 1, 0, .kind = KIND_COUNT},
    {"longest_loss_run", "", "lower", "stream", "trace: numbers in the longest of them", "longest",
     1, 0, .kind = KIND_COUNT},
    {"sequence_throughput", "bit/s", "higher", "stream",
     "trace: payload bits from the first arrival to the last one before the first loss or "
     "reordering, by their numbers, over their times: UDPmon's bandwidth",
     "seq Mbit/s", 1e6, 3},
    {"sequence_last", "", "neither", "stream", "trace: the number of that last arrival", NULL, 1,
     0, .kind = KIND_LABEL},
    OMITTED_METRICS,
    {"omitted_sent_packets", "", "neither", "stream",
     "with omit: datagrams the client sent before those of sent_packets", NULL, 1, 0,
     .kind = KIND_COUNT},
    {"omitted_lost_packets", "", "neither", "stream", "with omit: of those, what never arrived",
     NULL, 1, 0, .kind = KIND_COUNT},
    {"zerocopy_copied", "", "lower", "stream|generator",
     "share of the MSG_ZEROCOPY sends whose data the kernel copied all the same", NULL, 1, 0,
     .kind = KIND_SHARE},
    {"round_trips", "", "neither", "latency", "datagrams that came back", "trips", 1, 0,
     .kind = KIND_COUNT},
    ROUND_TRIP_METRICS,
    LATE_METRIC,
    SIDE_METRICS(SERVED),
    {"client_polling_time", "s", "lower", SENDERS,
     "of the client's CPU time, what it spent waiting: spinning until a send is due (rate, wait), "
     "looking for datagrams in vain (receive)",
     NULL, 1, 3},
    {"server_polling_time", "s", "lower", STREAMS, "likewise, of the server's CPU time", NULL, 1,
     3},
    {0},
};

const struct udp_mode *udp_mode_of(const struct launch *launch)
{
    static const struct udp_mode *const modes[] = {&udp_stream, &udp_bidirectional, &udp_latency,
                                                   &udp_generator};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (is_mode(launch, modes[i]->name))
            return modes[i];
    fail(BAD_PARAMETER, "mode %s has no row in the engine's table", mode_of(launch));
}

static void client_open(struct client *client, struct fields *settings, struct fields *server)
{
    (void)server;
    const struct udp_mode *mode = udp_mode_of(client->launch);
    if (mode->client_streams)
        check_sending(client->launch);
    check_trace(client->launch);
    mode->open(client, settings);
}

/* Datagrams too small for the replication's token are distinguished by their ports. */
static void client_ready(struct client *client)
{
    const struct udp_mode *mode = udp_mode_of(client->launch);
    if (mode->client_streams && mode->serve &&
        size_of(client->launch, "datagram") < PACKET_HEADER)
        renew_udp_client(client);
}

static void client_measure(struct client *client, const struct trial *trial, struct fields *end,
                           struct result *result)
{
    udp_mode_of(client->launch)->measure(client, trial, end, result);
}

static void client_finish(struct client *client, const struct fields *reply,
                          struct result *result)
{
    const struct udp_mode *mode = udp_mode_of(client->launch);
    if (mode->finish)
        mode->finish(client, reply, result);
}

static void client_fetch(struct client *client, const struct trial *trial,
                         const struct fields *reply, struct result *result)
{
    const struct udp_mode *mode = udp_mode_of(client->launch);
    if (mode->fetch)
        mode->fetch(client, trial, reply, result);
}

static void session_open(struct session *session, struct fields *settings)
{
    if (udp_mode_of(&session->launch)->client_streams)
        check_sending(&session->launch);
    open_udp_session(session, settings);
}

static void session_ready(struct session *session, const struct trial *trial)
{
    ready_udp_session(session, trial);
    udp_mode_of(&session->launch)->prepare(session, trial);
}

static void session_measure(struct session *session, const struct trial *trial,
                            struct fields *reply)
{
    udp_mode_of(&session->launch)->serve(session, trial, reply);
}

static const struct network network = {
    .client_open = client_open,
    .client_ready = client_ready,
    .client_measure = client_measure,
    .client_finish = client_finish,
    .client_fetch = client_fetch,
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
    .summary = "UDP streams with loss, traces, round-trip latency, and a load generator",
    .parameters = parameters,
    .metrics = metrics,
    .port = 5678,
    .optional = OMITTED_NAMES "|omitted_sent_packets|omitted_lost_packets|late_sends|"
                "duplicate_packets|reordered_packets|receiver_drops|"
                "reverse_duplicate_packets|reverse_reordered_packets|reverse_receiver_drops|"
                "send_gap_p50|send_gap_p99|jitter|interarrival_p50|interarrival_p99|"
                "zerocopy_copied|relative_delay_p50|relative_delay_p99|clock_skew|clock_skew_error|loss_runs|"
                "longest_loss_run|"
                "sequence_throughput|sequence_last|rtt_p50|rtt_p90|rtt_p99|rtt_p999|rtt_p9999",
    .solo = "generator",
    .required = (const struct requirement[]){{"generator", "rate"}, {"generator", "duration"}, {0}},
    .series = (const struct series[]){{"exponential", "stream", "datagram", 1}, {0}},
    .client = client,
    .server = server,
};

int main(int argc, char **argv)
{
    return engine_main(&udp, argc, argv);
}
