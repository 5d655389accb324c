// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "recorded_looks.h"

#include <sqlite3.h>

static void execute(const char *sql)
{
    cr_assert_eq(sqlite3_exec(store_connection(store), sql, NULL, NULL, NULL), SQLITE_OK);
}

TestSuite(simulation, .init = open_store_begin, .fini = open_store_end);

static struct simulation_policy policy_of(const char *triggers, const char *budget)
{
    struct simulation_policy policy = {.interval_s = 10};

    MUST(watch_settings_read(triggers, &policy.settings));
    if (budget != NULL) {
        MUST(budget_read(budget, &policy.settings.budget));
    }
    return policy;
}

static struct simulation simulate(struct simulation_policy policy)
{
    struct recorded recorded;
    struct simulation simulation;

    MUST(recorded_read(store, arena, &recorded));
    MUST(simulation_run(&recorded, &policy, &simulation));
    return simulation;
}

// An op is worse at the second look, and is mended at the fourth.
static void write_a_regression(void)
{
    write_looks(5);
    saw_all_pass();
    saw(2, "a1", LOOKED_CHANGE, 2, "pass", "fail");
    saw(2, "a2", LOOKED_CHANGE, 2, "pass", "pass");
    saw(4, "a1", LOOKED_CHANGE, 4, "fail", "pass");
    saw(4, "a2", LOOKED_CHANGE, 4, "pass", "pass");
}

Test(simulation, the_triggers_of_the_record_give_what_it_has)
{
    write_a_regression();
    const struct simulation found = simulate(policy_of("identity", NULL));

    cr_expect(found.looks == 3 && found.replayed == 8 && found.sampled == 0);
    cr_expect_float_eq(found.seconds, 0.008, 1e-9);
    cr_expect(found.ends[SIMULATION_FOUND] == 1 && found.late_looks == 0 && found.late_s == 0);
    cr_expect(found.unknown == 0 && found.unordered == 0);
}

Test(simulation, everything_at_each_look_is_all_cases)
{
    write_a_regression();
    struct simulation_policy policy = policy_of("identity", NULL);

    policy.is_everything = 1;
    const struct simulation found = simulate(policy);

    cr_expect_eq(found.replayed, 5 * EVERYTHING);
    cr_expect(found.ends[SIMULATION_FOUND] == 1 && found.late_looks == 0 && found.unknown == 0);
}

// The regret of an op of two cases that were judged once is 1/4 of the seconds, and running it
// costs 2 ms, so that the first look at the interval runs it.
Test(simulation, the_cost_makes_cases_wait)
{
    write_a_regression();
    struct simulation_policy policy = policy_of("cost", NULL);
    const struct simulation found = simulate(policy);

    cr_expect_eq(found.replayed, 8);
    cr_expect(found.ends[SIMULATION_FOUND] == 1 && found.late_looks == 0);
    cr_expect_float_eq(found.late_s, 10, 1e-9, "at the interval");
    policy.interval_s = 1000; // Then at the next look alone.
    const struct simulation late = simulate(policy);

    cr_expect_eq(late.replayed, 8);
    cr_expect(late.ends[SIMULATION_FOUND] == 1 && late.late_looks == 1);
    cr_expect_float_eq(late.late_s, LOOK_S, 1e-9);
}

Test(simulation, a_majority_wants_more)
{
    write_a_regression();
    struct simulation_policy both = policy_of("identity cost", NULL);

    cr_expect_eq(simulate(both).late_s, 0);
    both.settings.ensemble = WATCH_MAJORITY;
    cr_expect_float_eq(simulate(both).late_s, 10, 1e-9);
    both = policy_of("identity cost drift:2", NULL);
    both.settings.ensemble = WATCH_MAJORITY;
    cr_expect_float_eq(simulate(both).late_s, 10, 1e-9, "two of three");
    both = policy_of("cost drift:2", NULL);
    both.settings.ensemble = WATCH_MAJORITY;
    cr_expect_eq(simulate(both).replayed, 0);
    cr_expect_eq(simulate(both).ends[SIMULATION_OPEN] + simulate(both).ends[SIMULATION_MISSED], 1);
}

// Of rows that are pruned the verdict before is left.
Test(simulation, records_may_begin_later)
{
    write_a_regression();
    execute("DELETE FROM looked WHERE look = 1");
    const struct simulation found = simulate(policy_of("identity", NULL));

    cr_expect(found.replayed == 4 && found.unknown == 0);
    cr_expect_eq(found.ends[SIMULATION_FOUND], 1);
}

// With a budget of one case the one that is worse at the second look has its turn at the fourth, at
// which it is mended.
Test(simulation, a_budget_makes_it_late_or_missed)
{
    write_looks(5);
    saw_all_pass();
    saw(2, "b2", LOOKED_CHANGE, 2, "pass", "fail");
    saw(4, "b2", LOOKED_CHANGE, 4, "fail", "pass");
    struct simulation_policy policy = policy_of("identity", "1");
    const struct simulation soon = simulate(policy);

    cr_expect_eq(soon.replayed, 6, "what is left runs at the interval");
    cr_expect_eq(soon.unordered, 3, "the last one that is left needs no order");
    cr_expect_eq(soon.ends[SIMULATION_FOUND], 1);
    policy.interval_s = 1000;
    cr_expect_eq(simulate(policy).replayed, 4);
    cr_expect_eq(simulate(policy).ends[SIMULATION_MISSED], 1);
}

Test(simulation, what_the_record_ran_later_is_unknown_before)
{
    write_looks(3);
    saw_all_pass();
    saw(3, "a1", LOOKED_CHANGE, 2, "pass", "fail");
    const struct simulation found = simulate(policy_of("identity", NULL));

    cr_expect(found.unknown == 1 && found.ends[SIMULATION_UNKNOWN] == 1);
    cr_expect_eq(found.ends[SIMULATION_FOUND], 0);
}

Test(simulation, a_regression_is_open_at_the_end_and_missed_if_its_case_goes)
{
    write_looks(3);
    saw_all_pass();
    saw(2, "a1", LOOKED_CHANGE, 2, "pass", "fail");
    struct simulation_policy never = policy_of("drift:2", NULL);

    cr_expect_eq(simulate(never).ends[SIMULATION_OPEN], 1);
    cr_expect_eq(simulate(never).replayed, 0);
    cr_expect_eq(simulate(never).unsampled, 3);
    saw(3, "a1", LOOKED_GONE, 0, "fail", "");
    cr_expect_eq(simulate(never).ends[SIMULATION_MISSED], 1);
}

Test(simulation, samples_that_moved_make_their_op_run)
{
    write_looks(3);
    saw_all_pass();
    sampled(2, "a1", 3);
    sampled(2, "b1", 1);
    saw(2, "a2", LOOKED_SAMPLE, 2, "pass", "fail");
    const struct simulation found = simulate(policy_of("identity drift:2", NULL));

    cr_expect(found.sampled == 2 && found.unsampled == 2);
    cr_expect_eq(found.replayed, 4 + 2);
    cr_expect_eq(found.ends[SIMULATION_FOUND], 1);
    cr_expect_eq(found.unknown, 0);
    cr_expect_eq(simulate(policy_of("identity drift:4", NULL)).ends[SIMULATION_OPEN], 1);
    cr_expect_eq(simulate(policy_of("identity", NULL)).sampled, 0);
}

// The recorded host let it be: no row says what its cases would have come to.
Test(simulation, samples_that_moved_less_than_the_record_wanted_are_unknown)
{
    write_looks(2);
    saw_all_pass();
    sampled(2, "a1", 3);
    const struct simulation found = simulate(policy_of("identity drift:2", NULL));

    cr_expect_eq(found.replayed, 4 + 2);
    cr_expect_eq(found.unknown, 1, "the sample itself is known");
}

Test(simulation, what_another_command_has_found_costs_nothing)
{
    write_looks(2);
    saw_all_pass();
    saw(2, "a1", LOOKED_RUN, 0, "pass", "fail");
    const struct simulation found = simulate(policy_of("cost", NULL));

    cr_expect_eq(found.ends[SIMULATION_FOUND], 1);
    cr_expect_eq(found.late_s, 0);
}
