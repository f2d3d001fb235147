/* Calls library code whose fail() ends an engine; here it ends the call. */
#ifndef FUZZ_ATTEMPT_H
#define FUZZ_ATTEMPT_H

#include "failure.h"

#include <stdbool.h>
#include <stdint.h>

/* Runs work(context); false if it failed, with the code in *failure (unless NULL). Not to be
 * nested, and a fail() outside of it is a bug. */
bool attempt(void (*work)(void *context), void *context, enum failure *failure);

/* Whether every seal is valid, or only those that are. */
extern bool any_seal;

/* What must hold whatever the input. */
#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            broken(#condition, __FILE__, __LINE__);                                                \
    } while (0)

_Noreturn void broken(const char *condition, const char *file, int line);

#endif
