/* Confines itself, then says of each "open PATH", "write PATH" and "run PATH" that it reads whether
 * that went well ("yes", "no"), in a thread that was started afterwards and in a child. */
#include "confine.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[4096];

static void *opens(void *flags)
{
    int fd = open(path, *(int *)flags | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? NULL : path;
}

static int runs(void)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        execl(path, path, (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    return status == 0;
}

int main(void)
{
    char verb[8];
    confine();
    while (scanf("%7s %4095s", verb, path) == 2) {
        int flags = strcmp(verb, "open") == 0 ? O_RDONLY : O_WRONLY;
        void *opened = NULL;
        pthread_t thread;
        if (strcmp(verb, "run") == 0) {
            opened = runs() ? path : NULL;
        } else {
            pthread_create(&thread, NULL, opens, &flags);
            pthread_join(thread, &opened);
        }
        puts(opened ? "yes" : "no");
    }
    return 0;
}
