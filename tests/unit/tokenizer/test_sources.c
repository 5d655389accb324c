// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/sources.h"

static void expect_around(struct scratch *scratch, const char *expected)
{
    struct parts parts;
    char found[128] = "";
    cr_assert_eq(sources_read(scratch->folder, &parts), TAPML_OK, "%s", status_message());
    for (size_t i = 0; i < parts.templates.before.count; ++i) {
        snprintf(found + strlen(found), 16, "%d ", parts.templates.before.items[i]);
    }
    snprintf(found + strlen(found), 16, "A ");
    for (size_t i = 0; i < parts.templates.after.count; ++i) {
        snprintf(found + strlen(found), 16, "%d ", parts.templates.after.items[i]);
    }
    cr_assert_str_eq(found, expected);
    parts_release(&parts);
}

static const char small[] = "{\"model\": {\"vocab\": {\"a\": 0, \"<s>\": 1}, \"merges\": []}}";

Test(sources, the_first_of_the_files_is_read)
{
    struct scratch scratch;
    struct parts parts;
    scratch_make(&scratch);
    cr_assert_not(sources_exist(scratch.folder));
    cr_assert_eq(sources_read(scratch.folder, &parts), TAPML_NOT_FOUND);
    parts_release(&parts);
    scratch_text(&scratch, "rwkv_vocab_x.txt", "1 'a' 1\n");
    expect_around(&scratch, "A ");
    scratch_text(&scratch, "vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n");
    expect_around(&scratch, "1 A 2 ");
    scratch_text(&scratch, "vocab.json", "{\"a\": 0, \"b\": 1, \"ab\": 2}");
    scratch_text(&scratch, "merges.txt", "#version: 0.2\na b\n");
    expect_around(&scratch, "A ");
    scratch_text(&scratch, "qwen.tiktoken", "YQ== 0\n");
    expect_around(&scratch, "A ");
    scratch_text(&scratch, "tokenizer.json", small);
    cr_assert(sources_exist(scratch.folder));
    expect_around(&scratch, "A ");
    scratch_remove(&scratch);
}

Test(sources, tokens_with_a_role_are_special)
{
    struct scratch scratch;
    struct parts parts;
    int is_special = 0;
    scratch_make(&scratch);
    scratch_text(&scratch, "vocab.json", "{\"a\": 0, \"<|endoftext|>\": 1, \"<pad>\": 2}");
    scratch_text(&scratch, "merges.txt", "");
    cr_assert_eq(sources_read(scratch.folder, &parts), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(added_find(parts.added, 1, &is_special), "<|endoftext|>");
    cr_assert(is_special);
    cr_assert_null(added_find(parts.added, 2, &is_special));
    parts_release(&parts);
    scratch_text(&scratch, "tokenizer_config.json",
                 "{\"pad_token\": {\"content\": \"<pad>\"}, \"unk_token\": \"none\"}");
    cr_assert_eq(sources_read(scratch.folder, &parts), TAPML_OK, "%s", status_message());
    cr_assert_null(added_find(parts.added, 1, &is_special));
    cr_assert_str_eq(added_find(parts.added, 2, &is_special), "<pad>");
    parts_release(&parts);
    scratch_remove(&scratch);
}

// Which only its code says; the file of ranks has none of it.
Test(sources, the_class_of_qwen_brings_special_tokens)
{
    struct scratch scratch;
    struct parts parts;
    int is_special = 0;
    scratch_make(&scratch);
    scratch_text(&scratch, "qwen.tiktoken", "YQ== 0\nYg== 1\n");
    scratch_text(&scratch, "tokenizer_config.json", "{\"tokenizer_class\": \"QWenTokenizer\"}");
    cr_assert_eq(sources_read(scratch.folder, &parts), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(added_find(parts.added, 3, &is_special), "<|im_start|>");
    cr_assert(is_special);
    cr_assert_str_eq(added_find(parts.added, 5, &is_special), "<|extra_0|>");
    cr_assert_str_eq(added_find(parts.added, 209, &is_special), "<|extra_204|>");
    cr_assert_null(added_find(parts.added, 210, &is_special));
    parts_release(&parts);
    scratch_remove(&scratch);
}

Test(sources, another_file_says_what_stands_around_a_text)
{
    struct scratch scratch;
    scratch_make(&scratch);
    scratch_text(&scratch, "tokenizer.json", small);
    scratch_text(&scratch, "tokenizer_config.json",
                 "{\"add_bos_token\": true, \"bos_token\": {\"content\": \"<s>\"},"
                 " \"add_eos_token\": true, \"eos_token\": \"none\"}");
    expect_around(&scratch, "1 A ");
    scratch_text(&scratch, "tokenizer_config.json", "{\"bos_token\": \"<s>\"}");
    expect_around(&scratch, "A ");
    scratch_text(&scratch, "tokenizer_config.json", "[");
    struct parts parts;
    cr_assert_eq(sources_read(scratch.folder, &parts), TAPML_INVALID);
    parts_release(&parts);
    scratch_remove(&scratch);
}

Test(sources, added_tokens_stand_beside_older_files)
{
    struct scratch scratch;
    struct parts parts;
    int is_special = 0;
    scratch_make(&scratch);
    scratch_text(&scratch, "qwen.tiktoken", "YQ== 0\n");
    scratch_text(
        &scratch, "tokenizer_config.json",
        "{\"added_tokens_decoder\": {\"7\": {\"content\": \"<end>\", \"special\": true}}}");
    cr_assert_eq(sources_read(scratch.folder, &parts), TAPML_OK);
    cr_assert_str_eq(added_find(parts.added, 7, &is_special), "<end>");
    cr_assert(is_special);
    parts_release(&parts);
    scratch_text(&scratch, "tokenizer_config.json",
                 "{\"added_tokens_decoder\": {\"x\": {\"content\": \"<end>\"}}}");
    cr_assert_eq(sources_read(scratch.folder, &parts), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "found 'x'"), "%s", status_message());
    parts_release(&parts);
    scratch_text(&scratch, "tokenizer_config.json",
                 "{\"added_tokens_decoder\": {\"5\": \"<end>\"}}");
    cr_assert_eq(sources_read(scratch.folder, &parts), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "found '5'"), "%s", status_message());
    parts_release(&parts);
    scratch_remove(&scratch);
}
