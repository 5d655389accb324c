// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "tricky_backend.h"
#include "verify/conduct_cause.h"

#include <criterion/criterion.h>

TestSuite(conduct_cause, .init = tricky_begin, .fini = tricky_end, .timeout = 110);

// Asks why the first kept case fails, as if it had failed in `mode`.
static enum conduct_kind ask(enum trick trick, enum conduct_mode mode, char *why, size_t size)
{
    const struct conduct_options options = trick_options(&trick);
    const struct verdict kept = {.case_id = 1};
    struct verdict_list list = {.count = 0};
    struct conduct_stand stand;
    struct conduct_trial trial;
    struct verdict failure;
    struct arena *arena = arena_create();
    enum conduct_kind kind = CONDUCT_RIGHT;
    const char *text = NULL;
    int is_right = 0;
    conduct_stand_init(&stand, &options);
    MUST(conduct_stand_renew(&stand));
    MUST(conduct_trial_make(store, stand.examiner, &kept, &trial));
    MUST(conduct_stand_try(&stand, &trial, &is_right));
    const struct conduct_question question = {
        .stand = &stand, .trial = &trial, .mode = mode, .store = store, .list = &list};
    MUST(conduct_cause_find(&question, arena, &kind, &text, &failure));
    snprintf(why, size, "%s", text);
    cr_expect_str_eq(failure.instance, "layers.0/silu");
    conduct_trial_release(&trial);
    conduct_stand_release(&stand);
    arena_destroy(arena);
    return kind;
}

Test(conduct_cause, calls_in_a_row_are_counted)
{
    char why[128];
    cr_expect_eq(ask(TRICK_DRIFTS, CONDUCT_PLAIN, why, sizeof(why)), CONDUCT_BY_CALLS);
    cr_expect_str_eq(why, "call 5 in a row with the same inputs is wrong");
}

Test(conduct_cause, other_inputs_at_an_address_are_tried)
{
    char why[128];
    cr_expect_eq(ask(TRICK_REPEATS, CONDUCT_PLAIN, why, sizeof(why)), CONDUCT_BY_ADDRESS);
}

Test(conduct_cause, what_nothing_here_explains_is_history)
{
    char why[128];
    cr_expect_eq(ask(TRICK_NONE, CONDUCT_PLAIN, why, sizeof(why)), CONDUCT_BY_HISTORY);
}

Test(conduct_cause, a_mode_may_say_it_alone)
{
    char why[128];
    cr_expect_eq(ask(TRICK_NONE, CONDUCT_ZEROS, why, sizeof(why)), CONDUCT_OLD_MEMORY);
    cr_expect_eq(ask(TRICK_NONE, CONDUCT_AT_ONCE, why, sizeof(why)), CONDUCT_LATE_WORK);
}

Test(conduct_cause, a_failing_call_has_its_sentence)
{
    char why[128];
    cr_expect_eq(ask(TRICK_FAILS, CONDUCT_PLAIN, why, sizeof(why)), CONDUCT_FAILS);
    cr_expect_not_null(strstr(why, "tricked"), "%s", why);
}
