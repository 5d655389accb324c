// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

Test(text, grows_as_needed)
{
    struct text text;
    text_init(&text);
    cr_assert_str_eq(text.data, "");
    text_clear(&text);
    for (int i = 0; i < 1000; ++i) {
        text_append(&text, "ab");
        text_append_bytes(&text, "c\0", 2);
        text_format(&text, "%d", i % 10);
    }
    cr_assert_eq(text.length, 5000);
    cr_assert_eq(text.data[5000], '\0');
    cr_assert_arr_eq(text.data + 4995, "abc\0009", 5);
    cr_assert_eq(text_status(&text), TAPML_OK);
    text_clear(&text);
    cr_assert_str_eq(text.data, "");
    text_append(&text, "x");
    cr_assert_str_eq(text.data, "x");
    text_release(&text);
    cr_assert_str_eq(text.data, "");
    text_release(&text);
    text_release(NULL);
}

Test(text, without_memory_it_is_marked)
{
    struct text text;
    text_init(&text);
    text_append(&text, "kept");
    alloc_fail_at(1);
    text_format(&text, "%200d", 1);
    alloc_fail_at(0);
    text_append(&text, "x");
    cr_assert_str_eq(text.data, "kept");
    cr_assert_eq(text_status(&text), TAPML_NO_MEMORY);
    text_release(&text);
    cr_assert_eq(text_status(&text), TAPML_OK);
}

Test(text, is_printed_whole_or_not_at_all, .init = cr_redirect_stdout)
{
    struct text text;
    text_init(&text);
    text_append(&text, "kept\n");
    cr_assert_eq(text_print(&text), TAPML_OK);
    cr_assert_str_eq(text.data, "", "it was not released");
    text_append(&text, "lost");
    alloc_fail_at(1);
    text_format(&text, "%200d", 1);
    alloc_fail_at(0);
    cr_assert_eq(text_print(&text), TAPML_NO_MEMORY);
    fflush(stdout);
    cr_assert_stdout_eq_str("kept\n");
}

Test(text, is_handed_over_whole)
{
    struct text text;
    char *bytes = NULL;
    size_t length = 0;
    text_init(&text);
    cr_assert_eq(text_take(&text, &bytes, &length), TAPML_OK);
    cr_assert_str_eq(bytes, "", "nothing is a text too");
    alloc_free(bytes);
    text_append_bytes(&text, "a\0b", 3);
    cr_assert_eq(text_take(&text, &bytes, &length), TAPML_OK);
    cr_assert_eq(length, 3);
    cr_assert_eq(memcmp(bytes, "a\0b", 4), 0);
    cr_assert_eq(text.length, 0);
    alloc_free(bytes);
    alloc_fail_at(1);
    cr_assert_eq(text_take(&text, &bytes, &length), TAPML_NO_MEMORY);
    alloc_fail_at(0);
}

static void expect_json(const char *piece, const char *expected)
{
    struct text text;
    text_init(&text);
    text_append_json(&text, piece);
    cr_assert_str_eq(text.data, expected);
    text_release(&text);
}

Test(text, json_strings_are_escaped)
{
    expect_json("", "\"\"");
    expect_json("a\"b\\c/", "\"a\\\"b\\\\c/\"");
    expect_json("\n\t\x01\x7f", "\"\\n\\u0009\\u0001\\u007f\"");
    expect_json("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
    expect_json("a\xff\xe2\x82z", "\"a\xef\xbf\xbd\xef\xbf\xbdz\"");
    struct text text;
    text_init(&text);
    text_append_json_bytes(&text, "a\0b", 3);
    cr_assert_str_eq(text.data, "\"a\\u0000b\"");
    text_release(&text);
}

Test(text, globs_match)
{
    cr_assert(text_glob("", ""));
    cr_assert(text_glob("*", ""));
    cr_assert(text_glob("**", "ab"));
    cr_assert(text_glob("layers.*/attn/*", "layers.3/attn/q_proj"));
    cr_assert(text_glob("layers.?/mlp", "layers.3/mlp"));
    cr_assert(text_glob("layers.[0-3]/x", "layers.2/x"));
    cr_assert(text_glob("[abx-z]", "y"));
    cr_assert(text_glob("[]]", "]"));
    cr_assert(text_glob("a[", "a["));
    cr_assert(text_glob("?", "\xc3\xa4"));
    cr_assert(text_glob("*dropout*", "attention_dropout"));
    cr_assert(text_glob("*a*b", "xaxbxb"));
}

Test(text, globs_that_differ_do_not_match)
{
    cr_assert_not(text_glob("", "a"));
    cr_assert_not(text_glob("a", ""));
    cr_assert_not(text_glob("?", ""));
    cr_assert_not(text_glob("layers.[0-3]/x", "layers.4/x"));
    cr_assert_not(text_glob("layers.?/mlp", "layers.12/mlp"));
    cr_assert_not(text_glob("a*b", "abc"));
    cr_assert_not(text_glob("*dropout", "dropout_p"));
}

Test(text, globs_take_bounded_time, .timeout = 10)
{
    char subject[5001];
    memset(subject, 'a', 5000);
    subject[5000] = '\0';
    cr_assert_not(text_glob("*a*a*a*a*a*a*a*a*a*a*a*b", subject));
}

Test(text, an_end_has_something_before_it)
{
    cr_assert(text_ends_with("run.ini", ".ini"));
    cr_assert_not(text_ends_with(".ini", ".ini"));
    cr_assert_not(text_ends_with("ini", ".ini"));
    cr_assert_not(text_ends_with("run.ini.old", ".ini"));
}

Test(text, the_nearest_word_is_found)
{
    static const char *const words[] = {"prompts", "model", "dir", NULL};
    cr_assert_str_eq(text_nearest("promts", words), "prompts");
    cr_assert_null(text_nearest("modle", words)); // Two edits in five letters.
    cr_assert_str_eq(text_nearest("modl", words), "model");
    cr_assert_str_eq(text_nearest("di", words), "dir");
    cr_assert_null(text_nearest("backend", words));
    char word[500];
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    cr_assert_null(text_nearest(word, words));
}

static void expect_i64(const char *word, int64_t expected)
{
    int64_t value = 0;
    cr_assert_eq(text_parse_i64(word, &value), TAPML_OK, "%s", word);
    cr_assert_eq(value, expected);
}

static void expect_f64(const char *word, double expected)
{
    double value = 0;
    cr_assert_eq(text_parse_f64(word, &value), TAPML_OK, "%s", word);
    cr_assert_eq(value, expected);
}

Test(text, a_part_of_a_text_is_a_number)
{
    char many[80];
    double value = 0;
    cr_assert_eq(text_parse_f64_part("2.5 USD", 3, &value), TAPML_OK);
    cr_assert_eq(value, 2.5);
    cr_assert_eq(text_parse_f64_part("2.5 USD", 4, &value), TAPML_INVALID);
    cr_assert_eq(text_parse_f64_part("2.5", 0, &value), TAPML_INVALID);
    memset(many, '1', sizeof(many));
    many[sizeof(many) - 1] = '\0';
    cr_assert_eq(text_parse_f64_part(many, 79, &value), TAPML_INVALID);
}

Test(text, numbers_are_parsed_whole)
{
    expect_i64("0", 0);
    expect_i64("-12", -12);
    expect_i64("9223372036854775807", INT64_MAX);
    expect_i64("-9223372036854775808", INT64_MIN);
    expect_f64("0.5", 0.5);
    expect_f64("-1e-3", -1e-3);
    expect_f64("3", 3);
    expect_f64("1e-400", 0);
    const char *const bad[] = {"",   " 1",   "1 ",  "x",   "1x", "--1",
                               "+1", "0x10", "nan", "inf", "-",  "e"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        int64_t integer = 5;
        double number = 5;
        cr_assert_eq(text_parse_i64(bad[i], &integer), TAPML_INVALID, "%s", bad[i]);
        cr_assert_eq(text_parse_f64(bad[i], &number), TAPML_INVALID, "%s", bad[i]);
        cr_assert(integer == 5 && number == 5);
    }
    int64_t integer = 0;
    double number = 0;
    cr_assert_eq(text_parse_i64("9223372036854775808", &integer), TAPML_INVALID);
    cr_assert_eq(text_parse_i64("1.5", &integer), TAPML_INVALID);
    cr_assert_eq(text_parse_f64("1e400", &number), TAPML_INVALID);
}

static void expect_shell(const char *word, const char *expected)
{
    struct text text;
    text_init(&text);
    text_append_shell(&text, word);
    cr_expect_str_eq(text.data, expected);
    text_release(&text);
}

static void expect_wrapped(const char *words, size_t indent, size_t columns, const char *expected)
{
    struct text text;

    text_init(&text);
    text_wrap(&text, words, indent, columns);
    cr_expect_str_eq(text.data, expected);
    text_release(&text);
}

Test(text, words_are_broken_into_lines)
{
    expect_wrapped("one two three", 0, 7, "one two\nthree\n");
    expect_wrapped("one  two three", 0, 6, "one\ntwo\nthree\n");
    expect_wrapped("one two", 4, 8, "one\n    two\n");
    expect_wrapped("longer than that", 0, 4, "longer\nthan\nthat\n");
    expect_wrapped("one\ntwo three", 2, 20, "one\n  two three\n");
    expect_wrapped("", 2, 20, "\n");
}

Test(text, a_word_of_a_shell_is_quoted_where_it_needs_to_be)
{
    expect_shell("runs/mine-1.ini", "runs/mine-1.ini");
    expect_shell("my run.ini", "'my run.ini'");
    expect_shell("it's", "'it'\\''s'");
    expect_shell("$(reboot)", "'$(reboot)'");
    expect_shell("", "''");
}

Test(text, a_sentence_has_short_parts)
{
    char word[5000];
    struct text text;
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    text_init(&text);
    text_sentence(&text, "%d '%s'\n", 7, word);
    text_sentence(&text, "%s\n", "short");
    cr_assert_eq(text.length, 3 + 1535 + 2 + 6);
    cr_assert_not_null(strstr(text.data, "xx...'\nshort\n"));
    text_release(&text);
}

Test(text, is_kept_in_an_arena)
{
    struct arena *arena = arena_create();
    struct text text;
    text_init(&text);
    text_format(&text, "%d and %d", 1, 2);
    cr_assert_str_eq(text_keep(&text, arena), "1 and 2");
    cr_assert_str_eq(text.data, "", "it is released");
    text_init(&text);
    text.failed = 1;
    cr_assert_null(text_keep(&text, arena));
    arena_destroy(arena);
}

Test(text, versions_are_compared_number_by_number)
{
    static const char *const order[] = {
        "", "no number", "0.9", "1", "1.2.3", "v1.10", "driver 2", "NVIDIA 535.104.05", "535.105"};
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
        for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++) {
            const int expected = i < 2 && k < 2 ? 0 : (i > k) - (i < k);
            const int found = text_compare_versions(order[i], order[k]);
            cr_expect_eq((found > 0) - (found < 0), expected, "'%s' and '%s'", order[i], order[k]);
        }
    }
    cr_expect_eq(text_compare_versions("1.0", "1"), 0);
    cr_expect_eq(text_compare_versions("24.", "24.0.0"), 0);
    cr_expect_eq(text_compare_versions("99999999999999999999999", "99999999999999999999999"), 0);
}
