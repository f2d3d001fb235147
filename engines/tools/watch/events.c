#include "events.h"

#include "../../lib/engine.h"
#include "../../lib/json.h"

#include <string.h>
#include <unistd.h>

#define DECLARED_AT_ONCE 512 /* counters in a line, which keeps lines short */
#define LONGEST_PAIR 36      /* two commas, a number of a counter, a difference */
#define MOST_PAIRS 32768     /* in a line, for readers that bound its length */

static struct json begin_event(struct output *output, const char *event)
{
    struct json json = {.out = output->stream};
    json_open(&json, '{');
    json_key(&json, "event");
    json_text(&json, event);
    return json;
}

static void end_event(struct output *output, struct json *json)
{
    json_close(json, '}');
    putc('\n', json->out);
    fflush(output->stream);
}

static void add_number(struct json *json, const char *key, double number)
{
    json_key(json, key);
    json_number(json, number);
}

static void add_names(struct json *json, const char *key, const char *const *names)
{
    json_key(json, key);
    json_open(json, '[');
    for (; *names; names++)
        json_text(json, *names);
    json_close(json, ']');
}

void emit_ready(struct output *output, const struct sources *sources, double interval,
                double started_at)
{
    struct json json = begin_event(output, "ready");
    json_key(&json, "version");
    json_text(&json, RAIL_VERSION);
    add_number(&json, "interval", interval);
    add_number(&json, "started_at", started_at);
    add_number(&json, "ticks_per_second", (double)sysconf(_SC_CLK_TCK));
    add_names(&json, "sources", sources->present);
    add_names(&json, "missing", sources->missing);
    end_event(output, &json);
}

void emit_error(struct output *output, enum failure failure, const char *message)
{
    struct json json = begin_event(output, "error");
    json_key(&json, "code");
    json_text(&json, failure_code(failure));
    json_key(&json, "message");
    json_text(&json, message);
    end_event(output, &json);
}

void emit_done(struct output *output)
{
    struct json json = begin_event(output, "done");
    end_event(output, &json);
}

static void emit_counters(struct output *output, const struct table *table, uint32_t first,
                          uint32_t end)
{
    struct json json = begin_event(output, "counters");
    add_number(&json, "first", first);
    json_key(&json, "names");
    json_open(&json, '[');
    for (uint32_t i = first; i < end; i++)
        json_bytes(&json, table->counters[i].name, table->counters[i].length);
    json_close(&json, ']');
    json_key(&json, "gauges");
    json_open(&json, '[');
    for (uint32_t i = first; i < end; i++)
        if (table->counters[i].kind & GAUGE)
            json_number(&json, i);
    json_close(&json, ']');
    end_event(output, &json);
}

/* A label stands at the first counter of what it is of: "interrupt/24/0" gives "interrupt/24". */
static void emit_labels(struct output *output, struct table *table)
{
    struct json json = begin_event(output, "labels");
    json_key(&json, "labels");
    json_open(&json, '{');
    for (uint32_t i = 0; i < table->count; i++) {
        struct counter *counter = &table->counters[i];
        if (counter->label == NULL || counter->label_reported || counter->dropped)
            continue;
        char group[COUNTER_NAME_LIMIT];
        const char *slash = strrchr(counter->name, '/');
        snprintf(group, sizeof group, "%.*s", (int)(slash ? slash - counter->name : 0),
                 counter->name);
        json_key(&json, group);
        json_text(&json, counter->label);
        counter->label_reported = true;
    }
    json_close(&json, '}');
    end_event(output, &json);
    table->labels_pending = false;
}

static void emit_dropped(struct output *output, struct table *table)
{
    struct json json = begin_event(output, "gone");
    json_key(&json, "indices");
    json_open(&json, '[');
    for (uint32_t i = 0; i < table->count; i++) {
        struct counter *counter = &table->counters[i];
        if (!counter->dropped || counter->drop_reported)
            continue;
        json_number(&json, i);
        counter->drop_reported = true;
    }
    json_close(&json, ']');
    end_event(output, &json);
    table->drops_pending = false;
}

static void emit_structure(struct output *output, struct table *table)
{
    while (table->declared < table->count) {
        uint32_t left = table->count - table->declared;
        uint32_t end = table->declared + (left < DECLARED_AT_ONCE ? left : DECLARED_AT_ONCE);
        emit_counters(output, table, table->declared, end);
        table->declared = end;
    }
    if (table->labels_pending)
        emit_labels(output, table);
    if (table->drops_pending)
        emit_dropped(output, table);
}

static char *put_whole(char *to, uint64_t number)
{
    char digits[24];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

static char *put_signed(char *to, int64_t number)
{
    if (number >= 0)
        return put_whole(to, (uint64_t)number);
    *to++ = '-';
    return put_whole(to, 0 - (uint64_t)number);
}

/* Ends the line that has begun, with the first MOST_PAIRS differences not yet reported; by
 * hand, as this is nearly all there is. */
static void emit_changed(struct output *output, struct table *table, struct json *json)
{
    json_key(json, "changed");
    fflush(output->stream);
    uint32_t most = table->count < MOST_PAIRS ? table->count : MOST_PAIRS;
    char *place = output_place(output, (size_t)most * LONGEST_PAIR + 8);
    char *to = place;
    *to++ = '[';
    for (uint32_t i = 0; i < table->count && most > 0; i++) {
        struct counter *counter = &table->counters[i];
        if (counter->value == counter->reported || counter->dropped)
            continue;
        most--;
        if (to[-1] != '[')
            *to++ = ',';
        to = put_whole(to, i);
        *to++ = ',';
        to = put_signed(to, (int64_t)(counter->value - counter->reported));
        counter->reported = counter->value;
    }
    memcpy(to, "]}\n", 3);
    output_add(output, (size_t)(to + 3 - place));
}

static uint32_t count_changed(const struct table *table)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->count; i++)
        count += table->counters[i].value != table->counters[i].reported &&
                 !table->counters[i].dropped;
    return count;
}

static struct json begin_line(struct output *output, const char *event, double at)
{
    struct json json = begin_event(output, event);
    json_key(&json, "at");
    fprintf(json.out, "%.6f", at);
    json.comma = true;
    return json;
}

/* What is too much for one line goes into samples of the same moment before it. */
static struct json begin_moment(struct output *output, struct table *table, const char *event,
                                double at)
{
    emit_structure(output, table);
    for (uint32_t left = count_changed(table); left > MOST_PAIRS; left -= MOST_PAIRS) {
        struct json json = begin_line(output, "sample", at);
        emit_changed(output, table, &json);
    }
    return begin_line(output, event, at);
}

void emit_sample(struct output *output, struct table *table, double at)
{
    if (output_waiting(output) > OUTPUT_ENOUGH)
        return;
    struct json json = begin_moment(output, table, "sample", at);
    emit_changed(output, table, &json);
}

static void add_whole(struct json *json, const char *key, uint64_t number)
{
    json_key(json, key);
    fprintf(json->out, "%llu", (unsigned long long)number);
    json->comma = true;
}

void emit_mark(struct output *output, struct table *table, double at, const struct mark *mark)
{
    struct json json = begin_moment(output, table, "mark", at);
    json_key(&json, "label");
    json_text(&json, mark->label);
    add_whole(&json, "launch", mark->launch);
    add_whole(&json, "replication", mark->replication);
    emit_changed(output, table, &json);
}

void emit_moment(struct output *output, struct table *table, double at, const char *label)
{
    struct json json = begin_moment(output, table, "mark", at);
    json_key(&json, "label");
    json_text(&json, label);
    emit_changed(output, table, &json);
}
