// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "harness/scratch.h"
#include "kit/kit_architecture.h"

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
    scratch_text(&scratch, "config.json",
                 "{\"model_type\": \"zoo_architect\", \"vocab_size\": 8, \"hidden_size\": 4, "
                 "\"groups\": 2}");
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(kit_architecture, .init = setup, .fini = teardown, .timeout = 60);

static struct kit_result run(const char *name, const char *component, const char *id)
{
    struct kit_result result;
    const struct kit_task task = {.plugin = scratch_join("TAPML_TEST_BUILD", name),
                                  .component = component,
                                  .minor = TAPML_ABI_MINOR,
                                  .model = scratch.folder,
                                  .seed = 1};

    kit_process_run(&task, kit_list_find(id), &result);
    return result;
}

// The one that keeps all rules passes; the sinner fails with a reason that has `piece`.
static void expect(const char *id, const char *sin, const char *piece)
{
    char name[128];
    struct kit_result result = run("tests/zoo/sin_keeps_all.so", "sin_keeps_all", id);

    cr_expect_eq(result.outcome, KIT_PASSED, "%s: %s", id, result.reason);
    (void)snprintf(name, sizeof(name), "tests/zoo/%s.so", sin);
    result = run(name, sin, id);
    cr_expect_eq(result.outcome, KIT_FAILED, "%s of %s: %s", id, sin, result.reason);
    cr_expect_not_null(strstr(result.reason, piece), "%s", result.reason);
}

Test(kit_architecture, graphs_that_differ_are_seen)
{
    expect("W-01", "sin_counts_graphs", "sum");
    expect("W-02", "sin_looks_at_files", "and with weights '");
}

Test(kit_architecture, ops_may_be_those_of_a_plugin_beside_it)
{
    char other[2 * SCRATCH_PATH];
    const char *const others[] = {other, NULL};
    struct kit_result result;

    (void)snprintf(other, sizeof(other), "%s",
                   scratch_join("TAPML_TEST_BUILD", "tests/zoo/calibrates.so"));
    struct kit_task task = {.plugin =
                                scratch_join("TAPML_TEST_BUILD", "tests/zoo/sin_keeps_all.so"),
                            .component = "sin_keeps_all",
                            .minor = TAPML_ABI_MINOR,
                            .model = scratch.folder,
                            .seed = 1};

    scratch_text(&scratch, "config.json",
                 "{\"model_type\": \"zoo_architect\", \"vocab_size\": 8, \"hidden_size\": 4, "
                 "\"groups\": 2, \"factor\": 2}");
    kit_process_run(&task, kit_list_find("W-01"), &result);
    cr_expect_eq(result.outcome, KIT_FAILED, "%s", result.reason);
    cr_expect_not_null(strstr(result.reason, "org.example.scale"), "%s", result.reason);
    task.others = others;
    kit_process_run(&task, kit_list_find("W-01"), &result);
    cr_expect_eq(result.outcome, KIT_PASSED, "%s", result.reason);
}

Test(kit_architecture, weights_are_missed)
{
    expect("W-03", "sin_takes_any_shape", "weight 'embed.weight' has a row more");
}

Test(kit_architecture, configurations_are_tried)
{
    expect("W-04", "sin_matches_all", "it says 1 of 100 of {}");
    const struct kit_result result = run("tests/zoo/sin_keeps_all.so", "sin_keeps_all", "W-06");

    cr_expect_eq(result.outcome, KIT_PASSED, "%s", result.reason);
}

Test(kit_architecture, inputs_are_filled_in_parts)
{
    expect("W-05", "sin_begins_anew", "input 'places' of 12 tokens in parts");
}
