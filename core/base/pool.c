// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/pool.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { WIDTH_MAX = 1024, CHUNKS_PER_THREAD = 4 };

struct task {
    pool_body_fn body;
    void *user;
    uint64_t count;
    uint64_t chunk; // A multiple of the grain.
};

struct pool {
    uint32_t width;
    pthread_t *helpers; // width - 1 of them.
    uint32_t helper_count;
    pthread_mutex_t caller; // Held by the one who works with the pool.
    pthread_mutex_t lock;   // Of all that follows but `next`.
    pthread_cond_t started;
    pthread_cond_t finished;
    struct task task;
    _Atomic uint64_t next; // The first item that nobody has taken.
    uint64_t generation;   // Counts tasks: a helper works once on each.
    uint32_t busy;         // Helpers that have not finished this generation.
    int stopping;
};

// Whether this thread is inside of a body: then another call runs in place.
static _Thread_local int inside_body;

static void work(struct pool *pool)
{
    const struct task *task = &pool->task;
    inside_body = 1;
    for (;;) {
        const uint64_t begin = atomic_fetch_add(&pool->next, task->chunk);
        if (begin >= task->count) {
            break;
        }
        const uint64_t left = task->count - begin;
        task->body(task->user, begin, begin + (left < task->chunk ? left : task->chunk));
    }
    inside_body = 0;
}

static void *help(void *user)
{
    struct pool *pool = user;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->generation == seen && !pool->stopping) {
            pthread_cond_wait(&pool->started, &pool->lock);
        }
        if (pool->stopping) {
            break;
        }
        seen = pool->generation;
        pthread_mutex_unlock(&pool->lock);
        work(pool);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0) {
            pthread_cond_signal(&pool->finished);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static uint32_t processor_count(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    const int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (uint32_t)count : 1;
}

static tapml_status start_helpers(struct pool *pool)
{
    pool->helpers = alloc_array(pool->width, sizeof(*pool->helpers));
    if (!pool->helpers) {
        return status_no_memory();
    }
    while (pool->helper_count + 1 < pool->width) {
        const int error = pthread_create(&pool->helpers[pool->helper_count], NULL, help, pool);
        if (error != 0) {
            return status_fail(TAPML_UNAVAILABLE, "cannot start thread %u of %u: %s",
                               pool->helper_count + 1, pool->width - 1, strerror(error));
        }
        ++pool->helper_count;
    }
    return TAPML_OK;
}

tapml_status pool_create(uint32_t width, struct pool **out_pool)
{
    if (width > WIDTH_MAX) {
        return status_fail(TAPML_INVALID, "expected at most %d threads, found %u", WIDTH_MAX,
                           width);
    }
    struct pool *pool = alloc_new(sizeof(*pool));
    if (!pool) {
        return status_no_memory();
    }
    pool->width = width > 0 ? width : processor_count();
    pthread_mutex_init(&pool->caller, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->started, NULL);
    pthread_cond_init(&pool->finished, NULL);
    const tapml_status status = start_helpers(pool);
    if (status != TAPML_OK) {
        pool_destroy(pool);
        return status;
    }
    *out_pool = pool;
    return TAPML_OK;
}

void pool_destroy(struct pool *pool)
{
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->stopping = 1;
    pthread_cond_broadcast(&pool->started);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->helper_count; ++i) {
        pthread_join(pool->helpers[i], NULL);
    }
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->started);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->caller);
    alloc_free(pool->helpers);
    alloc_free(pool);
}

uint32_t pool_width(const struct pool *pool)
{
    return pool->width;
}

// Some chunks for each thread, so that a slow one holds nobody up, each a multiple of the grain.
static uint64_t chunk_of(uint64_t n, uint64_t grain, uint32_t width)
{
    const uint64_t wanted = n / ((uint64_t)width * CHUNKS_PER_THREAD);
    return wanted <= grain ? grain : wanted / grain * grain;
}

static void run_shared(struct pool *pool, struct task task)
{
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    atomic_store(&pool->next, 0);
    pool->busy = pool->helper_count;
    ++pool->generation;
    pthread_cond_broadcast(&pool->started);
    pthread_mutex_unlock(&pool->lock);
    work(pool);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0) {
        pthread_cond_wait(&pool->finished, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

void pool_run(struct pool *pool, uint64_t n, uint64_t grain, pool_body_fn body, void *user)
{
    ASSERT(grain > 0);
    if (n == 0) {
        return;
    }
    const int alone = inside_body || pool->helper_count == 0 || n <= grain;
    if (alone || pthread_mutex_trylock(&pool->caller) != 0) {
        body(user, 0, n);
        return;
    }
    run_shared(pool, (struct task){.body = body,
                                   .user = user,
                                   .count = n,
                                   .chunk = chunk_of(n, grain, pool->width)});
    pthread_mutex_unlock(&pool->caller);
}
