// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "run/case_onnx.h"
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
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(case_onnx, .init = begin, .fini = end);

static tapml_status write_case(const struct carved_case *item)
{
    return case_onnx_write(&(struct case_export){
        .item = item, .limits = limits, .folder = scratch_path(&scratch, "case")});
}

static size_t has(const char *bytes, size_t size, const char *piece)
{
    return memmem(bytes, size, piece, strlen(piece)) != NULL;
}

// What the model computes is judged by tests/python/test_onnx.py.
Test(case_onnx, is_a_model_and_a_data_set)
{
    char *model = NULL;
    size_t size = 0;

    cr_assert_eq(write_case(&norm.item), TAPML_OK, "%s", status_message());
    cr_assert_eq(file_read(scratch_path(&scratch, "case/model.onnx"), 1 << 20, &model, &size),
                 TAPML_OK);
    cr_expect(has(model, size, "ReduceMean"));
    cr_expect(has(model, size, "weight"));
    cr_expect(has(model, size, "tapml-host"));
    alloc_free(model);
    cr_expect(file_exists(scratch_path(&scratch, "case/test_data_set_0/input_1.pb")));
    cr_expect(file_exists(scratch_path(&scratch, "case/test_data_set_0/output_0.pb")));
    cr_expect_not(file_exists(scratch_path(&scratch, "case/test_data_set_0/output_1.pb")));
}

static void refused(const struct carved_case *item, tapml_status status, const char *sentence)
{
    cr_expect_eq(write_case(item), status);
    cr_expect_not_null(strstr(status_message(), sentence), "%s", status_message());
    cr_expect_not(file_exists(scratch_path(&scratch, "case/model.onnx")));
}

Test(case_onnx, what_has_no_form_is_said)
{
    static struct cases_blocks blocks;

    cases_make_blocks(&blocks, "b", 0);
    refused(&blocks.item, TAPML_UNIMPLEMENTED, "weights in blocks");
    norm.item.op_name = "tapml.linear_scan";
    refused(&norm.item, TAPML_UNIMPLEMENTED, "no recipe for the operator");
    norm.item.op_name = "tapml.rms_norm";
    norm.arguments[0].name = "../x";
    refused(&norm.item, TAPML_INVALID, "is no plain name");
}

Test(case_onnx, a_large_case_is_for_arrays)
{
    norm.arguments[0].base_bytes = UINT64_C(1) << 30;
    refused(&norm.item, TAPML_INVALID, "--as npy");
}
