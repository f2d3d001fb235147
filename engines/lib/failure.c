#include "failure.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SEIZING_MS 200 /* a line is written by then, if anybody reads */

static const char *const codes[] = {
#define X(symbol, code) [symbol] = code,
    FAILURES(X)
#undef X
};

static void print_plainly(enum failure failure, const char *message)
{
    fprintf(stderr, "%s: %s\n", codes[failure], message);
}

static failure_sink *failed = print_plainly;

const char *failure_code(enum failure failure)
{
    return codes[failure];
}

enum failure failure_named(const char *code)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(codes[i], code) == 0)
            return (enum failure)i;
    return BAD_PEER;
}

bool seize_output(void)
{
    for (int attempt = 0; attempt < SEIZING_MS; attempt++) {
        if (ftrylockfile(stdout) == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

void failures_go_to(failure_sink *sink)
{
    failed = sink;
}

void fail(enum failure failure, const char *format, ...)
{
    /* The first failure is the one to report; a second thread's waits for the end it brings, but
     * not for ever: reporting may be stuck. */
    static atomic_flag failing = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&failing)) {
        sleep(1);
        _exit(1);
    }
    char message[MESSAGE_LIMIT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    failed(failure, message);
    _exit(failure == BAD_PARAMETER ? 2 : 1);
}
