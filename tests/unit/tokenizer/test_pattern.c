// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/pattern.h"

#include <criterion/criterion.h>
#include <string.h>

static tapml_status find_all(const char *expression, const char *text, char *out_found)
{
    struct pattern *pattern = NULL;
    struct pattern_search search;
    TAPML_TRY(pattern_create(expression, &pattern));
    tapml_status status = pattern_search_init(&search, pattern);
    const size_t length = strlen(text);
    size_t begin = 0;
    size_t end = 0;
    if (status == TAPML_OK) {
        pattern_search_start(&search, text, length);
        status = pattern_search_next(&search, &begin, &end);
        while (status == TAPML_OK && begin != PATTERN_NONE) {
            char *rest = out_found + strlen(out_found);
            snprintf(rest, end - begin + 2, "%.*s|", (int)(end - begin), text + begin);
            status = pattern_search_next(&search, &begin, &end);
        }
        cr_assert(status != TAPML_OK || end == length);
        pattern_search_release(&search);
    }
    pattern_destroy(pattern);
    return status;
}

static void expect_found(const char *expression, const char *text, const char *expected)
{
    char found[256] = "";
    cr_assert_eq(find_all(expression, text, found), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(found, expected);
}

Test(pattern, matches_follow_one_another)
{
    expect_found("[0-9]+", "a12 b3", "12|3|");
    expect_found("[0-9]+", "", "");
    expect_found("[0-9]*", "a1b", "|1||"); // Not once more between 1 and b.
    expect_found("$", "a", "|");
    expect_found("\\p{L}+",
                 "\xc3\xa4"
                 "b, c",
                 "\xc3\xa4"
                 "b|c|");
    expect_found("\\A[a-z]", "xy", "x|");
    expect_found("a+(?!b)", "aab", "a|");
}

Test(pattern, a_wrong_expression_is_our_own_mistake)
{
    struct pattern *pattern = NULL;
    cr_assert_eq(pattern_create("(", &pattern), TAPML_INTERNAL);
    cr_assert_null(pattern);
    pattern_destroy(NULL);
}

Test(pattern, an_expression_of_a_file_has_a_bound)
{
    struct pattern *pattern = NULL;
    struct pattern_search search;
    static char text[1 << 16];
    size_t begin = 0;
    size_t end = 0;
    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = 'x'; // Without it there is no match at first sight.
    const char *const expressions[] = {"(a+)+$x", "(a|aa)+$x", "(a*)*$x", "a+a+a+a+$x"};
    for (size_t i = 0; i < sizeof(expressions) / sizeof(*expressions); ++i) {
        cr_assert_eq(pattern_create_foreign("t.json", expressions[i], &pattern), TAPML_OK);
        cr_assert_eq(pattern_search_init(&search, pattern), TAPML_OK);
        pattern_search_start(&search, text, sizeof(text));
        cr_assert_eq(pattern_search_next(&search, &begin, &end), TAPML_INVALID, "%s",
                     expressions[i]);
        cr_assert_not_null(strstr(status_message(), "takes too long"), "%s", status_message());
        pattern_search_release(&search);
        pattern_destroy(pattern);
    }
}

Test(pattern, a_wrong_expression_of_a_file_is_refused)
{
    struct pattern *pattern = NULL;
    cr_assert_eq(pattern_create_foreign("t.json", "(", &pattern), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "t.json: the expression '('"));
    cr_assert_eq(pattern_create_foreign("t.json", "(((ab){1,999}){1,999}){1,999}", &pattern),
                 TAPML_INVALID);
    cr_assert_null(pattern);
}

static tapml_status build(void)
{
    char found[256] = "";
    return find_all("\\p{L}+| ?[0-9]+", "one 2 three", found);
}

Test(pattern, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
