/* What is asked of Open MPI goes through its environment, in the process itself, so that it is the
 * same whoever starts it. What it really does, it says only where it is debugged: it is made to
 * talk, into a file in memory, until the ranks are connected. */
#include "transport.h"

#include "binding.h"
#include "connections.h"
#include "exit_report.h"
#include "transport_log.h"

#include "../lib/parameters.h"

#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HELLO_TAG 9002
#define LOG_FD "OPAL_OUTPUT_STDERR_FD" /* where Open MPI's own messages go */

/* What the launch asks for, and what the user's environment had already; empty: neither. */
struct choice {
    const char *variable;
    char value[2 * TEXT_LIMIT], inherited[TEXT_LIMIT];
};
static struct choice choices[] = {{.variable = "OMPI_MCA_pml"},
                                  {.variable = "OMPI_MCA_btl"},
                                  {.variable = "OMPI_MCA_btl_tcp_if_include"},
                                  {.variable = "OMPI_MCA_mpi_yield_when_idle"}};
enum { PML, BTL, INTERFACE, YIELD, ASKED };

static int log_fd = -1;   /* the file in memory */

/* "self,tcp", "^sm": names that can stand in an environment and in a sentence. */
static void must_be_names(const char *name, const char *text)
{
    size_t length = strspn(text + (*text == '^'), "abcdefghijklmnopqrstuvwxyz0123456789_,");
    if (text[length + (*text == '^')] != '\0' || strlen(text) >= TEXT_LIMIT)
        fail(BAD_PARAMETER, "%s: '%.60s' is no list of names: write for example %s", name, text,
             strcmp(name, "pml") == 0 ? "ob1" : "self,tcp");
}

static bool has_name(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* What this library calls shared memory. */
static const char *shared_memory(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length;
    MPI_Get_library_version(library, &length);
    const char *version = strstr(library, "Open MPI v");
    return version && atoi(version + strlen("Open MPI v")) < 5 ? "vader" : "sm";
}

/* The list in the library's own words; self is always needed. */
static void translate_btl(const char *list, char *out, size_t size)
{
    const char *comma = "";
    FILE *text = fmemopen(out, size, "w");
    if (text == NULL)
        fail(OUT_OF_MEMORY, "no memory for a list of transports");
    if (*list == '^') {
        fputc(*list++, text);
    } else if (!has_name(list, "self")) {
        fputs("self", text);
        comma = ",";
    }
    while (*list) {
        size_t length = strcspn(list, ",");
        bool shared = (length == 2 && strncmp(list, "sm", 2) == 0) ||
                      (length == 5 && strncmp(list, "vader", 5) == 0);
        fprintf(text, "%s%.*s", comma, shared ? 99 : (int)length,
                shared ? shared_memory() : list);
        comma = ",";
        list += length + (list[length] == ',');
    }
    fclose(text);
}

static void find_wishes(const struct launch *launch)
{
    char address[NI_MAXHOST];
    const char *pml = text_of(launch, "pml"), *btl = text_of(launch, "btl");
    must_be_names("pml", pml);
    must_be_names("btl", btl);
    if (strcmp(pml, "auto") != 0)
        snprintf(choices[PML].value, sizeof choices[PML].value, "%s", pml);
    else if (*btl) /* nothing else uses them */
        snprintf(choices[PML].value, sizeof choices[PML].value, "ob1");
    if (*btl)
        translate_btl(btl, choices[BTL].value, sizeof choices[BTL].value);
    if (number_of(launch, "yield") != 0)
        snprintf(choices[YIELD].value, sizeof choices[YIELD].value, "1");
    if (address_of_rank(launch, rank_before_mpi(), ranks_before_mpi(), address, sizeof address))
        interface_of(address, choices[INTERFACE].value, sizeof choices[INTERFACE].value);
}

void transport_ask(const struct launch *launch)
{
    find_wishes(launch);
    for (int i = 0; i < ASKED; i++) {
        const char *inherited = getenv(choices[i].variable);
        if (inherited)
            snprintf(choices[i].inherited, sizeof choices[i].inherited, "%s", inherited);
        else if (*choices[i].value)
            setenv(choices[i].variable, choices[i].value, 1);
    }
}

/* When the library cannot do what it is asked, it ends the process from within MPI_Init. */
static void arm_mpi_exit_report(void)
{
    char message[MESSAGE_LIMIT];
    bool chosen = *choices[PML].value || *choices[BTL].value;
    snprintf(message, sizeof message,
             "MPI_Init ended the process, with pml '%.99s' and btl '%.99s' asked for: standard "
             "error may say why, and 'ompi_info' lists what there is",
             *choices[PML].value ? choices[PML].value : "auto", choices[BTL].value);
    if (rank_before_mpi() == 0)
        exit_report_arm(chosen ? TRANSPORT_UNAVAILABLE : MPI_FAILED,
                        chosen ? message
                               : "MPI_Init ended the process: standard error may say why");
}

void transport_listen(void)
{
    static const char *const talkative[][2] = {{"OMPI_MCA_pml_base_verbose", "10"},
                                               {"OMPI_MCA_mtl_base_verbose", "10"},
                                               {"OMPI_MCA_btl_base_verbose", "30"}};
    char number[16];
    arm_mpi_exit_report();
    setenv("UCX_LOG_FILE", "stderr", 0); /* its default is where our events are */
    log_fd = getenv(LOG_FD) ? -1 : memfd_create("open-mpi", MFD_CLOEXEC);
    if (log_fd < 0)
        return;
    snprintf(number, sizeof number, "%d", log_fd);
    setenv(LOG_FD, number, 1);
    for (size_t i = 0; i < sizeof talkative / sizeof *talkative; i++)
        setenv(talkative[i][0], talkative[i][1], 0);
}

/* The connections that the modes will use; a library makes them when they are first needed. */
static void connect_neighbours(const struct job *job)
{
    char sent = 0, received;
    for (int step = 1; step >= -1; step -= 2)
        MPI_Sendrecv(&sent, 1, MPI_CHAR, (job->rank + job->ranks + step) % job->ranks, HELLO_TAG,
                     &received, 1, MPI_CHAR, (job->rank + job->ranks - step) % job->ranks,
                     HELLO_TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Takes what was said. What follows is of no use, as it goes on to log all it does; what Open MPI
 * has to say to its user goes other ways. */
static void read_transport_log(const struct job *job, struct transport_log *log)
{
    FILE *text = log_fd < 0 ? NULL : fdopen(dup(log_fd), "r");
    memset(log, 0, sizeof *log);
    if (text) {
        rewind(text);
        transport_log_read(log, text, job->rank);
        fclose(text);
    }
    int null_device = log_fd < 0 ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null_device >= 0) {
        dup2(null_device, log_fd);
        close(null_device);
    }
}

/* True if each of the names used stands in the list asked for, or in none that is excluded. */
static bool btls_as_asked(const char *used, const char *list)
{
    bool excluded = *list == '^';
    for (const char *at = used; *at;) {
        char name[LOG_NAME];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (has_name(list + excluded, name) == excluded)
            return false;
        at += length + (at[length] == ',');
    }
    return true;
}

static void check(const struct job *job, const struct transport_log *log)
{
    char problem[MESSAGE_LIMIT] = "";
    const char *pml = choices[PML].value, *btl = choices[BTL].value;
    const char *other = NULL;
    if (*pml && *pml != '^' && !has_name(pml, log->pml))
        other = log->pml;
    else if (*btl && (strcmp(log->pml, "ob1") != 0 || !btls_as_asked(log->btls, btl)))
        other = log->btls;
    if (other)
        snprintf(problem, sizeof problem,
                 "pml '%.99s' and btl '%.99s' were asked for, and rank %d uses pml %s, btl "
                 "%s%s%.99s%s%.99s",
                 *pml ? pml : "auto", btl, job->rank, *log->pml ? log->pml : "unknown",
                 *log->btls ? log->btls : "unknown",
                 *choices[PML].inherited ? ": the environment has OMPI_MCA_pml=" : "",
                 choices[PML].inherited,
                 *choices[BTL].inherited ? ": the environment has OMPI_MCA_btl=" : "",
                 choices[BTL].inherited);
    must_agree(job, TRANSPORT_UNAVAILABLE, *problem ? problem : NULL);
}

/* What all ranks use, on rank 0. */
static void add_used(const struct job *job, const struct transport_log *own,
                     struct fields *settings)
{
    struct transport_log *all = NULL, used = {0};
    char text[4 * LOG_NAME];
    if (job->rank == 0)
        all = calloc((size_t)job->ranks, sizeof *all);
    if (job->rank == 0 && all == NULL)
        fail(OUT_OF_MEMORY, "no memory for what %d ranks say of themselves", job->ranks);
    MPI_Gather(own, sizeof *own, MPI_BYTE, all, sizeof *own, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (job->rank != 0)
        return;
    for (int rank = 0; rank < job->ranks; rank++) {
        add_to_list(used.pml, sizeof used.pml, all[rank].pml);
        for (const char *at = all[rank].btls; *at;) {
            char name[LOG_NAME];
            size_t length = strcspn(at, ",");
            snprintf(name, sizeof name, "%.*s", (int)length, at);
            add_to_list(used.btls, sizeof used.btls, name);
            at += length + (at[length] == ',');
        }
    }
    free(all);
    snprintf(text, sizeof text, "%s%s%s", *used.pml ? used.pml : "unknown",
             *used.btls ? " " : "", used.btls);
    fields_add(settings, "transport_used", text);
}

/* What the user's environment said before us. */
static void add_kept(struct fields *settings)
{
    char text[ASKED * 2 * TEXT_LIMIT] = "";
    for (int i = 0; i < ASKED; i++) {
        size_t length = strlen(text);
        if (*choices[i].inherited)
            snprintf(text + length, sizeof text - length, "%s%s=%s", length ? " " : "",
                     choices[i].variable, choices[i].inherited);
    }
    if (*text)
        fields_add(settings, "environment", text);
}

/* This machine's ends of the connections that are in the set, if there are any. */
static void add_ends(const struct connections *own, uint64_t set, struct fields *settings)
{
    char interfaces[LOG_NAME] = "", addresses[4 * LOG_NAME] = "";
    for (uint32_t i = 0; i < own->count; i++) {
        char address[ADDRESS_LIMIT], name[64];
        if ((set >> i & 1) == 0)
            continue;
        address_text(&own->list[i].own, address);
        add_to_list(addresses, sizeof addresses, address);
        if (interface_of(address, name, sizeof name))
            add_to_list(interfaces, sizeof interfaces, name);
    }
    if (*interfaces)
        fields_add(settings, "tcp_interface", interfaces);
    if (*addresses)
        fields_add(settings, "tcp_address", addresses);
}

/* For rank 0 and the last rank, whose settings are shown: each of the others says which of their
 * connections end in its own sockets. */
static void add_connections(const struct job *job, struct fields *settings)
{
    static struct connections own, shown;
    const int ranks[] = {0, job->ranks - 1};
    connections_read(&own);
    for (int i = 0; i < 2; i++) {
        shown = own;
        MPI_Bcast(&shown, sizeof shown, MPI_BYTE, ranks[i], MPI_COMM_WORLD);
        uint64_t ours = job->rank == ranks[i] ? 0 : connections_between(&shown, &own), all = 0;
        MPI_Allreduce(&ours, &all, 1, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD);
        if (job->rank == ranks[i])
            add_ends(&own, all, settings);
    }
}

void transport_add_settings(const struct job *job, struct fields *settings)
{
    struct transport_log log;
    connect_neighbours(job);
    read_transport_log(job, &log);
    check(job, &log);
    add_used(job, &log, settings);
    add_kept(settings);
    add_connections(job, settings);
}
