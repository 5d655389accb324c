// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/sources.h"

// A folder, and what was read of it last.
struct folder {
    struct scratch scratch;
    struct parts parts;
};

static void folder_open(struct folder *folder)
{
    *folder = (struct folder){.parts = {.name = NULL}};
    scratch_make(&folder->scratch);
}

static void folder_close(struct folder *folder)
{
    parts_release(&folder->parts);
    scratch_remove(&folder->scratch);
}

static void write_file(struct folder *folder, const char *name, const char *text)
{
    scratch_text(&folder->scratch, name, text);
}

static tapml_status read_folder(struct folder *folder)
{
    parts_release(&folder->parts);
    return sources_read(folder->scratch.folder, &folder->parts);
}

static void reads(struct folder *folder)
{
    cr_assert_eq(read_folder(folder), TAPML_OK, "%s", status_message());
}

static void refuses(struct folder *folder, tapml_status code, const char *piece)
{
    cr_assert_eq(read_folder(folder), code);
    cr_assert_not_null(strstr(status_message(), piece), "%s", status_message());
}

// What stands before and behind a text, A.
static void expect_around(struct folder *folder, const char *expected)
{
    struct text found;
    reads(folder);
    const struct templates *templates = &folder->parts.templates;
    text_init(&found);
    for (size_t i = 0; i < templates->before.count; ++i) {
        text_format(&found, "%d ", templates->before.items[i]);
    }
    text_append(&found, "A ");
    for (size_t i = 0; i < templates->after.count; ++i) {
        text_format(&found, "%d ", templates->after.items[i]);
    }
    cr_assert_str_eq(found.data, expected);
    text_release(&found);
}

// The special token of an id; NULL: there is none.
static void expect_special(const struct folder *folder, int32_t id, const char *content)
{
    int is_special = 0;
    const char *found = added_find(folder->parts.added, id, &is_special);
    cr_assert_eq(found == NULL, content == NULL, "%d", id);
    if (content) {
        cr_assert_str_eq(found, content);
        cr_assert(is_special);
    }
}

static const char small[] = "{\"model\": {\"vocab\": {\"a\": 0, \"<s>\": 1}, \"merges\": []}}";

Test(sources, the_first_of_the_files_is_read)
{
    struct folder folder;
    folder_open(&folder);
    cr_assert_not(sources_exist(folder.scratch.folder));
    refuses(&folder, TAPML_NOT_FOUND, "found none");
    write_file(&folder, "rwkv_vocab_x.txt", "1 'a' 1\n");
    expect_around(&folder, "A ");
    write_file(&folder, "vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n");
    expect_around(&folder, "1 A 2 ");
    write_file(&folder, "vocab.json", "{\"a\": 0, \"b\": 1, \"ab\": 2}");
    write_file(&folder, "merges.txt", "#version: 0.2\na b\n");
    expect_around(&folder, "A ");
    write_file(&folder, "tiktoken.model", "YQ== 0\n");
    expect_around(&folder, "A ");
    write_file(&folder, "qwen.tiktoken", "YQ== 0\n");
    expect_around(&folder, "A ");
    write_file(&folder, "tokenizer.json", small);
    cr_assert(sources_exist(folder.scratch.folder));
    expect_around(&folder, "A ");
    folder_close(&folder);
}

Test(sources, tokens_with_a_role_are_special)
{
    struct folder folder;
    folder_open(&folder);
    write_file(&folder, "vocab.json", "{\"a\": 0, \"<|endoftext|>\": 1, \"<pad>\": 2}");
    write_file(&folder, "merges.txt", "");
    reads(&folder);
    expect_special(&folder, 1, "<|endoftext|>");
    expect_special(&folder, 2, NULL);
    write_file(&folder, "tokenizer_config.json",
               "{\"pad_token\": {\"content\": \"<pad>\"}, \"eos_token\": \"none\","
               " \"bos_token\": null}"); // What it does not name is as by default.
    reads(&folder);
    expect_special(&folder, 1, NULL);
    expect_special(&folder, 2, "<pad>");
    folder_close(&folder);
}

// Which only its code says; the file of ranks has none of it.
Test(sources, the_class_of_qwen_brings_special_tokens)
{
    struct folder folder;
    folder_open(&folder);
    write_file(&folder, "qwen.tiktoken", "YQ== 0\nYg== 1\n");
    write_file(&folder, "tokenizer_config.json", "{\"tokenizer_class\": \"QWenTokenizer\"}");
    reads(&folder);
    expect_special(&folder, 3, "<|im_start|>");
    expect_special(&folder, 5, "<|extra_0|>");
    expect_special(&folder, 209, "<|extra_204|>");
    expect_special(&folder, 210, NULL);
    folder_close(&folder);
}

Test(sources, another_file_says_what_stands_around_a_text)
{
    struct folder folder;
    folder_open(&folder);
    write_file(&folder, "tokenizer.json", small);
    write_file(&folder, "tokenizer_config.json",
               "{\"add_bos_token\": true, \"bos_token\": {\"content\": \"<s>\"},"
               " \"add_eos_token\": true, \"eos_token\": \"none\"}");
    expect_around(&folder, "1 A ");
    write_file(&folder, "tokenizer_config.json", "{\"bos_token\": \"<s>\"}");
    expect_around(&folder, "A ");
    write_file(&folder, "tokenizer_config.json", "[");
    refuses(&folder, TAPML_INVALID, "tokenizer_config.json");
    folder_close(&folder);
}

Test(sources, added_tokens_stand_beside_older_files)
{
    struct folder folder;
    folder_open(&folder);
    write_file(&folder, "qwen.tiktoken", "YQ== 0\n");
    write_file(&folder, "tokenizer_config.json",
               "{\"added_tokens_decoder\": {\"7\": {\"content\": \"<end>\", \"special\": true}}}");
    reads(&folder);
    expect_special(&folder, 7, "<end>");
    write_file(&folder, "tokenizer_config.json",
               "{\"added_tokens_decoder\": {\"x\": {\"content\": \"<end>\"}}}");
    refuses(&folder, TAPML_INVALID, "found 'x'");
    write_file(&folder, "tokenizer_config.json", "{\"added_tokens_decoder\": {\"5\": \"<end>\"}}");
    refuses(&folder, TAPML_INVALID, "found '5'");
    folder_close(&folder);
}

Test(sources, lines_that_are_no_tokens_are_refused)
{
    struct folder folder;
    folder_open(&folder);
    write_file(&folder, "vocab.txt", "[UNK]\na\na\n");
    refuses(&folder, TAPML_INVALID, "vocab.txt:3: expected a token once");
    write_file(&folder, "vocab.txt", "[UNK]\n\xff\n");
    refuses(&folder, TAPML_INVALID, "vocab.txt: expected a text of UTF-8");
    write_file(&folder, "vocab.json", "{\"a\": 0}");
    refuses(&folder, TAPML_NOT_FOUND, "merges.txt");
    write_file(&folder, "merges.txt", "\xff");
    refuses(&folder, TAPML_INVALID, "merges.txt: expected a text of UTF-8");
    folder_close(&folder);
}
