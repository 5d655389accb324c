// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "watch/sampling.h"
#include "watched_run.h"

TestSuite(turning, .init = watched_run_begin, .fini = watched_run_end, .timeout = 110);

Test(turning, nothing_turns_where_verdicts_are_the_same)
{
    struct turning turning;
    const int64_t judged = number_of("SELECT sum(judged) FROM watched");

    cr_assert_gt(judged, 0);
    (void)watch_once(&turning);
    cr_expect_eq(turning.count, 2 * WATCHED_STEPS);
    cr_expect_eq(turning.worse + turning.better, 0);
    cr_expect_null(turning_first(&turning));
    cr_expect_eq(number_of("SELECT sum(judged) FROM watched"), judged);
    turning_release(&turning);
}

Test(turning, a_verdict_turns_once_for_each_way)
{
    struct turning turning;

    spoil("tapml.silu");
    const int64_t look = watch_once(&turning);

    cr_expect_eq(turning.worse, WATCHED_STEPS);
    cr_expect_eq(turning.better, 0);
    const struct turned_row *first = turning_first(&turning);

    cr_assert_not_null(first);
    cr_expect_str_eq(first->before, "pass");
    cr_expect_str_eq(first->after, "fail");
    cr_expect_str_eq(first->op, "tapml.silu");
    turning_release(&turning);
    cr_expect_eq(number_of("SELECT count(*) FROM turned WHERE is_worse"), WATCHED_STEPS);
    cr_expect_eq(number_of("SELECT max(look) FROM turned"), look);
    (void)watch_once(&turning); // As after a host that was killed behind the write.
    cr_expect_eq(turning.worse, 0);
    turning_release(&turning);
    execute("UPDATE output_error SET ulp = 0, nmse = 0, row_error = 0");
    (void)watch_once(&turning);
    cr_expect_eq(turning.better, WATCHED_STEPS);
    turning_release(&turning);
}

Test(turning, what_is_stale_has_not_turned_and_is_noted)
{
    struct verdict_list none = {0};
    struct turning turning;

    execute("UPDATE maker SET implementation = 'other' WHERE op = 'tapml.silu'");
    struct verdict_list list = {0};

    MUST(verdict_read(store, "gpu", &list));
    MUST(turning_mark_stale(store, "gpu", &list, 77));
    verdict_list_release(&list);
    // Cases with equal contents have one row.
    const int64_t rows = number_of("SELECT count(*) FROM watched WHERE op = 'tapml.silu'");

    cr_expect_eq(number_of("SELECT count(*) FROM watched WHERE stale_s = 77"), rows);
    MUST(turning_mark_stale(store, "gpu", &none, 88));
    cr_expect_eq(number_of("SELECT count(*) FROM watched WHERE stale_s = 77"), rows);
    cr_expect_gt(number_of("SELECT count(*) FROM watched WHERE stale_s = 88"), 0);
    (void)watch_once(&turning);
    cr_expect_eq(turning.count, WATCHED_STEPS, "those of the other op are fresh");
    cr_expect_eq(turning.worse + turning.better, 0);
    turning_release(&turning);
    cr_expect_eq(number_of("SELECT count(*) FROM watched WHERE stale_s = 88"), 0);
}

Test(turning, a_new_case_is_worse_only_if_it_fails)
{
    struct turning turning;
    struct verdict_options options = options_for(exact);

    add_silu("layers.2/s", 90, 0.5f);
    add_silu("layers.2/s", 91, 0);
    struct verdict_list list = judge(&options);

    verdict_list_release(&list);
    (void)watch_once(&turning);
    cr_assert_eq(turning.worse, 1);
    cr_expect_str_eq(turning_first(&turning)->before, "");
    cr_expect_str_eq(turning_first(&turning)->param, "y");
    cr_expect_str_neq(turning_first(&turning)->place, "");
    turning_release(&turning);
}

Test(turning, a_driver_is_a_verdict_too)
{
    struct turning turning = {.arena = arena};

    MUST(turning_add_driver(&turning, store, "gpu", NULL));
    cr_expect_eq(turning.worse + turning.better, 0);
    MUST(turning_write(&turning, store, 1));
    turning_release(&turning);
    MUST(turning_add_driver(&turning, store, "gpu", "it is wrong"));
    cr_expect_eq(turning.worse, 1);
    cr_expect_str_eq(turning_first(&turning)->reason, "it is wrong");
    turning_release(&turning);
}

Test(turning, a_look_has_a_row_for_each_case_that_it_saw)
{
    struct turning turning;
    const int64_t rows = number_of("SELECT count(*) FROM watched WHERE op = 'tapml.silu'");

    cr_expect_eq(number_of("SELECT count(*) FROM looked WHERE look = 1 AND cause = 'new'"),
                 number_of("SELECT count(*) FROM watched"));
    execute("UPDATE watched SET stale_s = 50 WHERE op = 'tapml.silu'");
    (void)watch_once(&turning);
    cr_expect_eq(turning.seen, WATCHED_STEPS);
    turning_release(&turning);
    cr_expect_eq(number_of("SELECT count(*) FROM looked WHERE look = 2 AND cause = 'change' AND"
                           " stale_s = 50 AND before = 'pass' AND after = 'pass'"),
                 rows);
    cr_expect_eq(number_of("SELECT count(*) FROM looked WHERE look = 2"), rows);
    spoil("tapml.rms_norm"); // As if another command had judged it.
    (void)watch_once(&turning);
    turning_release(&turning);
    cr_expect_eq(number_of("SELECT count(*) FROM looked WHERE look = 3 AND cause <> 'run'"), 0);
    cr_expect_gt(number_of("SELECT count(*) FROM looked WHERE look = 3 AND after = 'fail'"), 0);
}

Test(turning, samples_and_what_they_have_moved_are_told_apart)
{
    struct turning turning = {.arena = arena};
    struct verdict_list list = {0};
    char op[] = "tapml.silu";

    execute("UPDATE watched SET stale_s = 50 WHERE op = 'tapml.silu'");
    MUST(verdict_read(store, "gpu", &list));
    MUST(turning_add(&turning, store, "gpu", &list));
    const struct turning_item *sampled = &turning.items[0];

    for (size_t i = 0; i < turning.count; i++) {
        sampled = strcmp(turning.items[i].looked.op, op) != 0 ? &turning.items[i] : sampled;
    }
    cr_assert_null(sampled->looked.cause);
    struct sampling_case sample = {sampled->looked.key, sampled->looked.op, 3, 1.5};
    struct sampling_op moved = {.op = op, .is_moved = 1};
    const struct sampling sampling = {
        .cases = &sample, .replayed = 1, .ops = &moved, .op_count = 1};

    turning_add_samples(&turning, "other", &sampling);
    cr_assert_null(sampled->looked.cause);
    turning_add_samples(&turning, "gpu", &sampling);
    cr_expect_str_eq(sampled->looked.cause, LOOKED_SAMPLE);
    cr_expect(sampled->looked.drift == 3 && sampled->looked.time_ratio == 1.5);
    for (size_t i = 0; i < turning.count; i++) {
        const struct looked_row *row = &turning.items[i].looked;

        cr_expect(strcmp(row->op, op) != 0 || (strcmp(row->cause, LOOKED_SAMPLE) == 0 &&
                                               isnan(row->drift) && row->stale_s == 50));
    }
    turning_release(&turning);
    verdict_list_release(&list);
}
