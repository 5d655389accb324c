// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "harness/reported.h"
#include "report/report_data.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/target.h"

static struct scratch scratch;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(report_data, .init = begin, .fini = end, .timeout = 110);

Test(report_data, the_run_the_model_and_the_source_are_reported)
{
    json_t *report = reported_run(&scratch, "", OUTCOME_OK);
    json_t *model = json_object_get(report, "model");
    json_t *run = json_object_get(report, "run");

    cr_assert_str_eq(reported_string(report, "format"), "tapml.report/2");
    cr_assert_str_eq(reported_string(report, "verdict"), "right");
    cr_assert_str_eq(reported_string(run, "name"), "run");
    cr_assert_eq(reported_count(run, "decode"), 3);
    cr_assert_str_eq(reported_string(model, "name"), "llama");
    cr_assert_eq(reported_count(model, "ops"), 40);
    cr_assert_eq(reported_count(json_object_get(model, "config"), "num_hidden_layers"), 2);
    cr_assert_eq(reported_count(model, "parameters") * 4,
                 reported_count(json_object_get(model, "weight_bytes"), "f32"));
    cr_assert_str_eq(reported_string(json_object_get(report, "source"), "device"), "f32");
    cr_assert_eq(reported_count(json_object_get(report, "carving"), "prompts"), 2);
    cr_assert_eq(reported_count(json_object_get(report, "limits"), "factor"), 8);
    json_decref(report);
}

Test(report_data, a_second_start_gives_the_same_bytes)
{
    static const char fault[] = "[fault.1]\ntarget = other\nop = add\ninstance = layers.1/*\n"
                                "kind = zero-row\n";
    char *first = NULL, *second = NULL;
    size_t first_size = 0, second_size = 0;

    json_decref(reported_run(&scratch, fault, OUTCOME_WRONG));
    cr_assert_eq(
        file_read(scratch_path(&scratch, "report.json"), SIZE_MAX / 2, &first, &first_size),
        TAPML_OK);
    json_decref(reported_run(&scratch, fault, OUTCOME_WRONG));
    cr_assert_eq(
        file_read(scratch_path(&scratch, "report.json"), SIZE_MAX / 2, &second, &second_size),
        TAPML_OK);
    cr_assert_eq(first_size, second_size);
    cr_assert_eq(memcmp(first, second, first_size), 0);
    alloc_free(first);
    alloc_free(second);
}

Test(report_data, one_wrong_target_makes_all_wrong)
{
    json_t *report = reported_run(&scratch,
                                  "[target.last]\nbackend = reference:f32\n[fault.1]\n"
                                  "target = other\nop = mul\nkind = scale 2\n",
                                  OUTCOME_WRONG);
    json_t *targets = json_object_get(report, "targets");

    cr_assert_str_eq(reported_string(report, "verdict"), "wrong");
    cr_assert_eq(json_array_size(targets), 2);
    cr_assert_str_eq(reported_string(json_array_get(targets, 0), "verdict"), "wrong");
    cr_assert_str_eq(reported_string(json_array_get(targets, 1), "verdict"), "right");
    json_decref(report);
}

static void set_given_up(const char *reason)
{
    struct store *store = NULL;

    cr_assert_eq(store_open(scratch_path(&scratch, "run/run.tapmlrun"), 0, &store), TAPML_OK);
    cr_assert_eq(target_give_up(store, "other", reason), TAPML_OK, "%s", status_message());
    store_close(store);
}

Test(report_data, a_target_that_went_away_leaves_the_run_incomplete)
{
    json_t *report = NULL;

    json_decref(reported_run(&scratch, "", OUTCOME_OK));
    set_given_up("it was closed");
    cr_assert_eq(report_data_read(scratch_path(&scratch, "run"), &report), TAPML_OK, "%s",
                 status_message());
    const json_t *target = json_array_get(json_object_get(report, "given_up"), 0);

    cr_assert_str_eq(reported_string(report, "verdict"), "incomplete");
    cr_assert_eq(json_array_size(json_object_get(report, "targets")), 0);
    cr_assert_str_eq(reported_string(target, "name"), "other");
    cr_assert_str_eq(reported_string(target, "backend"), "reference:f64");
    cr_assert_str_eq(reported_string(target, "reason"), "it was closed");
    json_decref(report);
}

Test(report_data, a_folder_without_a_run_is_refused)
{
    json_t *report = NULL;

    cr_assert_eq(report_data_read(scratch.folder, &report), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "there is no run in"));
}
