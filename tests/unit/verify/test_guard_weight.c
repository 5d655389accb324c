// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "guarded_silu.h"
#include "verify/guard_weight.h"

static struct guarded_silu silu;
static struct room room;
static struct guard_violation violation;

// As if x were a large weight, of which there is no image.
static struct guarded_watch weight;

static void begin(void)
{
    silu_begin(&silu);
    weight = (struct guarded_watch){.buffer = silu.x, .use = &silu.guarded.uses[0], .is_weight = 1};
    MUST(guard_weight_begin(silu.backend, &room, &weight));
    violation = (struct guard_violation){0};
}

static void end(void)
{
    room_release(&room);
    silu_end(&silu);
}

TestSuite(guard_weight, .init = begin, .fini = end);

static enum guard_kind check(void)
{
    MUST(guard_weight_read(silu.backend, &room, &weight));
    MUST(guard_weight_check(silu.backend, &silu.guarded, &weight, &violation));
    return violation.kind;
}

Test(guard_weight, is_compared_at_the_first_use_and_at_every_sixteenth)
{
    cr_assert_eq(check(), GUARD_CLEAN);
    silu_bytes(silu.x)[ZONE + 5] ^= 1;
    for (int i = 1; i < 16; i++) {
        cr_assert_eq(check(), GUARD_CLEAN, "use %d", i);
    }
    cr_assert_eq(check(), GUARD_OUTSIDE);
    cr_expect_not_null(strstr(violation.what, "weight 'x' changed"));
}

Test(guard_weight, a_redzone_of_it_is_named)
{
    silu_bytes(silu.x)[ZONE + SILU_BYTES + 4] ^= 1;
    cr_assert_eq(check(), GUARD_OUTSIDE);
    cr_expect_not_null(strstr(violation.what, "redzone after 'x'"), "%s", violation.what);
}

Test(guard_weight, is_reported_once_and_hashed_anew)
{
    silu_bytes(silu.x)[ZONE] ^= 1;
    cr_assert_eq(check(), GUARD_OUTSIDE);
    violation = (struct guard_violation){0};
    cr_assert(!silu.x->is_hashed);
    MUST(guard_weight_begin(silu.backend, &room, &weight));
    cr_assert_eq(check(), GUARD_CLEAN);
}

// A call that is looked at when the next one was queued, whose weight has come into this buffer.
Test(guard_weight, is_compared_with_what_its_call_was_given)
{
    struct guarded_watch next = weight;
    MUST(guard_weight_read(silu.backend, &room, &weight));
    silu_bytes(silu.x)[ZONE + 5] ^= 1;
    silu.x->is_hashed = 0; // It was written.
    MUST(guard_weight_begin(silu.backend, &room, &next));
    MUST(guard_weight_read(silu.backend, &room, &next));
    MUST(guard_weight_check(silu.backend, &silu.guarded, &weight, &violation));
    cr_expect_eq(violation.kind, GUARD_CLEAN, "%s", violation.what);
    MUST(guard_weight_check(silu.backend, &silu.guarded, &next, &violation));
    cr_expect_eq(violation.kind, GUARD_CLEAN, "%s", violation.what);
}
