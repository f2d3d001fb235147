/* What an engine asks of a watcher, and whom --watch names: the first byte chooses. A request that is
 * accepted says nothing else than what was read from it. */
#include "attempt.h"
#include "mark.h"
#include "marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t digits_at(const char *text)
{
    return strspn(text, "0123456789");
}

static void check_request(const char *text, size_t length)
{
    struct mark mark;
    char words[MARK_LIMIT + 1];
    if (!marks_parse(text, length, &mark))
        return;
    must(length <= MARK_LIMIT && mark.launch <= INT64_MAX && mark.replication <= INT32_MAX);
    snprintf(words, sizeof words, "%.*s", (int)length, text);
    const char *launch = strchr(words, ' ') + 1, *replication = strchr(launch, ' ') + 1;
    must(strncmp(words, mark.label, strlen(mark.label)) == 0);
    must(strcmp(mark.label, MARK_BEGIN) == 0 || strcmp(mark.label, MARK_END) == 0);
    must(digits_at(launch) + 1 == (size_t)(replication - launch));
    must(digits_at(replication) == strlen(replication));
    must(strtoull(launch, NULL, 10) == mark.launch);
    must(strtoull(replication, NULL, 10) == mark.replication);
}

static void check_names(const char *watch)
{
    char problem[MESSAGE_LIMIT] = "";
    int hosts = 0, commas = 0;
    if (!mark_check(watch, &hosts, problem)) {
        must(*problem && strlen(problem) < sizeof problem);
        return;
    }
    for (const char *c = watch; *c; c++)
        commas += *c == ',';
    must(hosts == commas + 1);
    const char *launch = strchr(watch, ':') + 1;
    must(*launch && digits_at(launch) == strlen(launch));
    must(strtoull(launch, NULL, 10) <= INT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = malloc(size);
    must(text != NULL);
    memcpy(text, data + 1, size - 1);
    if (*data % 2 == 0) { /* of just these bytes, so that a step too far is seen */
        char *exact = realloc(text, size > 1 ? size - 1 : 1);
        check_request(exact, size - 1);
        free(exact);
        return 0;
    }
    text[size - 1] = '\0';
    check_names(text);
    free(text);
    return 0;
}
