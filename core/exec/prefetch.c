// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/prefetch.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

// Touched at once: what a wait for the thread costs at most, and what a pause is for.
enum { PIECE_BYTES = 1 << 20 };

#define NS_PER_S 1000000000u

struct job {
    const struct prefetch_span *spans;
    size_t count;
};

struct prefetch {
    uint64_t bytes_per_s;
    uint64_t page_bytes;
    uint64_t free_ns; // When the link has room again; of the thread alone.
    pthread_t thread;
    pthread_mutex_t lock; // Of all below.
    pthread_cond_t asked, done;
    struct job *jobs; // Those that are not done; the first one is at hand while `is_busy`.
    size_t count, capacity;
    uint64_t done_count; // Jobs so far.
    int is_busy, is_ending;
};

static void pause_until(uint64_t time_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(time_ns / NS_PER_S),
                                   .tv_nsec = (long)(time_ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
    }
}

// The link is taken from now, or from when it is free, for the time of so many bytes.
static void take_link(struct prefetch *prefetch, uint64_t bytes)
{
    const uint64_t now_ns = clock_now_ns();
    if (prefetch->bytes_per_s == 0) {
        return;
    }
    prefetch->free_ns = prefetch->free_ns > now_ns ? prefetch->free_ns : now_ns;
    prefetch->free_ns +=
        (uint64_t)((double)bytes / (double)prefetch->bytes_per_s * (double)NS_PER_S);
}

static void touch(const unsigned char *begin, const unsigned char *end, uint64_t page_bytes)
{
#ifdef MADV_POPULATE_READ
    if (madvise((void *)(uintptr_t)begin, (size_t)(end - begin), MADV_POPULATE_READ) == 0) {
        return;
    }
#endif
    for (const unsigned char *page = begin; page < end; page += page_bytes) {
        (void)*(const volatile unsigned char *)page;
    }
}

static void fetch(struct prefetch *prefetch, const struct prefetch_span *span)
{
    const unsigned char *end = span->data + span->bytes;
    const unsigned char *at = (const unsigned char *)((uintptr_t)span->data / prefetch->page_bytes *
                                                      prefetch->page_bytes);
    (void)madvise((void *)(uintptr_t)at, (size_t)(end - at), MADV_WILLNEED);
    while (at < end) {
        const unsigned char *to = (uint64_t)(end - at) > PIECE_BYTES ? at + PIECE_BYTES : end;
        take_link(prefetch, (uint64_t)(to - at));
        touch(at, to, prefetch->page_bytes);
        if (prefetch->free_ns > clock_now_ns()) {
            pause_until(prefetch->free_ns);
        }
        at = to;
    }
}

// Takes the job at hand off the list; `lock` is held.
static void finish(struct prefetch *prefetch)
{
    for (size_t i = 1; i < prefetch->count; i++) {
        prefetch->jobs[i - 1] = prefetch->jobs[i];
    }
    prefetch->count--;
    prefetch->done_count++;
    prefetch->is_busy = 0;
    (void)pthread_cond_broadcast(&prefetch->done);
}

static void *work(void *user)
{
    struct prefetch *prefetch = user;
    (void)pthread_mutex_lock(&prefetch->lock);
    while (!prefetch->is_ending) {
        if (prefetch->count == 0) {
            (void)pthread_cond_wait(&prefetch->asked, &prefetch->lock);
            continue;
        }
        const struct job job = prefetch->jobs[0];
        prefetch->is_busy = 1;
        (void)pthread_mutex_unlock(&prefetch->lock);
        for (size_t i = 0; i < job.count; i++) {
            fetch(prefetch, &job.spans[i]);
        }
        (void)pthread_mutex_lock(&prefetch->lock);
        finish(prefetch);
    }
    (void)pthread_mutex_unlock(&prefetch->lock);
    return NULL;
}

tapml_status prefetch_create(uint64_t bytes_per_s, struct prefetch **out_prefetch)
{
    struct prefetch *prefetch = alloc_new(sizeof(*prefetch));
    if (!prefetch) {
        return status_no_memory();
    }
    prefetch->bytes_per_s = bytes_per_s;
    prefetch->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    (void)pthread_mutex_init(&prefetch->lock, NULL);
    (void)pthread_cond_init(&prefetch->asked, NULL);
    (void)pthread_cond_init(&prefetch->done, NULL);
    if (pthread_create(&prefetch->thread, NULL, work, prefetch) != 0) {
        alloc_free(prefetch);
        return status_fail(TAPML_UNAVAILABLE, "the system gives no thread to read weights ahead");
    }
    *out_prefetch = prefetch;
    return TAPML_OK;
}

// Without what has not begun; `lock` is held.
static void drop(struct prefetch *prefetch)
{
    const size_t kept = prefetch->is_busy ? 1 : 0;
    prefetch->done_count += prefetch->count - kept;
    prefetch->count = kept;
}

void prefetch_destroy(struct prefetch *prefetch)
{
    if (!prefetch) {
        return;
    }
    (void)pthread_mutex_lock(&prefetch->lock);
    drop(prefetch);
    prefetch->is_ending = 1;
    (void)pthread_cond_broadcast(&prefetch->asked);
    (void)pthread_mutex_unlock(&prefetch->lock);
    (void)pthread_join(prefetch->thread, NULL);
    (void)pthread_cond_destroy(&prefetch->asked);
    (void)pthread_cond_destroy(&prefetch->done);
    (void)pthread_mutex_destroy(&prefetch->lock);
    alloc_free(prefetch->jobs);
    alloc_free(prefetch);
}

tapml_status prefetch_ask(struct prefetch *prefetch,
                          const struct prefetch_span *spans,
                          size_t count,
                          uint64_t *out_number)
{
    (void)pthread_mutex_lock(&prefetch->lock);
    const int has_room = alloc_grow((void **)&prefetch->jobs, &prefetch->capacity, prefetch->count,
                                    sizeof(*prefetch->jobs));
    if (has_room) {
        prefetch->jobs[prefetch->count++] = (struct job){spans, count};
        *out_number = prefetch->done_count + prefetch->count;
        (void)pthread_cond_signal(&prefetch->asked);
    }
    (void)pthread_mutex_unlock(&prefetch->lock);
    return has_room ? TAPML_OK : status_no_memory();
}

int prefetch_is_done(struct prefetch *prefetch, uint64_t number)
{
    (void)pthread_mutex_lock(&prefetch->lock);
    const int is_done = prefetch->done_count >= number;
    (void)pthread_mutex_unlock(&prefetch->lock);
    return is_done;
}

void prefetch_wait(struct prefetch *prefetch, uint64_t number)
{
    (void)pthread_mutex_lock(&prefetch->lock);
    while (prefetch->done_count < number) {
        (void)pthread_cond_wait(&prefetch->done, &prefetch->lock);
    }
    (void)pthread_mutex_unlock(&prefetch->lock);
}

void prefetch_drop(struct prefetch *prefetch)
{
    (void)pthread_mutex_lock(&prefetch->lock);
    drop(prefetch);
    while (prefetch->count > 0) {
        (void)pthread_cond_wait(&prefetch->done, &prefetch->lock);
    }
    (void)pthread_mutex_unlock(&prefetch->lock);
}
