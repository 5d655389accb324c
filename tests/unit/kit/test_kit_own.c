// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_own.h"

static char paths[2][4096];

static const char *find(int index, const char *name)
{
    (void)snprintf(paths[index], sizeof(paths[index]), "%s/%s", getenv("TAPML_TEST_BUILD"), name);
    return paths[index];
}

// The component that calibrates is found beside what is checked.
static void begin(void)
{
    setenv("TAPML_PLUGIN_PATH", find(0, "plugins/cpu"), 1);
}

TestSuite(kit_own, .init = begin, .timeout = 120);

static struct kit_result
run(const char *name, const char *component, const char *option, const char *other, const char *id)
{
    const char *const options[] = {option, NULL}, *const others[] = {other, NULL};
    struct kit_result result;
    const struct kit_task task = {.plugin = find(0, name),
                                  .component = component,
                                  .minor = TAPML_ABI_MINOR,
                                  .seed = 1,
                                  .options = options,
                                  .others = others};

    kit_process_run(&task, kit_list_find(id), &result);
    return result;
}

// One plugin of the zoo computes an op of its own as its plain form does, the other does not.
static void expect_told_apart(const char *right, const char *wrong, const char *said)
{
    char library[64];

    (void)snprintf(library, sizeof(library), "tests/zoo/%s.so", right);
    struct kit_result result = run(library, right, NULL, NULL, "O-own");

    cr_expect_eq(result.outcome, KIT_WARNED, "%s", result.reason); // The zoo's ops have no form.
    cr_expect_not_null(
        strstr(result.reason, "3 ops are not judged, the first is org.example.scale"), "%s",
        result.reason);
    (void)snprintf(library, sizeof(library), "tests/zoo/%s.so", wrong);
    result = run(library, wrong, NULL, NULL, "O-own");
    cr_expect_eq(result.outcome, KIT_FAILED, "%s", result.reason);
    cr_expect_not_null(strstr(result.reason, said), "%s", result.reason);
}

Test(kit_own, an_op_is_judged_by_its_plain_form)
{
    expect_told_apart("own_op", "wrong_own", "org.example.twice first of its schema, prefill, ");
}

Test(kit_own, a_weight_that_is_never_plain_is_in_blocks)
{
    expect_told_apart("own_blocks", "wrong_blocks", "org.example.blocks first of its schema");
}

Test(kit_own, an_op_without_one_is_judged_by_another_plugin)
{
    struct kit_result result = run("tests/zoo/tame.so", "tame", NULL, NULL, "O-own");

    cr_expect_eq(result.outcome, KIT_SKIPPED, "%s", result.reason);
    cr_expect_not_null(strstr(result.reason, "org.example.scale: it has no plain form"), "%s",
                       result.reason);
    cr_expect_not_null(strstr(result.reason, "--with FILE"), "%s", result.reason);
    result = run("tests/zoo/tame.so", "tame", NULL, find(1, "tests/zoo/calibrates.so"), "O-own");
    cr_expect_eq(result.outcome, KIT_WARNED, "%s", result.reason); // One takes a list of tensors.
    cr_expect_not_null(
        strstr(result.reason,
               "1 op is not judged, the first is org.example.trouble: it is trouble"),
        "%s", result.reason);
}

Test(kit_own, a_device_without_any_is_skipped)
{
    struct kit_result result = run("plugins/cpu/tapml-cpu.so", "reference", NULL, NULL, "O-own");

    cr_expect_eq(result.outcome, KIT_SKIPPED);
    cr_expect_str_eq(result.reason, "the device has no op of its own");
    result = run("tests/zoo/no_driver.so", "no_driver", NULL, NULL, "O-own");
    cr_expect_eq(result.outcome, KIT_SKIPPED);
    cr_expect(result.lacks_device);
    result = run("tests/zoo/tame.so", "tame", NULL, NULL, "O-group");
    cr_expect_eq(result.outcome, KIT_SKIPPED);
    cr_expect_not_null(strstr(result.reason, "the device has no 'tapml.subgraph"), "%s",
                       result.reason);
}

Test(kit_own, groups_are_judged_by_their_ops)
{
    static const char wrong[] = "tests/zoo/wrong_groups.so";
    struct kit_result result =
        run("plugins/groups/tapml-groups.so", "fused_norm", NULL, NULL, "O-group");

    cr_expect_eq(result.outcome, KIT_PASSED, "%s", result.reason);
    result = run("plugins/groups/tapml-groups.so", "whole_layer", NULL, NULL, "O-group");
    cr_expect_eq(result.outcome, KIT_PASSED, "%s", result.reason);
    result = run(wrong, "wrong_groups", NULL, NULL, "O-group");
    cr_expect_eq(result.outcome, KIT_PASSED, "%s", result.reason);
    result = run(wrong, "wrong_groups", "wrong=add rms_norm", NULL, "O-group");
    cr_expect_eq(result.outcome, KIT_FAILED, "%s", result.reason);
    cr_expect_not_null(strstr(result.reason, "the first is kit.add_norm "), "%s", result.reason);
}
