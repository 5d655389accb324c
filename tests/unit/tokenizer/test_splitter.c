// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/quotes.h"
#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/splitter.h"

static tapml_status
split(const struct splitter *splitter, const char *text, int begins, struct text *out)
{
    struct splitter_work *work = NULL;
    const struct pieces *pieces = NULL;
    TAPML_TRY(splitter_work_create(splitter, &work));
    const tapml_status status = splitter_apply(work, text, strlen(text), begins, &pieces);
    for (size_t i = 0; status == TAPML_OK && i < pieces->count; ++i) {
        size_t length = 0;
        const char *piece = pieces_get(pieces, i, &length);
        text_append_bytes(out, piece, length);
        text_append(out, "/");
    }
    splitter_work_destroy(work);
    return status;
}

static tapml_status create_and_split(const char *json, const char *text, struct text *out)
{
    struct splitter *splitter = NULL;
    json_t *value = quotes_json(json);
    tapml_status status = splitter_create("t.json", value, &splitter);
    json_decref(value);
    if (status == TAPML_OK) {
        status = split(splitter, text, 1, out);
    }
    splitter_destroy(splitter);
    return status;
}

static void expect(const char *json, const char *text, const char *expected)
{
    struct text out;
    text_init(&out);
    cr_assert_eq(create_and_split(json, text, &out), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(out.data, expected, "%s of '%s' is '%s'", json, text, out.data);
    text_release(&out);
}

#define DASH(behaviour_)                                                                           \
    "{'type': 'Split', 'pattern': {'String': '-'}, 'behavior': '" behaviour_ "'}"

Test(splitter, matches_go_where_the_behaviour_says)
{
    // The examples of the documentation of the tokenizers library.
    expect(DASH("Removed"), "the-final--countdown", "the/final/countdown/");
    expect(DASH("Isolated"), "the-final--countdown", "the/-/final/-/-/countdown/");
    expect(DASH("MergedWithPrevious"), "the-final--countdown", "the-/final-/-/countdown/");
    expect(DASH("MergedWithNext"), "the-final--countdown", "the/-final/-/-countdown/");
    expect(DASH("Contiguous"), "the-final--countdown", "the/-/final/--/countdown/");
    expect("{'type': 'Split', 'pattern': {'Regex': '[a-z]+'}, 'behavior': 'Removed',"
           " 'invert': true}",
           "ab1c", "ab/c/");
}

Test(splitter, an_empty_match_cuts_too)
{
    expect("{'type': 'Split', 'pattern': {'Regex': '(?=b)|$'}, 'behavior': 'Isolated'}", "abbc",
           "a/b/bc/");
    expect("{'type': 'Split', 'pattern': {'Regex': 'b*'}, 'behavior': 'MergedWithPrevious'}",
           "abbc", "abb/c/");
}

Test(splitter, each_kind_does_its_work)
{
    expect("null", "a b", "a b/");
    expect("{'type': 'ByteLevel', 'add_prefix_space': false}", "a b's",
           "a/\xc4\xa0"
           "b/'s/");
    expect("{'type': 'ByteLevel', 'add_prefix_space': true, 'use_regex': false}", "a b",
           "\xc4\xa0"
           "a\xc4\xa0"
           "b/");
    expect("{'type': 'Digits', 'individual_digits': true}", "a12b", "a/1/2/b/");
    expect("{'type': 'Digits', 'individual_digits': false}", "a12b", "a/12/b/");
    expect("{'type': 'Punctuation', 'behavior': 'Contiguous'}", "a..b", "a/../b/");
    expect("{'type': 'Punctuation'}", "a..b", "a/././b/");
    expect("{'type': 'Whitespace'}", "a b.. c", "a/b/../c/");
    expect("{'type': 'WhitespaceSplit'}", " a b.", "a/b./");
    expect("{'type': 'CharDelimiterSplit', 'delimiter': '_'}", "a_b__", "a/b/");
    expect("{'type': 'BertPreTokenizer'}", "a b.!", "a/b/./!/");
    expect("{'type': 'Metaspace', 'replacement': '_', 'prepend_scheme': 'always'}", "a b",
           "_a/_b/");
    expect("{'type': 'Metaspace', 'replacement': '_', 'prepend_scheme': 'never', 'split': false}",
           "a  b", "a__b/");
    expect("{'type': 'Metaspace', 'replacement': '_', 'add_prefix_space': false}", "a", "a/");
    expect("{'type': 'Sequence', 'pretokenizers': [{'type': 'WhitespaceSplit'},"
           " {'type': 'Metaspace', 'replacement': '_', 'prepend_scheme': 'first'}]}",
           "a b", "_a/b/");
}

static void expect_refused(const char *json, const char *word)
{
    struct text out;
    text_init(&out);
    cr_assert_eq(create_and_split(json, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax", &out),
                 TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    text_release(&out);
}

Test(splitter, what_is_not_known_is_refused_by_name)
{
    expect_refused("{'type': 'UnicodeScripts'}", "pre_tokenizer 'UnicodeScripts' is unsupported");
    expect_refused("{}", "pre_tokenizer");
    expect_refused("{'type': 'Sequence'}", "'pretokenizers'");
    expect_refused(DASH("Sideways"), "'behavior'");
    expect_refused("{'type': 'Split'}", "'pattern'");
    expect_refused("{'type': 'CharDelimiterSplit'}", "'delimiter'");
    expect_refused("{'type': 'Metaspace', 'prepend_scheme': 'often'}", "'prepend_scheme'");
    expect_refused("{'type': 'Split', 'pattern': {'Regex': '(a|aa)+$x'}}", "takes too long");
}

Test(splitter, a_text_cannot_explode)
{
    struct text sequence;
    text_init(&sequence);
    text_append(&sequence, "{'type': 'Sequence', 'pretokenizers': [{'type': 'Digits'}");
    for (int i = 0; i < 60; ++i) {
        text_append(&sequence, ", {'type': 'Metaspace', 'replacement': '  ', 'split': false}");
    }
    text_append(&sequence, "]}");
    expect_refused(sequence.data, "too long");
    text_release(&sequence);
}

static tapml_status build(void)
{
    struct text out;
    text_init(&out);
    const tapml_status status =
        create_and_split("{'type': 'ByteLevel', 'add_prefix_space': true}", "a b", &out);
    text_release(&out);
    return status;
}

Test(splitter, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
