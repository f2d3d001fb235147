#include "targets.h"

#include "failure.h"

#include <stdio.h>
#include <string.h>

#define ENTRY_LIMIT 256

/* Takes the first name or address of a list with commas; false at its end. */
static bool next_entry(const char **list, char entry[ENTRY_LIMIT])
{
    if (**list == '\0')
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(entry, ENTRY_LIMIT, "%.*s", (int)(length < ENTRY_LIMIT ? length : ENTRY_LIMIT), *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

/* True if the list has the host as it was written or, which takes looking up names, its address. */
static bool listed(const char *list, const char *host, const struct address *address)
{
    const char *ip = address->any.sa_family == AF_INET6 ? "6" : "4", *rest = list;
    char entry[ENTRY_LIMIT];
    struct address allowed;
    while (next_entry(&rest, entry))
        if (strcmp(entry, host) == 0)
            return true;
    for (rest = list; next_entry(&rest, entry);)
        if (*entry && look_up(entry, ip, &allowed) && same_host(&allowed, address))
            return true;
    return false;
}

void must_be_ours(const struct launch *launch, const struct address *address)
{
    char text[ADDRESS_LIMIT];
    const char *allowed_hosts = launch->plan_hosts;
    if (launch->own_network || (allowed_hosts && listed(allowed_hosts, launch->host, address)))
        return;
    address_text(address, text);
    fail(TARGET_REFUSED,
         "%s is %s: the generator sends there whether anybody listens or not; if the network is "
         "yours to load, say --i-own-this-network",
         text, allowed_hosts ? "none of the plan's hosts" : "not known to be yours");
}
