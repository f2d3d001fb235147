#include "launches.h"

#include "../../lib/arguments.h"
#include "../../lib/guard.h"
#include "../../lib/mark.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void run(const struct engine *engine, const struct words *words)
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

int launches(const struct engine *engine, const char *mark)
{
    struct words words = {0};
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    unsetenv("RAILGAUGE_SECRET");
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
    guard_launches();
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
