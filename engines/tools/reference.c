/* rail-reference: rates, loads and counters that `railgauge calibrate` holds the engines against. It
 * has no code in common with them, but their clock, CLOCK_MONOTONIC_RAW.
 *   rail-reference counters INTERFACE              says `ready`, and once standard input has a line
 *                                                  or ends, what the kernel counted until then
 * Each of the other runs adds a line to FILE:
 *   rail-reference integer FILE CPU SECONDS        operations, CPU seconds, seconds
 *   rail-reference read FILE CPU SECONDS BYTES     bytes, CPU seconds, seconds
 *   rail-reference burn FILE SHARE SECONDS PID     CPU seconds, seconds, idle seconds of all CPUs,
 *                                                  CPU seconds of PID and those it started,
 *                                                  without soakers */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEAD 0.1          /* s of load before anything counts, for the clock to settle */
#define LONGEST 60.0      /* s */
#define BATCH 100000      /* steps of a chain, or so many words, between two looks at the clock */
#define WORDS_AT_ONCE 8   /* read by one round of the loop, so that its end costs nothing */
#define SHORTEST_PERIOD 0.05 /* s of load and rest; their lengths vary, so that the kernel's tick, */
#define LONGEST_PERIOD 0.15  /* by which it counts CPU time, doesn't keep meeting the same phase */
#define LOOK 1000000         /* ns from one look at an interface's counters to the next */
#define LOOKS 20             /* of them from one look at the protocols' counters to the next */
#define MOST_PROCESSES 65536
#define MOST_TEXT 1048576    /* bytes of a file of /proc/net */

static _Noreturn void give_up(const char *subject)
{
    fprintf(stderr, "rail-reference: %s: %s\n", subject, strerror(errno));
    exit(1);
}

static _Noreturn void refuse(void)
{
    fputs("usage: rail-reference counters INTERFACE | integer FILE CPU SECONDS | "
          "read FILE CPU SECONDS BYTES | burn FILE SHARE SECONDS PID; SHARE 0 to 1, SECONDS up to 60, BYTES a multiple of 64\n",
          stderr);
    exit(2);
}

static double number(const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);
    if (*end != '\0' || end == text || !(value >= least && value <= most))
        refuse();
    return value;
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        give_up("clock_gettime");
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Not slewed by NTP. */
static double elapsed_now(void)
{
    return seconds_of(CLOCK_MONOTONIC_RAW);
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        give_up("pinning to the CPU");
}

static void add_line(const char *file, const double *numbers, size_t count)
{
    FILE *out = fopen(file, "ae");
    bool whole = out != NULL;
    for (size_t i = 0; whole && i < count; i++)
        whole = fprintf(out, "%.9f%c", numbers[i], i + 1 < count ? ' ' : '\n') > 0;
    if (!whole || fclose(out) != 0)
        give_up(file);
}

/* A multiplication and an addition. The compiler has to have the value in a register after each
 * and may not know it, so that nothing is folded, and no two chains become one vector. */
#define STEP(x) \
    x = x * factor + addend; \
    __asm__ volatile("" : "+r"(x));
/* As many as the registers hold; the multiplier of x86 has one pipe with a latency of 3 cycles. */
#ifdef __x86_64__
#define CHAINS 6
#define STEPS STEP(a) STEP(b) STEP(c) STEP(d) STEP(e) STEP(f)
#else
#define CHAINS 12
#define STEPS \
    STEP(a) STEP(b) STEP(c) STEP(d) STEP(e) STEP(f) STEP(g) STEP(h) STEP(i) STEP(j) STEP(k) STEP(l)
#endif

static double multiply_and_add(size_t unused)
{
    uint64_t factor = 6364136223846793005u, addend = 1442695040888963407u;
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
#ifndef __x86_64__
    uint64_t g = 7, h = 8, i = 9, j = 10, k = 11, l = 12;
#endif
    __asm__ volatile("" : "+r"(factor), "+r"(addend));
    for (int count = 0; count < BATCH; count++) {
        STEPS
    }
    (void)unused;
    return 2.0 * CHAINS * BATCH;
}

static const double *memory;

static double read_words(size_t bytes)
{
    size_t words = bytes / sizeof *memory, passes = BATCH / words + 1;
    for (size_t pass = 0; pass < passes; pass++)
        for (const volatile double *at = memory; at < memory + words; at += WORDS_AT_ONCE) {
            (void)at[0], (void)at[1], (void)at[2], (void)at[3];
            (void)at[4], (void)at[5], (void)at[6], (void)at[7];
        }
    return (double)bytes * (double)passes;
}

static void work(const char *file, double (*batch)(size_t bytes), size_t bytes, double seconds)
{
    double done = 0, now, limit = elapsed_now() + LEAD;
    while (elapsed_now() < limit)
        batch(bytes);
    double cpu_begin = seconds_of(CLOCK_THREAD_CPUTIME_ID), begin = elapsed_now();
    do {
        done += batch(bytes);
        now = elapsed_now();
    } while (now < begin + seconds);
    add_line(file, (double[]){done, seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_begin, now - begin}, 3);
}

static void map_memory(size_t bytes)
{
    double *words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED)
        give_up("memory");
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        words[i] = (double)i;
    memory = words;
}

static void spin_until(double moment)
{
    while (elapsed_now() < moment)
        for (volatile int i = 0; i < 200; i++)
            ;
}

static void sleep_until(double moment)
{
    double rest = moment - elapsed_now();
    struct timespec pause = {.tv_sec = (time_t)rest};
    pause.tv_nsec = (long)((rest - floor(rest)) * 1e9);
    if (rest > 0)
        nanosleep(&pause, NULL);
}

/* One CPU's load: by turns busy and idle, at the same times as all others, so that two CPUs of one
 * core have one load. */
static void burn_one(int cpu, double share, double begin, double end)
{
    unsigned short seed[3] = {0, 1, 2};
    double period;
    pin(cpu);
    for (double moment = begin; moment < end; moment += period) {
        period = SHORTEST_PERIOD + (LONGEST_PERIOD - SHORTEST_PERIOD) * erand48(seed);
        period = fmin(period, end - moment);
        spin_until(moment + share * period);
        sleep_until(moment + period);
    }
    _exit(0);
}

/* Of all CPUs together, as /proc/uptime counts; 0 where it can't be read. */
static double idle_seconds(void)
{
    double idle = 0;
    FILE *uptime = fopen("/proc/uptime", "re");
    if (uptime != NULL) {
        if (fscanf(uptime, "%*f %lf", &idle) != 1)
            idle = 0;
        fclose(uptime);
    }
    return idle;
}

static double cpu_seconds(int who)
{
    struct rusage used;
    if (getrusage(who, &used) != 0)
        give_up("getrusage");
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

struct relation {
    pid_t pid, parent;
};

/* Of each process there is, but this one: it and its parent. Returns how many. */
static size_t read_processes(struct relation *processes, size_t most)
{
    size_t count = 0;
    DIR *folder = opendir("/proc");
    if (folder == NULL)
        give_up("/proc");
    for (struct dirent *entry; count < most && (entry = readdir(folder)) != NULL;) {
        char path[32], text[512];
        int pid = atoi(entry->d_name), parent;
        if (pid <= 0 || pid == getpid())
            continue;
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *stat = fopen(path, "re");
        size_t length = stat == NULL ? 0 : fread(text, 1, sizeof text - 1, stat);
        if (stat != NULL)
            fclose(stat);
        text[length] = '\0';
        /* A program's name may hold brackets, too. */
        const char *behind = strrchr(text, ')');
        if (behind != NULL && sscanf(behind + 1, " %*c %d", &parent) == 1)
            processes[count++] = (struct relation){.pid = pid, .parent = parent};
    }
    closedir(folder);
    return count;
}

static bool is_among(const pid_t *pids, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

/* A soaker's CPU time is no load: it is what nobody wants. */
static bool takes_what_is_left(pid_t pid)
{
    return (sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK) == SCHED_IDLE;
}

struct member {
    pid_t pid;
    double seconds;
};

struct family {
    struct member members[MOST_PROCESSES + 1];
    size_t count;
};

/* `root` and what it started, and they, but for soakers, and the CPU seconds of each; not this process.
 * By the scheduler's clocks, as ticks are longer than what these take meanwhile. */
static void look_at_family(pid_t root, struct family *family)
{
    static struct relation processes[MOST_PROCESSES];
    static pid_t pids[MOST_PROCESSES + 1];
    size_t count = read_processes(processes, MOST_PROCESSES), members = 0, before;
    pids[members++] = root;
    do {
        before = members;
        for (size_t i = 0; i < count; i++)
            if (!is_among(pids, members, processes[i].pid) &&
                is_among(pids, members, processes[i].parent))
                pids[members++] = processes[i].pid;
    } while (members > before);
    family->count = 0;
    for (size_t i = 0; i < members; i++) {
        clockid_t clock;
        struct timespec used;
        if (!takes_what_is_left(pids[i]) && clock_getcpuclockid(pids[i], &clock) == 0 &&
            clock_gettime(clock, &used) == 0)
            family->members[family->count++] = (struct member){
                .pid = pids[i], .seconds = (double)used.tv_sec + (double)used.tv_nsec / 1e9};
    }
}

/* CPU seconds that those that are there took since the look before: not those that ended. */
static double family_seconds(const struct family *before, const struct family *now)
{
    double seconds = 0;
    for (size_t i = 0; i < now->count; i++) {
        double first = 0, last = now->members[i].seconds;
        for (size_t k = 0; k < before->count; k++)
            if (before->members[k].pid == now->members[i].pid)
                first = before->members[k].seconds;
        /* With fewer seconds than before it is another one, of the same number. */
        seconds += last < first ? last : last - first;
    }
    return seconds;
}

/* On each CPU that this process may use. */
static void burn(const char *file, double share, double seconds, pid_t root)
{
    cpu_set_t set;
    bool whole = true;
    int status;
    static struct family before, now;
    double begin = elapsed_now(), idle = idle_seconds();
    look_at_family(root, &before);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        give_up("the CPUs of this process");
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &set))
            continue;
        pid_t child = fork();
        if (child < 0)
            give_up("fork");
        if (child == 0)
            burn_one(cpu, share, begin, begin + seconds);
    }
    while (wait(&status) > 0)
        whole = whole && status == 0;
    idle = idle_seconds() - idle;
    if (!whole) {
        errno = ECHILD;
        give_up("a CPU's load ended early");
    }
    double used = cpu_seconds(RUSAGE_CHILDREN) + cpu_seconds(RUSAGE_SELF);
    look_at_family(root, &now);
    double elapsed = elapsed_now() - begin;
    add_line(file, (double[]){used, elapsed, idle, family_seconds(&before, &now)}, 4);
}

static int open_counters(const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        give_up(file);
    return fd;
}

/* The whole file, with a zero behind it. */
static char *text_of(int fd)
{
    static char text[MOST_TEXT];
    size_t length = 0;
    ssize_t got;
    if (lseek(fd, 0, SEEK_SET) != 0)
        give_up("/proc/net");
    while (length < sizeof text - 1 && (got = read(fd, text + length, sizeof text - 1 - length)) != 0) {
        if (got < 0)
            give_up("/proc/net");
        length += (size_t)got;
    }
    text[length] = '\0';
    return text;
}

/* `i`, when the look began and ended, bytes and packets received, bytes and packets sent. */
static void look_at_interface(FILE *out, int fd, const char *interface)
{
    size_t length = strlen(interface);
    double begin = elapsed_now();
    char *line = text_of(fd);
    double end = elapsed_now();
    for (; line != NULL; line = strchr(line, '\n')) {
        line += strspn(line, "\n ");
        if (strncmp(line, interface, length) != 0 || line[length] != ':')
            continue;
        uint64_t received[2], sent[2];
        if (sscanf(line + length + 1,
                   "%" SCNu64 " %" SCNu64 " %*u %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
                   &received[0], &received[1], &sent[0], &sent[1]) == 4) {
            fprintf(out, "i %.9f %.9f %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", begin, end,
                    received[0], received[1], sent[0], sent[1]);
            return;
        }
    }
    errno = ENODEV;
    give_up(interface);
}

/* `p` and when, then the lines as the kernel has them: names and numbers of IP, TCP and UDP. */
static void look_at_protocols(FILE *out, int fd)
{
    fprintf(out, "p %.9f\n", elapsed_now());
    for (char *line = strtok(text_of(fd), "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (strncmp(line, "Ip: ", 4) == 0 || strncmp(line, "Tcp: ", 5) == 0 ||
            strncmp(line, "Udp: ", 5) == 0 || strncmp(line, "IpExt: ", 7) == 0)
            fprintf(out, "%s\n", line);
}

/* All stays in memory until the end: what is printed may go out by the same interface. */
static void count(const char *interface)
{
    char *record = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&record, &size);
    int device = open_counters("/proc/net/dev"), snmp = open_counters("/proc/net/snmp");
    int netstat = open_counters("/proc/net/netstat");
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    struct timespec pause = {.tv_nsec = LOOK};
    if (out == NULL)
        give_up("memory");
    look_at_interface(out, device, interface);
    puts("ready");
    fflush(stdout);
    for (int look = 0;; look++) {
        bool last = ppoll(&input, 1, &pause, NULL) != 0;
        look_at_interface(out, device, interface);
        if (look % LOOKS == 0 || last) {
            look_at_protocols(out, snmp);
            look_at_protocols(out, netstat);
        }
        if (last)
            break;
    }
    if (fclose(out) != 0 || fwrite(record, 1, size, stdout) != size || puts("done") == EOF ||
        fflush(stdout) != 0)
        give_up("the record");
    free(record);
    close(device);
    close(snmp);
    close(netstat);
}

static bool asks(const char *word, int argc, char **argv, int count)
{
    return argc == count && strcmp(argv[1], word) == 0;
}

int main(int argc, char **argv)
{
    alarm((unsigned)(2 * LONGEST)); /* whatever becomes of who waits for it */
    if (asks("burn", argc, argv, 6)) {
        double share = number(argv[3], 0, 1), seconds = number(argv[4], 0, LONGEST);
        burn(argv[2], share, seconds, (pid_t)number(argv[5], 0, INT32_MAX));
        return 0;
    }
    if (asks("counters", argc, argv, 3)) {
        count(argv[2]);
        return 0;
    }
    bool reads = asks("read", argc, argv, 6);
    if (!reads && !asks("integer", argc, argv, 5))
        refuse();
    size_t bytes = reads ? (size_t)number(argv[5], 64, 1 << 30) / 64 * 64 : 0;
    double seconds = number(argv[4], 0, LONGEST);
    pin((int)number(argv[3], 0, CPU_SETSIZE - 1));
    if (reads)
        map_memory(bytes);
    work(argv[2], reads ? read_words : multiply_and_add, bytes, seconds);
    return 0;
}
