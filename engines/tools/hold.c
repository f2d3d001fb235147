/* rail-hold: takes a machine for one run. It has the machine's lock while its standard input is
 * open, and names its holder to whoever else asks for it. */
#include "hold/lock.h"

#include "../lib/clock.h"
#include "../lib/failure.h"
#include "../lib/json.h"
#include "../lib/tool_options.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAITING_LIMIT 64    /* connections that may wait for our end; more wait for an answer */
#define AGAIN_MS 20         /* the lock was neither to be had nor to be asked */
#define AGAIN_OFTEN 250     /* times, after which it is in the hands of one who says nothing */
#define AGAIN_SELDOM_MS 1000

enum { JSON, LOCK, TEXT_SHOWN, TOKEN_STDIN, WAIT, SILENCE, DEADLINE_AFTER, OPTIONS };

/* clang-format off */
static const struct parameter table[] = {
    [JSON] = {.name = "json", .type = BOOL, .initial = "0",
              .help = "one JSON event a line instead of sentences"},
    [LOCK] = {.name = "lock", .type = TEXT, .initial = "railgauge-hold",
              .help = "the lock's name, " MARK_NAME_RULE " (default railgauge-hold)"},
    [TEXT_SHOWN] = {.name = "text", .type = TEXT, .initial = "",
                    .help = "the text that others see of who has the machine"},
    [TOKEN_STDIN] = {.name = "token_stdin", .type = BOOL, .initial = "0",
                     .help = "the first line of standard input is the run's token: with that of "
                             "the one who has the machine, the same user or root, it is had "
                             "together: two names of one machine in one run"},
    [WAIT] = {.name = "wait", .type = BOOL, .initial = "0",
              .help = "where another has the machine, take it as soon as that one lets go"},
    [SILENCE] = {.name = "silence", .type = TIME, .initial = "0", .min = 0, .max = 30 * 86400.0,
                 .help = "let go when no line came on standard input for so long; 0: never"},
    [DEADLINE_AFTER] = {.name = "deadline", .type = TIME, .initial = "2592000", .min = 0.1,
                        .max = 30 * 86400.0, .help = "let go after this time, with exit status 1"},
    [OPTIONS] = {.name = NULL},
};

static const struct tool tool = {
    .name = "rail-hold",
    .summary = "takes a machine for one run, while standard input is open",
    .usage = "  rail-hold [OPTION...]\n\nTimes: 10ms, 1.5s, 1h.\n",
    .options = table,
    .remarks = "A line on standard input takes the place of --text, an empty one is only a sign of "
               "life. By hand, Ctrl-C or Ctrl-D lets go.\n\n"
               "Exit status: 0 if it had the machine till the end of its input, 1 if another has "
               "it or something went wrong, 2 for a bad argument.\n",
};
/* clang-format on */

static struct value values[OPTIONS];
static bool json_asked;

static struct json begin(const char *event)
{
    struct json json = {.out = stdout};
    json_open(&json, '{');
    json_key(&json, "event");
    json_text(&json, event);
    return json;
}

static void end(struct json *json)
{
    json_close(json, '}');
    putchar('\n');
}

static void flush(void)
{
    if (fflush(stdout) != 0)
        exit(1); /* whom it is held for is gone */
}

static void emit_failure(enum failure failure, const char *message)
{
    if (!json_asked) {
        fprintf(stderr, "rail-hold: %s (%s)\n", message, failure_code(failure));
        return;
    }
    struct json json = begin("error");
    json_key(&json, "code");
    json_text(&json, failure_code(failure));
    json_key(&json, "message");
    json_text(&json, message);
    end(&json);
    fflush(stdout);
}

static void emit_held(void)
{
    if (json_asked) {
        struct json json = begin("held");
        end(&json);
    } else {
        printf("held: nobody else gets this machine until Ctrl-C\n");
    }
    flush();
}

/* For a terminal: what another process said must not steer it. */
static void print_plainly(const char *text)
{
    for (const char *c = text; *c; c++)
        putchar((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
}

static void add(struct json *json, const char *key, bool present, double number)
{
    json_key(json, key);
    if (present)
        json_number(json, number);
    else
        json_null(json);
}

static void emit_busy(const struct holder *holder)
{
    const struct passwd *account = holder->identified ? getpwuid(holder->user) : NULL;
    const char *user = account ? account->pw_name : "";
    if (!json_asked) {
        printf("busy: another process has this machine");
        if (holder->identified)
            printf(" (%ld of user %s, %lu)", (long)holder->process, user,
                   (unsigned long)holder->user);
        if (holder->seconds >= 0)
            printf(", for %.0f s", holder->seconds);
        printf("%s", *holder->text ? ": " : "");
        print_plainly(holder->text);
        putchar('\n');
        flush();
        return;
    }
    struct json json = begin("busy");
    json_key(&json, "user");
    json_text(&json, user);
    add(&json, "uid", holder->identified, (double)holder->user);
    add(&json, "pid", holder->process != 0, (double)holder->process);
    add(&json, "seconds", holder->seconds >= 0, holder->seconds);
    json_key(&json, "text");
    json_text(&json, holder->text);
    end(&json);
    flush();
}

static struct mark_address address;
static uint64_t deadline, last_contact, held_since;
static char token[TEXT_LIMIT];
static bool token_awaited;
static int lock = -1;   /* once it is ours */
static int holder = -1; /* a connection to whoever has it, which ends with that one */
static bool held_emitted; /* the machine is ours, or our run's by another name */
static int unanswered;  /* how many times in a row nobody was there to ask */

/* Takes the lock, or connects to its holder. Ends the process if it is not to wait. */
static void try_lock(void)
{
    struct holder owner;
    lock = lock_take(&address);
    if (lock >= 0) {
        held_since = now_ns();
        if (!held_emitted)
            emit_held();
        held_emitted = true;
        return;
    }
    holder = lock_visit(&address, &owner);
    if (holder < 0 && ++unanswered != AGAIN_OFTEN)
        return; /* it has just ended, or doesn't listen yet; or it never will */
    unanswered = holder < 0 ? unanswered : 0;
    if (*owner.token && strcmp(owner.token, token) == 0) {
        if (!held_emitted)
            emit_held();
        held_emitted = true;
        return;
    }
    emit_busy(&owner);
    /* Had with another one who has ended since, and somebody was quicker: that is lost. */
    if (held_emitted || values[WAIT].number == 0)
        exit(1);
}

static void take_lines(void)
{
    static char line[TEXT_LIMIT];
    static size_t length;
    char chunk[512];
    ssize_t received = read(STDIN_FILENO, chunk, sizeof chunk);
    if (received < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (received <= 0)
        exit(held_emitted ? 0 : 1);
    last_contact = now_ns();
    for (ssize_t i = 0; i < received; i++) {
        if (chunk[i] != '\n') {
            if (length < sizeof line - 1)
                line[length++] = chunk[i];
            continue;
        }
        line[length] = '\0';
        if (token_awaited)
            memcpy(token, line, length + 1);
        else if (length > 0)
            memcpy(values[TEXT_SHOWN].text, line, length + 1);
        token_awaited = false;
        length = 0;
    }
}

/* How long to sleep at most, in ms. */
static int patience(void)
{
    uint64_t now = now_ns(), silence = seconds_ns(values[SILENCE].number), until = deadline;
    if (now >= deadline)
        fail(DEADLINE, "let go: the deadline of %g s has passed", values[DEADLINE_AFTER].number);
    if (silence && now - last_contact >= silence)
        fail(NO_ANSWER, "let go: the controller has said nothing for %g s", values[SILENCE].number);
    if (silence && last_contact + silence < until)
        until = last_contact + silence;
    uint64_t left_ms = (until - now) / 1000000 + 1;
    uint64_t longest = lock >= 0 || holder >= 0 || token_awaited ? 3600000
                       : unanswered < AGAIN_OFTEN                    ? AGAIN_MS
                                                                     : AGAIN_SELDOM_MS;
    return (int)(left_ms < longest ? left_ms : longest);
}

static int waiting[WAITING_LIMIT];

/* A place for one more, GUESTS if there is none. */
static int free_place(void)
{
    int i = 0;
    while (i < WAITING_LIMIT && waiting[i] >= 0)
        i++;
    return i;
}

/* Has the machine, or waits for it, until standard input ends. */
static _Noreturn void hold_until_end(void)
{
    struct pollfd poll_set[WAITING_LIMIT + 2];
    for (int i = 0; i < WAITING_LIMIT; i++)
        waiting[i] = -1;
    for (;;) {
        if (lock < 0 && holder < 0 && !token_awaited)
            try_lock();
        poll_set[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        int place = free_place();
        poll_set[1] = (struct pollfd){.fd = lock < 0 ? holder : place < WAITING_LIMIT ? lock : -1,
                                      .events = POLLIN};
        for (int i = 0; i < WAITING_LIMIT; i++)
            poll_set[i + 2] = (struct pollfd){.fd = waiting[i]};
        if (poll(poll_set, WAITING_LIMIT + 2, patience()) <= 0)
            continue;
        if (poll_set[0].revents)
            take_lines();
        for (int i = 0; i < WAITING_LIMIT; i++) {
            if (poll_set[i + 2].revents) { /* it has hung up */
                close(waiting[i]);
                waiting[i] = -1;
            }
        }
        if (poll_set[1].revents && lock >= 0) {
            waiting[place] =
                lock_answer(lock, token, ns_seconds(now_ns() - held_since),
                            values[TEXT_SHOWN].text);
        } else if (poll_set[1].revents) { /* whoever had it has let go */
            close(holder);
            holder = -1;
        }
    }
}

int main(int argc, char **argv)
{
    failures_go_to(emit_failure);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0) /* so that a mistake is told as an event too */
            json_asked = true;
    tool_options(&tool, argc, argv, values);
    json_asked = values[JSON].number != 0;
    const char *name = values[LOCK].text;
    if (!mark_address(name, strlen(name), &address))
        fail(BAD_PARAMETER, "--lock takes " MARK_NAME_RULE ", not '%.64s'", name);
    token_awaited = values[TOKEN_STDIN].number != 0;
    signal(SIGPIPE, SIG_IGN);
    last_contact = now_ns();
    deadline = last_contact + seconds_ns(values[DEADLINE_AFTER].number);
    hold_until_end();
}
