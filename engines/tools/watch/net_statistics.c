#include "devices.h"
#include "file.h"
#include "parsers.h"

#include <net/if.h>
#include <stdio.h>

struct search {
    struct values *values;
    const char *const *files; /* ends with NULL */
    char folder[PATH_LIMIT];
    unsigned foreign; /* interfaces that aren't this network namespace's */
    unsigned own;
};

/* Sysfs shows the interfaces of the network namespace that it was mounted in, which may not be
 * ours; an interface there is ours if name and number are. */
static void compare(const char *name, void *context)
{
    struct search *search = context;
    char path[PATH_LIMIT + 300], bytes[32];
    struct text text;
    uint64_t index;
    snprintf(path, sizeof path, "%s/%.255s/ifindex", search->folder, name);
    if (!file_peek(path, bytes, sizeof bytes, &text) || !take_number(&text, &index))
        return; /* bonding_masters is no interface */
    if (index == if_nametoindex(name))
        search->own++;
    else
        search->foreign++;
}

static bool is_ours(struct search *search)
{
    unsigned count = 0;
    struct if_nameindex *interfaces = if_nameindex();
    for (; interfaces && interfaces[count].if_index; count++)
        ;
    if (interfaces)
        if_freenameindex(interfaces);
    each_name(search->folder, compare, search);
    return search->foreign == 0 && search->own == count;
}

static void add_interface(const char *name, void *context)
{
    const struct search *search = context;
    char path[PATH_LIMIT + 400];
    for (const char *const *file = search->files; *file; file++) {
        snprintf(path, sizeof path, "%s/%.255s/statistics/%s", search->folder, name, *file);
        feed_group(&search->values->feed, "interface/", text_of_word(name));
        values_add(search->values, path, *file, COUNTER, 1);
    }
}

static void find(struct values *values, const char *root, const char *const *files)
{
    struct search search = {.values = values, .files = files};
    snprintf(search.folder, sizeof search.folder, "%s/sys/class/net", root);
    if (*root || is_ours(&search))
        each_name(search.folder, add_interface, &search);
}

void find_unhandled(struct values *values, const char *root)
{
    static const char *const files[] = {"rx_nohandler", NULL};
    find(values, root, files);
}

void find_net_errors(struct values *values, const char *root)
{
    static const char *const files[] = {
        "rx_missed_errors",  "rx_crc_errors",       "rx_length_errors", "rx_over_errors",
        "tx_aborted_errors", "tx_heartbeat_errors", "tx_window_errors", NULL,
    };
    find(values, root, files);
}
