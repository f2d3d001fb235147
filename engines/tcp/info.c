/* A sender can have no more under way than the receiver offers to take and than its own socket
 * buffer holds, and each byte's place is free again after a round trip. So a connection carries
 * window / round trip.
 *
 * The bound takes the largest window that the receiver offered and the mean of the round trips:
 * what a connection does if nothing but its window holds it up. What is offered is less than what
 * the kernel granted: whole segments, or no more than the handshake's window scale can express.
 *
 * The ceiling is never exceeded: it takes the largest window that the receiver may ever offer (its
 * window clamp, at the end of the replication, when autotuning has done all it did) and the
 * smallest round trip that the kernel measured on that connection, its handshake's included.
 *
 * Of the send buffer both take all there can ever be in it: while any of it is free, Linux lets one
 * more packet in, which before segmentation has up to 64 KiB. The buffer's own count includes the
 * kernel's overhead, so that the payload in it is a little less. */
#include "info.h"

#include "../lib/failure.h"
#include "../lib/sockopts.h"

#include <errno.h>
#include <linux/tcp.h>
#include <math.h>
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

enum { ESTABLISHED = 1, CLOSE_WAIT = 8 }; /* tcpi_state; <netinet/tcp.h> clashes with ours */

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

static double offered_by(const struct answer *a)
{
    return has(a, tcpi_snd_wnd) ? (double)a->info.tcpi_snd_wnd : 0;
}

/* most: what the peer may offer. False if the kernel does not report enough. */
static bool add_bound(struct path *path, const struct answer *a, int fd,
                      const struct tcp_state *state, double most)
{
    double buffer = get_option(fd, SOL_SOCKET, SO_SNDBUF) + LAST_PACKET;
    double window = fmin(state->offered, buffer);
    if (window <= 0 || state->rtt <= 0 || a->info.tcpi_min_rtt == 0 ||
        a->info.tcpi_min_rtt == UINT32_MAX)
        return false;
    most = fmin(fmax(most, fmax(state->offered, offered_by(a))), buffer);
    path->window += window;
    path->bound += window * 8 / state->rtt;
    path->ceiling += most * 8 / (a->info.tcpi_min_rtt * MICROSECOND);
    return true;
}

/* The kernel counts them in 32 bits. before: as they stood less than 2^32 ago. */
static uint64_t segments_of(const struct answer *a, uint64_t before)
{
    return has(a, tcpi_data_segs_out) ? before + (a->info.tcpi_data_segs_out - (uint32_t)before)
                                      : 0;
}

struct tcp_state read_tcp_state(int fd, const struct samples *samples)
{
    struct answer a = ask(fd);
    return (struct tcp_state){
        .rtt = a.info.tcpi_rtt * MICROSECOND,
        .rtt_variance = a.info.tcpi_rttvar * MICROSECOND,
        .congestion_window = (double)a.info.tcpi_snd_cwnd * a.info.tcpi_snd_mss,
        .delivery_rate = has(&a, tcpi_delivery_rate) ? (double)a.info.tcpi_delivery_rate * 8 : 0,
        .offered = offered_by(&a),
        .retransmits = a.info.tcpi_total_retrans,
        .segments = segments_of(&a, samples->segments),
        .busy = has(&a, tcpi_busy_time) ? (double)a.info.tcpi_busy_time * MICROSECOND : 0,
        .window_limited =
            has(&a, tcpi_rwnd_limited) ? (double)a.info.tcpi_rwnd_limited * MICROSECOND : 0,
    };
}

void sample_connection(int fd, bool counts, struct samples *samples)
{
    struct answer a = ask(fd);
    samples->segments = segments_of(&a, samples->segments);
    if (!counts)
        return;
    if (a.info.tcpi_state != ESTABLISHED && a.info.tcpi_state != CLOSE_WAIT)
        return;
    samples->count++;
    samples->rtt += a.info.tcpi_rtt * MICROSECOND;
    samples->offered = fmax(samples->offered, offered_by(&a));
}

void merge_samples(struct tcp_state *state, const struct samples *own,
                   const struct samples *sampler)
{
    state->rtt = (state->rtt + own->rtt + sampler->rtt) / (double)(own->count + sampler->count + 1);
    state->offered = fmax(state->offered, fmax(own->offered, sampler->offered));
}

static void add_state(struct tcp_state *sum, const struct tcp_state *state, size_t count)
{
    sum->rtt += state->rtt / (double)count;
    sum->rtt_variance += state->rtt_variance / (double)count;
    sum->congestion_window += state->congestion_window;
    sum->delivery_rate += state->delivery_rate;
    sum->busy += state->busy;
    sum->window_limited += state->window_limited;
}

struct path read_path(const int fds[], const struct tcp_state states[], const uint64_t windows[],
                      size_t count)
{
    struct path path = {0};
    bool bound = windows != NULL;
    for (size_t i = 0; i < count; i++) {
        struct answer a = ask(fds[i]);
        add_state(&path.state, &states[i], count);
        path.retransmits += a.info.tcpi_total_retrans;
        path.segments += segments_of(&a, states[i].segments);
        double min_rtt = a.info.tcpi_min_rtt * MICROSECOND;
        if (has(&a, tcpi_min_rtt) && a.info.tcpi_min_rtt != UINT32_MAX &&
            (i == 0 || min_rtt < path.min_rtt))
            path.min_rtt = min_rtt;
        bound = bound && add_bound(&path, &a, fds[i], &states[i], (double)windows[i]);
    }
    if (!bound)
        path.window = path.bound = path.ceiling = 0;
    return path;
}

void leave_out(struct path *path, const struct tcp_state *before)
{
    path->retransmits -= before->retransmits;
    path->segments -= before->segments;
    path->state.busy -= before->busy;
    path->state.window_limited -= before->window_limited;
}

static double at_most(double bound, double link_rate)
{
    return link_rate > 0 ? fmin(bound, link_rate) : bound;
}

void set_path(struct result *result, const struct path *path, double link_rate)
{
    const struct {
        const char *name;
        double value;
    } optional[] = {{"min_rtt", path->min_rtt},
                    {"delivery_rate", path->state.delivery_rate},
                    {"sent_segments", (double)path->segments},
                    {"window", path->window},
                    {"window_bound", at_most(path->bound, link_rate)},
                    {"window_ceiling", at_most(path->ceiling, link_rate)}};
    result_set(result, "retransmits", (double)path->retransmits);
    result_set(result, "rtt", path->state.rtt);
    result_set(result, "rtt_variance", path->state.rtt_variance);
    result_set(result, "congestion_window", path->state.congestion_window);
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (optional[i].value > 0)
            result_set(result, optional[i].name, optional[i].value);
    if (path->state.busy > 0)
        result_set(result, "window_limited", path->state.window_limited / path->state.busy);
}
