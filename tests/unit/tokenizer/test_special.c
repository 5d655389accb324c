// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "tokenizer/special.h"

#include <criterion/criterion.h>
#include <string.h>

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(special, .init = setup, .fini = teardown);

static struct special load(void)
{
    struct special special;
    cr_assert_eq(special_load(scratch.folder, &special), TAPML_OK, "%s", status_message());
    return special;
}

Test(special, an_empty_folder_has_none)
{
    const struct special special = load();
    cr_assert_eq(special.begin, -1);
    cr_assert_eq(special.end_count, 0);
    cr_assert_not(special_is_end(&special, -1));
    cr_assert_not(special_is_end(&special, 0));
}

Test(special, generation_config_wins)
{
    (void)scratch_text(&scratch, "config.json", "{\"bos_token_id\": 1, \"eos_token_id\": 2}");
    struct special special = load();
    cr_assert_eq(special.begin, 1);
    cr_assert_eq(special.end_count, 1);
    cr_assert(special_is_end(&special, 2));
    (void)scratch_text(&scratch, "generation_config.json", "{\"eos_token_id\": [5, 6]}");
    special = load();
    cr_assert_eq(special.begin, 1); // Each is asked for on its own.
    cr_assert_eq(special.end_count, 2);
    cr_assert(special_is_end(&special, 5));
    cr_assert(special_is_end(&special, 6));
    cr_assert_not(special_is_end(&special, 2));
    (void)scratch_text(&scratch, "generation_config.json",
                       "{\"eos_token_id\": null, \"bos_token_id\": 9}");
    special = load();
    cr_assert_eq(special.begin, 9);
    cr_assert(special_is_end(&special, 2));
}

Test(special, names_are_looked_up)
{
    (void)scratch_text(&scratch, "tokenizer_config.json",
                       "{\"model_max_length\": 1000000000000000019884624838656,"
                       " \"bos_token\": \"<s>\", \"eos_token\": {\"content\": \"</s>\"},"
                       " \"added_tokens_decoder\": {\"7\": {\"content\": \"<s>\"}}}");
    struct special special = load();
    cr_assert_eq(special.begin, 7);
    cr_assert_eq(special.end_count, 0);
    (void)scratch_text(&scratch, "tokenizer.json",
                       "{\"added_tokens\": [{\"id\": 3, \"content\": \"<s>\"},"
                       " {\"id\": 4, \"content\": \"</s>\"}]}");
    special = load();
    cr_assert_eq(special.begin, 3);
    cr_assert_eq(special.end_count, 1);
    cr_assert(special_is_end(&special, 4));
    (void)scratch_text(&scratch, "config.json", "{\"eos_token_id\": 2}");
    special = load();
    cr_assert(special_is_end(&special, 2));
    cr_assert_not(special_is_end(&special, 4));
}

static void expect_refused(const char *text, const char *word)
{
    struct special special;
    (void)scratch_text(&scratch, "generation_config.json", text);
    cr_assert_eq(special_load(scratch.folder, &special), TAPML_INVALID, "%s", text);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
}

Test(special, what_is_wrong_is_refused)
{
    expect_refused("{", "generation_config.json:1");
    expect_refused("{\"eos_token_id\": \"x\"}", "'eos_token_id'");
    expect_refused("{\"eos_token_id\": [1, -2]}", "'eos_token_id'");
    expect_refused("{\"bos_token_id\": 2147483648}", "'bos_token_id'");
    expect_refused("{\"eos_token_id\": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}", "at most 16");
}

Test(special, the_trained_model_has_both)
{
    struct special special;
    cr_assert_eq(special_load(scratch_source("models/tiny"), &special), TAPML_OK);
    cr_assert_eq(special.begin, 0);
    cr_assert_eq(special.end_count, 1);
    cr_assert(special_is_end(&special, 1));
}

Test(special, a_token_is_named_by_its_text)
{
    json_t *tokens = json_pack("[s, {s:s}, {}, i]", "<s>", "content", "</s>", 5);
    cr_assert_str_eq(special_content(json_array_get(tokens, 0)), "<s>");
    cr_assert_str_eq(special_content(json_array_get(tokens, 1)), "</s>");
    cr_assert_null(special_content(json_array_get(tokens, 2)));
    cr_assert_null(special_content(json_array_get(tokens, 3)));
    cr_assert_null(special_content(NULL));
    json_decref(tokens);
}
