#include "targets.h"

#include "failure.h"

#include <stdio.h>
#include <string.h>

/* True if the list, commas between names and addresses, has the address. */
static bool listed(const char *list, const struct address *address)
{
    const char *ip = address->any.sa_family == AF_INET6 ? "6" : "4";
    char name[256];
    while (*list) {
        size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < 255 ? length : 255), list);
        list += length + (list[length] == ',');
        struct address allowed;
        if (*name && look_up(name, ip, &allowed) && same_host(&allowed, address))
            return true;
    }
    return false;
}

void must_be_ours(const struct launch *launch, const struct address *address)
{
    char text[ADDRESS_LIMIT];
    if (launch->own_network || (launch->plan_hosts && listed(launch->plan_hosts, address)))
        return;
    address_text(address, text);
    fail(TARGET_REFUSED,
         "%s is %s: the generator sends there whether anybody listens or not; if the network is "
         "yours to load, say --i-own-this-network",
         text, launch->plan_hosts ? "none of the plan's hosts" : "not known to be yours");
}
