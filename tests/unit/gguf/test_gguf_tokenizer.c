// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "gguf/gguf_tokenizer.h"
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

TestSuite(gguf_tokenizer, .init = setup, .fini = teardown);

// Adds tokens with their types.
static void add_tokens(const char *const *tokens, const uint32_t *types, size_t count)
{
    gguf_maker_array(&maker, "tokenizer.ggml.tokens", 8, count);
    for (size_t i = 0; i < count; ++i) {
        gguf_maker_text(&maker.keys, tokens[i]);
    }
    gguf_maker_array(&maker, "tokenizer.ggml.token_type", 5, count);
    for (size_t i = 0; i < count; ++i) {
        gguf_maker_number(&maker.keys, types[i], 4);
    }
}

static const char *write_bytes(const char *pattern)
{
    static const char *const tokens[] = {"a", "b", "ab", "<s>", "\"", "<user>"};
    gguf_maker_string(&maker, "tokenizer.ggml.model", "gpt2");
    gguf_maker_string(&maker, "tokenizer.ggml.pre", pattern);
    add_tokens(tokens, (const uint32_t[]){1, 1, 1, 3, 1, 4}, 6);
    gguf_maker_array(&maker, "tokenizer.ggml.merges", 8, 1);
    gguf_maker_text(&maker.keys, "a b");
    gguf_maker_u32(&maker, "tokenizer.ggml.bos_token_id", 3);
    gguf_maker_u32(&maker, "tokenizer.ggml.eos_token_id", 70000);
    gguf_maker_u32(&maker, "tokenizer.ggml.eot_token_id", 2);
    gguf_maker_string(&maker, "tokenizer.chat_template", "{{ messages }}");
    return gguf_maker_write(&maker, &scratch, "x.gguf");
}

Test(gguf_tokenizer, bytes_are_a_description)
{
    struct text text;
    enum gguf_tokenizer_kind kind = GGUF_TOKENIZER_NONE;
    const char *path = write_bytes("phi-2");
    const size_t live = alloc_live();
    text_init(&text);
    cr_assert(gguf_tokenizer_exists(path));
    cr_assert_eq(gguf_tokenizer_load(path, &kind, &text), TAPML_OK, "%s", status_message());
    cr_assert_eq(kind, GGUF_TOKENIZER_DESCRIPTION);
    json_t *root = json_loads(text.data, 0, NULL);
    const json_t *model = json_object_get(root, "model");
    cr_assert_eq(json_integer_value(json_object_get(json_object_get(model, "vocab"), "\"")), 4);
    cr_assert_eq(json_array_size(json_object_get(model, "merges")), 1);
    cr_assert_eq(json_array_size(json_object_get(root, "added_tokens")), 2);
    cr_assert_not_null(json_object_get(json_object_get(root, "pre_tokenizer"), "type"));
    json_decref(root);
    text_release(&text);
    cr_assert_eq(alloc_live(), live);
}

Test(gguf_tokenizer, special_tokens_have_roles)
{
    json_t *config = NULL;
    cr_assert_eq(gguf_tokenizer_config(write_bytes("llama-bpe"), &config), TAPML_OK);
    cr_assert_str_eq(json_string_value(json_object_get(config, "bos_token")), "<s>");
    cr_assert_null(json_object_get(config, "eos_token"), "no token has this id");
    cr_assert_eq(json_integer_value(json_object_get(config, "bos_token_id")), 3);
    cr_assert_eq(json_array_size(json_object_get(config, "eos_token_id")), 2);
    cr_assert(json_is_true(json_object_get(config, "add_bos_token")), "as the pattern's models do");
    cr_assert_str_eq(json_string_value(json_object_get(config, "chat_template")), "{{ messages }}");
    json_decref(config);
}

static void expect_refused(const char *path, const char *word)
{
    struct text text;
    enum gguf_tokenizer_kind kind = GGUF_TOKENIZER_NONE;
    text_init(&text);
    cr_assert_eq(gguf_tokenizer_load(path, &kind, &text), TAPML_INVALID, "%s", word);
    cr_assert_not_null(strstr(status_message(), word), "%s: %s", word, status_message());
    text_release(&text);
    gguf_maker_begin(&maker);
}

Test(gguf_tokenizer, unknown_kinds_are_refused_by_name)
{
    static const char *const tokens[] = {"a"};
    expect_refused(write_bytes("no-such"), "'no-such'");
    gguf_maker_string(&maker, "tokenizer.ggml.model", "plamo9");
    add_tokens(tokens, (const uint32_t[]){1}, 1);
    expect_refused(gguf_maker_write(&maker, &scratch, "x.gguf"), "'plamo9'");
    gguf_maker_string(&maker, "tokenizer.ggml.model", "gpt2");
    expect_refused(gguf_maker_write(&maker, &scratch, "x.gguf"), "tokenizer.ggml.tokens");
    gguf_maker_string(&maker, "tokenizer.ggml.model", "llama");
    add_tokens(tokens, (const uint32_t[]){1}, 1);
    gguf_maker_array(&maker, "tokenizer.ggml.scores", 6, 0);
    expect_refused(gguf_maker_write(&maker, &scratch, "x.gguf"), "tokenizer.ggml.scores");
}

Test(gguf_tokenizer, words_get_their_marks_back)
{
    static const char *const tokens[] = {"[CLS]", "[SEP]", "\xe2\x96\x81one", "two"};
    struct text text;
    enum gguf_tokenizer_kind kind = GGUF_TOKENIZER_NONE;
    gguf_maker_string(&maker, "tokenizer.ggml.model", "bert");
    add_tokens(tokens, (const uint32_t[]){3, 3, 1, 1}, 4);
    gguf_maker_u32(&maker, "tokenizer.ggml.cls_token_id", 0);
    gguf_maker_u32(&maker, "tokenizer.ggml.seperator_token_id", 1);
    text_init(&text);
    const char *path = gguf_maker_write(&maker, &scratch, "x.gguf");
    cr_assert_eq(gguf_tokenizer_load(path, &kind, &text), TAPML_OK, "%s", status_message());
    cr_assert_not_null(strstr(text.data, "{\"[CLS]\":0,\"[SEP]\":1,\"one\":2,\"##two\":3}"), "%s",
                       text.data);
    cr_assert_not_null(strstr(text.data, "\"cls\":[\"[CLS]\",0],\"sep\":[\"[SEP]\",1]"));
    text_release(&text);
}

Test(gguf_tokenizer, pieces_are_a_model)
{
    static const char *const tokens[] = {"<unk>", "\xe2\x96\x81"};
    struct text text;
    enum gguf_tokenizer_kind kind = GGUF_TOKENIZER_NONE;
    gguf_maker_string(&maker, "tokenizer.ggml.model", "llama");
    add_tokens(tokens, (const uint32_t[]){2, 1}, 2);
    text_init(&text);
    const char *path = gguf_maker_write(&maker, &scratch, "x.gguf");
    cr_assert_eq(gguf_tokenizer_load(path, &kind, &text), TAPML_OK, "%s", status_message());
    cr_assert_eq(kind, GGUF_TOKENIZER_PIECES);
    cr_assert(memcmp(text.data, "\x0a\x0e\x0a\x05<unk>", 9) == 0);
    text_release(&text);
}

static void expect_none(const char *model)
{
    struct text text;
    enum gguf_tokenizer_kind kind = GGUF_TOKENIZER_PIECES;
    text_init(&text);
    gguf_maker_begin(&maker);
    gguf_maker_string(&maker, "tokenizer.ggml.model", model);
    const char *path = gguf_maker_write(&maker, &scratch, "x.gguf");
    cr_assert_not(gguf_tokenizer_exists(path));
    cr_assert_eq(gguf_tokenizer_load(path, &kind, &text), TAPML_OK, "%s", status_message());
    cr_assert_eq(kind, GGUF_TOKENIZER_NONE);
    cr_assert_eq(text.length, 0);
    text_release(&text);
}

Test(gguf_tokenizer, a_model_may_have_none)
{
    expect_none("none");
    expect_none("no_vocab");
}
