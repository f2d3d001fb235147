#include "result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void result_clear(struct result *result, const struct engine *engine)
{
    memset(result, 0, sizeof *result);
    result->engine = engine;
}

static size_t index_of(const struct engine *engine, const char *name)
{
    for (size_t i = 0; engine->metrics[i].name; i++)
        if (strcmp(engine->metrics[i].name, name) == 0)
            return i;
    abort(); /* an engine reported what isn't in its own table */
}

void result_set(struct result *result, const char *name, double value)
{
    size_t i = index_of(result->engine, name);
    if (result->warmup && isnan(value))
        return;
    if (!isfinite(value))
        abort(); /* a division by an interval that nobody checked: better dead than wrong */
    result->values[i] = value;
    result->present[i] = true;
}

double result_get(const struct result *result, const char *name)
{
    size_t i = index_of(result->engine, name);
    if (!result->present[i] && !result->warmup)
        abort();
    return result->present[i] ? result->values[i] : NAN;
}

void result_set_usage(struct result *result, const char *side, const struct usage *usage)
{
    const struct {
        const char *suffix;
        double value;
    } parts[] = {
        {"elapsed", usage->elapsed}, {"user_time", usage->user}, {"system_time", usage->system}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_%s", side, parts[i].suffix);
        result_set(result, name, parts[i].value);
    }
}
