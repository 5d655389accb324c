// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/options.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--model", "DIR", "a folder"},
    {"--json", NULL, "a switch"},
    {"--count", "N", "a number"},
    {NULL, NULL, NULL},
};

#define PARSE(options, ...)                                                                        \
    options_parse(specs, (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)),                  \
                  (char *[]){__VA_ARGS__}, options)

Test(options, values_come_behind_or_with_an_equals_sign)
{
    struct options options;

    cr_assert_eq(PARSE(&options, "--model", "a", "x", "--json", "--model=b", "y"), TAPML_OK);
    cr_assert_str_eq(options_get(&options, "--model"), "b");
    cr_assert_str_eq(options_at(&options, "--model", 0), "a");
    cr_assert_str_eq(options_at(&options, "--model", 1), "b");
    cr_assert_null(options_at(&options, "--model", 2));
    cr_assert_str_eq(options_get(&options, "--json"), "");
    cr_assert_null(options_get(&options, "--count"));
    cr_assert_eq(options.plain_count, 2u);
    cr_assert_str_eq(options.plain[1], "y");
}

Test(options, behind_two_dashes_nothing_is_an_option)
{
    struct options options;

    cr_assert_eq(PARSE(&options, "--", "--model", "--nonsense"), TAPML_OK);
    cr_assert_eq(options.plain_count, 2u);
    cr_assert_null(options_get(&options, "--model"));
}

Test(options, an_unknown_one_is_refused_with_the_nearest)
{
    struct options options;

    cr_assert_eq(PARSE(&options, "--modle", "a"), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "did you mean '--model'"));
    cr_assert_eq(PARSE(&options, "--model"), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "needs a value: DIR"));
    cr_assert_eq(PARSE(&options, "--json=yes"), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "takes no value"));
}

Test(options, a_word_is_one_of_those_that_are_listed)
{
    struct options options;
    int place = 7;

    cr_assert_eq(PARSE(&options, "--json"), TAPML_OK);
    cr_assert_eq(options_word(&options, "--model", "red green blue", &place), TAPML_OK);
    cr_assert_eq(place, 7, "it is absent");
    cr_assert_eq(PARSE(&options, "--model", "green"), TAPML_OK);
    cr_assert_eq(options_word(&options, "--model", "red green blue", &place), TAPML_OK);
    cr_assert_eq(place, 1);
    cr_assert_eq(PARSE(&options, "--model", "gree"), TAPML_OK);
    cr_assert_eq(options_word(&options, "--model", "red green blue", &place), TAPML_INVALID);
    cr_assert_not_null(
        strstr(status_message(), "--model is 'gree', expected one of: red green blue"));
    cr_assert_eq(PARSE(&options, "--model", ""), TAPML_OK);
    cr_assert_eq(options_word(&options, "--model", "red green blue", &place), TAPML_INVALID);
}

Test(options, numbers_are_whole_and_in_range)
{
    struct options options;
    int64_t value = 0;

    cr_assert_eq(PARSE(&options, "--count", "17"), TAPML_OK);
    cr_assert_eq(options_i64(&options, "--count", 3, 1, 100, &value), TAPML_OK);
    cr_assert_eq(value, 17);
    cr_assert_eq(options_i64(&options, "--count", 3, 1, 16, &value), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "expected 1 to 16"));
    cr_assert_eq(PARSE(&options, "--count", "1x"), TAPML_OK);
    cr_assert_eq(options_i64(&options, "--count", 3, 1, 16, &value), TAPML_INVALID);
    cr_assert_eq(PARSE(&options, "x"), TAPML_OK);
    cr_assert_eq(options_i64(&options, "--count", 3, 1, 16, &value), TAPML_OK);
    cr_assert_eq(value, 3);
}

Test(options, a_size_is_a_number_and_a_letter)
{
    struct options options;
    uint64_t bytes = 7;

    cr_assert_eq(PARSE(&options, "--count", "1.5K"), TAPML_OK);
    cr_assert_eq(options_bytes(&options, "--model", &bytes), TAPML_OK);
    cr_assert_eq(bytes, 7);
    cr_assert_eq(options_bytes(&options, "--count", &bytes), TAPML_OK);
    cr_assert_eq(bytes, 1536);
    cr_assert_eq(PARSE(&options, "--count", "2T"), TAPML_OK);
    cr_assert_eq(options_bytes(&options, "--count", &bytes), TAPML_OK);
    cr_assert_eq(bytes, (uint64_t)2 << 40);
    cr_assert_eq(PARSE(&options, "--count", "2X"), TAPML_OK);
    cr_assert_eq(options_bytes(&options, "--count", &bytes), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "--count is '2X', expected a size such as 8G"));
    cr_assert_eq(PARSE(&options, "--count", "1e30"), TAPML_OK);
    cr_assert_eq(options_bytes(&options, "--count", &bytes), TAPML_INVALID);
}

Test(options, arguments_that_nobody_takes_are_refused)
{
    struct options options;

    cr_assert_eq(PARSE(&options, "--json"), TAPML_OK);
    cr_assert_eq(options_no_plain(&options), TAPML_OK);
    cr_assert_eq(PARSE(&options, "--json", "x"), TAPML_OK);
    cr_assert_eq(options_no_plain(&options), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "expected no argument, found 'x'");
}

Test(options, help_and_version_have_a_short_form)
{
    static const struct options_spec of_program[] = {
        {"--help", NULL, "prints this"}, {"--version", NULL, ""}, {NULL, NULL, NULL}};
    struct options options;

    cr_assert_eq(options_parse(of_program, 2, (char *[]){"-h", "-V"}, &options), TAPML_OK);
    cr_assert_not_null(options_get(&options, "--help"));
    cr_assert_not_null(options_get(&options, "--version"));
    cr_assert_eq(options.plain_count, 0u);
    cr_assert_eq(PARSE(&options, "-h", "--model", "-h"), TAPML_OK);
    cr_assert_eq(options.plain_count, 1u, "a command that has no help takes it as a word");
    cr_assert_str_eq(options_get(&options, "--model"), "-h");
    cr_assert_str_eq(options_short("--help"), "-h");
    cr_assert_null(options_short("--model"));
}

Test(options, help_is_printed_in_two_columns, .init = cr_redirect_stdout)
{
    static const struct options_spec of_help[] = {
        {"--model", "DIR", "a folder"},
        {"--isolation", "always|never|loopback",
         "where the plugin runs, which is told in so many words that the line is full"},
        {"--help", NULL, "prints this"},
        {NULL, NULL, NULL},
    };
    const struct options_manual manual = {
        .usage = "tool one DIR\ntool two", .about = "First.\nSecond.", .specs = of_help};

    cr_assert_eq(options_help(&manual), TAPML_OK);
    (void)fflush(stdout);
    cr_assert_stdout_eq_str(
        "usage: tool one DIR\n       tool two\n\nFirst.\nSecond.\n\n"
        "  --model DIR              a folder\n"
        "  --isolation always|never|loopback\n"
        "                           where the plugin runs, which is told in so many words that the "
        "line is\n"
        "                           full\n"
        "  -h, --help               prints this\n");
}

Test(options, too_many_are_refused)
{
    char *words[OPTIONS_MAX + 1];
    struct options options;

    for (size_t i = 0; i <= OPTIONS_MAX; i++) {
        words[i] = "--json";
    }
    cr_assert_eq(options_parse(specs, OPTIONS_MAX, words, &options), TAPML_OK);
    cr_assert_eq(options_parse(specs, OPTIONS_MAX + 1, words, &options), TAPML_INVALID);
}
