#include "devices.h"
#include "file.h"
#include "parsers.h"

#include <net/if.h>
#include <stdio.h>

struct search {
    struct values *values;
    char folder[PATH_LIMIT];
    unsigned others; /* interfaces that aren't this network namespace's */
    unsigned ours;
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
        search->ours++;
    else
        search->others++;
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
    return search->others == 0 && search->ours == count;
}

static void add_interface(const char *name, void *context)
{
    static const char *const files[] = {
        "rx_missed_errors", "rx_crc_errors", "rx_length_errors", "rx_over_errors",
        "rx_nohandler", "tx_aborted_errors", "tx_heartbeat_errors", "tx_window_errors",
    };
    const struct search *search = context;
    char path[PATH_LIMIT + 400];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%.255s/statistics/%s", search->folder, name, files[i]);
        feed_group(&search->values->feed, "interface/", text_of_word(name));
        values_add(search->values, path, files[i], COUNTER, 1);
    }
}

void find_net_statistics(struct values *values, const char *root)
{
    struct search search = {.values = values};
    snprintf(search.folder, sizeof search.folder, "%s/sys/class/net", root);
    if (*root || is_ours(&search))
        each_name(search.folder, add_interface, &search);
}
