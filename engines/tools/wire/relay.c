#include "relay.h"

#include "drops.h"
#include "frame.h"
#include "queue.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define PICOSECONDS 1000ull  /* in a nanosecond */
#define WRITES 16            /* overdue frames written before the next is read */
#define UNLIMITED_RATE 10e9  /* bit/s: with no rate, memory is for this much under way */
#define UNLIMITED_MOST 256e6 /* bytes, but no more than this */
#define NICENESS -10
#define NEVER UINT64_MAX
#define SLACK (8 << 20)      /* bytes, for frames that are late */
#define LONGEST_WAIT 50000000 /* ns that a frame waits for others to overtake it */

/* A frame that others have to overtake before it goes on; length 0: none. */
struct overtaken {
    size_t length;
    unsigned times;
    uint64_t until; /* ns: then it goes on in any case */
    unsigned char bytes[FRAME_LIMIT];
};

struct relay {
    const struct options *options;
    unsigned number;
    struct device *from;
    const struct device *to;
    int stop, ended;
    pthread_t thread;
    atomic_bool stopping;
    struct queue queue;
    double ps_per_byte; /* 0: no rate */
    uint64_t delay;     /* ns */
    uint64_t epoch;     /* ns: where free counts from */
    uint64_t free;      /* ps since epoch: when the last frame's last bit leaves */
    pthread_mutex_t lock; /* for the counts */
    struct counts counts;
    uint64_t last_lost; /* its number */
    struct overtaken overtaken;
    unsigned char scratch[FRAME_LIMIT];
};

const char *relay_direction(unsigned number)
{
    return number ? "right_to_left" : "left_to_right";
}

static bool counts_for(enum loss_of scope, const struct frame *frame)
{
    return frame->ip && !frame->signalling &&
           (scope == OF_IP || frame->protocol == (scope == OF_UDP ? PROTOCOL_UDP : PROTOCOL_TCP));
}

static bool picks(const struct relay *relay, const struct pattern *pattern, uint64_t number)
{
    return relay->options->impaired[relay->number] &&
           pattern_picks(pattern, relay->number, number);
}

static void lose(struct relay *relay, uint64_t number, const struct frame *frame)
{
    drops_add(relay_direction(relay->number), number, frame);
    pthread_mutex_lock(&relay->lock);
    relay->counts.read++;
    relay->counts.counted = number;
    relay->counts.loss_runs += relay->counts.lost == 0 || relay->last_lost + 1 != number;
    relay->counts.lost++;
    pthread_mutex_unlock(&relay->lock);
    relay->last_lost = number;
}

/* Gives the frame its turn on the wire and sets when it is due at the other end; false if too much
 * is waiting already. */
static bool take_turn(struct relay *relay, size_t length, uint64_t now, uint64_t *due)
{
    *due = now + relay->delay;
    if (relay->ps_per_byte == 0)
        return true;
    uint64_t arrival = (now - relay->epoch) * PICOSECONDS;
    size_t bytes = frame_on_wire(length);
    if (relay->free > arrival) {
        double waiting = (double)(relay->free - arrival) / relay->ps_per_byte;
        if (waiting + (double)bytes > (double)relay->options->queue)
            return false;
        arrival = relay->free;
    }
    relay->free = arrival + (uint64_t)((double)bytes * relay->ps_per_byte);
    *due = relay->epoch + relay->free / PICOSECONDS + relay->delay;
    return true;
}

/* A frame was read, and this became of it. At once, so that who asks sees all of it or nothing. */
static void count_read(struct relay *relay, bool counted, uint64_t *fate)
{
    pthread_mutex_lock(&relay->lock);
    relay->counts.read++;
    relay->counts.counted += counted;
    ++*fate;
    pthread_mutex_unlock(&relay->lock);
}

/* Puts the frame, which is in the queue's room, into the queue; false if there is none or too much
 * is waiting already. */
static bool enqueue(struct relay *relay, size_t length, bool room)
{
    uint64_t due;
    if (!room || !take_turn(relay, length, now_ns(), &due))
        return false;
    queue_push(&relay->queue, length, due);
    return true;
}

/* A copy of a frame into the queue, if that has room for it. */
static bool enqueue_copy(struct relay *relay, const unsigned char *bytes, size_t length)
{
    unsigned char *room = queue_room(&relay->queue);
    if (room)
        memcpy(room, bytes, length);
    return enqueue(relay, length, room != NULL);
}

static void duplicate(struct relay *relay, const unsigned char *bytes, size_t length)
{
    if (!enqueue_copy(relay, bytes, length))
        return;
    pthread_mutex_lock(&relay->lock);
    relay->counts.duplicated++;
    relay->counts.queued++;
    pthread_mutex_unlock(&relay->lock);
}

/* True if the frame has to wait for others to overtake it; one does at a time. */
static bool falls_back(struct relay *relay, const unsigned char *bytes, size_t length,
                       uint64_t number)
{
    struct overtaken *overtaken = &relay->overtaken;
    if (overtaken->length || !picks(relay, &relay->options->reorder, number))
        return false;
    memcpy(overtaken->bytes, bytes, length);
    overtaken->length = length;
    overtaken->times = 0;
    overtaken->until = now_ns() + LONGEST_WAIT;
    count_read(relay, true, &relay->counts.queued);
    return true;
}

/* The frame that was overtaken goes on. */
static void follow_up(struct relay *relay)
{
    struct overtaken *overtaken = &relay->overtaken;
    bool queued = enqueue_copy(relay, overtaken->bytes, overtaken->length);
    overtaken->length = 0;
    pthread_mutex_lock(&relay->lock);
    if (!queued) {
        relay->counts.queued--;
        relay->counts.overflowed++;
    } else if (overtaken->times) {
        relay->counts.reordered++;
    }
    pthread_mutex_unlock(&relay->lock);
}

/* Passes on a packet that the patterns count. */
static void take_counted(struct relay *relay, const unsigned char *bytes, size_t length, bool room,
                         const struct frame *frame)
{
    uint64_t number = relay->counts.counted + 1; /* only this thread changes it */
    if (picks(relay, &relay->options->loss, number)) {
        lose(relay, number, frame);
        return;
    }
    if (falls_back(relay, bytes, length, number))
        return;
    bool queued = enqueue(relay, length, room);
    count_read(relay, true, queued ? &relay->counts.queued : &relay->counts.overflowed);
    if (!queued)
        return;
    if (picks(relay, &relay->options->duplicate, number))
        duplicate(relay, bytes, length);
    if (relay->overtaken.length && ++relay->overtaken.times == relay->options->reorder_by)
        follow_up(relay);
}

static void take_in(struct relay *relay, const unsigned char *bytes, size_t length, bool room)
{
    struct frame frame = frame_read(bytes, length);
    if (counts_for(relay->options->loss_of, &frame)) {
        take_counted(relay, bytes, length, room, &frame);
        return;
    }
    bool queued = enqueue(relay, length, room);
    count_read(relay, false, queued ? &relay->counts.queued : &relay->counts.overflowed);
}

static void end_wire(struct relay *relay)
{
    eventfd_write(relay->ended, 1);
    atomic_store(&relay->stopping, true);
}

/* Reads one frame; false if there was none. */
static bool read_frame(struct relay *relay)
{
    unsigned char *room = queue_room(&relay->queue);
    unsigned char *bytes = room ? room : relay->scratch;
    ssize_t received = device_read(relay->from, bytes, FRAME_LIMIT);
    if (received >= 0) {
        take_in(relay, bytes, (size_t)received, room != NULL);
        return true;
    }
    if (errno == EMSGSIZE) {
        count_read(relay, false, &relay->counts.refused);
        return true;
    }
    if (errno != EAGAIN && errno != EINTR)
        end_wire(relay);
    return false;
}

static void write_frame(struct relay *relay, const struct queued *queued, uint64_t now)
{
    uint64_t lateness = now - queued->due;
    bool taken = device_write(relay->to, queued->bytes, queued->length);
    if (!taken && device_is_gone(errno))
        end_wire(relay);
    struct counts *counts = &relay->counts;
    pthread_mutex_lock(&relay->lock);
    counts->queued--;
    if (taken) {
        counts->passed++;
        counts->passed_bytes += queued->length;
        counts->late += lateness > LATE_NS;
        histogram_add(&counts->lateness, lateness);
    } else {
        counts->refused++;
    }
    pthread_mutex_unlock(&relay->lock);
    queue_pop(&relay->queue);
}

/* Writes what is due, but not for too long without reading. */
static void write_due(struct relay *relay)
{
    for (int i = 0; i < WRITES; i++) {
        const struct queued *queued = queue_front(&relay->queue);
        uint64_t now = now_ns();
        if (queued == NULL || queued->due > now)
            return;
        write_frame(relay, queued, now);
    }
}

/* When something has to be done if no frame comes. */
static uint64_t next_moment(struct relay *relay)
{
    const struct queued *queued = queue_front(&relay->queue);
    uint64_t next = queued ? queued->due : NEVER;
    return relay->overtaken.length && relay->overtaken.until < next ? relay->overtaken.until : next;
}

/* Sleeps until a frame comes or one is due. To wake up earlier and spin was tried: the CPU that it
 * takes from the hosts at both ends made busy wires later, not more punctual. */
static void rest(struct relay *relay)
{
    uint64_t next = next_moment(relay), now = now_ns();
    if (next <= now)
        return;
    uint64_t left = next - now;
    struct timespec time = {.tv_sec = (time_t)(left / NANOSECONDS),
                            .tv_nsec = (long)(left % NANOSECONDS)};
    struct pollfd poll_set[] = {{.fd = relay->from->fd, .events = POLLIN},
                                {.fd = relay->stop, .events = POLLIN}};
    ppoll(poll_set, 2, next == NEVER ? NULL : &time, NULL);
    if (poll_set[0].revents & POLLERR)
        end_wire(relay);
}

static void *work(void *context)
{
    struct relay *relay = context;
    prctl(PR_SET_TIMERSLACK, 1);
    /* Before the programs at its ends, as a wire should be; who may not has a later wire. */
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
    while (!atomic_load_explicit(&relay->stopping, memory_order_relaxed)) {
        write_due(relay);
        if (read_frame(relay))
            continue;
        /* Not before: what came while this thread had no CPU overtakes it. */
        if (relay->overtaken.length && now_ns() >= relay->overtaken.until)
            follow_up(relay);
        else
            rest(relay);
    }
    return NULL;
}

/* Bytes of frames that may be under way, waiting for the rate or for the delay. */
static size_t most_under_way(const struct options *options)
{
    double rate = options->rate > 0 ? options->rate : UNLIMITED_RATE;
    double flying = rate / 8 * options->delay;
    if (options->rate == 0 && flying > UNLIMITED_MOST)
        flying = UNLIMITED_MOST;
    return (size_t)(flying + (double)options->queue + SLACK);
}

struct relay *relay_start(const struct options *options, unsigned number, struct device *from,
                          const struct device *to, int ended)
{
    struct relay *relay = calloc(1, sizeof *relay);
    if (relay == NULL)
        fail(OUT_OF_MEMORY, "no memory for a relay");
    relay->options = options;
    relay->number = number;
    relay->from = from;
    relay->to = to;
    relay->ended = ended;
    relay->ps_per_byte = options->rate > 0 ? 8e12 / options->rate : 0;
    relay->delay = seconds_ns(options->delay);
    relay->epoch = now_ns();
    histogram_open(&relay->counts.lateness);
    queue_make(&relay->queue, most_under_way(options));
    pthread_mutex_init(&relay->lock, NULL);
    relay->stop = eventfd(0, EFD_CLOEXEC);
    if (relay->stop < 0)
        fail(SYSTEM_ERROR, "cannot make an eventfd: %s", strerror(errno));
    int error = pthread_create(&relay->thread, NULL, work, relay);
    if (error)
        fail(SYSTEM_ERROR, "cannot start a relay's thread: %s", strerror(error));
    return relay;
}

void relay_stop(struct relay *relay)
{
    atomic_store(&relay->stopping, true);
    eventfd_write(relay->stop, 1);
    pthread_join(relay->thread, NULL);
}

void relay_free(struct relay *relay)
{
    pthread_mutex_destroy(&relay->lock);
    close(relay->stop);
    queue_free(&relay->queue);
    free(relay);
}

void relay_counts(struct relay *relay, struct counts *counts)
{
    histogram_clear(&counts->lateness);
    pthread_mutex_lock(&relay->lock);
    memcpy(counts, &relay->counts, offsetof(struct counts, lateness));
    histogram_merge(&counts->lateness, &relay->counts.lateness);
    pthread_mutex_unlock(&relay->lock);
    counts->unread = device_unread(relay->from);
}
