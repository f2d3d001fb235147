#include "table.h"

#include "parameters.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LABEL 7   /* what stands before the columns */
#define COLUMN 12 /* narrowest column */
#define SIZE_COLUMN 9

static const struct launch *launch;
static const struct series *series; /* the rows' first column is its parameter */
static bool headed;                 /* a series says its settings once */
static bool columns[MAX_METRICS];   /* the metrics that have one so far */
static struct {
    long count;
    double lowest, sum, highest;
} summaries[MAX_METRICS];

void table_begin(const struct launch *started)
{
    launch = started;
}

static void flush(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        _exit(1);
}

static bool has_column(const struct metric *m)
{
    return columns[m - launch->engine->metrics];
}

static int width(const struct metric *m)
{
    int heading = (int)strlen(m->column);
    return heading > COLUMN ? heading : COLUMN;
}

static void print_side(const char *side, const struct fields *fields)
{
    char name[NAME_LIMIT], value[VALUE_LIMIT];
    if (fields->length == 0)
        return;
    printf("# %s, as granted:", side);
    for (size_t cursor = 0; fields_next(fields, &cursor, name, value);)
        if (strcmp(name, "warning") != 0 && *value)
            printf(" %s %s", name, value);
    putchar('\n');
}

void table_settings(const struct fields *client, const struct fields *server)
{
    if (series && headed)
        return;
    headed = true;
    printf("# rail-%s %s", launch->engine->name, RAIL_VERSION);
    if (launch->host)
        printf(", to %s", launch->host);
    printf("\n# asked:");
    for (int i = 0; launch->engine->parameters[i].name; i++) {
        const struct parameter *p = &launch->engine->parameters[i];
        char text[TEXT_LIMIT];
        if (!list_has(p->modes, mode_of(launch)))
            continue;
        if (parameter_is_number(p->type))
            quantity_text(p->type, launch->values[i].number, text, sizeof text);
        else
            value_text(p, &launch->values[i], text);
        printf(" %s %s", p->name, text);
    }
    putchar('\n');
    print_side("client", client);
    if (server)
        print_side("server", server);
    flush();
}

/* Heads the columns, anew when there is one more: optional metrics may come later, but are no
 * columns where they never come. */
static void print_heading(const bool *present)
{
    bool has_news = false;
    for (int i = 0; launch->engine->metrics[i].name; i++) {
        bool column = present[i] && launch->engine->metrics[i].column;
        has_news = has_news || (column && !columns[i]);
        columns[i] = columns[i] || column;
    }
    if (!has_news)
        return;
    if (series)
        printf("#%*s ", SIZE_COLUMN - 1, series->parameter);
    printf("%-*s", LABEL, "#");
    for (const struct metric *m = launch->engine->metrics; m->name; m++)
        if (has_column(m))
            printf(" %*s", width(m), m->column);
    putchar('\n');
}

static void print_label(const char *label)
{
    if (series)
        printf("%*.0f ", SIZE_COLUMN, number_of(launch, series->parameter));
    printf("%-*s", LABEL, label);
}

/* One line; which: the metrics that there are. */
static void print_cells(const double *values, const bool *present)
{
    for (int i = 0; launch->engine->metrics[i].name; i++) {
        const struct metric *m = &launch->engine->metrics[i];
        if (has_column(m) && present[i])
            printf(" %*.*f", width(m), m->digits, values[i] / m->scale);
        else if (has_column(m))
            printf(" %*s", width(m), "-");
    }
    putchar('\n');
}

void table_row(long number, const struct result *result)
{
    char label[32];
    snprintf(label, sizeof label, "%ld", number);
    print_heading(result->present);
    print_label(result->warmup ? "warm-up" : label);
    print_cells(result->values, result->present);
    if (result->output)
        fwrite(result->output, 1, result->output_length, stdout);
    flush();
    if (result->warmup)
        return;
    for (int i = 0; i < MAX_METRICS; i++) {
        double value = result->values[i];
        if (!result->present[i])
            continue;
        if (summaries[i].count == 0 || value < summaries[i].lowest)
            summaries[i].lowest = value;
        if (summaries[i].count == 0 || value > summaries[i].highest)
            summaries[i].highest = value;
        summaries[i].sum += value;
        summaries[i].count++;
    }
}

void table_end(void)
{
    double lowest[MAX_METRICS], mean[MAX_METRICS], highest[MAX_METRICS];
    bool present[MAX_METRICS], any = false;
    for (int i = 0; i < MAX_METRICS; i++) {
        present[i] = summaries[i].count > 0;
        any = any || present[i];
        lowest[i] = summaries[i].lowest;
        mean[i] = present[i] ? summaries[i].sum / (double)summaries[i].count : 0;
        highest[i] = summaries[i].highest;
    }
    memset(summaries, 0, sizeof summaries);
    if (!any || series)
        return;
    print_label("# min");
    print_cells(lowest, present);
    print_label("# mean");
    print_cells(mean, present);
    print_label("# max");
    print_cells(highest, present);
    flush();
}

void table_series(const struct series *next)
{
    headed = headed && series == next;
    series = next;
}
