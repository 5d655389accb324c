// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/scratch.h"
#include "kit/kit_cases.h"
#include "kit/kit_subject.h"

#include <criterion/criterion.h>
#include <string.h>

static struct scratch scratch;
static struct kit_subject subject;
static struct kit_result result;
static struct kit_cases cases;

// The component `cpu`, beside which is the one that calibrates.
static void setup(void)
{
    char path[SCRATCH_PATH];

    scratch_make(&scratch);
    snprintf(path, sizeof(path), "%s/plugins/cpu/tapml-cpu.so", getenv("TAPML_TEST_BUILD"));
    cr_assert_eq(kit_subject_read(path, &subject), TAPML_OK, "%s", status_message());
    subject.component = "cpu";
    result = (struct kit_result){.outcome = KIT_PASSED};
    cr_assert(kit_cases_open(&subject, &result, &cases), "%s", result.reason);
}

static void teardown(void)
{
    kit_cases_close(&cases);
    kit_subject_release(&subject);
    scratch_remove(&scratch);
}

TestSuite(kit_cases, .init = setup, .fini = teardown, .timeout = 120);

static int judge(const char *store, const char *op, int derives)
{
    char path[SCRATCH_PATH];
    const struct kit_cases_question question = {.store = path, .op = op, .derives = derives};

    snprintf(path, sizeof(path), "%s/stores/%s", getenv("TAPML_TEST_DATA"), store);
    return kit_cases_judge(&cases, &question);
}

Test(kit_cases, cases_of_an_op_are_judged_and_derived_ones_with_them)
{
    cr_assert(judge("version-5/run.tapmlrun", "silu", 0), "%s", result.reason);
    const size_t kept = cases.judged;

    cr_expect_gt(kept, 0u);
    cr_assert(judge("version-5/run.tapmlrun", "tapml.silu", 1), "%s", result.reason);
    cr_expect_gt(cases.judged, 2 * kept);
    cr_expect_eq(cases.wrong, 0u, "%s", cases.first);
    cr_expect(kit_result_is_good(&result));
}

Test(kit_cases, a_store_without_the_op_counts_nothing)
{
    cr_assert(judge("version-5/run.tapmlrun", "wkv4", 1), "%s", result.reason);
    cr_expect_eq(cases.judged + cases.unsupported, 0u);
}

Test(kit_cases, a_store_that_is_not_there_is_a_failure)
{
    cr_expect_not(judge("version-5/none.tapmlrun", NULL, 0));
    cr_expect_eq(result.outcome, KIT_FAILED);
    cr_expect_not_null(strstr(result.reason, "none.tapmlrun"), "%s", result.reason);
}

// Its cases would fail on any device.
Test(kit_cases, a_store_that_lacks_its_weights_is_not_the_device_s_fault)
{
    cr_expect_not(judge("version-5/run.tapmlrun", "linear", 0));
    cr_expect_eq(result.outcome, KIT_FAILED);
    cr_expect_not_null(strstr(result.reason, "run.tapmlrun: "), "%s", result.reason);
    cr_expect_not_null(strstr(result.reason, "of its cases refer to weights that it does not have; "
                                             "'tapml-host store inline DIR' puts them into it"),
                       "%s", result.reason);
    cr_expect_eq(cases.wrong, 0u, "%s", cases.first);
}

Test(kit_cases, what_comes_with_the_kit_is_found_by_its_model)
{
    setenv("TAPML_CASES", scratch.folder, 1);
    cr_expect_null(kit_cases_find("some", &result));
    cr_expect_eq(result.outcome, KIT_SKIPPED);
    cr_expect_not_null(strstr(result.reason, "/some.tapmlrun"), "%s", result.reason);
    scratch_text(&scratch, "some.tapmlrun", "");
    char *path = kit_cases_find("some", &result);

    cr_assert_not_null(path);
    cr_expect_not_null(strstr(path, "/some.tapmlrun"), "%s", path);
    alloc_free(path);
}
