// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "tokenizer/listing.h"

#include <criterion/criterion.h>
#include <string.h>

// Both members, and the rest of the file.
static void expect_found(const char *text, const char *vocab, const char *merges, const char *rest)
{
    struct listing listing;
    struct text out;
    listing_find(text, strlen(text), &listing);
    const struct listing_span *spans[] = {&listing.vocab, &listing.merges};
    const char *const expected[] = {vocab, merges};
    for (size_t i = 0; i < 2; ++i) {
        const size_t length = spans[i]->begin ? (size_t)(spans[i]->end - spans[i]->begin) : 0;
        cr_assert_eq(length, strlen(expected[i]), "%s", text);
        cr_assert(length == 0 || memcmp(spans[i]->begin, expected[i], length) == 0);
    }
    text_init(&out);
    cr_assert_eq(listing_rest(&listing, text, strlen(text), &out), TAPML_OK);
    cr_assert_str_eq(out.data, rest);
    text_release(&out);
}

Test(listing, the_large_members_are_cut_out)
{
    expect_found(
        "{\"a\": [1, \"}\"], \"model\": {\"vocab\": {\"\\\"}\": 1}, \"merges\": [[\"]\"]]}}",
        "{\"\\\"}\": 1}", "[[\"]\"]]",
        "{\"a\": [1, \"}\"], \"model\": {\"vocab\": {}, \"merges\": []}}");
    expect_found("{\"model\":{\"merges\":[],\"n\":null ,\"vocab\":{}},\"x\":-1.5e3}", "{}", "[]",
                 "{\"model\":{\"merges\":[],\"n\":null ,\"vocab\":{}},\"x\":-1.5e3}");
    expect_found("{\"model\": {\"vocab\": [[1]]}}", "", "", "{\"model\": {\"vocab\": [[1]]}}");
}

Test(listing, what_is_no_json_is_left_to_others)
{
    const char *const texts[] = {"",
                                 "[]",
                                 "{",
                                 "{\"model\": {\"vocab\": {}",
                                 "{\"model\": {\"vocab\": {}}",
                                 "{\"model\": {\"vocab\": {}, \"vocab\": {}}}",
                                 "{\"model\": {\"vocab\" {}}}",
                                 "{\"model\": {\"vocab\": {\"a}}",
                                 "{model: {}}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i) {
        expect_found(texts[i], "", "", texts[i]);
    }
}

static tapml_status read_vocab(const char *text, struct vocabulary *vocabulary)
{
    const struct listing_span span = {.begin = text, .end = text + strlen(text)};
    return listing_read_vocab(&span, "t", vocabulary);
}

Test(listing, tokens_are_read_with_their_escapes)
{
    struct vocabulary *vocabulary = NULL;
    cr_assert_eq(vocabulary_create("t", &vocabulary), TAPML_OK);
    cr_assert_eq(
        read_vocab("{ \"a\" : 0,\n\"\\u00e9\\n\\\"\\/\": 12, \"\\ud83d\\ude42\": 7}", vocabulary),
        TAPML_OK, "%s", status_message());
    cr_assert_eq(vocabulary_finish(vocabulary), TAPML_OK);
    cr_assert_eq(vocabulary_find_text(vocabulary, "a"), 0);
    cr_assert_eq(vocabulary_find_text(vocabulary, "\xc3\xa9\n\"/"), 12);
    cr_assert_eq(vocabulary_find_text(vocabulary, "\xf0\x9f\x99\x82"), 7);
    vocabulary_destroy(vocabulary);
}

Test(listing, wrong_tokens_are_refused)
{
    const char *const texts[] = {
        "{\"a\": -1}",          "{\"a\": 1.5}",     "{\"a\": \"1\"}",      "{\"a\": 1 \"b\"}",
        "{\"a\": 1, \"a\": 2}", "{\"\\ud83d\": 1}", "{\"\\x\": 1}",        "{\"\\u12\": 1}",
        "{\"a\n\": 1}",         "{\"a\": 01}",      "{\"a\": 2147483648}", "{\"\xff\": 1}",
        "{\"a\": 1,}",          "{7: 1}",           "{\"\\udc00\": 1}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i) {
        struct vocabulary *vocabulary = NULL;
        cr_assert_eq(vocabulary_create("t", &vocabulary), TAPML_OK);
        cr_assert_eq(read_vocab(texts[i], vocabulary), TAPML_INVALID, "%s", texts[i]);
        vocabulary_destroy(vocabulary);
    }
}

static tapml_status
append_merge(void *user, size_t rank, const struct text *left, const struct text *right)
{
    text_format(user, "%zu:%s+%s ", rank, left->data, right->data);
    return TAPML_OK;
}

static tapml_status read_merges(const char *text, struct text *out)
{
    const struct listing_span span = {.begin = text, .end = text + strlen(text)};
    size_t count = 0;
    TAPML_TRY(listing_read_merges(&span, "t", NULL, NULL, &count));
    return listing_read_merges(&span, "t", append_merge, out, &count);
}

Test(listing, merges_have_two_halves)
{
    struct text out;
    text_init(&out);
    cr_assert_eq(read_merges("[\"a b c\", [\"d e\",\"f\"] , [\"\", \"g\"]]", &out), TAPML_OK);
    cr_assert_str_eq(out.data, "0:a+b c 1:d e+f 2:+g ");
    cr_assert_eq(read_merges("[]", &out), TAPML_OK);
    const char *const texts[] = {"[\"ab\"]",
                                 "[[\"a\"]]",
                                 "[[\"a\", \"b\", \"c\"]]",
                                 "[7]",
                                 "[\"a b\",]",
                                 "[\"a b\" 1]",
                                 "[[\"a\", 3]]",
                                 "[null]",
                                 "[\"a \xff\"]",
                                 "[[\"a\" \"b\"]]"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i) {
        cr_assert_eq(read_merges(texts[i], &out), TAPML_INVALID, "%s", texts[i]);
    }
    text_release(&out);
}
