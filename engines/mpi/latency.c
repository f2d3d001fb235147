/* Mode latency: one message back and forth. Through shared memory a round trip takes only some
 * ten times as long as reading the clock does, so that as many are timed together as it takes for
 * the clock to be less than 1 % of it. */
#include "pair.h"
#include "send_kind.h"

#include "../lib/histogram.h"
#include "../lib/parameters.h"

#include <math.h>
#include <string.h>

#define UNTIMED_TRIPS 10 /* before each replication; one more after it is looked at */
#define TRY_TRIPS 250    /* at most, to find out how long a round trip takes */
#define TRY_STEP 10      /* of them, until the clock is read */
#define TRY_NS 20000000  /* no more of them after this time: a way may be long */
#define CLOCK_SHARE 0.01
#define MOST_TOGETHER 1000

#define BUFFERED 4       /* messages: each is there before the next goes, but may be freed late */
#define PLACES 2

static struct buffers buffers;
static uint64_t together; /* round trips timed as one */
static struct histogram times;

/* How a message goes and comes. Ready sends and persistent requests have the receive of the answer
 * posted before the message goes, in the other one of two places: an answer to a ready send is a
 * ready send, too. */
static struct {
    const struct send_kind *kind;
    bool posts, persistent;
    int other;
    unsigned char *places[PLACES];
    size_t place;         /* what came last is there */
    MPI_Request received; /* posted */
    MPI_Request sends[PLACES], receives[PLACES]; /* persistent: from and into each place */
} way;

static void way_open(const struct job *job)
{
    int size = (int)buffers.size;
    way.kind = send_kind_of(job->launch);
    way.persistent = number_of(job->launch, "persistent") != 0;
    way.posts = way.persistent || way.kind->ready;
    way.other = 1 - job->rank;
    way.place = 0;
    for (size_t i = 0; i < PLACES; i++)
        way.places[i] = receive_buffer(&buffers, i);
    if (way.kind->buffered)
        send_memory_attach(BUFFERED, buffers.size);
    for (size_t i = 0; way.persistent && i < PLACES; i++) {
        way.kind->init(way.places[i], size, MPI_BYTE, way.other, DATA_TAG, MPI_COMM_WORLD,
                       &way.sends[i]);
        MPI_Recv_init(way.places[i], size, MPI_BYTE, way.other, MPI_ANY_TAG, MPI_COMM_WORLD,
                      &way.receives[i]);
    }
}

static void way_close(void)
{
    if (way.kind->buffered)
        send_memory_detach();
    for (size_t i = 0; way.persistent && i < PLACES; i++) {
        MPI_Request_free(&way.sends[i]);
        MPI_Request_free(&way.receives[i]);
    }
}

static void post(size_t number)
{
    if (way.persistent) {
        MPI_Start(&way.receives[number]);
        way.received = way.receives[number];
    } else {
        MPI_Irecv(way.places[number], (int)buffers.size, MPI_BYTE, way.other, MPI_ANY_TAG,
                  MPI_COMM_WORLD, &way.received);
    }
}

/* What came is what goes next, on both ranks, as in NetPIPE. */
static void go(void)
{
    if (way.posts)
        post(1 - way.place);
    if (way.persistent) {
        MPI_Start(&way.sends[way.place]);
        MPI_Wait(&way.sends[way.place], MPI_STATUS_IGNORE);
    } else {
        way.kind->send(way.places[way.place], (int)buffers.size, MPI_BYTE, way.other, DATA_TAG,
                       MPI_COMM_WORLD);
    }
    if (way.posts)
        way.place = 1 - way.place;
}

static void come(MPI_Status *status)
{
    if (way.posts)
        MPI_Wait(&way.received, status);
    else
        MPI_Recv(way.places[way.place], (int)buffers.size, MPI_BYTE, way.other, MPI_ANY_TAG,
                 MPI_COMM_WORLD, status);
}

static void go_and_come(uint64_t trips)
{
    for (uint64_t i = 0; i < trips; i++) {
        go();
        come(MPI_STATUS_IGNORE);
    }
}

static void stop(void)
{
    MPI_Send(NULL, 0, MPI_BYTE, 1, STOP_TAG, MPI_COMM_WORLD);
}

/* Both ranks, before the first message: rank 1 is ready for it. */
static void meet(const struct job *job)
{
    if (way.posts && job->rank == 1)
        post(way.place);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 returns what it receives. Returns how often. */
static uint64_t echo(void)
{
    uint64_t echoed = 0;
    MPI_Status status;
    for (;;) {
        come(&status);
        if (status.MPI_TAG == STOP_TAG)
            return echoed;
        go();
        echoed++;
    }
}

/* What reading the clock takes, in nanoseconds. */
static double clock_cost(void)
{
    enum { READINGS = 1000 };
    uint64_t begin = now_ns(), end = begin;
    for (int i = 0; i < READINGS; i++)
        end = now_ns();
    return (double)(end - begin) / READINGS;
}

/* What a round trip takes, in nanoseconds. */
static double trip_time(void)
{
    uint64_t trips = 0, begin = now_ns(), now;
    do {
        go_and_come(TRY_STEP);
        trips += TRY_STEP;
        now = now_ns();
    } while (trips < TRY_TRIPS && now - begin < TRY_NS);
    return (double)(now - begin) / (double)trips;
}

static void prepare(struct job *job, struct fields *settings)
{
    uint64_t decided = 1;
    histogram_open(&times);
    buffers_open(&buffers, size_of(job->launch, "size"), PLACES);
    way_open(job);
    meet(job);
    if (job->rank == 0) {
        trip_time(); /* at first it takes longer */
        double needed = ceil(clock_cost() / CLOCK_SHARE / trip_time());
        decided = needed < 1 ? 1 : needed > MOST_TOGETHER ? MOST_TOGETHER : (uint64_t)needed;
        stop();
        fields_add_number(settings, "trips_timed_together", (double)decided);
    } else {
        echo();
    }
    together = decided;
}

/* Rank 0's part; returns the round trips done. */
static uint64_t ask(struct job *job, const struct attempt *attempt, MPI_Status *last)
{
    uint64_t done = 0, took = 0;
    go_and_come(UNTIMED_TRIPS);
    usage_begin_process(&job->usage);
    uint64_t now = now_ns(), end = now + seconds_ns(attempt->duration);
    while (attempt->count ? done < attempt->count : now < end) {
        uint64_t left = attempt->count - done;
        uint64_t batch = attempt->count && left < together ? left : together;
        go();
        if (done > 0) /* written down while the message is under way */
            histogram_add(&times, took);
        come(MPI_STATUS_IGNORE);
        go_and_come(batch - 1);
        uint64_t then = now_ns();
        took = (then - now) / batch;
        done += batch;
        now = then;
    }
    if (done > 0)
        histogram_add(&times, took);
    usage_end(&job->usage);
    if (way.posts) /* so that only what comes can be right, where it does not come yet */
        memset(way.places[1 - way.place], ~*way.places[way.place], buffers.size);
    go();
    if (!way.posts)
        memset(way.places[way.place], ~*way.places[way.place], buffers.size);
    come(last);
    stop();
    return done;
}

static void measure(struct job *job, const struct attempt *attempt, struct result *result)
{
    MPI_Status last;
    int size = 0;
    buffers_mark(&buffers, job, attempt);
    meet(job);
    if (job->rank == 1) {
        usage_begin_process(&job->usage);
        const struct finding own = {.messages = (double)echo()};
        usage_end(&job->usage);
        finding_send(&own, 0);
        return;
    }
    memcpy(way.places[way.place], buffers.out, buffers.size);
    histogram_clear(&times);
    uint64_t done = ask(job, attempt, &last);
    struct finding other = finding_take(1);
    MPI_Get_count(&last, MPI_BYTE, &size);
    other.last_size = size;
    other.wrong = buffers_wrong(&buffers, job, attempt, 0, way.posts ? PLACES : 1);
    finding_check(&other, &buffers, (double)(done + UNTIMED_TRIPS + 1), 1);
    result_set(result, "round_trips", (double)done);
    result_set(result, "latency", histogram_quantile(&times, 0.5) / 2e9);
    result_set_times(result, "rtt", &times);
}

static void release(struct job *job)
{
    (void)job;
    way_close();
    buffers_close(&buffers);
}

const struct mode mpi_latency = {"latency", 2, prepare, measure, release};
