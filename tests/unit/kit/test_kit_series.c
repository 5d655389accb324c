// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/scratch.h"
#include "kit/kit_list.h"
#include "kit/kit_series.h"

static struct kit_series series;
static struct kit_task asks; // What is asked for besides.
static int calls;

static tapml_status count(void *user, const struct kit_item *item)
{
    (void)user;
    (void)item;
    return ++calls == 4 ? TAPML_CANCELLED : TAPML_OK;
}

static tapml_status make(const char *plugin, const char *component, const char *pattern)
{
    const char *const patterns[] = {pattern, NULL};
    const struct kit_selection selection = {
        .task = {.plugin = scratch_join("TAPML_TEST_BUILD", plugin),
                 .component = component,
                 .others = asks.others,
                 .minor = TAPML_ABI_MINOR,
                 .seed = 1},
        .level = KIT_STATIC,
        .patterns = patterns,
        .in_process = 1,
        .made = count};

    calls = 0;
    return kit_series_make(&selection, &series);
}

static void teardown(void)
{
    kit_series_release(&series);
}

TestSuite(kit_series, .fini = teardown, .timeout = 60);

Test(kit_series, checks_are_made_for_each_component_they_are_about)
{
    cr_assert_eq(make("plugins/cpu/tapml-cpu.so", NULL, "C-02"), TAPML_OK, "%s", status_message());
    cr_assert_eq(series.count, 2u);
    cr_expect_str_eq(series.items[0].component, "reference");
    cr_expect_str_eq(series.items[1].component, "cpu");
    cr_expect_eq(kit_series_conclude(&series), KIT_SERIES_RIGHT);
    kit_series_release(&series);
    cr_assert_eq(make("plugins/cpu/tapml-cpu.so", "cpu", "C-02"), TAPML_OK);
    cr_expect_eq(series.count, 1u);
    kit_series_release(&series);
    cr_assert_eq(make("tests/zoo/no_driver.so", NULL, "C-02"), TAPML_OK);
    cr_expect_eq(kit_series_conclude(&series), KIT_SERIES_NOTHING);
    kit_series_release(&series);
    cr_assert_eq(make("tests/zoo/newer_abi.so", NULL, "[MH]-03"), TAPML_OK);
    cr_expect_eq(kit_series_conclude(&series), KIT_SERIES_WRONG);
}

// X-02 passes where there is no driver, and C-04 of a plugin that needs the newest host opens
// nothing: without a device that says nothing of the component.
Test(kit_series, what_passes_without_a_device_says_nothing)
{
    struct kit_item items[] = {
        {.check = kit_list_find("E-03"), .component = ""},
        {.check = kit_list_find("C-01"),
         .component = "mine",
         .result = {.outcome = KIT_SKIPPED, .reason = "probe: no driver", .lacks_device = 1}},
        {.check = kit_list_find("C-04"), .component = "mine"},
        {.check = kit_list_find("X-02"), .component = "mine"},
        {.check = kit_list_find("C-01"),
         .component = "another",
         .result = {.outcome = KIT_SKIPPED, .reason = "it has no such thing"}},
    };
    struct kit_series made = {.items = items, .count = 5};

    cr_expect_eq(kit_series_conclude(&made), KIT_SERIES_NOTHING);
    items[4].result.outcome = KIT_PASSED;
    cr_expect_eq(kit_series_conclude(&made), KIT_SERIES_RIGHT, "another one has a device");
    items[3].result.outcome = KIT_FAILED;
    cr_expect_eq(kit_series_conclude(&made), KIT_SERIES_WRONG);
}

// What stands on a check that has not passed is skipped, and says so.
Test(kit_series, what_stands_on_a_failure_is_skipped)
{
    cr_assert_eq(make("tests/zoo/sin_no_queue.so", NULL, "D-0[12]"), TAPML_OK);
    cr_assert_eq(series.count, 2u);
    cr_expect_eq(series.items[0].result.outcome, KIT_FAILED);
    cr_expect_eq(series.items[1].result.outcome, KIT_SKIPPED);
    cr_expect_str_eq(series.items[1].result.reason, "D-01 has not passed");
}

Test(kit_series, a_failure_of_who_is_told_ends_it)
{
    cr_expect_eq(make("plugins/null/tapml-null.so", NULL, "[EM]-*"), TAPML_CANCELLED);
    cr_expect_eq(series.count, 4u);
}

Test(kit_series, what_is_asked_wrongly_is_refused)
{
    const char *const others[] = {"/nowhere/beside.so", NULL};

    cr_expect_eq(make("nowhere.so", NULL, "C-02"), TAPML_NOT_FOUND);
    cr_expect_eq(make("plugins/cpu/tapml-cpu.so", "referense", "C-02"), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "did you mean 'reference'?"), "%s",
                       status_message());
    kit_series_release(&series);
    asks.others = others;
    cr_expect_eq(make("plugins/cpu/tapml-cpu.so", NULL, "C-02"), TAPML_NOT_FOUND);
    cr_expect_not_null(strstr(status_message(), "beside.so: there is no such file"), "%s",
                       status_message());
    kit_series_release(&series);
    asks = (struct kit_task){.others = NULL};
    cr_expect_eq(make("plugins/cpu/tapml-cpu.so", NULL, "A-*"), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "--list"), "%s", status_message());
}
