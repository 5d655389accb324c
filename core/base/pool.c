// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/pool.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { WIDTH_MAX = 1024 };

// To wake a thread takes longer than most tasks are apart, and than a small one takes. So one that
// has nothing to do looks around for a while before it sleeps.
enum { LOOK_NS = 20000, LOOKS_PER_READING = 16 };

struct task {
    pool_body_fn body;
    void *user;
    uint64_t count;
    uint64_t grain;
};

struct pool {
    uint32_t width;
    pthread_t *helpers; // width - 1 of them.
    uint32_t helper_count;
    pthread_mutex_t caller; // Held by the one who works with the pool.
    pthread_mutex_t lock;   // For writing what follows, but `next`.
    pthread_cond_t started;
    pthread_cond_t finished;
    struct task task;
    _Atomic uint64_t next;       // The first item that no thread has taken.
    _Atomic uint64_t generation; // Counts tasks: a helper works at most once on each.
    _Atomic uint32_t inside;     // Helpers that work on this generation.
    int is_open;                 // Whether one may still join them.
    _Atomic int stopping;
};

// Whether this thread is inside of a body: then another call runs in place.
static _Thread_local int inside_body;

// How many items to take of so many: less and less, so that all threads end at about the same time.
static uint64_t portion(const struct pool *pool, uint64_t left)
{
    const uint64_t grain = pool->task.grain;
    const uint64_t wanted = left / (2 * (uint64_t)pool->width) / grain * grain;
    return wanted > 0 ? wanted : left < grain ? left : grain;
}

static void work(struct pool *pool)
{
    const struct task *task = &pool->task;
    uint64_t begin = atomic_load(&pool->next);

    inside_body = 1;
    while (begin < task->count) {
        const uint64_t end = begin + portion(pool, task->count - begin);
        if (atomic_compare_exchange_weak(&pool->next, &begin, end)) {
            task->body(task->user, begin, end);
            begin = atomic_load(&pool->next);
        }
    }
    inside_body = 0;
}

static int is_idle(struct pool *pool, uint64_t seen)
{
    return atomic_load(&pool->generation) == seen && !atomic_load(&pool->stopping);
}

struct patience {
    uint64_t begin_ns;
    int looks;
};

// Whether to look once more before sleeping.
static int look_again(struct patience *patience)
{
    if (patience->looks++ % LOOKS_PER_READING == 0) {
        const uint64_t now_ns = clock_now_ns();
        patience->begin_ns = patience->begin_ns > 0 ? patience->begin_ns : now_ns;
        if (now_ns - patience->begin_ns > LOOK_NS) {
            return 0;
        }
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    return 1;
}

static void *help(void *user)
{
    struct pool *pool = user;
    uint64_t seen = 0;
    for (;;) {
        struct patience patience = {0};
        while (is_idle(pool, seen) && look_again(&patience)) {
        }
        pthread_mutex_lock(&pool->lock);
        while (is_idle(pool, seen)) {
            pthread_cond_wait(&pool->started, &pool->lock);
        }
        seen = pool->generation;
        const int joins = pool->is_open && !pool->stopping;
        pool->inside += joins ? 1 : 0;
        pthread_mutex_unlock(&pool->lock);
        if (pool->stopping) {
            return NULL;
        }
        if (joins) {
            work(pool);
            pthread_mutex_lock(&pool->lock);
            if (--pool->inside == 0) {
                pthread_cond_signal(&pool->finished);
            }
            pthread_mutex_unlock(&pool->lock);
        }
    }
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

static void run_shared(struct pool *pool, struct task task)
{
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->next = 0;
    pool->is_open = 1;
    ++pool->generation;
    pthread_cond_broadcast(&pool->started);
    pthread_mutex_unlock(&pool->lock);

    work(pool);
    // A helper that has not woken by now is not waited for.
    pthread_mutex_lock(&pool->lock);
    pool->is_open = 0;
    pthread_mutex_unlock(&pool->lock);
    struct patience patience = {0};
    while (atomic_load(&pool->inside) > 0 && look_again(&patience)) {
    }
    pthread_mutex_lock(&pool->lock);
    while (pool->inside > 0) {
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
    run_shared(pool, (struct task){.body = body, .user = user, .count = n, .grain = grain});
    pthread_mutex_unlock(&pool->caller);
}
