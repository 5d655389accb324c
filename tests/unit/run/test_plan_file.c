// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "config/run_config.h"
#include "exec/place.h"
#include "harness/scratch.h"
#include "run/plan_file.h"

#include <criterion/criterion.h>

static struct scratch scratch;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(plan_file, .init = begin, .fini = end);

Test(plan_file, a_plan_from_cases_says_so)
{
    const struct run_config config = {.dir = scratch.folder, .store = "other.tapmlrun"};
    const struct run_judge judge = {.from = {.config = &config}};
    char *text = NULL;
    size_t bytes = 0;

    cr_assert_eq(plan_file_write(&judge,
                                 &(struct place_settings){.name = "gpu", .backend = "opencl:0"},
                                 "* -> gpu\n"),
                 TAPML_OK);
    cr_assert_eq(file_read(scratch_path(&scratch, "plan-gpu.txt"), 1000, &text, &bytes), TAPML_OK);
    cr_expect_str_eq(text, "# cases of other.tapmlrun, gpu = opencl:0; no model was run\n"
                           "* -> gpu\n");
    alloc_free(text);
}

Test(plan_file, a_folder_that_is_not_there_is_named)
{
    const struct run_config config = {.dir = "/nowhere/at/all", .store = "other.tapmlrun"};
    const struct run_judge judge = {.from = {.config = &config}};

    cr_expect_neq(
        plan_file_write(&judge, &(struct place_settings){.name = "gpu", .backend = "opencl:0"}, ""),
        TAPML_OK);
    cr_expect_not_null(strstr(status_message(), "/nowhere/at/all"));
}
