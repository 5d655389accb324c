// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "recorded_looks.h"

#include <string.h>

TestSuite(recorded, .init = open_store_begin, .fini = open_store_end);

Test(recorded, nothing_is_recorded_without_rows)
{
    struct recorded recorded;

    cr_expect_eq(recorded_read(store, arena, &recorded), TAPML_NOT_FOUND);
    write_looks(2);
    cr_expect_eq(recorded_read(store, arena, &recorded), TAPML_NOT_FOUND);
}

Test(recorded, a_case_has_its_history_from_when_it_was_stale)
{
    struct recorded recorded;

    write_looks(5);
    saw_all_pass();
    saw(4, "a1", LOOKED_CHANGE, 2, "pass", "fail");
    saw(4, "a2", LOOKED_CHANGE, 3, "pass", "pass");
    saw(5, "a1", LOOKED_CHANGE, 5, "fail", "pass");
    saw(5, "b2", LOOKED_GONE, 0, "pass", "");
    MUST(recorded_read(store, arena, &recorded));
    cr_assert(recorded.look_count == 5 && recorded.case_count == 4 && recorded.event_count == 8);
    cr_expect(recorded.target_count == 1 && recorded.group_count == 2);
    const struct recorded_case *first = &recorded.cases[0];

    cr_assert_str_eq(first->key, "a1");
    cr_assert_eq(first->event_end - first->event_begin, 3);
    const struct recorded_event *events = &recorded.events[first->event_begin];

    cr_expect(events[1].look == 3 && events[1].onset == 1,
              "seen at the fourth, stale at the second");
    cr_expect(events[1].after == TURNING_WRONG && events[1].regression == 0);
    cr_expect(events[2].onset == 4 && events[2].regression == RECORDED_NONE);
    cr_assert_eq(recorded.regression_count, 1);
    cr_expect(recorded.regressions[0].look == 3 && recorded.regressions[0].onset == 1);
    cr_expect_eq(recorded.looks[1].onset_count, 1);
    cr_expect_float_eq(first->cost_s, 0.001, 1e-12, "its time, since nothing can be predicted");
    cr_expect_eq(recorded.timed, 4);
}

Test(recorded, looks_without_rows_are_counted)
{
    struct recorded recorded;

    write_looks(3);
    saw(2, "a1", LOOKED_NEW, 0, "", "error");
    MUST(recorded_read(store, arena, &recorded));
    cr_expect(recorded.looks_before == 1 && recorded.look_count == 2);
    cr_expect_eq(recorded.regression_count, 1, "a new case that is wrong is one");
    cr_expect_eq(recorded.turned_unseen, -1); // The looks of this test have counted none.
}

Test(recorded, cases_that_the_store_does_not_have_come_last)
{
    struct recorded recorded;
    double failures[2] = {0};
    size_t places[4];

    write_looks(1);
    saw_all_pass();
    MUST(recorded_read(store, arena, &recorded));
    MUST(recorded_order(&recorded, 0, failures, places));
    for (size_t i = 0; i < 4; i++) {
        cr_expect_eq(places[i], RECORDED_LAST + i);
    }
}
