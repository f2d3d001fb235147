/* rail-watch: what this host's kernel counts. It reads the kernel's files each interval, and
 * whenever an engine says that a replication begins or ends. */
#include "watch/by_hand.h"
#include "watch/command.h"
#include "watch/events.h"
#include "watch/input.h"
#include "watch/options.h"

#include "../lib/clock.h"
#include "../lib/open_files.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LAST_WORDS 5.0 /* seconds that a slow reader has at the end */

static struct options options;
static struct table table;
static struct sources sources;
static struct output output;
static struct marks marks = {.listening = -1};
static struct input input;
static uint64_t began;

static void emit_failure(enum failure failure, const char *message)
{
    if (!options.json || output.broken) {
        fprintf(stderr, "rail-watch: %s (%s)\n", message, failure_code(failure));
        return;
    }
    emit_error(&output, failure, message);
    output_finish(&output, LAST_WORDS);
}

/* A descriptor for the signals that end this; before: those that were blocked. */
static int take_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (options.command)
        sigaddset(&set, SIGCHLD);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, before);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd < 0)
        fail(SYSTEM_ERROR, "cannot make a signalfd: %s", strerror(errno));
    return fd;
}

static double since(uint64_t moment)
{
    return ns_seconds(now_ns() - moment);
}

static void take_sample(void)
{
    static double last;
    double at = since(began);
    sources_read(&sources, true);
    if (options.json) {
        emit_sample(&output, &table, at);
        return;
    }
    print_line(&table, at, at - last);
    if (fflush(stdout) != 0)
        fail(SYSTEM_ERROR, "nobody reads what rail-watch says: %s", strerror(errno));
    table_settle(&table);
    last = at;
}

/* The engine waits for the answer, so the line comes after it. */
static void take_mark(const struct mark *mark)
{
    double at = since(began);
    sources_read(&sources, false);
    marks_answer(&marks, mark);
    emit_mark(&output, &table, at, mark);
}

static void take_moment(const char *label)
{
    double at = since(began);
    sources_read(&sources, false);
    emit_moment(&output, &table, at, label);
}

enum { SIGNALS, INPUT, OUTPUT, MARKS };

/* Waits until something happens or that moment comes; false if it is time to end. */
static bool wait_until(uint64_t moment, int signals)
{
    struct pollfd poll_set[MARKS + MARK_CLIENTS + 1] = {
        [SIGNALS] = {.fd = signals, .events = POLLIN},
        [INPUT] = {.fd = input.watched ? STDIN_FILENO : -1, .events = POLLIN},
        [OUTPUT] = {.fd = output_waiting(&output) ? STDOUT_FILENO : -1, .events = POLLOUT},
    };
    int connections = *options.marks ? marks_poll_set(&marks, poll_set + MARKS) : 0;
    uint64_t now = now_ns(), left = moment > now ? moment - now : 0;
    struct timespec patience = {.tv_sec = (time_t)(left / NANOSECONDS),
                                .tv_nsec = (long)(left % NANOSECONDS)};
    if (ppoll(poll_set, MARKS + (nfds_t)connections, &patience, NULL) <= 0)
        return true;
    struct mark mark;
    while (*options.marks && marks_next(&marks, poll_set + MARKS, connections, &mark))
        take_mark(&mark);
    if (poll_set[OUTPUT].revents)
        output_give(&output);
    if (poll_set[INPUT].revents) {
        input_take(&input);
        for (char label[LABEL_LIMIT]; input_next(&input, label);)
            take_moment(label);
    }
    return !poll_set[SIGNALS].revents && !input.ended;
}

/* Samples on a schedule that doesn't drift; one that is missed is not made up for. */
static void serve(int signals)
{
    uint64_t interval = seconds_ns(options.interval);
    uint64_t deadline = began + seconds_ns(options.deadline), due = began;
    if (!options.json) {
        table_settle(&table);
        due += interval;
    }
    for (;;) {
        uint64_t now = now_ns();
        if (now >= deadline)
            return;
        if (now >= due) {
            take_sample();
            due += ((now_ns() - due) / interval + 1) * interval;
        }
        if (!wait_until(due < deadline ? due : deadline, signals))
            return;
    }
}

int main(int argc, char **argv)
{
    struct inherited before;
    output_open(&output, STDOUT_FILENO);
    failures_go_to(emit_failure);
    options_parse(&options, argc, argv);
    int signals = take_signals(&before.blocked);
    /* A host of many CPUs has thousands of files, each of which stays open. */
    if (!allow_many_files(&before.files))
        fail(SYSTEM_ERROR, "cannot ask how many files may be open: %s", strerror(errno));
    if (options.json)
        input_open(&input);
    if (*options.marks)
        marks_open(&marks, options.marks);
    sources_open(&sources, &table, options.root);
    int status = 0;
    if (options.command) {
        status = watch_command(&sources, options.command, signals, &before, options.deadline);
    } else {
        began = now_ns();
        if (options.json)
            emit_ready(&output, &sources, options.interval, utc_now());
        serve(signals);
    }
    if (*options.marks)
        marks_close(&marks);
    if (options.json) {
        emit_done(&output);
        if (!output_finish(&output, LAST_WORDS))
            status = 1;
    }
    sources_close(&sources);
    table_free(&table);
    output_close(&output);
    return status;
}
