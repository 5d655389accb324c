// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "run/case_program.h"
#include "verify/compare.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct scratch scratch;
static struct cases_norm norm;
static struct compare_limit limits[1];
static char *program;

static void begin(void)
{
    scratch_make(&scratch);
    cases_make_norm(&norm, "layers.0/norm", 0);
    norm.arguments[1].before = norm.weight;
    limits[0] = compare_floor(COMPARE_REDUCTION);
}

static void end(void)
{
    alloc_free(program);
    scratch_remove(&scratch);
}

TestSuite(case_program, .init = begin, .fini = end);

static tapml_status write_case(void)
{
    return case_program_write(&(struct case_export){
        .item = &norm.item, .limits = limits, .folder = scratch_path(&scratch, "case")});
}

static void has(const char *piece)
{
    size_t size = 0;

    if (program == NULL) {
        cr_assert_eq(write_case(), TAPML_OK, "%s", status_message());
        cr_assert_eq(
            file_read(scratch_path(&scratch, "case/test_case.c"), 1 << 20, &program, &size),
            TAPML_OK, "%s", status_message());
    }
    cr_expect_not_null(strstr(program, piece), "'%s' is not in:\n%.3000s", piece, program);
}

Test(case_program, declares_calls_and_compares)
{
    has("void kernel(const float *x, const int64_t x_shape[2],\n"
        "            const float *weight, const int64_t weight_shape[1],\n");
    has("tensor_x_shape[2] = {2, 3}");
    has("memset(&tensor_y, 0xaa, sizeof(tensor_y))");
    has("compare(\"y\", at_f32, tensor_y.values, tensor_y_expected.values, 6, ");
}

Test(case_program, names_that_are_words_of_c_are_others)
{
    norm.arguments[0].name = "int";
    norm.arguments[1].name = "0";
    has("const float *tensor_int, const int64_t tensor_int_shape[2]");
    has("const float *tensor_0");
}

Test(case_program, what_a_stranger_wrote_ends_no_comment)
{
    norm.item.instance = "a*/ int evil; /*\\";
    norm.arguments[2].d = (double)INFINITY;
    has("at a./ int evil; /.., step");
    has(", INFINITY");
}

Test(case_program, no_name_leads_out_of_the_file)
{
    norm.arguments[0].name = "x; evil";
    cr_expect_eq(write_case(), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "is no plain name"), "%s", status_message());
}

Test(case_program, a_large_case_is_for_arrays)
{
    norm.arguments[0].content_bytes = UINT64_C(4) * (CASE_PROGRAM_ELEMENTS_MAX + 1);
    cr_expect_eq(write_case(), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "--as npy"), "%s", status_message());
}

Test(case_program, a_weight_that_is_not_there_is_said)
{
    norm.arguments[1].before = NULL;
    cr_expect_eq(write_case(), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "'norm.weight' is not there"), "%s",
                       status_message());
}
