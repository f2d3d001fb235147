#include "launches.h"

#include "arguments.h"
#include "guard.h"
#include "mark.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEWLINE "$n"
#define LARGE 65536 /* bytes: what is larger goes back to the kernel when it's freed */

/* Words of a line, which they stand in. */
struct words {
    char **list; /* ends with NULL */
    int count, room;
};

static void add_word(struct words *words, char *word)
{
    if (words->count + 1 >= words->room) {
        words->room = words->room ? 2 * words->room : 64;
        words->list = realloc(words->list, (size_t)words->room * sizeof *words->list);
        if (words->list == NULL)
            fail(OUT_OF_MEMORY, "no memory for a launch of %d words", words->count);
    }
    words->list[words->count++] = word;
    words->list[words->count] = NULL;
}

/* Copies what stands in quotes from *from on to its end, without them; returns where that ends. */
static char *unquote(char **from, char *to)
{
    char quote = *(*from)++;
    for (; **from != quote; ++*from) {
        if (**from == '\0')
            fail(BAD_PARAMETER, "a launch has a quote that isn't closed");
        if (quote == '"' && strncmp(*from, NEWLINE, strlen(NEWLINE)) == 0) {
            *to++ = '\n';
            *from += strlen(NEWLINE) - 1;
        } else {
            *to++ = **from;
        }
    }
    ++*from;
    return to;
}

/* A word never gets longer by that, so it's written over what was read. */
static void split(char *line, struct words *words)
{
    words->count = 0;
    for (char *from = line; *(from += strspn(from, " "));) {
        char *to = from;
        add_word(words, to);
        while (*from && *from != ' ') {
            if (*from == '\'' || *from == '"')
                to = unquote(&from, to);
            else
                *to++ = *from++;
        }
        from += *from == ' ';
        *to = '\0';
    }
}

static void run_inside(const struct engine *engine, const struct words *words)
{
    static struct launch launch;
    parse_arguments(engine, words->count, words->list, &launch);
    if (launch.server)
        fail(BAD_PARAMETER, "a server is started in a process of its own");
    guard_next(&launch);
    mark_anew();
    engine->client(&launch);
    guard_next(NULL);
}

/* A status as a shell would say it. */
static int status_of(pid_t process)
{
    int status;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void run_apart(const struct engine *engine, const struct words *words)
{
    pid_t parent = getpid(), process = fork();
    if (process < 0)
        fail(SYSTEM_ERROR, "cannot start a process: %s", strerror(errno));
    if (process == 0) {
        /* Its guard watches the input of both meanwhile. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        exit(getppid() == parent ? engine_main(engine, words->count, words->list) : 1);
    }
    int status = status_of(process);
    if (status != 0)
        exit(status);
}

static int launches(const struct engine *engine, const char *mark,
                    void (*run)(const struct engine *, const struct words *))
{
    struct words words = {0};
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    unsetenv("RAILGAUGE_SECRET");
    /* A line whose end never came is the beginning of another command. */
    while ((length = getline(&line, &room, stdin)) > 0 && line[length - 1] == '\n') {
        line[length - 1] = '\0';
        fprintf(stderr, "%s\n", mark);
        if (strlen(line) + 1 != (size_t)length)
            fail(BAD_PARAMETER, "a launch has a zero byte");
        split(line, &words);
        run(engine, &words);
        /* A child's greatest memory is at least its parent's: the next has no part in this line. */
        free(line);
        line = NULL;
        free(words.list);
        words = (struct words){0};
        if (puts(mark) < 0 || fflush(stdout) != 0)
            return 1;
    }
    free(line);
    return 0;
}

int launches_inside(const struct engine *engine, const char *mark)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
    guard_launches();
    return launches(engine, mark, run_inside);
}

int launches_apart(const struct engine *engine, const char *mark)
{
    setvbuf(stdin, NULL, _IONBF, 0); /* no byte more than the line is taken from the launch */
    return launches(engine, mark, run_apart);
}
