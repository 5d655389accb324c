// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/quotes.h"
#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/tokenizer.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

static struct tokenizer *open_folder(const char *folder)
{
    struct tokenizer *tokenizer = NULL;
    cr_assert_eq(tokenizer_open(folder, &tokenizer), TAPML_OK, "%s", status_message());
    return tokenizer;
}

// Some of the texts have zero bytes.
static json_t *load(const char *path)
{
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, NULL);
    cr_assert_not_null(root, "%s", path);
    return root;
}

static void expect_encoded(const struct tokenizer *tokenizer,
                           const json_t *text,
                           int special,
                           const json_t *expected,
                           size_t count)
{
    int32_t *ids = NULL;
    size_t found = 0;
    const tapml_status status = tokenizer_encode(tokenizer, json_string_value(text),
                                                 json_string_length(text), special, &ids, &found);
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
    cr_assert_eq(found, count, "'%s': %zu ids", json_string_value(text), found);
    for (size_t i = 0; i < count; ++i) {
        cr_assert_eq(ids[i], json_integer_value(json_array_get(expected, i)), "'%s': id %zu is %d",
                     json_string_value(text), i, ids[i]);
    }
    alloc_free(ids);
}

static void expect_decoded(const struct tokenizer *tokenizer,
                           const json_t *ids,
                           int skip_special,
                           const json_t *expected)
{
    int32_t row[4096];
    char *text = NULL;
    const size_t count = json_array_size(ids);
    cr_assert_leq(count, (size_t)4096);
    for (size_t i = 0; i < count; ++i) {
        row[i] = (int32_t)json_integer_value(json_array_get(ids, i));
    }
    cr_assert_eq(tokenizer_decode(tokenizer, row, count, skip_special, &text, NULL), TAPML_OK);
    cr_assert_arr_eq(text, json_string_value(expected), json_string_length(expected) + 1);
    alloc_free(text);
}

// Whether a stream gives the same, whatever is held back on the way.
static void
expect_streamed(const struct tokenizer *tokenizer, const json_t *ids, const json_t *expected)
{
    struct tokenizer_stream *stream = NULL;
    struct text text;
    text_init(&text);
    cr_assert_eq(tokenizer_stream_create(tokenizer, 0, &stream), TAPML_OK);
    for (size_t i = 0; i < json_array_size(ids); ++i) {
        const int32_t id = (int32_t)json_integer_value(json_array_get(ids, i));
        cr_assert_eq(tokenizer_stream_push(stream, id, &text), TAPML_OK);
        cr_assert_leq(text.length, json_string_length(expected));
        cr_assert_arr_eq(text.data, json_string_value(expected), text.length);
    }
    cr_assert_eq(tokenizer_stream_finish(stream, &text), TAPML_OK);
    cr_assert_eq(text.length, json_string_length(expected));
    tokenizer_stream_destroy(stream);
    tokenizer_stream_destroy(NULL);
    text_release(&text);
}

// The cases were written by the tokenizers library of Hugging Face, by SentencePiece and by the
// original code of the others; not all of them have everything.
static void expect_cases(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "tokenizers/%s", name);
    cr_assert(tokenizer_exists(scratch_data(path)));
    struct tokenizer *tokenizer = open_folder(scratch_data(path));
    snprintf(path, sizeof(path), "tokenizers/%s/cases.json", name);
    json_t *root = load(scratch_data(path));
    const json_t *list = json_object_get(root, "cases");
    cr_assert_gt(json_array_size(list), 20);
    for (size_t i = 0; i < json_array_size(list); ++i) {
        const json_t *one = json_array_get(list, i);
        const json_t *text = json_object_get(one, "text");
        const json_t *ids = json_object_get(one, "ids");
        const json_t *plain = json_object_get(one, "ids_plain");
        const json_t *decoded = json_object_get(one, "decoded");
        if (ids) {
            expect_encoded(tokenizer, text, 1, ids, json_array_size(ids));
        }
        expect_encoded(tokenizer, text, 0, plain, json_array_size(plain));
        if (decoded) {
            expect_decoded(tokenizer, plain, 0, decoded);
            expect_streamed(tokenizer, plain, decoded);
        }
    }
    json_decref(root);
    tokenizer_close(tokenizer);
}

// A test for each folder of cases.
#define CASES(name_)                                                                               \
    Test(tokenizer, name_##_agrees)                                                                \
    {                                                                                              \
        expect_cases(#name_);                                                                      \
    }

CASES(bpe_bloom)
CASES(bpe_deepseek3)
CASES(bpe_deepseek_llm)
CASES(bpe_falcon)
CASES(bpe_gpt2)
CASES(bpe_gpt2_prefix)
CASES(bpe_llama3)
CASES(bpe_neox_nfc)
CASES(bpe_qwen2)
CASES(bpe_tekken)
CASES(rwkv_world)
CASES(sp_model_bpe)
CASES(sp_model_unigram)
CASES(spm_gemma)
CASES(spm_llama_legacy)
CASES(unigram)
CASES(wordpiece_bert)

Test(tokenizer, the_trained_model_is_understood)
{
    struct tokenizer *tokenizer = open_folder(scratch_source("models/tiny"));
    json_t *root = load(scratch_source("models/tiny/expected.json"));
    const json_t *list = json_object_get(root, "cases");
    cr_assert_gt(json_array_size(list), 0);
    for (size_t i = 0; i < json_array_size(list); ++i) {
        const json_t *one = json_array_get(list, i);
        const json_t *ids = json_object_get(one, "ids");
        const json_int_t count = json_integer_value(json_object_get(one, "prompt_tokens"));
        cr_assert_gt(count, 0);
        expect_encoded(tokenizer, json_object_get(one, "prompt"), 1, ids, (size_t)count);
        expect_decoded(tokenizer, ids, 1, json_object_get(one, "text"));
    }
    json_decref(root);
    tokenizer_close(tokenizer);
}

static void expect_folder_refused(const char *folder, const char *word)
{
    struct tokenizer *tokenizer = NULL;
    const size_t live = alloc_live();
    cr_assert_eq(tokenizer_open(folder, &tokenizer), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "tokenizer.json"), "%s", status_message());
    cr_assert_eq(alloc_live(), live);
}

// A tokenizer of a few letters, with members of its root put in place of others.
static const char small[] =
    "{'added_tokens': [{'id': 9, 'content': '<s>', 'special': true},"
    "                  {'id': 10, 'content': '\xe2\x82\xac', 'special': false}],"
    " 'normalizer': null, 'pre_tokenizer': {'type': 'ByteLevel', 'add_prefix_space': false},"
    " 'post_processor': null, 'decoder': {'type': 'ByteLevel'},"
    " 'model': {'type': 'BPE', 'vocab': {'a': 0, 'b': 1, '\xc4\xa0': 2, 'ab': 3, '\xc3\xa2': 4,"
    "           '\xc4\xa4': 5, '\xc2\xac': 6, '1': 7}, 'merges': ['a b']}}";

static void write_small(struct scratch *scratch, const char *key, const char *value)
{
    json_t *root = quotes_json(small);
    if (key) {
        json_object_set_new(root, key, quotes_json(value));
    }
    char text[4096];
    const size_t size = json_dumpb(root, text, sizeof(text), 0);
    cr_assert_lt(size, sizeof(text));
    (void)scratch_write(scratch, "tokenizer.json", text, size);
    json_decref(root);
}

static void expect_refused(const char *key, const char *value, const char *word)
{
    struct scratch scratch;
    scratch_make(&scratch);
    write_small(&scratch, key, value);
    expect_folder_refused(scratch.folder, word);
    scratch_remove(&scratch);
}

Test(tokenizer, parts_that_are_not_known_are_refused_by_name)
{
    expect_refused("normalizer", "{'type': 'Uppercase'}", "normalizer 'Uppercase'");
    expect_refused("normalizer", "{}", "normalizer");
    expect_refused("pre_tokenizer", "{'type': 'Other'}", "pre_tokenizer 'Other'");
    expect_refused("post_processor", "{'type': 'Other'}", "post_processor 'Other'");
    expect_refused("post_processor",
                   "{'type': 'Sequence', 'processors': [{'type': 'ByteLevel'}, {'type': 'X'}]}",
                   "post_processor 'X'");
    expect_refused("decoder", "{'type': 'Other'}", "decoder 'Other'");
    expect_refused("model", "{'type': 'Other', 'vocab': []}", "model 'Other'");
    expect_refused("model", "7", "model");
    expect_refused("added_tokens", "{}", "added_tokens");
}

Test(tokenizer, hostile_templates_are_refused)
{
    expect_refused("post_processor", "{'type': 'TemplateProcessing'}", "template");
    expect_refused("post_processor",
                   "{'type': 'TemplateProcessing', 'single': [{'Sequence': {'id': 'B'}}]}",
                   "template");
    expect_refused("post_processor",
                   "{'type': 'TemplateProcessing', 'single': [{'Sequence': {'id': 'A'}},"
                   " {'SpecialToken': {'id': 'x'}}], 'special_tokens': {}}",
                   "template");
    expect_refused("post_processor",
                   "{'type': 'TemplateProcessing', 'single': [{'SpecialToken': {'id': 'x'}},"
                   " {'Sequence': {'id': 'A'}}], 'special_tokens': {'x': {'ids': [-1]}}}",
                   "template");
}

static void
expect_ids(const struct tokenizer *tokenizer, const char *text, int special, const char *expected)
{
    int32_t *ids = NULL;
    size_t count = 0;
    char found[256] = "";
    cr_assert_eq(tokenizer_encode(tokenizer, text, strlen(text), special, &ids, &count), TAPML_OK);
    for (size_t i = 0; i < count; ++i) {
        snprintf(found + strlen(found), 16, "%d ", ids[i]);
    }
    cr_assert_str_eq(found, expected, "'%s' gives %s", text, found);
    alloc_free(ids);
}

static struct tokenizer *open_small(const char *key, const char *value)
{
    struct scratch scratch;
    scratch_make(&scratch);
    write_small(&scratch, key, value);
    struct tokenizer *tokenizer = open_folder(scratch.folder);
    scratch_remove(&scratch);
    return tokenizer;
}

Test(tokenizer, templates_stand_around_a_text)
{
    struct tokenizer *tokenizer =
        open_small("post_processor",
                   "{'type': 'Sequence', 'processors': ["
                   " {'type': 'TemplateProcessing', 'single': [{'SpecialToken': {'id': 'x'}},"
                   "  {'Sequence': {'id': 'A'}}, {'SpecialToken': {'id': 'y'}}],"
                   "  'special_tokens': {'x': {'ids': [9, 8]}, 'y': {'ids': [7]}}},"
                   " {'type': 'ByteLevel', 'trim_offsets': false}]}");
    expect_ids(tokenizer, "ab", 1, "9 8 3 7 ");
    expect_ids(tokenizer, "", 1, "9 8 7 ");
    expect_ids(tokenizer, "ab", 0, "3 ");
    tokenizer_close(tokenizer);
    tokenizer_close(NULL);
}

Test(tokenizer, words_are_split_before_merging)
{
    struct tokenizer *tokenizer = open_small(NULL, NULL);
    expect_ids(tokenizer, "ab ab", 0, "3 2 3 ");
    expect_ids(tokenizer, "a<s>b", 0, "0 9 1 ");
    expect_ids(tokenizer, "a1b", 0, "0 7 1 ");
    expect_ids(tokenizer, "", 0, "");
    tokenizer_close(tokenizer);
    tokenizer = open_small("pre_tokenizer",
                           "{'type': 'ByteLevel', 'add_prefix_space': true, 'use_regex': false}");
    expect_ids(tokenizer, "ab", 0, "2 3 ");
    expect_ids(tokenizer, " ab", 0, "2 3 ");
    expect_ids(tokenizer, "a<s>b", 0, "2 0 9 2 1 ");
    expect_ids(tokenizer, "", 0, "");
    tokenizer_close(tokenizer);
}

static void
expect_text(const struct tokenizer *tokenizer, const int32_t *ids, size_t count, const char *text)
{
    char *found = NULL;
    cr_assert_eq(tokenizer_decode(tokenizer, ids, count, 0, &found, NULL), TAPML_OK);
    cr_assert_str_eq(found, text);
    alloc_free(found);
}

Test(tokenizer, bytes_that_make_no_text_are_replaced)
{
    struct tokenizer *tokenizer = open_small(NULL, NULL);
    // 4, 5, 6 are the three bytes of the euro sign, which token 10 is as a whole.
    expect_text(tokenizer, (int32_t[]){4, 5, 6}, 3, "\xe2\x82\xac");
    expect_text(tokenizer, (int32_t[]){4, 5, 0}, 3,
                "\xef\xbf\xbd"
                "a");
    expect_text(tokenizer, (int32_t[]){6, 10, 4}, 3, "\xef\xbf\xbd\xe2\x82\xac\xef\xbf\xbd");
    expect_text(tokenizer, NULL, 0, "");
    char *text = NULL;
    cr_assert_eq(tokenizer_decode(tokenizer, (int32_t[]){9, 0, 9}, 3, 1, &text, NULL), TAPML_OK);
    cr_assert_str_eq(text, "a");
    alloc_free(text);
    text = NULL;
    expect_text(tokenizer, (int32_t[]){0, 8, 1 << 20, 0}, 4, "aa"); // Rows without a token.
    cr_assert_eq(tokenizer_decode(tokenizer, (int32_t[]){-1}, 1, 0, &text, NULL), TAPML_INVALID);
    cr_assert_null(text);
    tokenizer_close(tokenizer);
}

Test(tokenizer, text_that_is_no_utf8_is_refused)
{
    struct tokenizer *tokenizer = open_small(NULL, NULL);
    int32_t *ids = NULL;
    size_t count = 0;
    cr_assert_eq(tokenizer_encode(tokenizer, "a\xff", 2, 0, &ids, &count), TAPML_INVALID);
    cr_assert_eq(tokenizer_encode(tokenizer, "\xed\xa0\x80", 3, 0, &ids, &count), TAPML_INVALID);
    cr_assert_null(ids);
    cr_assert_eq(tokenizer_encode(tokenizer, "a\0b", 3, 0, &ids, &count), TAPML_OK);
    cr_assert_eq(count, 2); // The zero byte has no token.
    alloc_free(ids);
    tokenizer_close(tokenizer);
}

Test(tokenizer, a_long_text_takes_no_square_of_time, .timeout = 60)
{
    enum { LENGTH = 1 << 20 };
    struct tokenizer *tokenizer = open_small(NULL, NULL);
    char *text = alloc_new(LENGTH);
    const char *const units[] = {"a", " ", "ab ", "<s>", "<s", "1", "\n"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); ++i) {
        int32_t *ids = NULL;
        size_t count = 0;
        for (size_t at = 0; at < LENGTH; ++at) {
            text[at] = units[i][at % strlen(units[i])];
        }
        cr_assert_eq(tokenizer_encode(tokenizer, text, LENGTH, 1, &ids, &count), TAPML_OK);
        alloc_free(ids);
    }
    alloc_free(text);
    tokenizer_close(tokenizer);
}

static tapml_status build(const char *folder)
{
    struct tokenizer *tokenizer = NULL;
    int32_t *ids = NULL;
    size_t count = 0;
    char *text = NULL;
    TAPML_TRY(tokenizer_open(folder, &tokenizer));
    tapml_status status = tokenizer_encode(tokenizer, "ab <s>1", 7, 1, &ids, &count);
    if (status == TAPML_OK) {
        status = tokenizer_decode(tokenizer, ids, count, 0, &text, NULL);
    }
    alloc_free(ids);
    alloc_free(text);
    tokenizer_close(tokenizer);
    return status;
}

Test(tokenizer, survives_without_memory)
{
    struct scratch scratch;
    scratch_make(&scratch);
    write_small(&scratch, "post_processor",
                "{'type': 'TemplateProcessing', 'single': [{'SpecialToken': {'id': 'x'}},"
                " {'Sequence': {'id': 'A'}}], 'special_tokens': {'x': {'ids': [9]}}}");
    SCRATCH_SWEEP(build(scratch.folder));
    write_small(&scratch, "pre_tokenizer", "{'type': 'ByteLevel', 'add_prefix_space': true}");
    SCRATCH_SWEEP(build(scratch.folder));
    scratch_remove(&scratch);
}
