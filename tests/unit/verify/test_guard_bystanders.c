// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "guarded_silu.h"
#include "verify/guard_bystanders.h"

enum { OTHERS = 20, OTHER_BYTES = 64 };

static struct guarded_silu silu;
static struct guard_bystanders bystanders;
static struct guard_buffer *others[OTHERS]; // Made behind those of the call.
static struct guard_violation violation;

static void begin(void)
{
    silu_begin(&silu);
    bystanders = (struct guard_bystanders){0};
    guard_bystanders_add(&bystanders, silu.x);
    guard_bystanders_add(&bystanders, silu.y);
    for (uint32_t i = 0; i < OTHERS; i++) {
        MUST(guard_buffer_create(silu.backend, OTHER_BYTES, 2 + i, &others[i]));
        guard_bystanders_add(&bystanders, others[i]);
    }
    MUST(backend_wait(silu.backend));
    MUST(guarded_call_list_watches(&silu.guarded));
}

static void end(void)
{
    for (uint32_t i = 0; i < OTHERS; i++) {
        if (others[i]) {
            guard_buffer_destroy(silu.backend, others[i]);
        }
    }
    guard_bystanders_release(&bystanders);
    silu_end(&silu);
}

TestSuite(guard_bystanders, .init = begin, .fini = end);

// As after a call whose own buffers are as they should be.
static enum guard_kind check_on(struct backend *backend)
{
    for (uint32_t i = 0; i < silu.guarded.watch_count; i++) {
        const struct guarded_watch *watch = &silu.guarded.watches[i];
        memcpy(watch->after, silu_bytes(watch->buffer), guard_buffer_readable_bytes(watch->buffer));
    }
    violation = (struct guard_violation){0};
    MUST(guard_bystanders_read(&bystanders, backend, &silu.guarded));
    MUST(backend_wait(backend));
    guard_bystanders_check(&bystanders, backend, &silu.guarded, &violation);
    return violation.kind;
}

static enum guard_kind check(void)
{
    return check_on(silu.backend);
}

static void change(const struct guard_buffer *buffer)
{
    silu_bytes(buffer)[ZONE + 5] ^= 1;
}

Test(guard_bystanders, what_changed_is_told_once)
{
    cr_assert_eq(check(), GUARD_CLEAN, "nothing was seen before");
    change(others[0]);
    cr_assert_eq(check(), GUARD_OUTSIDE);
    cr_expect_str_eq(violation.what,
                     "a buffer of 64 bytes was written that is no argument of the call");
    cr_expect_eq(violation.param, 1);
    cr_assert_eq(check(), GUARD_CLEAN);
}

Test(guard_bystanders, the_nearest_sixteen_are_read)
{
    cr_assert_eq(check(), GUARD_CLEAN);
    change(others[16]);
    cr_assert_eq(check(), GUARD_CLEAN);
    change(others[15]);
    cr_assert_eq(check(), GUARD_OUTSIDE);
}

Test(guard_bystanders, what_is_forgotten_is_seen_anew)
{
    cr_assert_eq(check(), GUARD_CLEAN);
    change(others[1]);
    guard_bystanders_forget(others[1]);
    cr_assert_eq(check(), GUARD_CLEAN);
    change(others[2]);
    guard_bystanders_forget_all(&bystanders);
    cr_assert_eq(check(), GUARD_CLEAN);
    change(others[2]);
    cr_assert_eq(check(), GUARD_OUTSIDE);
}

static uint64_t generation;

static uint64_t count_generation(const struct backend *backend)
{
    (void)backend;
    return generation;
}

// A worker that is started again has other contents in its buffers.
Test(guard_bystanders, what_was_lost_is_seen_anew)
{
    struct backend_vt vt = backend_forward_vt;
    struct backend_wrapper again = {.backend = {.vt = &vt}, .inner = silu.backend};
    vt.generation = count_generation;
    cr_assert_eq(check_on(&again.backend), GUARD_CLEAN);
    change(others[1]);
    generation++;
    cr_assert_eq(check_on(&again.backend), GUARD_CLEAN);
    change(others[1]);
    cr_assert_eq(check_on(&again.backend), GUARD_OUTSIDE);
}

Test(guard_bystanders, a_freed_buffer_is_none)
{
    cr_assert_eq(check(), GUARD_CLEAN);
    for (uint32_t i = 0; i < OTHERS; i += 2) { // The newest stays, and then goes, too.
        guard_bystanders_remove(&bystanders, others[i]);
        guard_buffer_destroy(silu.backend, others[i]);
        others[i] = NULL;
    }
    guard_bystanders_remove(&bystanders, others[OTHERS - 1]);
    cr_assert_eq(check(), GUARD_CLEAN);
    change(others[1]);
    cr_assert_eq(check(), GUARD_OUTSIDE);
}
