// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "judged_store.h"
#include "verify/replay.h"
#include "verify/row_bits.h"

static struct arena *arena;
static struct place *place;
static struct row_bits *bits;
static struct replay *replay;
static struct row_bits_run one, other;

static void begin(void)
{
    const struct place_settings settings = {.name = "gpu"};
    const struct place_link link = row_bits_link(&bits);
    judged_store_begin();
    arena = arena_create();
    MUST(place_create(&settings, &place));
    MUST(place_open(place, exact, &link, 1));
    MUST(replay_create(place->backend, NULL, &replay));
}

static void end(void)
{
    row_bits_run_release(&one);
    row_bits_run_release(&other);
    replay_destroy(replay);
    place_destroy(place);
    arena_destroy(arena);
    judged_store_end();
}

TestSuite(row_bits, .init = begin, .fini = end, .timeout = 60);

static void run(const struct carved_case *item, struct row_bits_run *noted, int64_t position)
{
    struct replay_result result;
    row_bits_note(bits, noted);
    row_bits_tokens(bits, position, 2);
    MUST(replay_run(
        replay, item,
        catalogue_find(registry_catalogue(plugins.registry), item->op_name, item->op_version), 0,
        &result));
    cr_assert_eq(result.outcome, REPLAY_RAN);
}

Test(row_bits, the_first_op_and_its_token_are_found)
{
    struct cases_silu first, second;
    struct row_bits_difference difference;
    cases_make_silu(&first, "first", 0);
    cases_make_silu(&second, "second", 0);
    run(&first.item, &one, 4);
    run(&second.item, &one, 4);
    run(&first.item, &other, 4);
    second.x[CASES_WIDTH] += 1; // The second row.
    run(&second.item, &other, 4);
    cr_assert(row_bits_compare(&one, &other, 0, &difference));
    cr_expect_str_eq(difference.instance, "second");
    cr_expect_str_eq(difference.op, "tapml.silu");
    cr_expect_eq(difference.token, 5);
    cr_expect_not(row_bits_compare(&one, &other, 6, &difference), "tokens in front do not count");
    cr_expect_not(row_bits_compare(&one, &one, 0, &difference));
}

Test(row_bits, of_a_state_the_rows_of_the_call_count)
{
    struct cases_append append;
    struct row_bits_difference difference;
    cases_make_append(&append, "append", 0);
    run(&append.item, &one, 15);
    append.before[0] += 1; // A row in front of those.
    run(&append.item, &other, 15);
    cr_expect_not(row_bits_compare(&one, &other, 0, &difference));
    append.rows[0] += 1;
    run(&append.item, &other, 15);
    cr_assert(row_bits_compare(&one, &other, 0, &difference));
    cr_expect_eq(difference.token, 15);
}

Test(row_bits, what_only_one_of_them_has_is_no_difference)
{
    struct cases_silu silu;
    struct row_bits_difference difference;
    cases_make_silu(&silu, "silu", 0);
    run(&silu.item, &one, 0);
    run(&silu.item, &other, 2);
    cr_expect_not(row_bits_compare(&one, &other, 0, &difference), "other tokens");
    row_bits_run_release(&other);
    row_bits_note(bits, NULL);
    cr_expect_not(row_bits_compare(&one, &other, 0, &difference), "nothing was noted");
}
