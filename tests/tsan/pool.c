// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// base/pool, base/log, base/status and base/alloc from many threads: bodies that write where only
// they may, log, fail and call the pool again; and several callers of one pool.
#include "base/pool.h"

#include "base/alloc.h"
#include "base/log.h"
#include "check.h"

#include <pthread.h>
#include <string.h>

enum { ITEMS = 4096, ROUNDS = 200, CALLERS = 3, WIDTH_MAX = 4 };

// What a caller of the pool works on. The items are plain: the pool alone keeps them apart.
struct caller {
    struct pool *pool;
    uint32_t *items;
    int number;
};

static void add_one(void *user, uint64_t begin, uint64_t end)
{
    struct caller *caller = user;
    for (uint64_t i = begin; i < end; i++) {
        caller->items[i]++;
    }
}

// Each thread has a message of its own, and lines of two threads do not mix.
static void fail_and_log(void *user, uint64_t begin, uint64_t end)
{
    const struct caller *caller = user;
    struct caller inner = {.pool = caller->pool, .items = caller->items + begin};
    char expected[64];
    char *block = alloc_new(64);
    CHECK(block);
    snprintf(expected, sizeof(expected), "caller %d at %u", caller->number, (unsigned)begin);
    (void)status_fail(TAPML_INVALID, "%s", expected);
    log_line(LOG_WARNING, "%s", expected);
    CHECK(strcmp(status_message(), expected) == 0);
    alloc_free(block);
    pool_run(caller->pool, end - begin, 1, add_one, &inner); // In place.
}

static void *call(void *user)
{
    struct caller *caller = user;
    for (int i = 0; i < ROUNDS; i++) {
        pool_run(caller->pool, ITEMS, 16, add_one, caller);
    }
    pool_run(caller->pool, ITEMS, 16, fail_and_log, caller);
    for (int i = 0; i < ITEMS; i++) {
        CHECK(caller->items[i] == ROUNDS + 1);
    }
    return NULL;
}

static void call_at_once(struct pool *pool)
{
    static uint32_t items[CALLERS][ITEMS];
    struct caller callers[CALLERS];
    pthread_t threads[CALLERS];
    memset(items, 0, sizeof(items));
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){.pool = pool, .items = items[i], .number = i};
        CHECK(pthread_create(&threads[i], NULL, call, &callers[i]) == 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

// A single caller, whom no other keeps from the pool's threads.
static void call_alone(struct pool *pool)
{
    static uint32_t items[ITEMS];
    struct caller caller = {.pool = pool, .items = items};
    memset(items, 0, sizeof(items));
    (void)call(&caller);
}

int main(void)
{
    for (uint32_t width = 1; width <= WIDTH_MAX; width++) {
        struct pool *pool = NULL;
        CHECK(pool_create(width, &pool) == TAPML_OK);
        call_alone(pool);
        call_at_once(pool);
        pool_destroy(pool);
    }
    return 0;
}
