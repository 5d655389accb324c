// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"
#include "run/run_lock.h"
#include "store/metadata.h"
#include "store/step.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "store/target.h"

#include <jansson.h>
#include <math.h>

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_status, .init = setup, .fini = teardown);

// A run of one target, which has moved three of four instances and reverted one.
static void write_store(void)
{
    static const char *const INSTANCES[] = {"a/x", "a/y", "b/x", "b/y"};
    struct store *store = NULL;

    cr_assert_eq(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store), TAPML_OK);
    cr_assert_eq(target_declare(store,
                                &(struct target_row){.name = "gpu",
                                                     .backend = "other:0",
                                                     .activations = "f32",
                                                     .faults = "",
                                                     .goal = "* -> gpu\ninstance=c -> source\n"},
                                1),
                 TAPML_OK);
    cr_assert_eq(metadata_set(store, "prompts.count", "2"), TAPML_OK);
    for (size_t i = 0; i < sizeof(INSTANCES) / sizeof(*INSTANCES); i++) {
        cr_assert_eq(stored_case_add(store, &(struct carved_case){.instance = INSTANCES[i],
                                                                  .op_name = "tapml.silu",
                                                                  .op_version = 1,
                                                                  .phase = "prefill",
                                                                  .shape_class = "x=[1]"}),
                     TAPML_OK, "%s", status_message());
    }
    cr_assert_eq(step_add(store, &(struct step_row){.target = "gpu",
                                                    .step = "move silu",
                                                    .verdict = STEP_REVERTED,
                                                    .reason = "",
                                                    .plan = "* -> gpu\ninstance=c -> source\n"
                                                            "instance=b/y -> source\n"}),
                 TAPML_OK);
    store_close(store);
}

Test(command_status, counts_what_the_store_and_the_lock_say)
{
    struct run_lock *lock = NULL;

    write_store();
    cr_assert_eq(run_lock_take(scratch.folder, &lock), TAPML_OK);
    run_lock_publish(lock,
                     &(struct run_lock_phase){"offload to gpu", "prompts checked", 3, 9, NAN});
    run_lock_end(lock, OUTCOME_ENVIRONMENT, "the disk is full");
    run_lock_release(lock);
    struct printed printed = PRINTED(command_status_main, scratch.folder);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, ": failed, process "), "%s", printed.out);
    cr_assert_not_null(strstr(printed.out, "offload to gpu: 3 / 9 prompts checked\n"));
    cr_assert_not_null(strstr(printed.out, "0 of 2 prompts, 0 calls, 4 cases kept"));
    cr_assert_not_null(strstr(printed.out, "other:0: 0 of 4 cases replayed"));
    cr_assert_not_null(strstr(printed.out, "1 blamed, 3 of 4 instances moved so far"));
    cr_assert_not_null(strstr(printed.out, "last step 'move silu': reverted"));
    cr_assert_not_null(strstr(printed.out, "error    the disk is full"));
    printed_release(&printed);
}

Test(command_status, is_json_where_that_is_asked_for)
{
    write_store();
    struct printed printed = PRINTED(command_status_main, "--json", scratch.folder);
    json_t *root = json_loads(printed.out, 0, NULL);
    const json_t *target = json_array_get(json_object_get(root, "targets"), 0);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_str_eq(json_string_value(json_object_get(root, "state")), "not running");
    cr_assert_null(json_object_get(root, "exit"));
    cr_assert_eq(json_integer_value(json_object_get(root, "cases")), 4);
    cr_assert_eq(json_integer_value(json_object_get(target, "moved")), 3);
    cr_assert_eq(json_integer_value(json_object_get(target, "blamed")), 1);
    json_decref(root);
    printed_release(&printed);
}

Test(command_status, a_store_that_cannot_be_read_hides_nothing_else)
{
    struct run_lock *lock = NULL;

    (void)scratch_write(&scratch, "run.tapmlrun", "no store at all", 15);
    cr_assert_eq(run_lock_take(scratch.folder, &lock), TAPML_OK);
    run_lock_release(lock);
    struct printed printed = PRINTED(command_status_main, scratch.folder);

    cr_assert_eq(printed.outcome, OUTCOME_USAGE, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, ": killed, process "), "%s", printed.out);
    cr_assert_not_null(strstr(printed.out, "cannot be read now: "));
    printed_release(&printed);
}

Test(command_status, a_folder_without_a_run_is_reported)
{
    struct printed printed = PRINTED(command_status_main, scratch.folder);

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "there is no run in '"), "%s", printed.err);
    printed_release(&printed);
}
