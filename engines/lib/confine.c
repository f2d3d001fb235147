#include "confine.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in linux/landlock.h, which not every host that builds has. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#define ASK_VERSION 1u
#define RULE_PATH_BENEATH 1
#define WRITE_FILE (1u << 1)
#define READ_FILE (1u << 2)
#define FIRST_RIGHTS ((1u << 13) - 1) /* of version 1: execute, read, write, remove, make ... */
#define TRUNCATE (1u << 14)           /* since version 3 */

static const struct {
    const char *path;
    uint64_t rights;
} exceptions[] = {
    {"/dev/null", WRITE_FILE}, /* rail-tcp --receive splice */
    {"/proc/meminfo", READ_FILE},
    {"/proc/sys/net/ipv4", READ_FILE},
    {"/sys/devices/system/cpu", READ_FILE},
};

void confine(void)
{
#ifdef UNCONFINED /* a sanitizer, or what counts lines, opens files of its own */
    return;
#endif
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);
    if (version < 1)
        return;
    const uint64_t rights = FIRST_RIGHTS | (version >= 3 ? TRUNCATE : 0);
    int rules = (int)syscall(SYS_landlock_create_ruleset, &rights, sizeof rights, 0);
    if (rules < 0)
        return;
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        struct {
            uint64_t rights;
            int32_t folder;
        } __attribute__((packed)) rule = {exceptions[i].rights,
                                          open(exceptions[i].path, O_PATH | O_CLOEXEC)};
        if (rule.folder < 0)
            continue;
        syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &rule, 0);
        close(rule.folder);
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
}
