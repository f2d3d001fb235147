#include "serve.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"
#include "../../lib/guard.h"
#include "../../lib/mark.h"
#include "../../lib/parameters.h"
#include "../../lib/report.h"
#include "command.h"
#include "ports.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACEHOLDER "{port}"
#define START_SECONDS 25
#define GLANCE_NS 5000000 /* between two looks whether it is ready */

static const struct launch *serving;

/* Once, whoever comes first: the server ends, or it is ended. */
static void mark_end(void)
{
    static atomic_flag marked = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&marked))
        mark_replication(serving, MARK_END, 1);
}

static void end_server(void)
{
    command_end_for_good();
    mark_end();
}

/* The argument with the port in place of each placeholder, or itself. */
static char *with_port(char *argument, const char *port)
{
    size_t count = 0;
    for (const char *at = argument; (at = strstr(at, PLACEHOLDER)); at += strlen(PLACEHOLDER))
        count++;
    if (count == 0)
        return argument;
    char *filled = malloc(strlen(argument) + count * strlen(port) + 1), *to = filled;
    if (filled == NULL)
        fail(OUT_OF_MEMORY, "no memory for the command");
    for (const char *from = argument;;) {
        const char *next = strstr(from, PLACEHOLDER);
        size_t length = next ? (size_t)(next - from) : strlen(from);
        memcpy(to, from, length);
        to += length;
        if (next == NULL)
            break;
        to = stpcpy(to, port);
        from = next + strlen(PLACEHOLDER);
    }
    *to = '\0';
    return filled;
}

static bool has_written(const struct capture *capture, const char *text)
{
    return memmem(capture->output, capture->length, text, strlen(text)) ||
           memmem(capture->errors, capture->errors_length, text, strlen(text));
}

/* Waits until it is; fails where it ends before, or takes too long. */
static void await_ready(const struct command *command, struct capture *capture, const char *ready,
                        int port)
{
    uint64_t limit = now_ns() + seconds_ns(START_SECONDS);
    for (;;) {
        siginfo_t end = {.si_pid = 0};
        capture_collect(capture, -1, now_ns() + GLANCE_NS);
        if (*ready ? has_written(capture, ready) : port_taken(port, command->child))
            return;
        if (waitid(P_PID, (id_t)command->child, &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            end.si_pid != 0) {
            struct rusage used;
            uint64_t now;
            int status = command_reap(command, &used, &now);
            capture_finish(capture, command->process);
            command_check(status, capture, "server");
            int length;
            const char *words = capture_words(capture, &length);
            fail(COMMAND_FAILED, "the server ended before it was ready%s%.*s", length ? ": " : "",
                 length, words);
        }
        if (now_ns() >= limit) {
            command_kill();
            fail(NO_ANSWER, "the server was not ready within %d s: %s", START_SECONDS,
                 *ready ? "it didn't write what it should" : "it has not taken its port");
        }
        if (capture->out < 0 && capture->err < 0) /* then nothing was waited for */
            nanosleep(&(struct timespec){.tv_nsec = GLANCE_NS}, NULL);
    }
}

int serve(const struct launch *launch)
{
    struct capture capture;
    struct rusage used;
    uint64_t end;
    char text[8];
    int port = launch->port ? launch->port : port_choose();
    serving = launch;
    capture_prepare(&capture);
    command_guard(text_of(launch, "environment"));
    guard_cleanup(end_server);
    if (port_taken(port, 0))
        fail(PORT_IN_USE, "port %d is in use: end what has it, or choose another", port);
    snprintf(text, sizeof text, "%d", port);
    for (char **argument = launch->command; *argument; argument++)
        *argument = with_port(*argument, text);
    mark_replication(launch, MARK_BEGIN, 1);
    struct command command = command_start(launch->command, NULL, &capture);
    await_ready(&command, &capture, text_of(launch, "ready"), port);
    report_listening(port);
    capture_collect(&capture, command.process, UINT64_MAX);
    int status = command_reap(&command, &used, &end);
    mark_end();
    capture_finish(&capture, command.process);
    command_check(status, &capture, "server");
    /* One that serves once has ended well, and its client may still be at work. */
    for (;;)
        pause();
}
