#include "events.h"

#include "../../lib/json.h"

#include <errno.h>
#include <string.h>

static struct json begin(const char *event)
{
    struct json json = {.out = stdout};
    flockfile(stdout); /* the guard may have a failure to say */
    json_open(&json, '{');
    json_key(&json, "event");
    json_text(&json, event);
    return json;
}

static void flush(void)
{
    if (fflush(stdout) != 0)
        fail(SYSTEM_ERROR, "nobody reads what rail-soak says: %s", strerror(errno));
}

static void end(struct json *json)
{
    json_close(json, '}');
    putchar('\n');
    flush();
    funlockfile(stdout);
}

static void add(struct json *json, const char *key, double number)
{
    json_key(json, key);
    json_number(json, number);
}

void emit_calibrated(const struct soakers *soakers, const struct calibration *calibration)
{
    struct json json = begin("calibrated");
    add(&json, "elapsed", calibration->elapsed);
    add(&json, "working_set", WORKING_SET);
    json_key(&json, "cpus");
    json_open(&json, '[');
    for (size_t i = 0; i < soakers->count; i++) {
        json_open(&json, '{');
        add(&json, "cpu", soakers->cpus[i]);
        add(&json, "share", calibration->idle[i].share);
        add(&json, "rate", calibration->idle[i].rate);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    end(&json);
}

void emit_load(const struct soakers *soakers, uint64_t launch, uint64_t replication,
               const struct load *loads)
{
    struct load all = load_of_all(loads, soakers->count);
    struct json json = begin("load");
    add(&json, "launch", (double)launch);
    add(&json, "replication", (double)replication);
    add(&json, "elapsed", all.elapsed);
    add(&json, "load", all.load);
    add(&json, "steal", all.steal);
    add(&json, "seconds", all.seconds);
    json_key(&json, "cpus");
    json_open(&json, '[');
    for (size_t i = 0; i < soakers->count; i++) {
        json_open(&json, '{');
        add(&json, "cpu", soakers->cpus[i]);
        add(&json, "load", loads[i].load);
        add(&json, "lost", loads[i].lost);
        add(&json, "slowdown", loads[i].slowdown);
        add(&json, "steal", loads[i].steal);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    end(&json);
}

static void emit_message(const char *event, const char *code, const char *message)
{
    struct json json = begin(event);
    json_key(&json, "code");
    json_text(&json, code);
    json_key(&json, "message");
    json_text(&json, message);
    end(&json);
}

void emit_warning(const char *code, const char *message)
{
    emit_message("warning", code, message);
}

void emit_error(enum failure failure, const char *message)
{
    if (!seize_output())
        return;
    struct json json = begin("error");
    json_key(&json, "code");
    json_text(&json, failure_code(failure));
    json_key(&json, "message");
    json_text(&json, message);
    json_close(&json, '}');
    putchar('\n');
    fflush(stdout); /* without fail(), which is who calls */
}

void emit_done(void)
{
    struct json json = begin("done");
    end(&json);
}

static void show_load(FILE *out, const char *name, const struct load *load)
{
    fprintf(out, "%6s %8.2f %8.2f %10.2f %8.2f %10.2f %10.3f\n", name, load->load * 100,
            load->lost * 100, load->slowdown * 100, load->steal * 100, load->kernel * 100,
            load->seconds);
}

void show_loads(FILE *out, const struct soakers *soakers, const struct load *loads)
{
    char name[16];
    fprintf(out, "%6s %8s %8s %10s %8s %10s %10s\n", "CPU", "load %", "lost %", "slowdown %",
            "steal %", "kernel's %", "CPU s");
    for (size_t i = 0; i < soakers->count; i++) {
        snprintf(name, sizeof name, "%d", soakers->cpus[i]);
        show_load(out, name, &loads[i]);
    }
    struct load all = load_of_all(loads, soakers->count);
    show_load(out, "all", &all);
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void show_command(FILE *out, const struct rusage *used, double elapsed)
{
    double user = seconds_of(used->ru_utime), system = seconds_of(used->ru_stime);
    fprintf(out, "command: %.3f s; its own account: %.3f s user, %.3f s system, %.2f %% of one "
                 "CPU\n",
            elapsed, user, system, elapsed > 0 ? (user + system) / elapsed * 100 : 0);
}

void show_line(const struct soakers *soakers, const struct load *loads)
{
    struct load all = load_of_all(loads, soakers->count);
    printf("load %6.2f %%", all.load * 100);
    for (size_t i = 0; i < soakers->count; i++)
        printf("  cpu%d %6.2f %%", soakers->cpus[i], loads[i].load * 100);
    if (all.steal > 0)
        printf("  steal %.2f %%", all.steal * 100);
    putchar('\n');
    flush();
}
