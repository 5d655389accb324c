// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/encoded.h"
#include "../../harness/quotes.h"
#include "tokenizer/description.h"

static tapml_status read(const char *json, struct parts *parts)
{
    json_t *root = quotes_json(json);
    cr_assert_eq(parts_init(parts, "t.json"), TAPML_OK);
    const tapml_status status = description_read(root, NULL, parts);
    json_decref(root);
    return status;
}

static void expect(const char *json, const char *piece, const char *expected)
{
    struct parts parts;
    cr_assert_eq(read(json, &parts), TAPML_OK, "%s", status_message());
    encoded_expect(&parts.encoder, piece, expected);
    parts_release(&parts);
}

Test(description, models_of_each_kind_are_read)
{
    expect("{'model': {'type': 'BPE', 'vocab': {'a': 0, 'b': 1, 'ab': 2}, 'merges': ['a b']}}",
           "aab", "0 2 ");
    expect("{'model': {'vocab': {'a': 0, 'b': 1, 'ab': 2}, 'merges': [['a', 'b']]}}", "ab", "2 ");
    expect("{'model': {'type': 'WordPiece', 'vocab': {'a': 0, '##b': 1, '[UNK]': 2}}}", "ab",
           "0 1 ");
    expect("{'model': {'type': 'Unigram', 'unk_id': 0, 'vocab': [['?', 0], ['a', -1],"
           " ['aa', -1.5]]}}",
           "aaax", "1 2 0 ");
    expect("{'model': {'unk_id': null, 'vocab': [['a', -1]], 'type': 'Unigram'}}", "x", "refused");
}

static void expect_refused(const char *json, const char *word)
{
    struct parts parts;
    cr_assert_eq(read(json, &parts), TAPML_INVALID, "%s", json);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    parts_release(&parts);
}

Test(description, what_is_wrong_is_refused_by_name)
{
    expect_refused("[]", "expected an object");
    expect_refused("{}", "model 'without a type'");
    expect_refused("{'model': {'type': 'WordLevel'}}", "model 'WordLevel' is unsupported");
    expect_refused("{'model': {'type': 'Unigram', 'unk_id': 3, 'vocab': [['a', -1]]}}", "'unk_id'");
    expect_refused("{'model': {'type': 'Unigram', 'vocab': [['a']]}}", "as piece 0");
    expect_refused("{'model': {'type': 'Unigram', 'vocab': []}}", "found no token");
    expect_refused("{'model': {'type': 'BPE', 'vocab': {'a': 1, 'b': 1}, 'merges': []}}",
                   "one token for each id");
    expect_refused("{'model': {'type': 'BPE', 'vocab': {'a': 0, 'b': 1}, 'merges': []}, "
                   "'added_tokens': [{'id': 1, 'content': 'c'}]}",
                   "found 'b' of the model and 'c' of 'added_tokens' for 1");
    expect_refused("{'model': {'vocab': {'a': 0}, 'merges': []}, 'added_tokens': {}}",
                   "added_tokens");
}
