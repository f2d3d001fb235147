/* rail-wire: a wire between two network namespaces. Two devices, and a relay each way that adds a
 * delay, a rate, and losses, copies and another order by patterns, and counts what it did. */
#include "wire/drops.h"
#include "wire/options.h"
#include "wire/relay.h"

#include "../lib/clock.h"
#include "../lib/failure.h"
#include "../lib/json.h"
#include "../lib/units.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

static struct options options;

static void emit_failure(enum failure failure, const char *message)
{
    if (!options.json) {
        fprintf(stderr, "rail-wire: %s (%s)\n", message, failure_code(failure));
        return;
    }
    struct json json = {.out = stdout};
    json_open(&json, '{');
    json_key(&json, "event");
    json_text(&json, "error");
    json_key(&json, "code");
    json_text(&json, failure_code(failure));
    json_key(&json, "message");
    json_text(&json, message);
    json_close(&json, '}');
    putchar('\n');
    fflush(stdout);
}

static void end_line(void)
{
    putchar('\n');
    if (fflush(stdout) != 0)
        fail(SYSTEM_ERROR, "nobody reads what rail-wire says: %s", strerror(errno));
}

static void add_end(struct json *json, const char *key, const struct device *device)
{
    json_key(json, key);
    json_open(json, '{');
    json_key(json, "netns");
    json_text(json, device->netns);
    json_key(json, "device");
    json_text(json, device->name);
    json_close(json, '}');
}

static void add_number(struct json *json, const char *key, double number)
{
    json_key(json, key);
    json_number(json, number);
}

static void report_ready(void)
{
    if (!options.json) {
        char rate[64], delay[64];
        quantity_text(RATE, options.rate, rate, sizeof rate);
        quantity_text(TIME, options.delay, delay, sizeof delay);
        printf("%s/%s and %s/%s are joined: rate %s, delay %s each way, MTU %d, loss %s",
               options.left.netns, options.left.name, options.right.netns, options.right.name,
               options.rate > 0 ? rate : "unlimited", delay, options.mtu,
               *options.loss_text ? options.loss_text : "none");
        end_line();
        return;
    }
    struct json json = {.out = stdout};
    json_open(&json, '{');
    json_key(&json, "event");
    json_text(&json, "ready");
    json_key(&json, "version");
    json_text(&json, RAIL_VERSION);
    add_end(&json, "left", &options.left);
    add_end(&json, "right", &options.right);
    json_key(&json, "kind");
    json_text(&json, device_kind_name(options.kind));
    add_number(&json, "rate", options.rate);
    add_number(&json, "delay", options.delay);
    add_number(&json, "queue", (double)options.queue);
    add_number(&json, "mtu", options.mtu);
    json_key(&json, "loss");
    json_text(&json, options.loss_text);
    json_close(&json, '}');
    end_line();
}

struct named_count {
    const char *name;
    uint64_t value;
};

static void print_counts(const struct named_count *named, const char *direction,
                         const struct histogram *lateness)
{
    printf("%s:", direction);
    for (; named->name; named++)
        printf(" %s %llu", named->name, (unsigned long long)named->value);
    if (lateness->count)
        printf("; lateness p50 %.1f us, p99 %.1f us, max %.1f us",
               histogram_quantile(lateness, 0.5) / 1e3, histogram_quantile(lateness, 0.99) / 1e3,
               (double)lateness->highest / 1e3);
    end_line();
}

static void add_counts(struct json *json, const struct named_count *named, const char *direction,
                       const struct histogram *lateness)
{
    json_key(json, direction);
    json_open(json, '{');
    for (; named->name; named++)
        add_number(json, named->name, (double)named->value);
    if (lateness->count) {
        add_number(json, "lateness_p50", histogram_quantile(lateness, 0.5) / 1e9);
        add_number(json, "lateness_p99", histogram_quantile(lateness, 0.99) / 1e9);
        add_number(json, "lateness_max", (double)lateness->highest / 1e9);
    }
    json_close(json, '}');
}

static void report_counts(struct relay *const relays[2])
{
    static struct counts counts; /* large, and only this thread's */
    struct json json = {.out = stdout};
    if (options.json) {
        json_open(&json, '{');
        json_key(&json, "event");
        json_text(&json, "counts");
    }
    for (unsigned i = 0; i < 2; i++) {
        relay_counts(relays[i], &counts);
        const struct named_count named[] = {
            {"read", counts.read},
            {"passed", counts.passed},
            {"passed_bytes", counts.passed_bytes},
            {"lost", counts.lost},
            {"loss_runs", counts.loss_runs},
            {"duplicated", counts.duplicated},
            {"reordered", counts.reordered},
            {"overflowed", counts.overflowed},
            {"refused", counts.refused},
            {"queued", counts.queued},
            {"counted", counts.counted},
            {"late", counts.late},
            {"unread", counts.unread},
            {NULL, 0},
        };
        if (options.json)
            add_counts(&json, named, relay_direction(i), &counts.lateness);
        else
            print_counts(named, i ? "right to left" : "left to right", &counts.lateness);
    }
    if (options.json) {
        json_close(&json, '}');
        end_line();
    }
}

/* A descriptor for the signals that end this or ask for counts; all threads leave them to it. */
static int take_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd < 0)
        fail(SYSTEM_ERROR, "cannot make a signalfd: %s", strerror(errno));
    return fd;
}

static bool input_ended(void)
{
    char scrap[512];
    ssize_t received = read(STDIN_FILENO, scrap, sizeof scrap);
    return received == 0 || (received < 0 && errno != EINTR && errno != EAGAIN);
}

enum end { TOLD, TIME_UP, DEVICE_GONE };

/* Answers until something ends it. */
static enum end serve(struct relay *const relays[2], int signals, int ended)
{
    struct stat input;
    bool watched = fstat(STDIN_FILENO, &input) == 0 &&
                   (S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode));
    uint64_t deadline = now_ns() + seconds_ns(options.deadline);
    for (;;) {
        struct pollfd poll_set[] = {{.fd = signals, .events = POLLIN},
                                    {.fd = ended, .events = POLLIN},
                                    {.fd = watched ? STDIN_FILENO : -1, .events = POLLIN}};
        uint64_t now = now_ns();
        if (now >= deadline)
            return TIME_UP;
        /* An hour at most, since poll counts by another clock than ours. */
        uint64_t left_ms = (deadline - now) / 1000000 + 1;
        if (poll(poll_set, 3, left_ms < 3600000 ? (int)left_ms : 3600000) <= 0)
            continue;
        struct signalfd_siginfo signal_info;
        if (poll_set[0].revents && read(signals, &signal_info, sizeof signal_info) > 0) {
            if (signal_info.ssi_signo != SIGUSR1)
                return TOLD;
            report_counts(relays);
        }
        if (poll_set[1].revents)
            return DEVICE_GONE;
        if (poll_set[2].revents && input_ended())
            return TOLD;
    }
}

int main(int argc, char **argv)
{
    failures_go_to(emit_failure);
    options_parse(&options, argc, argv);
    int signals = take_signals();
    int ended = eventfd(0, EFD_CLOEXEC);
    if (ended < 0)
        fail(SYSTEM_ERROR, "cannot make an eventfd: %s", strerror(errno));
    if (options.drops)
        drops_open(options.drops);
    if (options.kind == TAP_OR_PACKET)
        options.kind = device_kind_here();
    int place = options.kind == PACKET ? device_relay_namespace() : -1;
    device_open(&options.left, options.kind, place, options.mtu);
    device_open(&options.right, options.kind, place, options.mtu);
    struct relay *relays[2] = {
        relay_start(&options, 0, &options.left, &options.right, ended),
        relay_start(&options, 1, &options.right, &options.left, ended),
    };
    report_ready();
    enum end end = serve(relays, signals, ended);
    relay_stop(relays[0]);
    relay_stop(relays[1]);
    report_counts(relays);
    relay_free(relays[0]);
    relay_free(relays[1]);
    device_close(&options.left);
    device_close(&options.right);
    if (end == TIME_UP)
        fail(DEADLINE, "the deadline of %g s passed", options.deadline);
    if (end == DEVICE_GONE)
        fail(SYSTEM_ERROR, "a device of the wire was taken away");
    return 0;
}
