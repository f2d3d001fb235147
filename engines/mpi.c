/* rail-mpi: what MPI makes of a network, between two ranks and among many. Its modes are in mpi/. */
#include "mpi/collective.h"
#include "mpi/matrix.h"
#include "mpi/mpi_engine.h"
#include "mpi/onesided.h"
#include "mpi/send_kind.h"

#include "lib/engine.h"
#include "lib/sides.h"

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#define FLOWS "stream|bidirectional"
#define STREAMS FLOWS "|multi_pair"
#define PAIRS STREAMS "|latency|" ONE_SIDED
#define MOVING PAIRS "|matrix|" MOVING_COLLECTIVES
#define SINGLY ONE_SIDED "|" COLLECTIVES
#define TIMED PAIRS "|" COLLECTIVES

static const struct parameter parameters[] = {
    {"mode", CHOICE, "stream", 0, 0,
     "stream|bidirectional|exponential|latency|put|get|multi_pair|barrier|bcast|reduce|allreduce|"
     "reduce_scatter|scatter|gather|allgather|alltoall|matrix",
     NULL,
     "mpitest -a: latency; -i: bidirectional; -e: exponential; osu_bw: stream; osu_bibw: "
     "bidirectional; osu_latency: latency; osu_put_bw: put; osu_mbw_mr: multi_pair; osu_gather: "
     "gather; ...",
     "between two ranks: stream: rank 0 sends as fast as it can; bidirectional: both do; "
     "exponential: a stream for each size 1, 2, 4 ... up to the one given; latency: one message "
     "back and forth; put and get: one-sided. Among all: multi_pair: each rank of the first half "
     "streams to one of the second, all at once; the collective operations; and matrix: every pair "
     "of ranks in turn"},
    {"size", SIZE, "1048576", 1, 1 << 30, NULL, MOVING, "mpitest -m, -A; osu_* -m",
     "bytes of each message; for latency something small, such as 8. Collective operations: bytes "
     "that each rank contributes, as the OSU benchmarks count them: with bcast, reduce and "
     "reduce_scatter those of the whole buffer, with gather and allgather each rank's share of it, "
     "with scatter and alltoall those for each of the ranks; sums are of floats, so a multiple of "
     "4"},
    {"duration", TIME, "5", 0.001, 86400, NULL, TIMED, "mpitest -t",
     "length of a replication; put, get and collective operations: half of it for single "
     "operations (time_*), half for those that follow one another without a pause"},
    {"count", INT, "0", 0, 1e12, NULL, TIMED, "mpitest -I; osu_* -i",
     "messages (of each pair), round trips or operations (so many singly, and so many more without "
     "a pause) to do instead of duration; 0: by duration"},
    {"blocking", BOOL, "true", 0, 0, NULL, FLOWS "|" COLLECTIVES,
     "mpitest -n: false with window 1; osu_bw: false; osu_ibcast ...: false",
     "true: MPI_Send and MPI_Recv (bidirectional: MPI_Sendrecv, if sends are standard and not "
     "persistent), one message at a time; false: MPI_Isend and MPI_Irecv, window messages in "
     "flight. Collective operations: true: MPI_Bcast ...; false: MPI_Ibcast ... and MPI_Wait, and "
     "how much of them overlaps with a computation (overlap)"},
    {"window", INT, "64", 1, 4096, NULL, STREAMS "|matrix|" ONE_SIDED, "osu_bw -W; osu_put_bw -W",
     "messages in flight if not blocking, in multi_pair and in the matrix's streams; put and "
     "get: operations that one flush completes; buffered sends: messages that MPI's buffer has room "
     "for; ready sends: receives posted ahead"},
    {"buffers", CHOICE, "rotate", 0, 0, "rotate|reuse", STREAMS, "osu_bw: reuse",
     "rotate: each message in flight has a receive buffer of its own, as programs do that read what "
     "they receive; reuse: all are received into one, as osu_bw does though MPI's standard forbids "
     "it: faster where a message stays in the receiver's cache and `window` of them do not",
     .implied = "rotate"},
    {"send", CHOICE, "standard", 0, 0, SEND_KINDS, STREAMS "|latency", NULL,
     "what sends: standard: MPI_Send, MPI_Isend; synchronous: MPI_Ssend, MPI_Issend, done when the "
     "other side receives; buffered: MPI_Bsend, MPI_Ibsend, by way of a buffer attached to MPI, "
     "whose window messages have to be gone before the next ones (latency: 4, which are); ready: "
     "MPI_Rsend, MPI_Irsend, never before the receive is posted: stream and multi_pair: an empty "
     "message back says so for half a window at a time; bidirectional and latency: the other "
     "side's messages do",
     .implied = "standard"},
    {"persistent", BOOL, "false", 0, 0, NULL, STREAMS "|latency",
     "osu_bw_persistent, osu_bibw_persistent, osu_latency_persistent: true",
     "true: requests made once, by MPI_Send_init (or that of the kind of send) and MPI_Recv_init, "
     "and started for each message by MPI_Start; one at a time if blocking",
     .implied = "false"},
    {"test_calls", INT, "0", 0, 1e6, NULL, COLLECTIVES, "osu_ibcast ... -t",
     "if not blocking: calls of MPI_Test during the computation that an operation overlaps with, "
     "evenly distributed, as long as the operation is not done",
     .implied = "0"},
    {"ranks_per_host", INT, "1", 1, 4096, NULL, "multi_pair|" COLLECTIVES, "osu_mbw_mr -p",
     "ranks that railgauge starts on each host; by hand, mpirun's own options decide"},
    {"binding", CHOICE, "core", 0, 0, "core|none", NULL, NULL,
     "core: the ranks of a machine take its CPUs in turn, one core after another, each rank one "
     "CPU; none: they stay where the launcher put them"},
    {"cpus", TEXT, "", 0, 0, NULL, NULL, NULL,
     "CPUs that the ranks of each machine take in turn, such as 0 or 0,2-3; empty: those the "
     "launcher lets them use"},
    {"pml", TEXT, "auto", 0, 0, NULL, NULL, "mpirun --mca pml",
     "how Open MPI sends messages: ob1, ucx, cm ...; auto: it chooses"},
    {"btl", TEXT, "", 0, 0, NULL, NULL, "mpirun --mca btl",
     "the transports of Open MPI's ob1, such as self,tcp or self,sm (whose name before Open MPI 5 "
     "was vader: sm stands for both); empty: it chooses"},
    {"yield", BOOL, "false", 0, 0, NULL, NULL, "mpirun --mca mpi_yield_when_idle",
     "a rank that waits gives its CPU away: for more ranks than CPUs"},
    {"pair_time", TIME, "0.1", 0.001, 3600, NULL, "matrix", NULL,
     "length of each of the four measurements of a pair: latency, then throughput, one direction "
     "after the other; N ranks take N - 1 (N if that is odd) times four of it; what is under way "
     "at the end of a stream is waited for"},
    {"latency_size", SIZE, "8", 1, 1 << 30, NULL, "matrix", NULL,
     "bytes of the messages that go back and forth"},
    {"verify", BOOL, "true", 0, 0, NULL, NULL, NULL,
     "look at the data that arrived, after the timed part"},
    {"warmup", TIME, "0", 0, 86400, NULL, NULL, NULL,
     "length of one replication done first and reported as number 0; 0: none"},
    {0},
};

static const struct metric metrics[] = {
    {"throughput", "bit/s", "higher", STREAMS "|put|get|matrix",
     "payload bits that reached rank 1, over its time until the last of them was there, from the "
     "arrival of an empty message before them, which rank 0 sends once rank 1 is ready: from rank "
     "1's last look before that arrival, as it may have had no CPU since; matrix: likewise, on the "
     "second rank of the pair; put, get: of all operations done without a pause, over rank 0's "
     "time until the last flush; multi_pair: of all pairs together, over rank 0's time from before "
     "any rank could begin until a barrier that each reaches when all its messages are there",
     "Mbit/s", 1e6, 3, .headline = 1, .judged = true},
    {"reverse_throughput", "bit/s", "higher", "bidirectional",
     "as throughput, from rank 1 to rank 0",
     "reverse Mbit/s", 1e6, 3, .headline = 2, .judged = true},
    {"total_throughput", "bit/s", "higher", "bidirectional",
     "throughput and reverse_throughput together",
     "total Mbit/s", 1e6, 3, .headline = 3, .judged = true},
    {"local_throughput", "bit/s", "neither", FLOWS,
     "payload bits that rank 0 gave to MPI, over its time until MPI had taken them all",
     "local Mbit/s", 1e6, 3, .headline = 4},
    {"sent_messages", "", "neither", STREAMS,
     "messages sent each way; multi_pair: by all senders together", "messages", 1, 0,
     .kind = KIND_COUNT},
    {"sent_bytes", "B", "neither", STREAMS, "their bytes", NULL, 1, 0},
    {"message_rate", "1/s", "higher", STREAMS,
     "messages that reached rank 1, or in multi_pair all receivers, over the same time as "
     "throughput",
     "messages/s", 1, 0},
    {"latency", "s", "lower", "latency|matrix", "half of the median round trip",
     "latency us", 1e-6, 3, .headline = 6, .judged = true},
    {"round_trips", "", "neither", "latency", "messages that came back", "trips", 1, 0,
     .kind = KIND_COUNT},
    TIME_METRICS("rtt", "latency",
                 "round trip (where reading the clock would be above 1 % of it, mean of as many as "
                 "the setting trips_timed_together says)",
                 "from before rank 0 sends until it has the answer", 8, 9, true),
    {"rate", "1/s", "higher", ONE_SIDED, "those operations, over the same time", "ops/s", 1, 0},
    {"operations", "", "neither", SINGLY, "operations timed singly", "operations", 1, 0,
     .kind = KIND_COUNT},
    TIME_METRICS("time", SINGLY,
                 "operation",
                 "put, get: until its flush is done; collective: from the moment that all ranks "
                 "begin it until the slowest has done it", 7, 0, false),
    {"start_error", "s", "lower", COLLECTIVES,
     "by how much, at most, a rank may have begun operations or batches before or after that "
     "moment: half of the quickest exchange in which it compared its clock with rank 0's, and what "
     "it had gone wrong by since the comparison before; of the worst rank",
     "start error us", 1e-6, 2},
    {"back_to_back", "s", "lower", COLLECTIVES,
     "time of an operation when they follow one another without a pause: from the moment that all "
     "ranks begin a batch of them until the slowest has done it, over its number; ranks that only "
     "send may be operations ahead",
     "back to back us", 1e-6, 2, .judged = true},
    {"overlap", "", "higher", COLLECTIVES,
     "if not blocking: how much of an operation a computation hides, 0 to 1: 1 - "
     "(overlapped_time - compute_time) / time_p50, and 0 if that is less, 1 if more; time_p50 is "
     "that of operations alone. As the OSU benchmarks define it, of medians and the slowest rank "
     "instead of means over ranks. Left out where the computation took less than half or more than "
     "twice as long as the operation, as where ranks share CPUs",
     "overlap %", 0.01, 1, .kind = KIND_SHARE, .headline = 10},
    {"compute_time", "s", "neither", COLLECTIVES,
     "if not blocking: median time of the computation alone, begun and timed like an operation: "
     "the same arithmetic on each rank, before each replication made to take as long on rank 0 as "
     "the median of 10 operations",
     "compute us", 1e-6, 2},
    {"overlapped_time", "s", "lower", COLLECTIVES,
     "if not blocking: median time of both, timed likewise: an operation begun, the computation, "
     "and MPI_Wait",
     "overlapped us", 1e-6, 2},
    {"algorithm_bandwidth", "bit/s", "higher", MOVING_COLLECTIVES,
     "payload bits of an operation (bcast, reduce, allreduce, reduce_scatter: size; scatter, "
     "gather, allgather, alltoall: size times ranks) over back_to_back",
     "alg Mbit/s", 1e6, 3},
    {"bus_bandwidth", "bit/s", "higher", MOVING_COLLECTIVES,
     "the bits that a rank's link has to carry one way for it, at the least, over back_to_back; of "
     "n ranks: algorithm_bandwidth, times 2 (n - 1) / n for allreduce and (n - 1) / n for "
     "reduce_scatter, scatter, gather, allgather and alltoall, as NCCL's tests have it",
     "bus Mbit/s", 1e6, 3},
    {"client_elapsed", "s", "neither", TIMED, "length of rank 0's timed part", "client s", 1, 3},
    {"client_user_time", "s", "lower", TIMED,
     "user CPU time of rank 0's timed part, of all threads of its process, the MPI library's too",
     "c-user s", 1, 3},
    {"client_system_time", "s", "lower", TIMED, "system CPU time of rank 0's timed part, likewise",
     "c-sys s", 1, 3},
    {"server_elapsed", "s", "neither", TIMED, "length of the last rank's timed part", "server s", 1,
     3},
    {"server_user_time", "s", "lower", TIMED,
     "user CPU time of the last rank's timed part, of all threads of its process, the MPI "
     "library's too",
     "s-user s", 1, 3},
    {"server_system_time", "s", "lower", TIMED,
     "system CPU time of the last rank's timed part, likewise", "s-sys s", 1, 3},
    {0},
};

extern const struct mode mpi_stream, mpi_bidirectional, mpi_latency, mpi_multi_pair;

const struct mode *const mpi_modes[] = {&mpi_stream, &mpi_bidirectional, &mpi_latency, &mpi_onesided,
                                        &mpi_multi_pair, &mpi_collective, &mpi_matrix, NULL};

static const struct engine mpi = {
    .name = "mpi",
    .summary = "MPI between two ranks and among many: throughput, latency, collective operations",
    .parameters = parameters,
    .metrics = metrics,
    .series = (const struct series[]){{"exponential", "stream", "size", 1}, {0}},
    .optional = "overlap|compute_time|overlapped_time",
    .group = "multi_pair|" COLLECTIVES "|matrix",
    .rows = "matrix",
    .rank = run_ranks,
    .failed = report_rank_failure,
};

int main(int argc, char **argv)
{
    /* Standard output is rank 0's; what a library prints there must not get among its events. */
    int null_device = rank_before_mpi() > 0 ? open("/dev/null", O_WRONLY) : -1;
    if (null_device >= 0)
        dup2(null_device, STDOUT_FILENO);
    return engine_main(&mpi, argc, argv);
}
