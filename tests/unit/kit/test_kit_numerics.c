// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/file.h"
#include "harness/kit_fixture.h"
#include "harness/scratch.h"
#include "kit/kit_numerics.h"

static struct scratch scratch;

// Cases of one model, under the name of another, and the component that calibrates.
static void setup(void)
{
    char from[SCRATCH_PATH], plugins[SCRATCH_PATH];
    char *data = NULL;
    size_t size = 0;

    scratch_make(&scratch);
    setenv("TAPML_CASES", scratch.folder, 1);
    snprintf(plugins, sizeof(plugins), "%s/plugins/cpu", getenv("TAPML_TEST_BUILD"));
    setenv("TAPML_PLUGIN_PATH", plugins, 1);
    snprintf(from, sizeof(from), "%s/stores/version-5/run.tapmlrun", getenv("TAPML_TEST_DATA"));
    cr_assert_eq(file_read(from, 1 << 24, &data, &size), TAPML_OK);
    scratch_write(&scratch, "tiny.tapmlrun", data, size);
    alloc_free(data);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(kit_numerics, .init = setup, .fini = teardown, .timeout = 120);

// What passes goes on to the next model, which is not there.
Test(kit_numerics, an_op_is_judged_model_by_model_until_it_is_wrong)
{
    struct kit_result result = kit_fixture_run("tests/zoo/wrong_below.so", "wrong_below", "O-silu");

    cr_expect_eq(result.outcome, KIT_FAILED, "%s", result.reason);
    cr_expect_not_null(strstr(result.reason, "mlp/silu of tiny, "), "%s", result.reason);
    result = kit_fixture_run("tests/zoo/tame.so", "tame", "O-silu");
    cr_expect_eq(result.outcome, KIT_SKIPPED, "%s", result.reason);
    cr_expect_not_null(strstr(result.reason, "gemma2.tapmlrun"), "%s", result.reason);
}

Test(kit_numerics, an_op_that_is_not_there_is_skipped)
{
    const struct kit_result result = kit_fixture_run("tests/zoo/tame.so", "tame", "O-mul");

    cr_expect_eq(result.outcome, KIT_SKIPPED);
    cr_expect_str_eq(result.reason, "the device does not have it");
}

Test(kit_numerics, ops_are_judged_one_after_the_other)
{
    struct kit_result result = kit_fixture_run("tests/zoo/mixes_up.so", "mixes_up", "O-mul");

    cr_expect_eq(result.outcome, KIT_SKIPPED, "%s", result.reason); // Right alone, up to gemma2.
    result = kit_fixture_run("tests/zoo/mixes_up.so", "mixes_up", "W-tiny");
    cr_expect_eq(result.outcome, KIT_FAILED, "%s", result.reason);
    cr_expect_not_null(strstr(result.reason, "the first is tapml.mul "), "%s", result.reason);
    result = kit_fixture_run("tests/zoo/tame.so", "tame", "W-tiny");
    cr_expect_eq(result.outcome, KIT_PASSED, "%s", result.reason);
}

Test(kit_numerics, without_a_store_there_is_nothing_to_replay)
{
    const struct kit_result result = kit_fixture_run("tests/zoo/tame.so", "tame", "R-01");

    cr_expect_eq(result.outcome, KIT_SKIPPED);
    cr_expect_not_null(strstr(result.reason, "--replay"), "%s", result.reason);
}
