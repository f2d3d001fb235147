#include "table.h"

#include "../../lib/failure.h"

#include <stdlib.h>
#include <string.h>

#define MOST_COUNTERS (8u << 20) /* 1024 CPUs with as many interrupts, eight times */
/* A 32-bit counter that fell has wrapped around if it has then come no further than this, or else
 * it
 * was reset, as an interrupt's is when its driver gives it up and asks for it again. */
#define MOST_WRAPPED (1u << 30)

static void *resized(void *memory, size_t count, size_t size)
{
    void *larger = realloc(memory, count * size);
    if (larger == NULL)
        fail(OUT_OF_MEMORY, "no memory for %zu counters", count);
    return larger;
}

static uint32_t hash(const char *name, size_t length)
{
    uint32_t value = 2166136261u; /* FNV-1a, 32 bits */
    for (size_t i = 0; i < length; i++)
        value = (value ^ (unsigned char)name[i]) * 16777619u;
    return value;
}

/* The slot that holds the name, or the empty one where it would be. */
static uint32_t *slot_of(const struct table *table, const char *name, size_t length)
{
    uint32_t mask = table->slot_count - 1;
    for (uint32_t at = hash(name, length) & mask;; at = (at + 1) & mask) {
        uint32_t *slot = &table->slots[at];
        if (*slot == 0)
            return slot;
        const struct counter *counter = &table->counters[*slot - 1];
        if (counter->length == length && memcmp(counter->name, name, length) == 0)
            return slot;
    }
}

static void grow(struct table *table)
{
    if (table->room >= MOST_COUNTERS)
        fail(OUT_OF_MEMORY, "this host has more than %u counters: rail-watch follows no more",
             MOST_COUNTERS);
    table->room = table->room ? 2 * table->room : 1024;
    table->counters = resized(table->counters, table->room, sizeof *table->counters);
    table->slot_count = 2 * table->room;
    free(table->slots);
    table->slots = calloc(table->slot_count, sizeof *table->slots);
    if (table->slots == NULL)
        fail(OUT_OF_MEMORY, "no memory for %u counters", table->room);
    for (uint32_t i = 0; i < table->count; i++) /* the newest of a name comes last */
        *slot_of(table, table->counters[i].name, table->counters[i].length) = i + 1;
}

static uint32_t find(const struct table *table, const char *name, size_t length)
{
    if (table->slot_count == 0)
        return NO_COUNTER;
    uint32_t slot = *slot_of(table, name, length);
    return slot && !table->counters[slot - 1].dropped ? slot - 1 : NO_COUNTER;
}

uint32_t table_find(const struct table *table, const char *name)
{
    return find(table, name, strlen(name));
}

static uint32_t append(struct feed *feed, const char *name, size_t length, enum counter_kind kind)
{
    struct table *table = feed->table;
    if (table->count == table->room)
        grow(table);
    char *copy = malloc(length + 1);
    if (copy == NULL)
        fail(OUT_OF_MEMORY, "no memory for a counter's name");
    memcpy(copy, name, length);
    copy[length] = 0;
    table->counters[table->count] = (struct counter){
        .name = copy, .length = (uint16_t)length, .feed = feed->id, .kind = (uint8_t)kind};
    uint32_t number = table->count++;
    *slot_of(table, copy, length) = number + 1;
    return number;
}

void table_set(struct table *table, uint32_t number, uint64_t value)
{
    struct counter *counter = &table->counters[number];
    uint32_t before = (uint32_t)counter->value, step = (uint32_t)value - before;
    if ((counter->kind & NARROW) && value <= UINT32_MAX && (value >= before || step < MOST_WRAPPED))
        counter->value += step;
    else
        counter->value = value;
}

void table_drop(struct table *table, uint32_t number)
{
    table->counters[number].dropped = true;
    table->drops_pending = true;
}

void table_label(struct table *table, uint32_t number, struct text label)
{
    struct counter *counter = &table->counters[number];
    size_t length = text_length(label);
    if (counter->label && strlen(counter->label) == length &&
        memcmp(counter->label, label.at, length) == 0)
        return;
    char *copy = strndup(label.at, length);
    if (copy == NULL)
        fail(OUT_OF_MEMORY, "no memory for an interrupt's label");
    free(counter->label);
    counter->label = copy;
    counter->label_reported = false;
    table->labels_pending = true;
}

void feed_open(struct feed *feed, struct table *table)
{
    *feed = (struct feed){.table = table, .id = (uint8_t)table->feeds++};
}

void feed_begin(struct feed *feed)
{
    feed->at = 0;
    feed->pass++;
    feed->changed = false;
    feed->alarmed = false;
    feed->group_length = 0;
}

static size_t add_name(char *name, size_t length, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count && length < COUNTER_NAME_LIMIT - 1; i++)
        name[length++] = bytes[i] == '/' ? '|' : bytes[i];
    return length;
}

void feed_group(struct feed *feed, const char *prefix, struct text name)
{
    size_t length = strlen(prefix);
    memcpy(feed->group, prefix, length);
    feed->group_length = add_name(feed->group, length, name.at, text_length(name));
}

static size_t whole_name(const struct feed *feed, struct text member, char *name)
{
    size_t length = feed->group_length;
    memcpy(name, feed->group, length);
    if (length < COUNTER_NAME_LIMIT - 1)
        name[length++] = '/';
    return add_name(name, length, member.at, text_length(member));
}

static bool is_next(const struct feed *feed, struct text member)
{
    if (feed->at >= feed->count)
        return false;
    const struct counter *counter = &feed->table->counters[feed->order[feed->at]];
    size_t group = feed->group_length, length = text_length(member);
    return !counter->dropped && counter->length == group + 1 + length &&
           memcmp(counter->name + group + 1, member.at, length) == 0 &&
           memcmp(counter->name, feed->group, group) == 0 && counter->name[group] == '/';
}

/* Where the order isn't that of the last pass. */
static uint32_t look_up(struct feed *feed, struct text member, enum counter_kind kind)
{
    char name[COUNTER_NAME_LIMIT];
    size_t length = whole_name(feed, member, name);
    uint32_t number = find(feed->table, name, length);
    if (number == NO_COUNTER)
        number = append(feed, name, length, kind);
    if (feed->at == feed->room) {
        feed->room = feed->room ? 2 * feed->room : 64;
        feed->order = resized(feed->order, feed->room, sizeof *feed->order);
    }
    if (feed->at >= feed->count || feed->order[feed->at] != number)
        feed->changed = true;
    feed->order[feed->at] = number;
    if (feed->at >= feed->count)
        feed->count = feed->at + 1;
    return number;
}

uint32_t feed_put(struct feed *feed, struct text member, uint64_t value, enum counter_kind kind)
{
    uint32_t number =
        is_next(feed, member) ? feed->order[feed->at] : look_up(feed, member, kind);
    struct counter *counter = &feed->table->counters[number];
    counter->pass = feed->pass;
    if ((kind & ALARM) && counter->value != value)
        feed->alarmed = true;
    table_set(feed->table, number, value);
    feed->at++;
    return number;
}

bool feed_end(struct feed *feed)
{
    if (!feed->changed && feed->at == feed->count)
        return false;
    feed->count = feed->at;
    for (uint32_t i = 0; i < feed->table->count; i++) {
        const struct counter *counter = &feed->table->counters[i];
        if (counter->feed == feed->id && counter->pass != feed->pass && !counter->dropped)
            table_drop(feed->table, i);
    }
    return true;
}

uint32_t feed_add(struct feed *feed, const char *member, uint64_t value, enum counter_kind kind)
{
    char name[COUNTER_NAME_LIMIT];
    struct text text = {member, member + strlen(member)};
    size_t length = whole_name(feed, text, name);
    uint32_t number = find(feed->table, name, length);
    if (number == NO_COUNTER)
        number = append(feed, name, length, kind);
    table_set(feed->table, number, value);
    return number;
}

void table_free(struct table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        free(table->counters[i].name);
        free(table->counters[i].label);
    }
    free(table->counters);
    free(table->slots);
    *table = (struct table){0};
}

void feed_close(struct feed *feed)
{
    free(feed->order);
    *feed = (struct feed){0};
}
