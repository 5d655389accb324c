// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/quotes.h"
#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/normalizer.h"

static tapml_status normalize(const char *json, const char *text, struct text *out)
{
    struct normalizer *normalizer = NULL;
    json_t *value = quotes_json(json);
    tapml_status status = normalizer_create("t.json", value, &normalizer);
    json_decref(value);
    if (status == TAPML_OK) {
        status = normalizer_apply(normalizer, text, strlen(text), out);
    }
    normalizer_destroy(normalizer);
    return status;
}

static void expect(const char *json, const char *text, const char *expected)
{
    struct text out;
    text_init(&out);
    cr_assert_eq(normalize(json, text, &out), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(out.data, expected, "%s of '%s' is '%s'", json, text, out.data);
    text_release(&out);
}

Test(normalizer, each_kind_does_its_work)
{
    expect("null", "A b", "A b");
    expect("{'type': 'NFC'}", "e\xcc\x81", "\xc3\xa9");
    expect("{'type': 'NFKD'}", "\xef\xac\x81", "fi");
    expect("{'type': 'Lowercase'}", "A\xc4\xb0", "ai\xcc\x87");
    expect("{'type': 'StripAccents'}", "e\xcc\x81\xc3\xa9", "e\xc3\xa9");
    expect("{'type': 'Prepend', 'prepend': '_'}", "a", "_a");
    expect("{'type': 'Prepend', 'prepend': '_'}", "", "");
    expect("{'type': 'Replace', 'pattern': {'String': ' '}, 'content': '__'}", " a b", "__a__b");
    expect("{'type': 'Replace', 'pattern': {'Regex': ' {2,}'}, 'content': '$1'}", "a   b c",
           "a$1b c");
    expect("{'type': 'Replace', 'pattern': {'Regex': '^|b*$'}, 'content': '_'}", "ab", "_a_");
    expect("{'type': 'Nmt'}",
           "a\x01\t\xef\xbb\xbf"
           "b\xc2\x85",
           "a  b\xc2\x85");
    expect("{'type': 'Strip'}", " \n a b\t", "a b");
    expect("{'type': 'Strip', 'strip_left': false}", " a ", " a");
    expect("{'type': 'Strip'}", "  ", "");
    expect("{'type': 'ByteLevel'}", " ", "\xc4\xa0");
    expect("{'type': 'Sequence', 'normalizers': [{'type': 'Prepend', 'prepend': ' '},"
           " {'type': 'Sequence', 'normalizers': [{'type': 'Lowercase'}]}]}",
           "A", " a");
}

Test(normalizer, bert_cleans_and_lowers)
{
    expect("{'type': 'BertNormalizer'}", "\xc3\x89\t\xe2\x80\x8b\xe4\xb8\x80", "e  \xe4\xb8\x80 ");
    expect("{'type': 'BertNormalizer', 'lowercase': false}", "\xc3\x89", "\xc3\x89");
    expect("{'type': 'BertNormalizer', 'strip_accents': false}", "\xc3\x89", "\xc3\xa9");
    expect("{'type': 'BertNormalizer', 'clean_text': false, 'handle_chinese_chars': false}",
           "\t\xe4\xb8\x80", "\t\xe4\xb8\x80");
}

Test(normalizer, sentencepiece_squeezes_and_escapes)
{
    const struct normalizer_options options = {
        .removes_spaces = 1, .adds_space = 1, .escapes_spaces = 1};
    struct normalizer *normalizer = NULL;
    struct text out;
    text_init(&out);
    cr_assert_eq(normalizer_create_sentencepiece("t", &options, &normalizer), TAPML_OK);
    cr_assert_eq(normalizer_apply(normalizer, "  a   b ", 8, &out), TAPML_OK);
    cr_assert_str_eq(out.data, "\xe2\x96\x81"
                               "a\xe2\x96\x81"
                               "b");
    text_clear(&out);
    cr_assert_eq(normalizer_apply(normalizer, "  ", 2, &out), TAPML_OK);
    cr_assert_str_eq(out.data, "");
    // The blank that stands for a space, at the end.
    cr_assert_eq(normalizer_apply(normalizer, "\xe2\x96\x81", 3, &out), TAPML_OK);
    cr_assert_str_eq(out.data, "");
    text_release(&out);
    normalizer_destroy(normalizer);
}

static void expect_refused(const char *json, const char *word)
{
    struct text out;
    text_init(&out);
    cr_assert_eq(normalize(json, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax", &out),
                 TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    text_release(&out);
}

Test(normalizer, what_is_not_known_is_refused_by_name)
{
    expect_refused("{'type': 'Other'}", "normalizer 'Other' is unsupported");
    expect_refused("{}", "normalizer 'without a type'");
    expect_refused("7", "normalizer");
    expect_refused("{'type': 'Prepend'}", "'prepend'");
    expect_refused("{'type': 'Replace', 'content': ''}", "'pattern'");
    expect_refused("{'type': 'Sequence'}", "'normalizers'");
    expect_refused("{'type': 'Precompiled', 'precompiled_charsmap': 'AAAA'}", "map of characters");
    expect_refused("{'type': 'Precompiled', 'precompiled_charsmap': 5}", "'precompiled_charsmap'");
    expect_refused("{'type': 'Replace', 'pattern': {'Regex': '('}, 'content': ''}", "expression");
    expect_refused("{'type': 'Replace', 'pattern': {'Regex': '(a+)+$x'}, 'content': ''}",
                   "takes too long");
}

Test(normalizer, a_text_cannot_explode)
{
    struct text sequence;
    struct text out;
    text_init(&sequence);
    text_init(&out);
    text_append(&sequence, "{'type': 'Sequence', 'normalizers': [{'type': 'NFC'}");
    for (int i = 0; i < 60; ++i) {
        text_append(&sequence, ", {'type': 'ByteLevel'}"); // Of two bytes that are not ASCII, four.
    }
    text_append(&sequence, "]}");
    cr_assert_eq(normalize(sequence.data, "\xc3\xa9", &out), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "too long"), "%s", status_message());
    text_release(&out);
    text_release(&sequence);
}

static tapml_status build(void)
{
    struct text out;
    text_init(&out);
    const tapml_status status = normalize("{'type': 'Sequence', 'normalizers': [{'type': 'NFC'},"
                                          " {'type': 'Prepend', 'prepend': 'x'}]}",
                                          "\xc3\xa9", &out);
    text_release(&out);
    return status;
}

Test(normalizer, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
