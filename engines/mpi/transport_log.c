#include "transport_log.h"

#include <string.h>

void add_to_list(char *list, size_t size, const char *name)
{
    size_t length = strlen(name), used = strlen(list);
    for (const char *at = list; length && *at;) {
        size_t step = strcspn(at, ",");
        if (step == length && memcmp(at, name, length) == 0)
            return;
        at += step + (at[step] == ',');
    }
    if (length && used + length + 2 <= size)
        snprintf(list + used, size - used, "%s%s", used ? "," : "", name);
}

/* "[[18630,1],3]": the rank in it, -1 if there is none. */
static int rank_in(const char *text)
{
    int rank;
    const char *name = text ? strstr(text, "[[") : NULL;
    const char *end = name ? strchr(name, ']') : NULL;
    return end && sscanf(end, "],%d]", &rank) == 1 ? rank : -1;
}

static void take_line(struct transport_log *log, const char *line, int own)
{
    char name[64];
    const char *at;
    if ((at = strstr(line, "select: component ")) != NULL &&
        sscanf(at, "select: component %63[a-z0-9_] selected", name) == 1 &&
        strstr(at, " selected") != NULL)
        snprintf(log->pml, sizeof log->pml, "%s", name);
    else if ((at = strstr(line, "mca: bml: Using ")) != NULL &&
             sscanf(at, "mca: bml: Using %63s btl for send to", name) == 1 && rank_in(at) != own)
        add_to_list(log->btls, sizeof log->btls, name);
}

void transport_log_read(struct transport_log *log, FILE *text, int rank)
{
    char line[1024];
    while (fgets(line, sizeof line, text))
        take_line(log, line, rank);
}
