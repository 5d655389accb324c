// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "guarded_silu.h"
#include "verify/guard_violation.h"

static struct guarded_silu silu;
static struct guard_violation violation;

static void begin(void)
{
    silu_begin(&silu);
    violation = (struct guard_violation){0};
}

static void end(void)
{
    silu_end(&silu);
}

TestSuite(guard_violation, .init = begin, .fini = end);

static void expect(enum guard_kind kind, uint32_t param, const char *what)
{
    cr_expect_eq(violation.kind, kind, "%s", what);
    cr_expect_eq(violation.param, param, "%s", what);
    cr_expect_str_eq(violation.what, what);
    cr_expect(!violation.is_weight);
}

static void at_byte(uint32_t use, uint64_t byte)
{
    guard_violation_outside(&violation, &silu.guarded, &silu.guarded.uses[use], byte);
}

Test(guard_violation, names_what_was_written_outside)
{
    at_byte(1, ZONE - 4);
    expect(GUARD_OUTSIDE, 1, "redzone before 'y' was written, 4 bytes before its buffer");
    at_byte(1, ZONE + SILU_BYTES);
    expect(GUARD_OUTSIDE, 1, "redzone after 'y' was written, at byte 0 behind its buffer");
    at_byte(0, ZONE + 8);
    expect(GUARD_OUTSIDE, 0, "input 'x' changed at element 2");
}

Test(guard_violation, names_what_was_left_unwritten)
{
    guard_violation_poisoned(&violation, &silu.guarded, &silu.guarded.uses[1], 3);
    expect(GUARD_POISONED, 1, "'y' has poison at element 3, read from outside of the inputs");
    guard_violation_unwritten(&violation, &silu.guarded, &silu.guarded.uses[1], 4);
    expect(GUARD_UNWRITTEN, 1, "'y' was not written from element 4, poison is left");
}

Test(guard_violation, names_a_weight_that_changed)
{
    guard_violation_weight(&violation, &silu.guarded, &silu.guarded.uses[0]);
    expect(GUARD_OUTSIDE, 0, "weight 'x' changed, in this call or in one before that used it");
}
