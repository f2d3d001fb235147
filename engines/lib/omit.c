#include "omit.h"

#define BYTES_LIMIT 1e18 /* no replication moves as much */

void omit_usage(struct usage *whole, struct omitted *sum, const struct usage *part)
{
    whole->user -= part->user;
    whole->system -= part->system;
    whole->ran -= part->ran;
    sum->usage.user += part->user;
}

void add_omitted(struct fields *reply, const struct omitted *omitted)
{
    fields_add_number(reply, "omitted", omitted->bytes);
    fields_add_number(reply, "omitted_timed", omitted->timed);
    fields_add_number(reply, "omitted_elapsed", omitted->elapsed);
    fields_add_number(reply, "omitted_user_time", omitted->usage.user);
}

double set_omitted(struct result *result, const struct fields *reply, const struct omitted *client)
{
    double bytes = (double)fields_count(reply, "omitted", BYTES_LIMIT);
    double timed = (double)fields_count(reply, "omitted_timed", bytes);
    double elapsed = fields_number(reply, "omitted_elapsed", 0, 1e9);
    if (elapsed >= LEAST_SECONDS && timed > 0)
        result_set(result, "omitted_throughput", timed * 8 / elapsed);
    result_set(result, "omitted_sent_bytes", client->bytes);
    result_set(result, "omitted_received_bytes", bytes);
    result_set(result, "omitted_client_user_time", client->usage.user);
    result_set(result, "omitted_server_user_time",
               fields_number(reply, "omitted_user_time", 0, 1e9));
    return bytes;
}
