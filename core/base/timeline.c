// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/timeline.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The thread looks at the rings so often, and where one is half full.
enum { LOOK_NS = 50000000 };

// For room in a ring, and for the last write: steps of a wait.
enum { STEP_NS = 100000, SETTLE_STEPS = 2500 };

enum { WRITE_BYTES = 64 << 10 };

// What the file ends with; the next write begins there.
#define TAIL "\n]\n"

enum entry_kind { ENTRY_SPAN, ENTRY_COUNT, ENTRY_BYTES };

// In a ring: all that is needed to write it down, so that nothing that it is about has to live on.
struct entry_of_track {
    enum entry_kind kind;
    const char *category; // Of a span. A constant.
    uint64_t begin_ns, end_ns;
    uint64_t bytes, whole, values; // Of a count: its value is `bytes`.
    char name[TIMELINE_NAME];
    char detail[TIMELINE_DETAIL];
};

struct timeline_track {
    struct timeline *timeline;
    char process[TIMELINE_DETAIL], name[TIMELINE_NAME];
    unsigned process_number, number;
    int is_announced; // The thread's.

    // One thread puts in, that of the timeline takes out. Both only grow.
    _Atomic uint64_t put, taken;
    struct entry_of_track ring[TIMELINE_RING];
};

struct timeline {
    char *path;
    int descriptor;
    uint64_t begin_ns;
    pthread_mutex_t lock; // Of making tracks.
    struct timeline_track *tracks[TIMELINE_TRACKS_MAX];
    _Atomic size_t count;
    unsigned process_count;

    pthread_t thread;
    int is_running;  // The owner's.
    sem_t look;      // There is something to write.
    atomic_int ends; // The rings are to be emptied once more, and nothing else.
    atomic_int has_ended;

    // The thread's.
    struct text text;
    uint64_t offset; // Of TAIL.
    int has_any;
    tapml_status status;
    char message[512];
};

// Those of the process: the handler of a signal can reach nothing else.
static _Atomic(struct timeline *) open_ones[TIMELINE_AT_ONCE_MAX];

static _Thread_local struct timeline_track *mine;

// The stage of the calling thread.
static _Thread_local struct {
    char name[TIMELINE_NAME];
    uint64_t begin_ns; // 0: it is in none.
} stage;

static void sleep_step(void)
{
    const struct timespec time = {.tv_nsec = STEP_NS};

    (void)nanosleep(&time, NULL);
}

// -- Writing -----------------------------------------------------------------------------------

static void fail(struct timeline *timeline, int error)
{
    char why[FILE_WHY_TEXT];

    if (timeline->status == TAPML_OK) {
        timeline->status = TAPML_UNAVAILABLE;
        (void)snprintf(timeline->message, sizeof(timeline->message), "cannot write '%.300s': %s",
                       timeline->path,
                       file_is_full(error, timeline->path, why) ? why : strerror(error));
    }
}

static int write_at(int descriptor, const char *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        const ssize_t done = pwrite(descriptor, bytes, size, (off_t)offset);

        if (done <= 0 && !(done < 0 && errno == EINTR)) {
            errno = done == 0 ? EIO : errno;
            return 0;
        }
        bytes += done > 0 ? done : 0;
        size -= done > 0 ? (size_t)done : 0;
        offset += done > 0 ? (uint64_t)done : 0;
    }
    return 1;
}

// Where there is no room for all, the file stays as it was.
static void write_text(struct timeline *timeline)
{
    struct text *text = &timeline->text;

    if (text->failed) {
        timeline->status = timeline->status == TAPML_OK ? TAPML_NO_MEMORY : timeline->status;
    }
    if (timeline->status == TAPML_OK && text->length > 0) {
        const size_t length = text->length;

        text_append(text, TAIL);
        if (text->failed == 0 &&
            write_at(timeline->descriptor, text->data, text->length, timeline->offset)) {
            timeline->offset += length;
        } else {
            fail(timeline, text->failed ? ENOMEM : errno);
            (void)write_at(timeline->descriptor, TAIL, strlen(TAIL), timeline->offset);
            if (ftruncate(timeline->descriptor, (off_t)(timeline->offset + strlen(TAIL))) != 0) {
                fail(timeline, errno);
            }
        }
    }
    text_clear(text);
}

// Microseconds since the timeline began, in thousandths: what the format counts in.
static void print_time(struct text *text, const char *key, uint64_t time_ns)
{
    text_format(text, ",\"%s\":%" PRIu64 ".%03u", key, time_ns / 1000, (unsigned)(time_ns % 1000));
}

static void
begin_event(struct timeline *timeline, const struct timeline_track *track, const char *phase)
{
    text_format(&timeline->text, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u",
                timeline->has_any ? ",\n" : "\n", phase, track->process_number, track->number);
    timeline->has_any = 1;
}

static void print_metadata(struct timeline *timeline,
                           const struct timeline_track *track,
                           const char *what,
                           const char *name)
{
    begin_event(timeline, track, "M");
    text_format(&timeline->text, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
    text_append_json(&timeline->text, name);
    text_append(&timeline->text, "}}");
    begin_event(timeline, track, "M");
    text_format(&timeline->text, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%u}}", what,
                *what == 'p' ? track->process_number : track->number);
}

static void announce(struct timeline *timeline, struct timeline_track *track)
{
    track->is_announced = 1;
    if (track->number == 1) {
        print_metadata(timeline, track, "process", track->process);
    }
    print_metadata(timeline, track, "thread", track->name);
}

static void print_count(struct timeline *timeline, const struct entry_of_track *entry)
{
    struct text *text = &timeline->text;

    print_time(text, "ts", entry->begin_ns - timeline->begin_ns);
    text_append(text, ",\"name\":");
    text_append_json(text, entry->name);
    if (entry->kind == ENTRY_BYTES) {
        text_format(text,
                    ",\"args\":{\"bytes\":%" PRIu64 ",\"both_ways\":%" PRIu64
                    ",\"values_both_ways\":%" PRIu64 "}}",
                    entry->bytes, entry->whole, entry->values);
    } else {
        text_format(text, ",\"args\":{\"value\":%" PRIu64 "}}", entry->bytes);
    }
}

static void print_span(struct timeline *timeline, const struct entry_of_track *entry)
{
    struct text *text = &timeline->text;
    const char *between = "";

    print_time(text, "ts", entry->begin_ns - timeline->begin_ns);
    print_time(text, "dur", entry->end_ns - entry->begin_ns);
    text_format(text, ",\"cat\":\"%s\",\"name\":", entry->category);
    text_append_json(text, entry->name);
    text_append(text, ",\"args\":{");
    if (entry->detail[0] != '\0') {
        text_append(text, "\"detail\":");
        text_append_json(text, entry->detail);
        between = ",";
    }
    if (entry->bytes > 0) {
        text_format(text, "%s\"bytes\":%" PRIu64, between, entry->bytes);
        between = ",";
    }
    if (entry->whole > 0) {
        text_format(text, "%s\"both_ways\":%" PRIu64, between, entry->whole);
    }
    text_append(text, "}}");
}

static void empty_ring(struct timeline *timeline, struct timeline_track *track)
{
    const uint64_t put = atomic_load_explicit(&track->put, memory_order_acquire);
    uint64_t taken = atomic_load_explicit(&track->taken, memory_order_relaxed);

    while (taken < put) {
        const struct entry_of_track *entry = &track->ring[taken % TIMELINE_RING];

        begin_event(timeline, track, entry->kind == ENTRY_SPAN ? "X" : "C");
        (entry->kind == ENTRY_SPAN ? print_span : print_count)(timeline, entry);
        atomic_store_explicit(&track->taken, ++taken, memory_order_release);
        if (timeline->text.length >= WRITE_BYTES || timeline->status != TAPML_OK) {
            write_text(timeline);
        }
    }
}

// Tracks in their order, so that they are announced in it.
static void empty_all(struct timeline *timeline)
{
    const size_t count = atomic_load_explicit(&timeline->count, memory_order_acquire);

    for (size_t i = 0; i < count; i++) {
        if (!timeline->tracks[i]->is_announced) {
            announce(timeline, timeline->tracks[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        empty_ring(timeline, timeline->tracks[i]);
    }
    write_text(timeline);
}

static void *run(void *user)
{
    struct timeline *timeline = user;
    int ends = 0;

    while (!ends) {
        struct timespec until;

        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)sem_timedwait(&timeline->look, &until); // However it ends, the rings are looked at.
        ends = atomic_load(&timeline->ends);
        empty_all(timeline);
    }
    atomic_store(&timeline->has_ended, 1);
    return NULL;
}

// -- Life --------------------------------------------------------------------------------------

static int take_place(struct timeline *timeline)
{
    for (size_t i = 0; i < TIMELINE_AT_ONCE_MAX; i++) {
        struct timeline *nobody = NULL;

        if (atomic_compare_exchange_strong(&open_ones[i], &nobody, timeline)) {
            return 1;
        }
    }
    return 0;
}

static void leave_place(struct timeline *timeline)
{
    for (size_t i = 0; i < TIMELINE_AT_ONCE_MAX; i++) {
        struct timeline *found = timeline;

        (void)atomic_compare_exchange_strong(&open_ones[i], &found, NULL);
    }
}

static tapml_status open_file(struct timeline *timeline)
{
    static const char empty[] = "[" TAIL;

    TAPML_TRY(file_expect(timeline->path));
    timeline->descriptor = open(timeline->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (timeline->descriptor < 0 || !write_at(timeline->descriptor, empty, strlen(empty), 0)) {
        fail(timeline, errno);
        return status_fail(TAPML_UNAVAILABLE, "%s", timeline->message);
    }
    timeline->offset = 1;
    return TAPML_OK;
}

// The thread takes no signal: a handler waits for it.
static tapml_status start_thread(struct timeline *timeline)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&timeline->thread, NULL, run, timeline);

    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    timeline->is_running = error == 0;
    return error == 0 ? TAPML_OK
                      : status_fail(TAPML_UNAVAILABLE, "cannot start the timeline's thread: %s",
                                    strerror(error));
}

tapml_status timeline_create(const char *path, struct timeline **out_timeline)
{
    struct timeline *timeline = alloc_new(sizeof(*timeline));

    if (timeline == NULL) {
        return status_no_memory();
    }
    timeline->descriptor = -1;
    timeline->begin_ns = clock_now_ns();
    text_init(&timeline->text);
    (void)pthread_mutex_init(&timeline->lock, NULL); // Neither fails on Linux.
    (void)sem_init(&timeline->look, 0, 0);
    timeline->path = alloc_text(path);
    tapml_status status = timeline->path != NULL ? open_file(timeline) : status_no_memory();

    if (status == TAPML_OK && !take_place(timeline)) {
        status = status_fail(TAPML_INVALID, "more than %d timelines at once", TIMELINE_AT_ONCE_MAX);
    }
    if (status == TAPML_OK) {
        status = start_thread(timeline);
    }
    if (status != TAPML_OK) {
        timeline_destroy(timeline);
        return status;
    }
    *out_timeline = timeline;
    return TAPML_OK;
}

tapml_status timeline_finish(struct timeline *timeline)
{
    if (timeline->is_running) {
        atomic_store(&timeline->ends, 1);
        (void)sem_post(&timeline->look);
        (void)pthread_join(timeline->thread, NULL);
        timeline->is_running = 0;
        leave_place(timeline);
    }
    if (timeline->descriptor >= 0 && close(timeline->descriptor) != 0) {
        fail(timeline, errno);
    }
    timeline->descriptor = -1;
    return timeline->status == TAPML_NO_MEMORY ? status_no_memory()
           : timeline->status != TAPML_OK ? status_fail(timeline->status, "%s", timeline->message)
                                          : TAPML_OK;
}

void timeline_destroy(struct timeline *timeline)
{
    if (timeline == NULL) {
        return;
    }
    const tapml_status status = timeline_finish(timeline);

    (void)status; // Told by timeline_finish, where somebody wants to know.
    leave_place(timeline);
    for (size_t i = 0; i < timeline->count; i++) {
        alloc_free(timeline->tracks[i]);
    }
    (void)sem_destroy(&timeline->look);
    (void)pthread_mutex_destroy(&timeline->lock);
    text_release(&timeline->text);
    alloc_free(timeline->path);
    alloc_free(timeline);
}

// All at once, and then all within one time.
void timeline_settle(void)
{
    int steps = SETTLE_STEPS;

    for (size_t i = 0; i < TIMELINE_AT_ONCE_MAX; i++) {
        struct timeline *timeline = atomic_load(&open_ones[i]);

        if (timeline != NULL) {
            atomic_store(&timeline->ends, 1);
            (void)sem_post(&timeline->look);
        }
    }
    for (size_t i = 0; i < TIMELINE_AT_ONCE_MAX; i++) {
        struct timeline *timeline = atomic_load(&open_ones[i]);

        while (timeline != NULL && !atomic_load(&timeline->has_ended) && steps-- > 0) {
            sleep_step();
        }
    }
}

// -- Tracks ------------------------------------------------------------------------------------

static void copy_name(char *out, size_t size, const char *text)
{
    (void)snprintf(out, size, "%s", text != NULL ? text : "");
}

// The lock is held. `number` and `process_number` are those of a new track.
static struct timeline_track *find_track(const struct timeline *timeline,
                                         const struct timeline_track *wanted,
                                         unsigned *out_process,
                                         unsigned *out_number)
{
    *out_process = timeline->process_count + 1;
    *out_number = 1;
    for (size_t i = 0; i < timeline->count; i++) {
        struct timeline_track *track = timeline->tracks[i];

        if (strcmp(track->process, wanted->process) == 0) {
            *out_process = track->process_number;
            *out_number = track->number + 1;
            if (strcmp(track->name, wanted->name) == 0) {
                return track;
            }
        }
    }
    return NULL;
}

// The lock is held.
static tapml_status add_track(struct timeline *timeline, struct timeline_track *track)
{
    const size_t count = timeline->count;

    if (count == TIMELINE_TRACKS_MAX) {
        return status_fail(TAPML_INVALID, "'%s': more than %d tracks", timeline->path,
                           TIMELINE_TRACKS_MAX);
    }
    timeline->process_count += track->number == 1;
    timeline->tracks[count] = track;
    atomic_store_explicit(&timeline->count, count + 1, memory_order_release);
    return TAPML_OK;
}

tapml_status timeline_track(struct timeline *timeline,
                            const char *process,
                            const char *name,
                            struct timeline_track **out_track)
{
    if (timeline == NULL) {
        *out_track = NULL;
        return TAPML_OK;
    }
    struct timeline_track *made = alloc_new(sizeof(*made));
    tapml_status status = TAPML_OK;

    if (made == NULL) {
        return status_no_memory();
    }
    made->timeline = timeline;
    copy_name(made->process, sizeof(made->process), process);
    copy_name(made->name, sizeof(made->name), name);
    (void)pthread_mutex_lock(&timeline->lock);
    struct timeline_track *known = find_track(timeline, made, &made->process_number, &made->number);

    if (known == NULL) {
        status = add_track(timeline, made);
    }
    (void)pthread_mutex_unlock(&timeline->lock);
    if (known != NULL || status != TAPML_OK) {
        alloc_free(made);
    }
    TAPML_TRY(status);
    *out_track = known != NULL ? known : made;
    return TAPML_OK;
}

void timeline_enter(struct timeline_track *track)
{
    mine = track;
    stage.begin_ns = 0;
}

struct timeline_track *timeline_mine(void)
{
    return mine;
}

struct timeline_track *timeline_beside(const char *name)
{
    struct timeline_track *track = NULL;

    return mine != NULL && timeline_track(mine->timeline, mine->process, name, &track) == TAPML_OK
               ? track
               : NULL;
}

// -- Spans and counts --------------------------------------------------------------------------

uint64_t timeline_begin(const struct timeline_track *track)
{
    return track != NULL ? clock_now_ns() : 0;
}

// The next entry of the ring, once there is room for it; NULL where nobody writes it any more.
static struct entry_of_track *next_entry(struct timeline_track *track)
{
    struct timeline *timeline = track->timeline;
    const uint64_t put = atomic_load_explicit(&track->put, memory_order_relaxed);

    while (put - atomic_load_explicit(&track->taken, memory_order_acquire) == TIMELINE_RING) {
        if (atomic_load(&timeline->ends)) {
            return NULL;
        }
        (void)sem_post(&timeline->look);
        sleep_step();
    }
    return atomic_load_explicit(&timeline->ends, memory_order_relaxed)
               ? NULL
               : &track->ring[put % TIMELINE_RING];
}

static void put_entry(struct timeline_track *track)
{
    const uint64_t put = atomic_load_explicit(&track->put, memory_order_relaxed) + 1;

    atomic_store_explicit(&track->put, put, memory_order_release);
    if (put - atomic_load_explicit(&track->taken, memory_order_relaxed) == TIMELINE_RING / 2) {
        (void)sem_post(&track->timeline->look);
    }
}

void timeline_put(struct timeline_track *track,
                  uint64_t begin_ns,
                  uint64_t end_ns,
                  const struct timeline_span *span)
{
    struct entry_of_track *entry = track != NULL && begin_ns != 0 ? next_entry(track) : NULL;

    if (entry == NULL) {
        return;
    }
    const uint64_t least_ns = track->timeline->begin_ns;

    entry->kind = ENTRY_SPAN;
    entry->category = span->kind;
    entry->begin_ns = begin_ns > least_ns ? begin_ns : least_ns;
    entry->end_ns = end_ns > entry->begin_ns ? end_ns : entry->begin_ns;
    entry->bytes = span->bytes;
    entry->whole = span->whole;
    copy_name(entry->name, sizeof(entry->name), span->name);
    copy_name(entry->detail, sizeof(entry->detail), span->detail);
    put_entry(track);
}

void timeline_end(struct timeline_track *track, uint64_t begin_ns, const struct timeline_span *span)
{
    if (track != NULL) {
        timeline_put(track, begin_ns, clock_now_ns(), span);
    }
}

static void put_count(struct timeline_track *track,
                      enum entry_kind kind,
                      const char *name,
                      const struct timeline_bytes *count)
{
    struct entry_of_track *entry = track != NULL ? next_entry(track) : NULL;

    if (entry == NULL) {
        return;
    }
    entry->kind = kind;
    entry->begin_ns = clock_now_ns();
    entry->bytes = count->bytes;
    entry->whole = count->whole;
    entry->values = count->values;
    copy_name(entry->name, sizeof(entry->name), name);
    put_entry(track);
}

void timeline_count(struct timeline_track *track, const char *name, uint64_t value)
{
    put_count(track, ENTRY_COUNT, name, &(struct timeline_bytes){.bytes = value});
}

void timeline_count_bytes(struct timeline_track *track,
                          const char *name,
                          const struct timeline_bytes *bytes)
{
    put_count(track, ENTRY_BYTES, name, bytes);
}

void timeline_stage(const char *name)
{
    if (mine == NULL) {
        return;
    }
    timeline_end(mine, stage.begin_ns,
                 &(struct timeline_span){.kind = "stage", .name = stage.name});
    stage.begin_ns = name != NULL ? clock_now_ns() : 0;
    copy_name(stage.name, sizeof(stage.name), name);
}
