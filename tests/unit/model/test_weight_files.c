// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/gguf_maker.h"
#include "model/weight_files.h"

#include <criterion/criterion.h>

static struct scratch scratch;
static struct gguf_maker maker;

static void setup(void)
{
    scratch_make(&scratch);
    gguf_maker_begin(&maker);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(weight_files, .init = setup, .fini = teardown);

Test(weight_files, folders_and_files_are_opened)
{
    struct checkpoint *checkpoint = NULL;
    cr_assert_eq(weight_files_open(scratch_data("models/llama"), &checkpoint), TAPML_OK);
    checkpoint_close(checkpoint);
    gguf_maker_string(&maker, "general.architecture", "llama");
    gguf_maker_tensor(&maker, "token_embd.weight", 5, 8);
    const char *path = gguf_maker_write(&maker, &scratch, "x.gguf");
    cr_assert_eq(weight_files_open(path, &checkpoint), TAPML_OK, "%s", status_message());
    cr_assert_eq(checkpoint_count(checkpoint), 1);
    checkpoint_close(checkpoint);
    cr_assert_eq(weight_files_open(scratch_path(&scratch, "none"), &checkpoint), TAPML_NOT_FOUND);
}
