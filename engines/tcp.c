/* rail-tcp: TCP throughput, round-trip latency and connection rate. Its modes are in tcp/. */
#include "tcp/tcp.h"

#include "tcp/connections.h"
#include "tcp/flow.h"
#include "tcp/source.h"

#include "lib/control.h"
#include "lib/engine.h"
#include "lib/failure.h"
#include "lib/omit.h"
#include "lib/parameters.h"
#include "lib/place.h"
#include "lib/round_trips.h"
#include "lib/sides.h"
#include "lib/sockopts.h"
#include "lib/tracing.h"

#include <unistd.h>

#define FLOWS "stream|bidirectional" /* the modes that send as fast as they can, or at a rate */

static const struct parameter parameters[] = {
    {"mode", CHOICE, "stream", 0, 0, "stream|bidirectional|exponential|latency|connect", NULL,
     "tcptest -a, -i: latency; -e: exponential",
     "stream: the client sends as fast as it can; latency: one message back and forth; "
     "connect: connections made and closed by the server, with nothing in them; "
     "bidirectional: both send at once on each connection; exponential: a stream for each message "
     "size 1, 2, 4 ... up to the one given"},
    {"ip", CHOICE, "any", 0, 0, "any|4|6", NULL, NULL, "IP version; any: what the name gives"},
    {"duration", TIME, "5", 0.01, 86400, NULL, NULL, "tcptest -t", "length of a replication"},
    {"count", INT, "0", 0, 1e12, NULL, NULL, "tcptest -I",
     "messages (stream, bidirectional), round trips (latency) or connections (connect) to do "
     "instead of duration; 0: by duration"},
    {"message", SIZE, "65536", 1, 1 << 30, NULL, FLOWS "|latency",
     "tcptest -m, -A; zcc's file size",
     "size of each message; for latency something small, such as 64"},
    {"write", SIZE, "0", 0, 1 << 30, NULL, FLOWS "|latency", "tcptest -d; zcc -b",
     "bytes given to each sending call; 0: the whole message or file; files that are read first: "
     "128 KiB; with rate no more than it gives a connection in 1 ms, but up to 1460"},
    {"read", SIZE, "0", 0, 1 << 30, NULL, FLOWS "|latency", "tcptest -d",
     "bytes asked of each receiving call; 0: the whole message, but 128 KiB to 1 MiB if it is not "
     "for latency"},
    {"sockbuf", SIZE, "0", 0, 1 << 29, NULL, NULL, "tcptest -b, -B; zcc -i, -o",
     "socket buffers asked of the kernel (SO_SNDBUF and SO_RCVBUF), on both ends, which turns its "
     "autotuning off; 0: leave it on; Linux grants twice what is asked, and Hpcbench asked for "
     "half of its -b"},
    {"server_sockbuf", SIZE, "0", 0, 1 << 29, NULL, NULL, "tcptest -B",
     "the server's socket buffers, where they differ; 0: as sockbuf"},
    BUFFER_PARAMETERS(NULL),
    {"rate", RATE, "0", 0, 1e12, NULL, FLOWS, NULL,
     "payload bits a second that the client, or each of the two, hands to its kernel by an "
     "absolute schedule, over all threads together: a call is due when what was sent before has "
     "had its time. What was missed is caught up with at no more than twice the rate; 0: as fast "
     "as it can",
     .implied = "0"},
    {"tos", INT, "0", 0, 255, NULL, NULL, "tcptest -q",
     "TOS or traffic class byte (DSCP * 4) of the test's packets, on both ends"},
    {"nodelay", BOOL, "true", 0, 0, NULL, NULL, "tcptest -N",
     "send small segments at once (TCP_NODELAY), on both ends"},
    {"congestion", TEXT, "cubic", 0, 0, NULL, NULL, NULL,
     "congestion control, by the kernel's name, on both ends; system: the kernel's default"},
    {"mss", INT, "0", 0, 32767, NULL, NULL, "tcptest -M",
     "largest segment (TCP_MAXSEG), in bytes, on both ends; 0: the kernel's"},
    {"data_port", INT, "0", 0, 65535, NULL, NULL, NULL,
     "the server's port for test data; 0: the system picks"},
    ROUND_TRIP_PARAMETERS,
    {"trace", INT, "0", 0, TRACE_LIMIT, NULL, "latency", NULL,
     "round trips to record, the first so many: each with its number and when it was due and over; "
     "one thread; a warm-up has none; 0: none",
     .implied = "0"},
    {"blocking", BOOL, "true", 0, 0, NULL, FLOWS "|latency", "tcptest -n: false",
     "false: non-blocking data connections on both ends, waited for with poll"},
    {"send", CHOICE, "send", 0, 0, "send|write|sendfile|zerocopy|splice", FLOWS,
     "tcptest -f: sendfile; zcc: sendfile; -S: send; -S -w: write",
     "how data is sent: sendfile and splice send files; zerocopy is send with MSG_ZEROCOPY; files "
     "are read first for send and write, and mapped for zerocopy"},
    {"source", CHOICE, "memory", 0, 0, "memory|file", FLOWS, "zcc: file",
     "what is sent: the same memory again and again, or files, each of which is a message"},
    {"file", TEXT, "", 0, 0, NULL, FLOWS, "zcc's files",
     "a file on the client's host, or a folder whose regular files are sent in the order of their "
     "names, over and over (zcc -n: count, loops times files); implies source file; empty: files "
     "are made in memory, as the server's always are"},
    {"files", INT, "1", 1, 4096, NULL, FLOWS, "zcc's files",
     "files made in memory, each of the message's size"},
    {"receive", CHOICE, "recv", 0, 0, "recv|read|truncate|splice", FLOWS, NULL,
     "how data is received: truncate has the kernel drop it uncopied (MSG_TRUNC), splice moves it "
     "to /dev/null through a pipe"},
    {"rcvlowat", SIZE, "1", 1, 1 << 29, NULL, FLOWS, NULL,
     "bytes that have to be there before a receiver is woken up (SO_RCVLOWAT), at most half of what "
     "its receive buffer may grow to: half of read, say, saves a fast receiver a third of its CPU "
     "time; on a long path it can hold the window back",
     .implied = "1"},
    {"cork", BOOL, "false", 0, 0, NULL, FLOWS, "tcptest -C; zcc -k",
     "hold each message or file back until it is whole or fills segments (TCP_CORK set before it, "
     "cleared after)"},
    PLACE_PARAMETERS(NULL),
    {"threads", INT, "1", 1, MAX_THREADS, NULL, NULL, NULL,
     "connections side by side, each with a thread of its own on both ends; bidirectional: "
     "with two"},
    {"scaling", CHOICE, "weak", 0, 0, "strong|weak", NULL, NULL,
     "with count: strong shares it among the threads as evenly as whole numbers allow, weak has "
     "each thread do as many"},
    {"warmup", TIME, "0", 0, 86400, NULL, NULL, NULL,
     "length of one replication done first and reported as number 0, with connections of its own; "
     "0: none"},
    OMIT_PARAMETER,
    SERIES_PARAMETER,
    {0},
};

static const struct metric metrics[] = {
    {"throughput", "bit/s", "higher", FLOWS,
     "payload bits that reached the server after its first read, so without untimed_bytes, over its "
     "time from that to its last read, of all connections together; with omit, where it finds as "
     "much again as it reads, from the read before, the last omitted one",
     "Mbit/s", 1e6, 3, .headline = 1, .judged = true},
    {"reverse_throughput", "bit/s", "higher", "bidirectional",
     "as throughput, from server to client",
     "reverse Mbit/s", 1e6, 3, .headline = 2, .judged = true},
    {"total_throughput", "bit/s", "higher", "bidirectional",
     "throughput and reverse_throughput together",
     "total Mbit/s", 1e6, 3, .headline = 3, .judged = true},
    {"local_throughput", "bit/s", "neither", FLOWS,
     "payload bits the client handed to its kernel, over its time: with rate, the rate achieved",
     "local Mbit/s", 1e6, 3, .headline = 4},
    {"reverse_local_throughput", "bit/s", "neither", "bidirectional",
     "payload bits the server handed to its kernel, over its sending time", NULL, 1e6, 3},
    {"total_local_throughput", "bit/s", "neither", "bidirectional",
     "local_throughput and reverse_local_throughput together", NULL, 1e6, 3},
    {"sent_bytes", "B", "neither", FLOWS, "payload bytes the client sent", "sent bytes", 1, 0},
    {"received_bytes", "B", "neither", FLOWS, "payload bytes the server received", NULL, 1, 0},
    {"untimed_bytes", "B", "neither", FLOWS,
     "of received_bytes, what had come when the server's first read ended: the bytes of that and, "
     "without omit, those that lay there then, as where it got its CPU late; of other connections, "
     "which it looked at later, no more than had come of the first; 0 where time begins with the "
     "last omitted read", NULL, 1, 0},
    {"sent_messages", "", "neither", FLOWS,
     "whole messages (files) the client sent; when the time is up, one may be cut short",
     "messages", 1, 0, .kind = KIND_COUNT},
    {"reverse_sent_bytes", "B", "neither", "bidirectional", "payload bytes the server sent",
     "reverse bytes", 1, 0},
    {"reverse_received_bytes", "B", "neither", "bidirectional",
     "payload bytes the client received", NULL, 1, 0},
    {"reverse_untimed_bytes", "B", "neither", "bidirectional",
     "as untimed_bytes, of what the client received", NULL, 1, 0},
    {"reverse_sent_messages", "", "neither", "bidirectional", "whole messages the server sent",
     NULL, 1, 0, .kind = KIND_COUNT},
    {"retransmits", "", "lower", FLOWS, "segments the client sent again (TCP_INFO)", "retrans", 1,
     0, .kind = KIND_COUNT},
    {"reverse_retransmits", "", "lower", "bidirectional", "segments the server sent again",
     "reverse retrans", 1, 0, .kind = KIND_COUNT},
    {"sent_segments", "", "neither", FLOWS,
     "data segments the client's TCP sent, those sent again included, and one a connection that "
     "opened it (TCP_INFO)",
     NULL, 1, 0, .kind = KIND_COUNT},
    {"rtt", "s", "lower", FLOWS,
     "round trip as the client's TCP smoothed it out (TCP_INFO), mean of looks every 20 ms or so "
     "and one when it was given the last byte, mean over the connections",
     NULL, 1, 0},
    {"rtt_variance", "s", "lower", FLOWS,
     "its smoothed mean deviation at that last look, the kernel's rttvar (RFC 6298), mean over "
     "the connections",
     NULL, 1, 0},
    {"min_rtt", "s", "lower", FLOWS,
     "smallest round trip that the client's TCP measured on any connection (TCP_INFO)", NULL, 1,
     0},
    {"congestion_window", "B", "neither", FLOWS,
     "the client's congestion window then, segments times their size (TCP_INFO), summed over "
     "the connections",
     NULL, 1, 0},
    {"delivery_rate", "bit/s", "higher", FLOWS,
     "the client's TCP's own estimate of what arrives, then (TCP_INFO), summed over the "
     "connections",
     NULL, 1, 0},
    {"window", "B", "neither", FLOWS,
     "what could be under way: the smaller of the largest window that the server was seen to "
     "offer (TCP_INFO, looks as for rtt) and the send buffer that the client was granted, with the "
     "64 KiB by which Linux lets a last packet exceed it; summed over the connections",
     NULL, 1, 0},
    {"window_bound", "bit/s", "neither", FLOWS,
     "what these windows let through: window over rtt, a connection, summed up; the link's rate "
     "if that is known and lower",
     "bound Mbit/s", 1e6, 3},
    {"window_ceiling", "bit/s", "neither", FLOWS,
     "no more can get through: likewise, with the largest window that the server's kernel may "
     "ever offer (TCP_WINDOW_CLAMP) and the smallest round trip",
     NULL, 1, 0},
    {"window_limited", "", "neither", FLOWS,
     "share of the time with data under way in which the client had to wait for room in the "
     "server's window (TCP_INFO): where it is near 1, window_bound is what limits throughput",
     NULL, 1, 0, .kind = KIND_SHARE},
    OMITTED_METRICS,
    {"omitted_retransmits", "", "neither", "stream",
     "with omit: segments the client sent again before those of retransmits", NULL, 1, 0,
     .kind = KIND_COUNT},
    {"omitted_sent_segments", "", "neither", "stream",
     "with omit: segments the client's TCP sent before those of sent_segments", NULL, 1, 0,
     .kind = KIND_COUNT},
    {"zerocopy_copied", "", "lower", FLOWS,
     "share of the MSG_ZEROCOPY calls whose data the kernel copied all the same", NULL, 1, 0,
     .kind = KIND_SHARE},
    {"round_trips", "", "neither", "latency", "messages that came back", "trips", 1, 0,
     .kind = KIND_COUNT},
    ROUND_TRIP_METRICS,
    LATE_METRIC,
    {"connections", "", "neither", "connect",
     "connections that the client made and the server, which counted as many, closed", "conns", 1,
     0, .kind = KIND_COUNT},
    {"connection_rate", "1/s", "higher", "connect",
     "connections that the client made over its time, in all threads together", "conns/s", 1, 1,
     .headline = 18, .judged = true},
    TIME_METRICS("connect", "connect", "connect call",
                 "from before the call until it has returned", 19, 20, false),
    SIDE_METRICS(NULL),
    {0},
};

const struct tcp_mode *tcp_mode_of(const struct launch *launch)
{
    static const struct tcp_mode *const modes[] = {&tcp_stream, &tcp_bidirectional, &tcp_latency,
                                                   &tcp_connect};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (is_mode(launch, modes[i]->name))
            return modes[i];
    fail(BAD_PARAMETER, "mode %s has no row in the engine's table", mode_of(launch));
}

/* What only a connection shows, the segment size for one, is read from one that carries nothing.
 * It is also the proof that the test port can be reached. */
static void client_open(struct client *client, struct fields *settings, struct fields *server)
{
    struct trial probe = {0};
    struct fields empty, reply;
    check_trace_asked(client->launch);
    fields_clear(&empty);
    open_source(client->launch, true);
    check_rate(client->launch);
    start_trial(client, &probe, &reply);
    int fd = connect_data(client, &probe, 0);
    add_granted(fd, client->launch, false, settings);
    add_source(settings);
    close(fd);
    control_request(client->control, END, &empty, RESULT, &reply, ANSWER_SECONDS);
    *server = reply;
}

static void client_measure(struct client *client, const struct trial *trial, struct fields *end,
                           struct result *result)
{
    connect_all(client, trial, connections_of(client->launch));
    tcp_mode_of(client->launch)->measure(client, trial, end, result);
}

static void client_finish(struct client *client, const struct fields *reply,
                          struct result *result)
{
    tcp_mode_of(client->launch)->finish(client, reply, result);
    close_all(client->fds);
}

static void client_fetch(struct client *client, const struct trial *trial,
                         const struct fields *reply, struct result *result)
{
    if (tcp_mode_of(client->launch)->fetch)
        tcp_mode_of(client->launch)->fetch(client, trial, reply, result);
}

static void session_open(struct session *session, struct fields *settings)
{
    session->fds[0] = listen_for_data(session, settings);
}

static void session_ready(struct session *session, const struct trial *trial)
{
    tcp_mode_of(&session->launch)->prepare(session, trial);
}

static void session_measure(struct session *session, const struct trial *trial,
                            struct fields *reply)
{
    int fds[MAX_THREADS];
    accept_all(session, trial, fds, is_probe(trial) ? 1 : connections_of(&session->launch));
    if (is_probe(trial))
        add_granted(fds[0], &session->launch, true, reply);
    else
        tcp_mode_of(&session->launch)->serve(session, trial, fds, reply);
    if (!session->ended)
        control_receive(session->control, END, &session->end, ANSWER_SECONDS);
    close_all(fds);
}

static const struct network network = {
    .client_open = client_open,
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

static const struct engine tcp = {
    .name = "tcp",
    .summary = "TCP throughput one way and both ways, round-trip latency, connection rate",
    .parameters = parameters,
    .metrics = metrics,
    .port = 5677,
    .takes_link_rate = true,
    .optional = OMITTED_NAMES "|omitted_retransmits|omitted_sent_segments|late_sends|"
                "min_rtt|delivery_rate|sent_segments|window|window_bound|"
                "window_ceiling|window_limited|zerocopy_copied",
    .series = (const struct series[]){{"exponential", "stream", "message", 1}, {0}},
    .client = client,
    .server = server,
};

int main(int argc, char **argv)
{
    return engine_main(&tcp, argc, argv);
}
