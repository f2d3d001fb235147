#include "serve.h"

#include "calibration.h"
#include "replications.h"
#include "events.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"
#include "../../lib/mark.h"
#include "../../lib/marks.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_LIMIT 64

enum { INPUT, SIGNALS, SOAKERS, OTHERS };

struct service {
    const struct options *options;
    const struct soakers *soakers;
    int signals;
    struct marks marks;
    struct replications replications;
    struct calibration calibration; /* the last one */
    char line[LINE_LIMIT];          /* of standard input, as far as it has come */
    size_t length;
};

static void take_marks(struct service *service, struct pollfd *set, int count)
{
    struct mark mark;
    while (marks_next(&service->marks, set, count, &mark)) {
        void (*note)(struct replications *, const struct soakers *, uint64_t, uint64_t) =
            strcmp(mark.label, MARK_BEGIN) == 0 ? replication_begins : replication_ends;
        note(&service->replications, service->soakers, mark.launch, mark.replication);
        marks_answer(&service->marks, &mark);
    }
}

/* False at the end of the input. */
static bool take_input(struct service *service)
{
    ssize_t received =
        read(STDIN_FILENO, service->line + service->length, LINE_LIMIT - service->length);
    if (received < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (received <= 0)
        return false;
    service->length += (size_t)received;
    if (service->length == LINE_LIMIT && !memchr(service->line, '\n', LINE_LIMIT))
        fail(BAD_PARAMETER, "a line on standard input is too long: say 'calibrate' or 'finish'");
    return true;
}

/* Serves whoever asks, at most until that moment; false if it is time to end. */
static bool serve_once(struct service *service, uint64_t moment)
{
    struct pollfd poll_set[OTHERS + MARK_CLIENTS + 1] = {
        [INPUT] = {.fd = service->length < LINE_LIMIT ? STDIN_FILENO : -1, .events = POLLIN},
        [SIGNALS] = {.fd = service->signals, .events = POLLIN},
        [SOAKERS] = {.fd = service->soakers->over, .events = POLLIN},
    };
    int marks = marks_poll_set(&service->marks, poll_set + OTHERS);
    uint64_t now = now_ns(), left_ms = moment > now ? (moment - now) / 1000000 + 1 : 0;
    if (poll(poll_set, (nfds_t)(OTHERS + marks), left_ms < 3600000 ? (int)left_ms : 3600000) <= 0)
        return true;
    take_marks(service, poll_set + OTHERS, marks);
    if (poll_set[SOAKERS].revents)
        soakers_check(service->soakers);
    return !poll_set[SIGNALS].revents && (!poll_set[INPUT].revents || take_input(service));
}

static bool serve_until(void *context, uint64_t moment)
{
    while (now_ns() < moment)
        if (!serve_once(context, moment))
            return false;
    return true;
}

/* Waits for a line; false if it is time to end. */
static bool next_line(struct service *service, char line[LINE_LIMIT])
{
    char *end;
    while ((end = memchr(service->line, '\n', service->length)) == NULL)
        if (!serve_once(service, now_ns() + 3600 * NANOSECONDS))
            return false;
    size_t length = (size_t)(end - service->line);
    memcpy(line, service->line, length);
    line[length] = '\0';
    service->length -= length + 1;
    memmove(service->line, end + 1, service->length);
    return true;
}

static void emit_loads(struct service *service, const struct calibration *after)
{
    const struct soakers *soakers = service->soakers;
    struct load *loads = calloc(soakers->count, sizeof *loads);
    if (loads == NULL)
        fail(OUT_OF_MEMORY, "no memory for the loads");
    for (size_t r = 0; r < service->replications.closed_count; r++) {
        const struct replication *replication = &service->replications.closed[r];
        for (size_t i = 0; i < soakers->count; i++) {
            uint64_t begin = replication->begin[i].at;
            uint64_t middle = begin + (replication->end[i].at - begin) / 2;
            struct pace idle = pace_at(&service->calibration, after, i, middle);
            loads[i] = load_between(&replication->begin[i], &replication->end[i], &idle);
        }
        emit_load(soakers, replication->launch, replication->number, loads);
    }
    replications_clear(&service->replications);
    free(loads);
}

/* A second calibration that fails is a warning, since the first one is there. */
static bool calibrate_again(struct service *service)
{
    const struct options *options = service->options;
    struct calibration after;
    char problem[MESSAGE_LIMIT];
    enum calibrated outcome = calibrate(service->soakers, options->calibrate, options->tolerance,
                                        serve_until, service, &after, problem, sizeof problem);
    if (outcome == TOLD_TO_END)
        return false;
    if (outcome == NOT_QUITE_IDLE) {
        emit_warning("not-idle-after", problem);
        emit_loads(service, NULL);
        return true;
    }
    emit_calibrated(service->soakers, &after);
    if (!calibrations_agree(service->soakers, &service->calibration, &after, options->tolerance,
                            problem, sizeof problem))
        emit_warning("calibration-drift", problem);
    emit_loads(service, &after);
    calibration_free(&service->calibration);
    service->calibration = after;
    return true;
}

static bool calibrate_first(struct service *service)
{
    const struct options *options = service->options;
    char problem[MESSAGE_LIMIT];
    enum calibrated outcome =
        calibrate(service->soakers, options->calibrate, options->tolerance, serve_until, service,
                  &service->calibration, problem, sizeof problem);
    if (outcome == NOT_QUITE_IDLE)
        fail(NOT_IDLE, "%s", problem);
    if (outcome == CALIBRATED)
        emit_calibrated(service->soakers, &service->calibration);
    return outcome == CALIBRATED;
}

int serve(const struct options *options, const struct soakers *soakers, int signals)
{
    static struct service service; /* large */
    char line[LINE_LIMIT];
    service.options = options;
    service.soakers = soakers;
    service.signals = signals;
    marks_open(&service.marks, options->marks);
    if (!calibrate_first(&service))
        return 1;
    while (next_line(&service, line)) {
        bool finish = strcmp(line, "finish") == 0;
        if (!finish && strcmp(line, "calibrate") != 0)
            fail(BAD_PARAMETER, "'%.64s' on standard input is neither 'calibrate' nor 'finish'",
                 line);
        if (!calibrate_again(&service))
            return 1;
        if (finish) {
            emit_done();
            return 0;
        }
    }
    return 1;
}
