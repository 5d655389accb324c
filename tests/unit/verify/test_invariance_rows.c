// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "varying_backend.h"

static struct arena *arena;
static struct varying varying;

static void begin(void)
{
    judged_store_begin();
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
    judged_store_end();
}

TestSuite(invariance_rows, .init = begin, .fini = end, .timeout = 60);

Test(invariance_rows, what_is_computed_row_by_row_has_equal_bits)
{
    add_silu("silu", 0, 0);
    const struct invariance_finding found = try_axis(exact, invariance_rows_try, arena);
    cr_expect_eq(found.kind, INVARIANCE_EQUAL);
    cr_expect_eq(found.size, 0u);
    cr_expect_eq(found.tried, 16u, "a comparison for each size");
    cr_expect(found.margin <= 1);
}

static enum harm ulp_from_nine(const struct backend_call *call, int calls)
{
    (void)calls;
    return rows_of(call) >= 9 ? HARM_ULP : HARM_NONE;
}

Test(invariance_rows, other_bits_within_limits_are_never_wrong)
{
    add_silu("silu", 0, 0);
    const struct invariance_finding found =
        try_axis(vary(&varying, exact, ulp_from_nine), invariance_rows_try, arena);
    cr_expect_eq(found.kind, INVARIANCE_WITHIN);
    cr_expect_eq(found.size, 9u);
    cr_expect_str_eq(found.instance, "silu");
    cr_expect_str_eq(found.shape, "rows=9");
}

static enum harm wrong_from_four(const struct backend_call *call, int calls)
{
    (void)calls;
    return rows_of(call) >= 4 ? HARM_WRONG : rows_of(call) == 2 ? HARM_ULP : HARM_NONE;
}

Test(invariance_rows, the_smallest_size_is_that_of_what_is_wrong)
{
    add_silu("silu", 0, 0);
    const struct invariance_finding found =
        try_axis(vary(&varying, exact, wrong_from_four), invariance_rows_try, arena);
    cr_expect_eq(found.kind, INVARIANCE_WRONG);
    cr_expect_eq(found.size, 4u);
    cr_expect(found.margin > 1);
    cr_expect_neq(*found.reason, '\0');
}

static enum harm wrong_alone(const struct backend_call *call, int calls)
{
    (void)calls;
    return rows_of(call) == 1 ? HARM_WRONG : HARM_NONE;
}

Test(invariance_rows, a_row_alone_is_judged_too)
{
    add_silu("silu", 0, 0);
    const struct invariance_finding found =
        try_axis(vary(&varying, exact, wrong_alone), invariance_rows_try, arena);
    cr_expect_eq(found.kind, INVARIANCE_WRONG);
    cr_expect_eq(found.size, 1u);
}

Test(invariance_rows, states_and_rows_have_axes_of_their_own)
{
    add_append("append", 0, 0);
    struct invariance_finding found = try_axis(exact, invariance_rows_try, arena);
    cr_expect_eq(found.kind, INVARIANCE_UNTRIED);
    cr_expect_str_eq(found.reason, "it has states: 'chunk' and 'verify' are its axes");
    execute("DELETE FROM \"case\"");
    add_silu("silu", 0, 0);
    found = try_axis(exact, invariance_rows_try_chunk, arena);
    cr_expect_eq(found.kind, INVARIANCE_UNTRIED);
    cr_expect_str_eq(found.reason, "it has no states: 'rows' is its axis");
}

Test(invariance_rows, tokens_in_several_calls_and_drafted_ones_are_equal)
{
    add_append("append", 0, 0);
    struct invariance_finding found = try_axis(exact, invariance_rows_try_chunk, arena);
    cr_expect_eq(found.kind, INVARIANCE_EQUAL, "%s", found.reason);
    cr_expect_eq(found.tried, 2u, "two calls of a token");
    found = try_axis(exact, invariance_rows_try_verify, arena);
    cr_expect_eq(found.kind, INVARIANCE_EQUAL, "%s", found.reason);
    cr_expect_eq(found.tried, 1u, "two tokens at once");
}

Test(invariance_rows, a_call_of_one_token_that_is_wrong_is_that_of_chunks)
{
    add_append("append", 0, 0);
    struct invariance_finding found =
        try_axis(vary(&varying, exact, wrong_alone), invariance_rows_try_chunk, arena);
    cr_expect_eq(found.kind, INVARIANCE_WRONG, "%s", found.reason);
    cr_expect_eq(found.size, 1u);
}

static enum harm wrong_at_two(const struct backend_call *call, int calls)
{
    (void)calls;
    return rows_of(call) == 2 ? HARM_WRONG : HARM_NONE;
}

Test(invariance_rows, drafted_tokens_that_are_wrong_at_once_have_their_number)
{
    add_append("append", 0, 0);
    struct invariance_finding found =
        try_axis(vary(&varying, exact, wrong_at_two), invariance_rows_try_verify, arena);
    cr_expect_eq(found.kind, INVARIANCE_WRONG, "%s", found.reason);
    cr_expect_eq(found.size, 2u);
}
