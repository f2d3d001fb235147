#include "mark.h"

#include "clock.h"
#include "mark_socket.h"
#include "network.h"
#include "report.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A watcher that gets no CPU for seconds costs their waiting. Who waits for this end's answer, or
 * for what it sends, waits for this long and the rest. */
#define MARK_SECONDS (ANSWER_SECONDS / 2)
#define LAUNCH_DIGITS 18 /* what 64 bits hold in any case */

struct watcher {
    char name[MARK_NAME_LIMIT];
    int fd;
};

/* Of this process. One that fails is taken out: what hangs once would hang each time. */
static struct watcher watchers[MARK_WATCHERS];
static size_t count;
static bool chosen;
static char launch_number[LAUNCH_DIGITS + 1];

static bool rule_broken(char problem[MESSAGE_LIMIT])
{
    snprintf(problem, MESSAGE_LIMIT,
             "--watch is NAMES:LAUNCH, with one or two names of watchers and a '+' between them "
             "(" MARK_NAME_RULE "), such as rail-watch.1+rail-soak.1:7");
    return false;
}

/* The first of the names there and how many bytes it has; at goes behind it. */
static bool take_name(const char **at, const char **name, size_t *length)
{
    struct mark_address address;
    *name = *at;
    *length = strcspn(*at, "+,:");
    *at += *length;
    return mark_address(*name, *length, &address);
}

bool mark_check(const char *watch, int *hosts, char problem[MESSAGE_LIMIT])
{
    const char *at = watch, *name;
    size_t length;
    int names = 0;
    *hosts = 1;
    for (;; at++) {
        if (!take_name(&at, &name, &length) || ++names > MARK_WATCHERS)
            return rule_broken(problem);
        if (*at == ',') {
            names = 0;
            ++*hosts;
        } else if (*at != '+') {
            break;
        }
    }
    size_t digits = *at == ':' ? strspn(at + 1, "0123456789") : 0;
    if (digits == 0 || digits > LAUNCH_DIGITS || at[1 + digits] != '\0')
        return rule_broken(problem);
    return true;
}

/* The watchers of that host, of a list that mark_check found good. */
static void choose(const char *watch, int host)
{
    const char *at = watch, *name;
    size_t length;
    strcpy(launch_number, strchr(watch, ':') + 1);
    for (; host > 0; host--)
        at = strchr(at, ',') + 1;
    do {
        take_name(&at, &name, &length);
        memcpy(watchers[count].name, name, length);
        watchers[count++].fd = -1;
    } while (*at++ == '+');
}

/* Why a call failed, or NULL. */
static const char *connect_watcher(struct watcher *watcher)
{
    struct mark_address address;
    if (watcher->fd >= 0)
        return NULL;
    mark_address(watcher->name, strlen(watcher->name), &address);
    watcher->fd = mark_socket();
    if (watcher->fd < 0)
        return strerror(errno);
    if (!mark_connect(watcher->fd, &address))
        return errno == ECONNREFUSED ? "it isn't running"
               : errno == EAGAIN     ? "it takes nobody in"
                                     : strerror(errno);
    if (!mark_trusts(watcher->fd))
        return "it belongs to another user";
    return NULL;
}

static const char *ask(struct watcher *watcher, const char *request)
{
    const char *problem = connect_watcher(watcher);
    if (problem == NULL && send(watcher->fd, request, strlen(request), MSG_NOSIGNAL) < 0)
        problem = errno == EPIPE || errno == ECONNRESET ? "it has ended" : strerror(errno);
    return problem;
}

static const char *await_answer(const struct watcher *watcher, uint64_t limit)
{
    char answer[sizeof MARK_ANSWER];
    for (;;) {
        ssize_t length = recv(watcher->fd, answer, sizeof answer, 0);
        if (length == (ssize_t)strlen(MARK_ANSWER) &&
            memcmp(answer, MARK_ANSWER, (size_t)length) == 0)
            return NULL;
        if (length > 0)
            return "it gives an answer that isn't one";
        if (length == 0 || errno == ECONNRESET)
            return "it has ended";
        if (errno != EAGAIN && errno != EINTR)
            return strerror(errno);
        uint64_t now = now_ns();
        if (now >= limit)
            return "it doesn't answer";
        poll(&(struct pollfd){.fd = watcher->fd, .events = POLLIN}, 1,
             (int)((limit - now) / 1000000 + 1));
    }
}

static void take_out(size_t index)
{
    if (watchers[index].fd >= 0)
        close(watchers[index].fd);
    watchers[index] = watchers[--count];
}

bool mark_watchers(const struct launch *launch, int host, const char *label, long replication,
                   char problem[MESSAGE_LIMIT])
{
    const char *problems[MARK_WATCHERS];
    char request[MARK_LIMIT + 1];
    bool done = true;
    if (launch->watch == NULL)
        return true;
    if (!chosen)
        choose(launch->watch, host);
    chosen = true;
    snprintf(request, sizeof request, "%s %s %ld", label, launch_number, replication);
    /* All are asked before any is waited for: they read their counters at the same time. */
    uint64_t limit = now_ns() + seconds_ns(MARK_SECONDS);
    for (size_t i = 0; i < count; i++)
        problems[i] = ask(&watchers[i], request);
    for (size_t i = count; i-- > 0;) {
        const char *reason = problems[i] ? problems[i] : await_answer(&watchers[i], limit);
        if (reason == NULL)
            continue;
        snprintf(problem, MESSAGE_LIMIT,
                 "the watcher %s could not be notified that replication %ld %ss, and its log lacks "
                 "this launch's from there on: %s",
                 watchers[i].name, replication, label, reason);
        take_out(i);
        done = false;
    }
    return done;
}

void mark_anew(void)
{
    while (count > 0)
        take_out(0);
    chosen = false;
}

void mark_replication(const struct launch *launch, const char *label, long replication)
{
    char problem[MESSAGE_LIMIT];
    if (!mark_watchers(launch, 0, label, replication, problem))
        report_warning(MARK_WARNING, "client", problem);
}
