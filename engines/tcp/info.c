/* The bound: a sender can have no more under way than the receiver offers to take and than its own
 * socket buffer holds, and each byte's place is free again after a round trip at the earliest. So
 * no connection carries more than window / round trip. To be a bound in truth, it takes the
 * largest window that the receiver may offer (its window clamp, at the end of the replication,
 * when autotuning has done all it did); the smallest round trip that the kernel measured on that
 * connection, its handshake's included; and a send buffer as large as it can get: while any of it
 * is free, Linux lets one more packet in, which before segmentation has up to 64 KiB. */
#include "info.h"

#include "../lib/failure.h"
#include "../lib/sockopts.h"

#include <errno.h>
#include <linux/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WINDOW_LIMIT 1e10
#define LAST_PACKET 65536
#define MICROSECOND 1e-6

/* An older kernel's answer is shorter: has() says what is in it. */
struct answer {
    struct tcp_info info;
    socklen_t length;
};

#define has(answer, member)                                                                       \
    ((answer)->length >= offsetof(struct tcp_info, member) + sizeof (answer)->info.member)

static struct answer ask(int fd)
{
    struct answer answer = {.length = sizeof answer.info};
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &answer.info, &answer.length) != 0)
        fail(SYSTEM_ERROR, "cannot read TCP_INFO: %s", strerror(errno));
    return answer;
}

void add_windows(struct fields *fields, const int fds[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[NAME_LIMIT];
        snprintf(name, sizeof name, "window%zu", i);
        fields_add_number(fields, name, get_option(fds[i], IPPROTO_TCP, TCP_WINDOW_CLAMP));
    }
}

void take_windows(const struct fields *fields, uint64_t windows[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[NAME_LIMIT];
        snprintf(name, sizeof name, "window%zu", i);
        windows[i] = fields_count(fields, name, WINDOW_LIMIT);
    }
}

/* False if the kernel does not tell enough. */
static bool add_bound(struct path *path, const struct answer *a, int fd, uint64_t offered)
{
    double buffer = get_option(fd, SOL_SOCKET, SO_SNDBUF) + LAST_PACKET;
    if (!has(a, tcpi_snd_wnd) || a->info.tcpi_min_rtt == 0 || a->info.tcpi_min_rtt == UINT32_MAX)
        return false;
    if (offered < a->info.tcpi_snd_wnd)
        offered = a->info.tcpi_snd_wnd;
    double window = (double)offered < buffer ? (double)offered : buffer;
    path->window += window;
    path->window_bound += window * 8 / (a->info.tcpi_min_rtt * MICROSECOND);
    return window > 0;
}

struct mood read_mood(int fd)
{
    struct answer a = ask(fd);
    return (struct mood){
        .rtt = a.info.tcpi_rtt * MICROSECOND,
        .rtt_variance = a.info.tcpi_rttvar * MICROSECOND,
        .congestion_window = (double)a.info.tcpi_snd_cwnd * a.info.tcpi_snd_mss,
        .delivery_rate = has(&a, tcpi_delivery_rate) ? (double)a.info.tcpi_delivery_rate * 8 : 0,
    };
}

static void add_mood(struct mood *sum, const struct mood *mood, size_t count)
{
    sum->rtt += mood->rtt / (double)count;
    sum->rtt_variance += mood->rtt_variance / (double)count;
    sum->congestion_window += mood->congestion_window;
    sum->delivery_rate += mood->delivery_rate;
}

struct path read_path(const int fds[], const struct mood moods[], const uint64_t windows[],
                      size_t count)
{
    struct path path = {0};
    bool bound = windows != NULL;
    for (size_t i = 0; i < count; i++) {
        struct answer a = ask(fds[i]);
        add_mood(&path.mood, &moods[i], count);
        path.retransmits += a.info.tcpi_total_retrans;
        if (has(&a, tcpi_data_segs_out))
            path.segments += a.info.tcpi_data_segs_out;
        double min_rtt = a.info.tcpi_min_rtt * MICROSECOND;
        if (has(&a, tcpi_min_rtt) && a.info.tcpi_min_rtt != UINT32_MAX &&
            (i == 0 || min_rtt < path.min_rtt))
            path.min_rtt = min_rtt;
        bound = bound && add_bound(&path, &a, fds[i], windows[i]);
    }
    if (!bound)
        path.window = path.window_bound = 0;
    return path;
}

void set_path(struct result *result, const struct path *path, double link_rate)
{
    const struct {
        const char *name;
        double value;
    } told[] = {{"min_rtt", path->min_rtt},
                {"delivery_rate", path->mood.delivery_rate},
                {"sent_segments", (double)path->segments},
                {"window", path->window},
                {"window_bound", link_rate > 0 && link_rate < path->window_bound
                                     ? link_rate
                                     : path->window_bound}};
    result_set(result, "retransmits", (double)path->retransmits);
    result_set(result, "rtt", path->mood.rtt);
    result_set(result, "rtt_variance", path->mood.rtt_variance);
    result_set(result, "congestion_window", path->mood.congestion_window);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (told[i].value > 0)
            result_set(result, told[i].name, told[i].value);
}
