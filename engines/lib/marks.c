#include "marks.h"

#include "failure.h"
#include "mark.h"
#include "mark_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG 64

void marks_open(struct marks *marks, const char *name)
{
    struct mark_address address;
    marks->turns = 0;
    for (int i = 0; i < MARK_CLIENTS; i++)
        marks->clients[i] = -1;
    if (!mark_address(name, strlen(name), &address))
        fail(BAD_PARAMETER, "'%.80s' can be no name for marks: " MARK_NAME_RULE, name);
    marks->listening = mark_socket();
    if (marks->listening < 0)
        fail(SYSTEM_ERROR, "cannot open a socket for marks: %s", strerror(errno));
    if (bind(marks->listening, (const struct sockaddr *)&address.un, address.length) != 0)
        fail(errno == EADDRINUSE ? NAME_IN_USE : SYSTEM_ERROR,
             "cannot listen for marks on the name %s: %s", name, strerror(errno));
    if (listen(marks->listening, BACKLOG) != 0)
        fail(SYSTEM_ERROR, "cannot listen for marks: %s", strerror(errno));
}

int marks_poll_set(const struct marks *marks, struct pollfd *set)
{
    int count = 0;
    set[count++] = (struct pollfd){.fd = marks->listening, .events = POLLIN};
    for (int i = 0; i < MARK_CLIENTS; i++)
        if (marks->clients[i] >= 0)
            set[count++] = (struct pollfd){.fd = marks->clients[i], .events = POLLIN};
    return count;
}

static void dismiss(struct marks *marks, int client)
{
    close(marks->clients[client]);
    marks->clients[client] = -1;
}

/* A free place, or else that of who has been silent for longest. */
static int make_place(struct marks *marks)
{
    int place = 0;
    for (int i = 0; i < MARK_CLIENTS; i++) {
        if (marks->clients[i] < 0)
            return i;
        if (marks->last_used[i] < marks->last_used[place])
            place = i;
    }
    dismiss(marks, place);
    return place;
}

static void admit(struct marks *marks)
{
    int fd = accept4(marks->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) { /* none after all, or no descriptor left, which must not become a busy loop */
        if (errno == EMFILE || errno == ENFILE)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        return;
    }
    if (!mark_trusts(fd)) {
        close(fd);
        return;
    }
    int place = make_place(marks);
    marks->clients[place] = fd;
    marks->last_used[place] = ++marks->turns;
}

/* A number from 0 to limit in decimal that begins at *at, which is then behind it. */
static bool take_number(const char **at, const char *end, uint64_t limit, uint64_t *number)
{
    const char *begin = *at;
    *number = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (*number > (limit - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return *at > begin;
}

static bool take_word(const char **at, const char *end, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(end - *at) < length || memcmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

bool marks_parse(const char *text, size_t length, struct mark *mark)
{
    const char *at = text, *end = text + length;
    if (take_word(&at, end, MARK_BEGIN))
        strcpy(mark->label, MARK_BEGIN);
    else if (take_word(&at, end, MARK_END))
        strcpy(mark->label, MARK_END);
    else
        return false;
    return take_word(&at, end, " ") && take_number(&at, end, INT64_MAX, &mark->launch) &&
           take_word(&at, end, " ") && take_number(&at, end, INT32_MAX, &mark->replication) &&
           at == end && length <= MARK_LIMIT;
}

/* Reads what that client says, if it has said anything; whoever says anything else than a request
 * is sent off. */
static bool receive_mark(struct marks *marks, int client, struct mark *mark)
{
    char request[MARK_LIMIT + 1];
    ssize_t length = recv(marks->clients[client], request, sizeof request, 0);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (length <= 0 || !marks_parse(request, (size_t)length, mark)) {
        dismiss(marks, client);
        return false;
    }
    mark->client = client;
    marks->last_used[client] = ++marks->turns;
    return true;
}

static int client_with(const struct marks *marks, int fd)
{
    for (int i = 0; i < MARK_CLIENTS; i++)
        if (marks->clients[i] == fd)
            return i;
    return -1;
}

bool marks_next(struct marks *marks, struct pollfd *set, int count, struct mark *mark)
{
    /* The listening socket comes first in a set and is looked at last: whoever is admitted may take
     * a place, but not the words of who has spoken. */
    for (int i = count - 1; i >= 0; i--) {
        if (set[i].revents == 0)
            continue;
        set[i].revents = 0;
        int client = client_with(marks, set[i].fd);
        if (set[i].fd == marks->listening)
            admit(marks);
        else if (client >= 0 && receive_mark(marks, client, mark))
            return true;
    }
    return false;
}

void marks_answer(struct marks *marks, const struct mark *mark)
{
    int fd = marks->clients[mark->client];
    if (fd >= 0 && send(fd, MARK_ANSWER, strlen(MARK_ANSWER), MSG_NOSIGNAL) < 0)
        dismiss(marks, mark->client);
}

void marks_close(struct marks *marks)
{
    for (int i = 0; i < MARK_CLIENTS; i++)
        if (marks->clients[i] >= 0)
            dismiss(marks, i);
    close(marks->listening);
    marks->listening = -1;
}
