// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/encoded.h"
#include "tokenizer/rwkv.h"

static tapml_status read(const char *text, struct parts *parts)
{
    cr_assert_eq(parts_init(parts, "t"), TAPML_OK);
    return rwkv_read(text, strlen(text), parts);
}

static void expect(const char *text, const char *piece, const char *expected)
{
    struct parts parts;
    cr_assert_eq(read(text, &parts), TAPML_OK, "%s", status_message());
    encoded_expect(&parts.encoder, piece, expected);
    parts_release(&parts);
}

Test(rwkv, the_longest_is_taken)
{
    expect("1 'a' 1\n2 'ab' 2\n3 'b' 1\n4 ' b' 2\r\n5 \"'\" 1\n", "abab b'", "2 2 4 5 ");
    expect("1 '\\x41\\xe9' 3\n2 b'\\xe2\\x82' 2\n3 '\\u20ac' 3\n4 '\\U0001F642' 4\n5 '\\n\\\\' 2",
           "A\xc3\xa9\xe2\x82\xe2\x82\xac\xf0\x9f\x99\x82\n\\", "1 2 3 4 5 ");
    expect("1 'a' 1", "b", "refused");
}

static void expect_refused(const char *text, const char *word)
{
    struct parts parts;
    cr_assert_eq(read(text, &parts), TAPML_INVALID, "%s", text);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    parts_release(&parts);
}

Test(rwkv, what_is_wrong_is_refused_with_its_line)
{
    const char *const lines[] = {"1 'a' 2",          "1 a 1",          "1 'a 1",
                                 "x 'a' 1",          "1 'a'",          "1",
                                 "1 'a'b' 3",        "1 '' 0",         "1 '\\xg0' 1",
                                 "1 '\\' 1",         "1 b'\\u0041' 1", "1 '\\ud800' 3",
                                 "9999999999 'a' 1", "-1 'a' 1",       "1 '\\q' 1"};
    expect_refused("", "found no token");
    expect_refused("1 'a' 1\n1 'b' 1", "one token for each id");
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); ++i) {
        expect_refused(lines[i], "t:1");
    }
}
