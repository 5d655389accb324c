// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/pool.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { COUNT = 100000 };

struct marks {
    _Atomic unsigned char seen[COUNT];
    uint64_t count;
    uint64_t grain;
    _Atomic int misplaced;
    _Atomic int calls;
};

static void mark(void *user, uint64_t begin, uint64_t end)
{
    struct marks *marks = user;
    const int is_last = end == marks->count;
    if (begin >= end || begin % marks->grain != 0 || (!is_last && end % marks->grain != 0)) {
        atomic_fetch_add(&marks->misplaced, 1);
    }
    for (uint64_t i = begin; i < end; ++i) {
        atomic_fetch_add(&marks->seen[i], 1);
    }
    atomic_fetch_add(&marks->calls, 1);
}

static void expect_all(struct pool *pool, uint64_t count, uint64_t grain)
{
    static struct marks marks;
    memset(&marks, 0, sizeof(marks));
    marks.count = count;
    marks.grain = grain;
    pool_run(pool, count, grain, mark, &marks);
    cr_assert_eq(marks.misplaced, 0, "%zu by %zu", (size_t)count, (size_t)grain);
    for (uint64_t i = 0; i < COUNT; ++i) {
        cr_assert_eq(marks.seen[i], i < count ? 1 : 0);
    }
}

Test(pool, every_item_is_worked_on_once)
{
    for (uint32_t width = 1; width <= 8; width *= 2) {
        struct pool *pool = NULL;
        cr_assert_eq(pool_create(width, &pool), TAPML_OK);
        cr_assert_eq(pool_width(pool), width);
        expect_all(pool, 0, 1);
        expect_all(pool, 1, 1);
        expect_all(pool, COUNT, 1);
        expect_all(pool, COUNT - 1, 64);
        expect_all(pool, COUNT, 7);
        expect_all(pool, 10, 100);
        pool_destroy(pool);
    }
    pool_destroy(NULL);
}

Test(pool, many_small_tasks_follow_one_another)
{
    struct pool *pool = NULL;
    cr_assert_eq(pool_create(4, &pool), TAPML_OK);
    static struct marks marks;
    marks.count = 8;
    marks.grain = 1;
    for (int i = 0; i < 20000; ++i) {
        memset(marks.seen, 0, 8);
        pool_run(pool, 8, 1, mark, &marks);
        for (int k = 0; k < 8; ++k) {
            cr_assert_eq(marks.seen[k], 1);
        }
    }
    pool_destroy(pool);
}

struct barrier {
    pthread_barrier_t wait;
};

static void meet(void *user, uint64_t begin, uint64_t end)
{
    struct barrier *barrier = user;
    pthread_barrier_wait(&barrier->wait);
}

Test(pool, threads_work_at_the_same_time, .timeout = 20)
{
    // Neither of two ranges ends before the other has begun.
    struct pool *pool = NULL;
    struct barrier barrier;
    cr_assert_eq(pool_create(2, &pool), TAPML_OK);
    cr_assert_eq(pthread_barrier_init(&barrier.wait, NULL, 2), 0);
    pool_run(pool, 2, 1, meet, &barrier);
    pool_destroy(pool);
    pthread_barrier_destroy(&barrier.wait);
}

struct nested {
    struct pool *pool;
    _Atomic int sum;
};

static void count_one(void *user, uint64_t begin, uint64_t end)
{
    struct nested *nested = user;
    atomic_fetch_add(&nested->sum, (int)(end - begin));
}

static void call_again(void *user, uint64_t begin, uint64_t end)
{
    struct nested *nested = user;
    for (uint64_t i = begin; i < end; ++i) {
        pool_run(nested->pool, 10, 1, count_one, nested);
    }
}

Test(pool, a_call_from_a_body_runs_in_place, .timeout = 20)
{
    struct nested nested = {0};
    cr_assert_eq(pool_create(3, &nested.pool), TAPML_OK);
    pool_run(nested.pool, 100, 1, call_again, &nested);
    cr_assert_eq(nested.sum, 1000);
    pool_destroy(nested.pool);
}

static void *call_from_thread(void *user)
{
    struct nested *nested = user;
    for (int i = 0; i < 500; ++i) {
        pool_run(nested->pool, 100, 1, count_one, nested);
    }
    return NULL;
}

Test(pool, several_callers_all_get_their_work_done, .timeout = 60)
{
    struct nested nested = {0};
    pthread_t threads[4];
    cr_assert_eq(pool_create(2, &nested.pool), TAPML_OK);
    for (int i = 0; i < 4; ++i) {
        cr_assert_eq(pthread_create(&threads[i], NULL, call_from_thread, &nested), 0);
    }
    for (int i = 0; i < 4; ++i) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
    cr_assert_eq(nested.sum, 4 * 500 * 100);
    pool_destroy(nested.pool);
}

Test(pool, running_allocates_nothing)
{
    struct nested nested = {0};
    cr_assert_eq(pool_create(4, &nested.pool), TAPML_OK);
    const size_t made = alloc_made();
    pool_run(nested.pool, 100000, 3, count_one, &nested);
    cr_assert_eq(alloc_made(), made);
    pool_destroy(nested.pool);
}

Test(pool, the_width_is_that_of_the_process_unless_given)
{
    cpu_set_t set;
    cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    struct pool *pool = NULL;
    cr_assert_eq(pool_create(0, &pool), TAPML_OK);
    cr_assert_eq(pool_width(pool), (uint32_t)CPU_COUNT(&set));
    pool_destroy(pool);
    cr_assert_eq(pool_create(1000000, &pool), TAPML_INVALID);
}

static tapml_status build(void)
{
    struct pool *pool = NULL;
    TAPML_TRY(pool_create(3, &pool));
    pool_destroy(pool);
    return TAPML_OK;
}

Test(pool, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
