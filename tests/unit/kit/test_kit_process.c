// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_list.h"
#include "kit/kit_process.h"

#include <tapml/abi.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *find(const char *name)
{
    static char paths[2][4096];
    static int turn;
    const char *build = getenv("TAPML_TEST_BUILD");

    turn = !turn;
    (void)snprintf(paths[turn], sizeof(paths[turn]), "%s/%s", build != NULL ? build : ".", name);
    return paths[turn];
}

static struct kit_task task_of(const char *component)
{
    return (struct kit_task){.plugin = find("plugins/cpu/tapml-cpu.so"),
                             .component = component,
                             .minor = TAPML_ABI_MINOR,
                             .seed = 1};
}

// All checks of a plugin that keeps the rules, as a debugger makes them.
Test(kit_process, a_good_plugin_passes_in_this_process, .timeout = 120)
{
    const struct kit_check *check = NULL;

    for (size_t i = 0; (check = kit_list_at(i)) != NULL; i++) {
        const int is_whole = check->scope == KIT_OF_FILE || check->scope == KIT_OF_PLUGIN;
        const struct kit_task task = task_of(is_whole ? NULL : "reference");
        struct kit_result result;

        // H-01 to H-03 are about the first time that the library is opened; above the contract are
        // cases that this program does not find.
        if (strcmp(check->id, "H-03") == 0 || check->level > KIT_CONTRACT ||
            check->scope == KIT_OF_MODEL || check->scope == KIT_OF_OTHER) {
            continue;
        }
        kit_process_run(&task, check, &result);
        cr_expect(kit_result_is_good(&result), "%s: %s", check->id, result.reason);
    }
}

Test(kit_process, what_is_no_plugin_fails)
{
    struct kit_task task = task_of(NULL);
    struct kit_result result;

    task.plugin = "/nowhere/x.so";
    kit_process_run(&task, kit_list_find("M-01"), &result);
    cr_expect_eq(result.outcome, KIT_FAILED);
    cr_expect_not_null(strstr(result.reason, "/nowhere/x.so"), "%s", result.reason);
}

// A process that says nothing has not made the check, however it ends.
Test(kit_process, a_process_without_a_result_is_a_crash)
{
    struct kit_task task = task_of(NULL);
    struct kit_result result;
    uint64_t time_ns = 0;

    task.program = "/bin/true";
    cr_assert_eq(kit_process_make(&task, kit_list_find("M-01"), &result, &time_ns), TAPML_OK);
    cr_expect_eq(result.outcome, KIT_CRASHED);
    task.program = "/bin/false";
    cr_assert_eq(kit_process_make(&task, kit_list_find("M-01"), &result, &time_ns), TAPML_OK);
    cr_expect_eq(result.outcome, KIT_CRASHED);
    cr_expect_not_null(strstr(result.reason, "exit status 1"), "%s", result.reason);
    task.program = "/nowhere/program";
    cr_expect_neq(kit_process_make(&task, kit_list_find("M-01"), &result, &time_ns), TAPML_OK);
    cr_expect_eq(kit_process_serve(&task, "A-00"), TAPML_NOT_FOUND);
}
