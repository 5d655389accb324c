// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "base/json_file.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "run/case_export.h"
#include "verify/compare.h"

#include <criterion/criterion.h>
#include <string.h>

static struct scratch scratch;
static struct cases_norm norm;
static struct compare_limit limits[1];

static void begin(void)
{
    scratch_make(&scratch);
    cases_make_norm(&norm, "layers.0/norm", 0);
    norm.arguments[1].before = norm.weight;
    limits[0] = compare_floor(COMPARE_REDUCTION);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(case_export, .init = begin, .fini = end);

static tapml_status write_case(int with_pytest)
{
    return case_export_write(&(struct case_export){.item = &norm.item,
                                                   .limits = limits,
                                                   .folder = scratch_path(&scratch, "case"),
                                                   .with_pytest = with_pytest});
}

Test(case_export, a_case_is_a_folder)
{
    json_t *document = NULL;

    cr_assert_eq(write_case(1), TAPML_OK, "%s", status_message());
    cr_assert_eq(json_file_load(scratch_path(&scratch, "case/case.json"), &document), TAPML_OK,
                 "%s", status_message());
    cr_expect_str_eq(json_string_value(json_object_get(document, "op")), "tapml.rms_norm");
    const json_t *list = json_object_get(document, "arguments");
    const json_t *output = json_array_get(list, json_array_size(list) - 1);

    cr_expect_str_eq(json_string_value(json_object_get(output, "out")), "y.out.npy");
    cr_expect_float_eq(json_real_value(json_object_get(json_object_get(output, "limit"), "nmse")),
                       1e-12, 1e-15);
    cr_expect(file_exists(scratch_path(&scratch, "case/x.in.npy")));
    cr_expect(file_exists(scratch_path(&scratch, "case/weight.in.npy")));
    cr_expect(file_exists(scratch_path(&scratch, "case/test_case.py")));
    json_decref(document);
}

Test(case_export, a_weight_that_is_not_there_is_said)
{
    norm.arguments[1].before = NULL;
    cr_expect_eq(write_case(0), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "'norm.weight' is not there"), "%s",
                       status_message());
}

// A bundle comes from someone else, and names become names of files.
Test(case_export, no_name_leads_out_of_the_folder)
{
    static const char *const names[] = {"../x", "/tmp/x", "a/b", "", ".", "x y"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        norm.arguments[0].name = names[i];
        cr_expect_eq(write_case(0), TAPML_INVALID, "%s", names[i]);
        cr_expect_not_null(strstr(status_message(), "is no plain name"), "%s", status_message());
    }
}
