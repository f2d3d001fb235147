#include "series.h"

#include "parameters.h"
#include "report.h"

void run_series(const struct launch *launch, const struct series *series,
                void (*run)(const struct launch *, const void *context), const void *context)
{
    static struct launch step;
    double last = number_of(launch, series->parameter);
    for (double size = series->first; size < 2 * last; size *= 2) {
        step = *launch;
        set_text(&step, "mode", series->becomes);
        set_number(&step, series->parameter, size < last ? size : last);
        report_series(&step, series);
        run(&step, context);
        if (size >= last)
            break;
    }
}
