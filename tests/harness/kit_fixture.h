// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of the kit on plugins of the build tree, in this process.
#pragma once

#include "kit/kit_list.h"
#include "kit/kit_process.h"

#include <tapml/abi.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Makes the check `id` on the library `name` below the build's root.
static inline struct kit_result
kit_fixture_run(const char *name, const char *component, const char *id)
{
    const struct kit_check *check = kit_list_find(id);
    const char *build = getenv("TAPML_TEST_BUILD");
    char path[4096];
    struct kit_result result;

    (void)snprintf(path, sizeof(path), "%s/%s", build != NULL ? build : ".", name);
    cr_assert_not_null(check, "there is no check '%s'", id);
    const struct kit_task task = {
        .plugin = path, .component = component, .minor = TAPML_ABI_MINOR, .seed = 1};

    kit_process_run(&task, check, &result);
    return result;
}

// One that keeps the rule passes, and the sinner of tests/zoo fails with a reason that has `piece`.
static inline void kit_fixture_expect(const char *id, const char *sin, const char *piece)
{
    const int is_whole = id[0] == 'M' || id[0] == 'E' || id[0] == 'H';
    char name[128];
    struct kit_result result =
        kit_fixture_run("plugins/cpu/tapml-cpu.so", is_whole ? NULL : "reference", id);

    cr_expect(kit_result_is_good(&result), "%s: %s", id, result.reason);
    (void)snprintf(name, sizeof(name), "tests/zoo/%s.so", sin);
    result = kit_fixture_run(name, is_whole ? NULL : sin, id);
    cr_expect_eq(result.outcome, KIT_FAILED, "%s of %s: %s", id, sin, result.reason);
    cr_expect_not_null(strstr(result.reason, piece), "%s", result.reason);
}
