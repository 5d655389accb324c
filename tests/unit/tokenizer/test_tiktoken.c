// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/encoded.h"
#include "tokenizer/tiktoken.h"

static tapml_status read(const char *text, struct parts *parts)
{
    cr_assert_eq(parts_init(parts, "t"), TAPML_OK);
    return *text == '{' ? tiktoken_read_tekken(text, strlen(text), parts)
                        : tiktoken_read(text, strlen(text), TIKTOKEN_QWEN, parts);
}

static void expect(const char *text, const char *piece, const char *expected)
{
    struct parts parts;
    cr_assert_eq(read(text, &parts), TAPML_OK, "%s", status_message());
    encoded_expect(&parts.encoder, piece, expected);
    parts_release(&parts);
}

#define TEKKEN                                                                                     \
    "{\"config\": {\"pattern\": \"a+|.\", \"default_num_special_tokens\": 2,"                      \
    " \"default_vocab_size\": 5}, \"vocab\": [{\"rank\": 0, \"token_bytes\": \"YQ==\","            \
    " \"token_str\": \"\\u0000\"}, {\"rank\": 1, \"token_bytes\": \"Yg==\"},"                      \
    " {\"rank\": 2, \"token_bytes\": \"YWI=\"}, {\"rank\": 3, \"token_bytes\": \"YmI=\"}],"        \
    " \"special_tokens\": [{\"rank\": 1, \"token_str\": \"<s>\"}]}"

Test(tiktoken, ranks_are_ids)
{
    expect("YQ== 0\r\nYg== 1\n\nYWI= 2\n", "abab", "2 2 ");
    expect("YQ== 0\nYg== 1\nYWI= 3\nYmI= 2", "abb", "0 2 ");
    expect("YQ== 0\nYg== 1\nYWI= 3\nYmI= 2", "ab", "3 ");
    expect("YQ== 0", "b", "refused");
    expect(TEKKEN, "abbb", "4 3 3 "); // The fourth is beyond the size of the vocabulary.
}

static void expect_refused(const char *text, const char *word)
{
    struct parts parts;
    cr_assert_eq(read(text, &parts), TAPML_INVALID, "%s", text);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    parts_release(&parts);
}

Test(tiktoken, what_is_wrong_is_refused)
{
    expect_refused("", "found no token");
    expect_refused("YQ== 0\nYQ=", ":2: expected a token in base64 and a rank");
    expect_refused("YQ==", "t:1");
    expect_refused("YQ== 999999999", "t:1");
    expect_refused("YQ== -1", "t:1");
    expect_refused("= 1", "t:1");
    expect_refused("YQ== 0\nYg== 0", "one token for each id");
    expect_refused("{", "t:1");
    expect_refused("{\"config\": {}}", "'pattern'");
    expect_refused("{\"config\": {\"pattern\": \"a\"}}", "'default_num_special_tokens'");
}
