/* rail-exec: runs somebody else's command, guards it and times it. */
#include "exec/command.h"
#include "exec/folder.h"
#include "exec/orphans.h"
#include "exec/serve.h"
#include "../lib/clock.h"
#include "../lib/engine.h"
#include "../lib/failure.h"
#include "../lib/guard.h"
#include "../lib/launches.h"
#include "../lib/mark.h"
#include "../lib/parameters.h"
#include "../lib/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MAX_FILES 100

static const struct parameter parameters[] = {
    {"timeout", TIME, "0", 0, 86400, NULL, NULL, NULL,
     "longest a command may take before it is killed and counts as failed; 0: no limit"},
    {"files", INT, "0", 0, MAX_FILES, NULL, NULL, NULL,
     "so many files, a name and a text each, stand before COMMAND: they are written into a working "
     "folder, where the command runs, and which is removed afterwards"},
    {"output_file", TEXT, "", 0, 0, NULL, NULL, NULL,
     "keep this file of the working folder in place of the command's standard output"},
    {"work_in", TEXT, "", 0, 0, NULL, NULL, NULL,
     "the working folder, where the command runs then, is made in this one; empty: in TMPDIR"},
    {"environment", TEXT, "", 0, 0, NULL, NULL, NULL,
     "variables that the command gets beside PATH, HOME and the like: NAME or BEGINNING*, with "
     "commas between them"},
    {"ready", TEXT, "", 0, 0, NULL, NULL, NULL,
     "server: it is ready when it has written this; empty: when something has its port, which "
     "stands for {port} in COMMAND"},
    {0},
};

static const struct metric metrics[] = {
    {"wall_time", "s", "lower", NULL, "time from starting the command to its end", "wall s", 1, 6,
     .headline = 21, .judged = true},
    {"user_time", "s", "lower", NULL, "its user CPU time, children it waited for included",
     "user s", 1, 6},
    {"system_time", "s", "lower", NULL, "its system CPU time, likewise", "system s", 1, 6},
    {"max_rss", "B", "lower", NULL, "most memory resident at a time", "max rss MiB", 1048576, 2},
    {"exit_status", "", "neither", NULL, "its exit status; only 0 is a measurement", NULL, 1, 0,
     .kind = KIND_LABEL},
    {0},
};

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Where the command itself begins, behind the files. */
static char **command_of(const struct launch *launch)
{
    char **command = launch->command;
    for (int left = 2 * (int)number_of(launch, "files"); left > 0 && *command; left--)
        command++;
    if (*command == NULL)
        fail(BAD_PARAMETER, "after --files a name and a text stand for each, then the command");
    return command;
}

static void write_files(const struct launch *launch, const struct folder *folder)
{
    char **end = command_of(launch);
    for (char **at = launch->command; at < end; at += 2)
        folder_write(folder, at[0], at[1]);
}

static void run_once(const struct launch *launch, const char *folder, struct capture *capture,
                     struct result *result)
{
    double timeout = number_of(launch, "timeout");
    struct rusage used;
    uint64_t begin = now_ns(), end;
    uint64_t limit = timeout > 0 ? begin + seconds_ns(timeout) : UINT64_MAX;
    struct command command = command_start(command_of(launch), folder, capture);
    bool in_time = capture_collect(capture, command.process, limit);
    if (!in_time)
        command_kill();
    int status = command_reap(&command, &used, &end);
    capture_finish(capture, command.process);
    if (!in_time)
        fail(COMMAND_TIMEOUT, "the command did not end within %g s and was killed", timeout);
    command_check(status, capture, "command");
    result_set(result, "wall_time", ns_seconds(end - begin));
    result_set(result, "user_time", seconds_of(used.ru_utime));
    result_set(result, "system_time", seconds_of(used.ru_stime));
    result_set(result, "max_rss", (double)used.ru_maxrss * 1024);
    result_set(result, "exit_status", WEXITSTATUS(status));
}

/* A replication, in a working folder of its own if it needs one: no file of the last is read. */
static void replicate(const struct launch *launch, long number, struct capture *capture)
{
    const char *file = text_of(launch, "output_file");
    bool works = *file || number_of(launch, "files") > 0 || *text_of(launch, "work_in");
    struct folder folder;
    struct result result;
    result_clear(&result, launch->engine);
    report_current(number);
    guard_renew();
    if (works) {
        folder_make(&folder, text_of(launch, "work_in"));
        orphans_spare(folder.janitor);
        write_files(launch, &folder);
    }
    mark_replication(launch, MARK_BEGIN, number);
    double started_at = utc_now();
    run_once(launch, works ? folder.path : NULL, capture, &result);
    mark_replication(launch, MARK_END, number);
    if (*file)
        capture->length = folder_read(&folder, file, capture->output, OUTPUT_LIMIT);
    if (works)
        folder_remove(&folder);
    orphans_spare(0);
    result.output = capture->output;
    result.output_length = capture->length;
    report_replication(number, started_at, &result);
    report_current(-1);
}

static int client(const struct launch *launch)
{
    static struct fields place;
    struct capture capture;
    command_of(launch);
    capture_prepare(&capture);
    command_guard(text_of(launch, "environment"));
    report_settings(&place, NULL);
    for (long i = 1; i <= launch->replications; i++)
        replicate(launch, i, &capture);
    free(capture.output);
    report_done(launch->replications);
    return 0;
}

static const struct engine command = {
    .name = "exec",
    .summary = "wall time, CPU time and memory of another program",
    .parameters = parameters,
    .metrics = metrics,
    .takes_command = true,
    .client = client,
    .server = serve,
};

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], LAUNCHES) == 0)
        return launches_inside(&command, argv[2]);
    return engine_main(&command, argc, argv);
}
