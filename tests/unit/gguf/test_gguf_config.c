// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "gguf/gguf_config.h"
#include "harness/gguf_maker.h"

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

TestSuite(gguf_config, .init = setup, .fini = teardown);

Test(gguf_config, a_file_has_a_configuration)
{
    json_t *config = NULL;
    gguf_maker_string(&maker, "general.architecture", "qwen2");
    gguf_maker_u32(&maker, "qwen2.embedding_length", 64);
    const char *path = gguf_maker_write(&maker, &scratch, "x.gguf");
    cr_assert_eq(gguf_config_load(path, &config), TAPML_OK, "%s", status_message());
    cr_assert_eq(json_integer_value(json_object_get(config, "hidden_size")), 64);
    json_decref(config);
}

Test(gguf_config, another_file_is_refused)
{
    json_t *config = NULL;
    cr_assert_eq(gguf_config_load(scratch_text(&scratch, "x", "{}"), &config), TAPML_INVALID);
    cr_assert_null(config);
}
