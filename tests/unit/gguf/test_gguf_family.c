// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "gguf/gguf_family.h"
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

TestSuite(gguf_family, .init = setup, .fini = teardown);

static struct gguf *make(const char *architecture)
{
    struct gguf *gguf = NULL;
    if (architecture) {
        gguf_maker_string(&maker, "general.architecture", architecture);
    }
    gguf_maker_u32(&maker, "llama.block_count", 3);
    gguf_maker_f32(&maker, "llama.attention.layer_norm_rms_epsilon", 1e-6F);
    gguf_maker_tensor(&maker, "token_embd.weight", 5, 8);
    cr_assert_eq(gguf_open(gguf_maker_write(&maker, &scratch, "x.gguf"), &gguf), TAPML_OK);
    return gguf;
}

Test(gguf_family, the_configuration_follows_from_keys_and_tensors)
{
    struct gguf *gguf = make("llama");
    struct gguf_family *family = NULL;
    json_t *config = NULL;
    cr_assert_eq(gguf_family_open(gguf, &family), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(gguf_family_architecture(family), "llama");
    cr_assert_eq(gguf_family_config(family, &config), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(json_string_value(json_object_get(config, "model_type")), "llama");
    cr_assert_eq(json_integer_value(json_object_get(config, "num_hidden_layers")), 3);
    cr_assert_eq(json_integer_value(json_object_get(config, "vocab_size")), 5);
    cr_assert_eq(json_real_value(json_object_get(config, "rms_norm_eps")), 1e-6);
    cr_assert(json_is_true(json_object_get(config, "tie_word_embeddings")));
    cr_assert_null(json_object_get(config, "rope_scaling"), "nothing scales it");
    cr_assert_null(json_object_get(config, "hidden_size"), "there is no key");
    cr_assert(gguf_family_ignores(family, "rope_freqs.weight"));
    cr_assert_not(gguf_family_ignores(family, "output.weight"));
    cr_assert_not_null(json_object_get(gguf_family_tensors(family), "model.norm"), "of its base");
    json_t *count = NULL;
    cr_assert_eq(gguf_family_evaluate(family, "block_count", &count), TAPML_OK);
    cr_assert_eq(json_integer_value(count), 3);
    json_decref(count);
    json_decref(config);
    gguf_family_close(family);
    gguf_family_close(NULL);
    gguf_close(gguf);
}

static void expect_refused(const char *architecture, tapml_status expected, const char *word)
{
    struct gguf *gguf = make(architecture);
    struct gguf_family *family = NULL;
    cr_assert_eq(gguf_family_open(gguf, &family), expected);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    gguf_close(gguf);
    gguf_maker_begin(&maker);
}

Test(gguf_family, unknown_architectures_are_refused)
{
    expect_refused("qwen9", TAPML_NOT_FOUND, "found 'qwen9'");
    expect_refused(NULL, TAPML_INVALID, "general.architecture");
}
