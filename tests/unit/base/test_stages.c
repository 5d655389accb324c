// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/stages.h"

#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

static struct stages stages;

static void begin(void)
{
    cr_assert_null(stages_begin(&stages));
}

static void end(void)
{
    if (stages_are_kept()) {
        stages_leave(NULL);
    }
}

TestSuite(stages, .init = begin, .fini = end);

static void rest(long milliseconds)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static const struct stages_count *count_of(size_t phase, enum stages_kind kind)
{
    return &stages.phases[phase].counts[kind];
}

Test(stages, names_are_found_again)
{
    for (int kind = 0; kind < STAGES_KINDS; kind++) {
        cr_expect_eq(stages_find(stages_name((enum stages_kind)kind)), (enum stages_kind)kind);
    }
    cr_expect_eq(stages_find("nothing"), STAGES_KINDS);
}

Test(stages, time_counts_for_the_innermost_stage_alone)
{
    stages_phase("replay on gpu");
    const enum stages_kind outer = stages_enter(STAGES_COMPARE);
    const enum stages_kind inner = stages_enter(STAGES_READ);
    rest(20);
    stages_return(inner, 7);
    stages_return(outer, 0);
    stages_leave(NULL);
    cr_assert_eq(stages.phase_count, 2u);
    cr_expect_str_eq(stages.phases[0].name, "other");
    cr_expect_str_eq(stages.phases[1].name, "replay");
    cr_expect_geq(count_of(1, STAGES_READ)->wall_ns, 20000000u);
    cr_expect_geq(count_of(1, STAGES_READ)->waiting_ns, 15000000u);
    cr_expect_eq(count_of(1, STAGES_READ)->visits, 1u);
    cr_expect_eq(count_of(1, STAGES_READ)->bytes, 7u);
    cr_expect_eq(count_of(1, STAGES_COMPARE)->visits, 1u);
    cr_expect_eq(count_of(1, STAGES_COMPARE)->waiting_ns, 0u);
}

Test(stages, calibrating_has_calls_as_a_part_and_the_store_beside_it)
{
    const enum stages_kind before = stages_enter(STAGES_CALIBRATE);
    const enum stages_kind prepare = stages_enter(STAGES_PREPARE);
    stages_return(prepare, 0);
    const enum stages_kind record = stages_enter(STAGES_RECORD);
    stages_return(record, 3);
    stages_return(before, 0);
    stages_leave(NULL);
    cr_expect_eq(count_of(0, STAGES_PREPARE)->visits, 0u);
    cr_expect_eq(count_of(0, STAGES_RECORD)->visits, 1u);
    cr_expect_eq(count_of(0, STAGES_RECORD)->bytes, 3u);
    cr_expect_eq(count_of(0, STAGES_CALIBRATE)->visits, 1u);
}

Test(stages, an_account_within_another_takes_its_time)
{
    stages_leave(NULL);
    struct stages within;
    const uint64_t begin_ns = clock_now_ns();
    cr_expect_null(stages_begin(&stages));
    cr_expect_eq(stages_begin(&within), &stages);
    rest(10);
    stages_leave(&stages);
    stages_leave(NULL);
    const uint64_t elapsed_ns = clock_now_ns() - begin_ns;
    const uint64_t within_ns = within.phases[0].counts[STAGES_OTHER].wall_ns;
    cr_expect_geq(within_ns, 10000000u);
    cr_expect_leq(within_ns + count_of(0, STAGES_OTHER)->wall_ns, elapsed_ns, "a time counts once");
}

Test(stages, facts_add_up)
{
    stages_add("calls", (struct stages_count){.visits = 2, .wall_ns = 5});
    stages_add("calls", (struct stages_count){.visits = 3, .bytes = 1});
    cr_expect_eq(stages_fact(&stages, "calls").visits, 5u);
    cr_expect_eq(stages_fact(&stages, "calls").bytes, 1u);
    cr_expect_eq(stages_fact(&stages, "calls").wall_ns, 5u);
    cr_expect_eq(stages_fact(&stages, "others").visits, 0u);
}

Test(stages, phases_beyond_the_last_are_others)
{
    char name[] = "a";
    for (int i = 0; i < STAGES_PHASES_MAX + 3; i++) {
        name[0] = (char)('a' + i);
        stages_phase(name);
    }
    cr_expect_eq(stages.phase_count, (size_t)STAGES_PHASES_MAX);
    cr_expect_eq(stages.phase, 0u);
}

Test(stages, without_an_account_nothing_happens)
{
    stages_leave(NULL);
    cr_expect_not(stages_are_kept());
    const enum stages_kind before = stages_enter(STAGES_READ);
    stages_add("calls", (struct stages_count){.visits = 1});
    stages_phase("replay");
    stages_return(before, 1);
    cr_expect_eq(count_of(0, STAGES_READ)->visits, 0u);
}
